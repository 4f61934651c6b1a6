#include <boxcar/backends/cpu/openblas/library.h>
#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace boxcar::cpu::openblas {
namespace {

#if defined(__x86_64__)
#define BOXCAR_TRIPLE "x86_64-linux-gnu"
#elif defined(__aarch64__)
#define BOXCAR_TRIPLE "aarch64-linux-gnu"
#else
#define BOXCAR_TRIPLE "unknown"
#endif

// The variant that shares OpenMP's threads comes first: the others start their own threads when they are opened.
constexpr const char* kPaths[] = {"/usr/lib/" BOXCAR_TRIPLE "/openblas-openmp/libopenblas.so.0", "libopenblas.so.0",
                                  "libopenblas.so"};

// A package may have its own copy in the folder of the library that contains this code: the one of Python does.
constexpr const char* kOwnCopy = "libboxcar_openblas.so";

std::string pathOfOwnCopy() {
  Dl_info self;
  if (dladdr(reinterpret_cast<const void*>(&pathOfOwnCopy), &self) == 0 || self.dli_fname == nullptr) return kOwnCopy;
  return (std::filesystem::path(self.dli_fname).parent_path() / kOwnCopy).string();
}

bool hasAvx512() {
#ifdef __x86_64__
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
#else
  return false;
#endif
}

void* open() {
  // OpenBLAS treats unknown CPUs as Haswell, even those with AVX-512, and reads the environment only while it is
  // opened.
  constexpr const char* kCoreType = "OPENBLAS_CORETYPE";
  const bool tells = hasAvx512() && std::getenv(kCoreType) == nullptr;
  if (tells) setenv(kCoreType, "SkylakeX", /*overwrite=*/0);
  void* library = dlopen(pathOfOwnCopy().c_str(), RTLD_NOW | RTLD_LOCAL);
  for (const char* path : kPaths) {
    if (library == nullptr) library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  }
  if (tells) unsetenv(kCoreType);
  return library;
}

void* library() {
  static void* const library = open();
  return library;
}

}  // namespace

bool isAvailable() { return library() != nullptr; }

void* findSymbol(const char* name) { return isAvailable() ? dlsym(library(), name) : nullptr; }

Threads::Threads() : scope_(threadCount()) {
  // The scope sets the thread count of the OpenMP variant; this function sets it for the others.
  using SetThreads = void (*)(int);
  static const auto set = reinterpret_cast<SetThreads>(findSymbol("openblas_set_num_threads"));
  static std::atomic<int> told = 0;
  const int count = threadCount();
  if (set != nullptr && told.exchange(count) != count) set(count);
}

}  // namespace boxcar::cpu::openblas
