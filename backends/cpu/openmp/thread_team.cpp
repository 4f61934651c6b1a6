#include <boxcar/backends/cpu/thread_team.h>
#include <omp.h>
#include <pthread.h>

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

namespace boxcar::cpu {
namespace {

// ThreadSanitizer does not see into the library of OpenMP: it is told what a team's begin and end put in order.
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

// The threads of OpenMP stay behind in the parent where a process forks, and the child would wait for them for ever.
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
  // A team may be smaller than what is asked for, so parts are handed out by number.
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
