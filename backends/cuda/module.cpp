#include <boxcar/backends/cuda/device.h>
#include <boxcar/backends/cuda/module.h>
#include <boxcar/ivalue/error.h>

namespace boxcar::cuda {

const Module& module() {
  static const Module* const found = [] {
    std::string why;
    const Module* const opened = findModule(why);
    BOXCAR_CHECK(opened != nullptr, "device 'cuda': {}; use 'cpu'", why);
    return opened;
  }();
  return *found;
}

const Driver& driver() { return *module().driver; }

}  // namespace boxcar::cuda
