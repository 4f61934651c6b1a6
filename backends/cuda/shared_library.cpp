#include <boxcar/backends/cuda/shared_library.h>
#include <boxcar/ivalue/error.h>
#include <dlfcn.h>
#include <fmt/format.h>

namespace boxcar::cuda {

SharedLibrary::SharedLibrary(std::string_view name, std::initializer_list<const char*> files)
    : name_(name), files_(files) {}

void SharedLibrary::open(std::string_view op) {
  std::string reason;
  for (const char* file : files_) {
    handle_ = ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) return;
    if (reason.empty()) reason = ::dlerror();
  }
  BOXCAR_FAIL(
      "{} on a CUDA device needs {}, which cannot be opened ({}). Install {} for this version of CUDA, or add its "
      "folder "
      "to LD_LIBRARY_PATH",
      op, name_, reason, name_);
}

void* SharedLibrary::handle(std::string_view op) {
  const std::lock_guard lock(mutex_);
  if (handle_ == nullptr) open(op);
  return handle_;
}

void* SharedLibrary::find(const char* symbol, std::string_view op) {
  void* const found = ::dlsym(handle(op), symbol);
  BOXCAR_CHECK(found != nullptr, "{} on a CUDA device needs {} of {}, which the installed version lacks; update it", op,
               symbol, name_);
  return found;
}

}  // namespace boxcar::cuda
