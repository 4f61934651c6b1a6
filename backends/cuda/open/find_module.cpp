#include <boxcar/backends/cuda/module.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

namespace boxcar::cuda {
namespace {

constexpr const char* kFile = "libboxcar_cuda.so";

// Next to the library that contains this code.
std::string pathOfModule() {
  Dl_info self;
  if (::dladdr(reinterpret_cast<const void*>(&pathOfModule), &self) == 0 || self.dli_fname == nullptr) return kFile;
  return (std::filesystem::path(self.dli_fname).parent_path() / kFile).string();
}

}  // namespace

const Module* findModule(std::string& why) {
  const std::string path = pathOfModule();
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    why = fmt::format("boxcar's kernels for it cannot be opened ({})", ::dlerror());
    return nullptr;
  }
  auto* const get = reinterpret_cast<decltype(&boxcarCudaModule)>(::dlsym(library, "boxcarCudaModule"));
  const Module* const module = get != nullptr ? get() : nullptr;
  if (module == nullptr || module->format != Module::kFormat) {
    why = fmt::format("'{}' is of another version of boxcar", path);
    return nullptr;
  }
  return module;
}

}  // namespace boxcar::cuda
