#include <boxcar/backends/cpu/thread_team.h>
#include <omp.h>

namespace boxcar::cpu {

const bool kHasThreadTeam = true;

int teamSize() { return omp_get_num_procs(); }

void runTeam(int parts, CallableRef<void(int)> work) {
  // A team may be smaller than what is asked for, so parts are handed out by number.
#pragma omp parallel for num_threads(parts) schedule(static, 1)
  for (int part = 0; part < parts; ++part) work(part);
}

LibraryThreads::LibraryThreads(int count) : before_(omp_get_max_threads()) { omp_set_num_threads(count); }
LibraryThreads::~LibraryThreads() { omp_set_num_threads(before_); }

}  // namespace boxcar::cpu
