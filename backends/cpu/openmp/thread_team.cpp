#include <boxcar/backends/cpu/thread_team.h>
#include <omp.h>
#include <pthread.h>

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

namespace boxcar::cpu {
namespace {

// ThreadSanitizer does not see into the OpenMP library, so it is told which order the start and end of a team
// establish.
#ifdef __SANITIZE_THREAD__
#define BOXCAR_UNSEEN __attribute__((no_sanitize("thread")))
struct TeamOrder {
  void begin() { __tsan_release(&begun); }
  void enter() { __tsan_acquire(&begun); }
  void leave() { __tsan_release(&ended); }
  void end() { __tsan_acquire(&ended); }
  char begun, ended;
};
#else
#define BOXCAR_UNSEEN
struct TeamOrder {
  void begin() {}
  void enter() {}
  void leave() {}
  void end() {}
};
#endif

// OpenMP's threads stay in the parent when a process forks, and the child would wait for them forever.
bool is_child = false;

void noteForks() {
  [[maybe_unused]] static const int noted = pthread_atfork(nullptr, nullptr, [] { is_child = true; });
}

}  // namespace

const bool kHasThreadTeam = true;

int teamSize() { return omp_get_num_procs(); }

BOXCAR_UNSEEN void runTeam(int parts, CallableRef<void(int)> work) {
  noteForks();
  if (is_child) {
    for (int part = 0; part < parts; ++part) work(part);
    return;
  }
  [[maybe_unused]] TeamOrder order;
  order.begin();
  // A team may be smaller than requested, so parts are assigned by number.
#pragma omp parallel for num_threads(parts) schedule(static, 1)
  for (int part = 0; part < parts; ++part) {
    order.enter();
    work(part);
    order.leave();
  }
  order.end();
}

LibraryThreads::LibraryThreads(int count) : before_(omp_get_max_threads()) {
  noteForks();
  omp_set_num_threads(is_child ? 1 : count);
}
LibraryThreads::~LibraryThreads() { omp_set_num_threads(before_); }

}  // namespace boxcar::cpu
