// Design: one generation counter announces a loop; a helper that sees a new generation enters through
// `inside`, claims tasks from `next` until none is left, and leaves. run() works too, then closes the door
// and waits for those inside: a loop's closure never outlives its call, and a helper that the system did not
// schedule in time is not waited for. Spin first (loops follow each other within microseconds), then
// futex-wait.
//
// Invariant: the loop's fields are written only while the door is closed and nobody is inside. A helper that
// comes late finds the door closed, or enters the next loop, which is as good.
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
  static constexpr uint32_t kClosed = uint32_t{1} << 31;

  // The loop in flight.
  Invoke invoke = nullptr;
  void* context = nullptr;
  size_t tasks = 0;

  std::atomic<bool> stop{false};
  alignas(64) std::atomic<uint32_t> generation{0};
  alignas(64) std::atomic<size_t> next{0};
  alignas(64) std::atomic<uint32_t> inside{kClosed};  // helpers at work, and whether more may enter

  std::vector<int> cpus;  // empty: not pinned
  std::thread::id pinned_caller;
  std::vector<std::thread> helpers;

  void work(int worker) {
    for (size_t task; (task = next.fetch_add(1, std::memory_order_relaxed)) < tasks;)
      invoke(context, task, worker);
  }

  bool enter() {
    uint32_t count = inside.load(std::memory_order_relaxed);
    while (!(count & kClosed))
      if (inside.compare_exchange_weak(count, count + 1, std::memory_order_acquire,
                                       std::memory_order_relaxed))
        return true;
    return false;
  }
  void leave() {
    if (inside.fetch_sub(1, std::memory_order_release) == kClosed + 1) inside.notify_one();
  }

  void helper_main(int worker) {
    if (!cpus.empty()) pin_to(cpus[worker % cpus.size()]);
    for (uint32_t seen = 0;;) {
      seen = wait_change(generation, seen);
      if (stop.load(std::memory_order_relaxed)) return;
      if (!enter()) continue;
      work(worker);
      leave();
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
  state_->stop.store(true, std::memory_order_relaxed);
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
  s.inside.store(0, std::memory_order_release);
  s.generation.fetch_add(1, std::memory_order_release);
  s.generation.notify_all();
  s.work(0);
  uint32_t left = s.inside.fetch_or(State::kClosed, std::memory_order_acquire) | State::kClosed;
  while (left != State::kClosed) left = wait_change(s.inside, left);
}

}  // namespace reprise
