#include <boxcar/backends/cpu/thread_team.h>

#include <dlfcn.h>

namespace boxcar::cpu {
namespace {

void setOpenMpThreads(int count) {
  using SetThreads = void (*)(int);
  if (const auto set = reinterpret_cast<SetThreads>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"))) set(count);
}

}  // namespace

const bool kHasThreadTeam = false;

int teamSize() { return 1; }

void runTeam(int parts, CallableRef<void(int)> work) {
  for (int part = 0; part < parts; ++part) work(part);
}

LibraryThreads::LibraryThreads(int count) : before_(count) {
  // A library may have loaded OpenMP.
  using GetThreads = int (*)();
  if (const auto get = reinterpret_cast<GetThreads>(dlsym(RTLD_DEFAULT, "omp_get_max_threads"))) before_ = get();
  setOpenMpThreads(count);
}
LibraryThreads::~LibraryThreads() { setOpenMpThreads(before_); }

}  // namespace boxcar::cpu
