#pragma once

#include <boxcar/backends/transforms/autocast.h>
#include <boxcar/ivalue/dispatch_key.h>

// What a thread knows about its regions.

namespace boxcar::autocast {

// The dtypes of the thread's regions on the CPU and on CUDA. Every call of a class reads one, so this is a variable
// that needs no initialisation, as raw_local_dispatch_key_set is.
struct RegionDtypes {
  ScalarType cpu;
  ScalarType cuda;

  ScalarType& on(DeviceType device) noexcept { return device == DeviceType::CUDA ? cuda : cpu; }
};
extern constinit thread_local RegionDtypes region_dtypes __attribute__((tls_model("initial-exec")));

// Registers the kernels for regions on [device], unless that was done.
void registerKernelsOn(DeviceType device);

constexpr DispatchKey autocastKeyOf(DeviceType device) noexcept {
  return device == DeviceType::CUDA ? DispatchKey::AutocastCUDA : DispatchKey::AutocastCPU;
}

// Reads the name of a device with autocast. Errors begin with [what].
DeviceType autocastDevice(std::string_view what, std::string_view name);

// Whether autocast on [device] may cast [tensor].
inline bool isEligible(const Tensor& tensor, DeviceType device) noexcept {
  return tensor.defined() && tensor.device().type() == device && tensor.is_floating_point() &&
         tensor.scalar_type() != ScalarType::Double;
}

}  // namespace boxcar::autocast
