// The compute pool: a fixed set of pinned threads that run one parallel loop at a time.
//
// The calling thread takes part as worker 0, so a pool of n uses n - 1 threads of its own. Tasks are claimed
// one by one from a shared counter, hence a preempted thread never holds back more than the task it is in;
// one that is not even running when a loop comes and goes is not waited for. Between loops the threads spin
// for at most 20 microseconds and then sleep, because workers and sockets share the cores. Method:
// self-scheduling loop (Kruskal and Weiss, "Allocating independent subtasks on parallel processors", 1985).
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>

namespace reprise {

class TaskPool {
 public:
  // threads >= 1, the caller included. `pin` binds worker i to the i-th CPU this process may run on; worker 0
  // (the caller) is bound when it first calls run(); a later, different caller likewise.
  explicit TaskPool(int threads, bool pin = true);
  ~TaskPool();
  TaskPool(const TaskPool&) = delete;
  TaskPool& operator=(const TaskPool&) = delete;

  int threads() const;

  // Calls f(task, worker) once for every task in [0, tasks), worker in [0, threads()), and returns when all
  // are done; their writes are visible to the caller. Tasks may run in any order. Not reentrant; one caller
  // at a time.
  template <typename F>
  void run(size_t tasks, F&& f) {
    using Fn = std::remove_reference_t<F>;
    run_erased(
        tasks, [](void* context, size_t task, int worker) { (*static_cast<Fn*>(context))(task, worker); },
        const_cast<std::remove_const_t<Fn>*>(&f));
  }

 private:
  using Invoke = void (*)(void* context, size_t task, int worker);
  void run_erased(size_t tasks, Invoke invoke, void* context);
  struct State;
  std::unique_ptr<State> state_;
};

// CPUs this process may run on (respects affinity masks and cgroup cpusets); at least 1.
int usable_cpus();

}  // namespace reprise
