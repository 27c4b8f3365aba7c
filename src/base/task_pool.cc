// Design: one generation counter announces a loop; each thread that sees a new generation claims tasks from `next`
// until none is left, then reports in `idle`. run() returns when every helper has reported, so a loop's closure
// never outlives its call. Spin first (loops follow each other within microseconds), then futex-wait.
#include "base/task_pool.h"

#include <atomic>
#include <thread>
#include <vector>

#include <immintrin.h>
#include <pthread.h>
#include <sched.h>

#include "base/check.h"
#include "base/clock.h"

namespace reprise {

namespace {
constexpr Nanos kSpin = 20 * kMicrosecond;

std::vector<int> read_allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  if (cpus.empty()) cpus.push_back(0);
  return cpus;
}

// Read once: by the second pool the caller may be pinned, which would hide the other CPUs.
const std::vector<int>& allowed_cpus() {
  static const std::vector<int> cpus = read_allowed_cpus();
  return cpus;
}

void pin_to(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);  // best effort: a refused pin costs only speed
}

// Waits until `value` differs from `old`: spins for kSpin, then sleeps.
uint32_t wait_change(const std::atomic<uint32_t>& value, uint32_t old) {
  const Nanos deadline = now() + kSpin;
  for (;;) {
    for (int i = 0; i < 32; ++i) {
      const uint32_t seen = value.load(std::memory_order_acquire);
      if (seen != old) return seen;
      _mm_pause();
    }
    if (now() > deadline) break;
  }
  value.wait(old, std::memory_order_acquire);
  return value.load(std::memory_order_acquire);
}
}  // namespace

int usable_cpus() { return static_cast<int>(allowed_cpus().size()); }

struct TaskPool::State {
  // The loop in flight; written by run() before the generation is published, constant until all helpers are idle.
  Invoke invoke = nullptr;
  void* context = nullptr;
  size_t tasks = 0;
  bool stop = false;

  alignas(64) std::atomic<uint32_t> generation{0};
  alignas(64) std::atomic<size_t> next{0};
  alignas(64) std::atomic<uint32_t> idle{0};  // helpers done with this generation

  std::vector<int> cpus;  // empty: not pinned
  std::thread::id pinned_caller;
  std::vector<std::thread> helpers;

  void work(int worker) {
    for (size_t task; (task = next.fetch_add(1, std::memory_order_relaxed)) < tasks;) invoke(context, task, worker);
  }

  void helper_main(int worker) {
    if (!cpus.empty()) pin_to(cpus[worker % cpus.size()]);
    for (uint32_t seen = 0;;) {
      seen = wait_change(generation, seen);
      if (stop) return;
      work(worker);
      idle.fetch_add(1, std::memory_order_release);
      idle.notify_one();
    }
  }
};

TaskPool::TaskPool(int threads, bool pin) : state_(std::make_unique<State>()) {
  CHECK(threads >= 1, "a pool needs at least one thread, got {}", threads);
  if (pin) state_->cpus = allowed_cpus();
  for (int worker = 1; worker < threads; ++worker)
    state_->helpers.emplace_back([state = state_.get(), worker] { state->helper_main(worker); });
}

TaskPool::~TaskPool() {
  state_->stop = true;
  state_->generation.fetch_add(1, std::memory_order_release);
  state_->generation.notify_all();
  for (auto& helper : state_->helpers) helper.join();
}

int TaskPool::threads() const { return static_cast<int>(state_->helpers.size()) + 1; }

void TaskPool::run_erased(size_t tasks, Invoke invoke, void* context) {
  State& s = *state_;
  if (!s.cpus.empty() && s.pinned_caller != std::this_thread::get_id()) {
    pin_to(s.cpus[0]);
    s.pinned_caller = std::this_thread::get_id();
  }
  if (s.helpers.empty() || tasks <= 1) {
    for (size_t task = 0; task < tasks; ++task) invoke(context, task, 0);
    return;
  }
  s.invoke = invoke;
  s.context = context;
  s.tasks = tasks;
  s.next.store(0, std::memory_order_relaxed);
  s.idle.store(0, std::memory_order_relaxed);
  s.generation.fetch_add(1, std::memory_order_release);
  s.generation.notify_all();
  s.work(0);
  const auto helpers = static_cast<uint32_t>(s.helpers.size());
  for (uint32_t done = s.idle.load(std::memory_order_acquire); done != helpers;) done = wait_change(s.idle, done);
}

}  // namespace reprise
