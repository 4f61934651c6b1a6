#pragma once

#include <boxcar/backends/transforms/autocast_classes.h>
#include <boxcar/backends/transforms/autocast_state.h>
#include <boxcar/dispatcher/boxing/kernel.h>
#include <boxcar/dispatcher/boxing/kernel_function.h>
#include <boxcar/dispatcher/call/local_dispatch_key_set.h>
#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/ivalue/dispatch_key_set.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>

// Calls in which nothing is cast: they should cost next to nothing.

namespace boxcar::autocast {

constexpr uint32_t dtypeBit(ScalarType dtype) noexcept { return uint32_t{1} << static_cast<uint32_t>(dtype); }

// The dtype of a tensor on [device] as a bit; of no other tensor.
inline uint32_t dtypeBits(const Tensor& tensor, DeviceType device) noexcept {
  return tensor.device().type() == device ? dtypeBit(tensor.scalar_type()) : 0;
}

// Whether a class casts no tensor of these dtypes, and changes nothing else.
inline bool leavesAlone(CastPolicy policy, uint32_t dtypes, DeviceType device) noexcept {
  dtypes &= dtypeBit(ScalarType::Half) | dtypeBit(ScalarType::BFloat16) | dtypeBit(ScalarType::Float);
  const uint32_t lower = dtypeBit(region_dtypes.on(device));
  const uint32_t single = dtypeBit(ScalarType::Float);
  switch (policy) {
    case CastPolicy::lower_precision_fp: return (dtypes & ~lower) == 0;
    case CastPolicy::fp32: return (dtypes & ~single) == 0;
    case CastPolicy::promote: return (dtypes & ~lower) == 0 || (dtypes & ~single) == 0;
    default: return false;
  }
}

// While it lives, the thread excludes keys, as by ExcludeDispatchKeyGuard, but without calls.
class WithoutKey final {
 public:
  explicit WithoutKey(DispatchKey key) noexcept : WithoutKey(DispatchKeySet(key).raw_repr()) {}
  explicit WithoutKey(uint64_t bits) noexcept : kept_before_(raw_local_dispatch_key_set.kept_bits) {
    raw_local_dispatch_key_set.kept_bits = kept_before_ & ~bits;
  }
  ~WithoutKey() { raw_local_dispatch_key_set.kept_bits = kept_before_; }
  WithoutKey(const WithoutKey&) = delete;
  WithoutKey& operator=(const WithoutKey&) = delete;

 private:
  uint64_t kept_before_;
};

// Returns the kernel of [op]'s class on [device] for typed callers: it boxes arguments, for [boxed], only where one is
// cast. Returns [boxed] for classes and C++ types that have none; typed calls of these box. Kernels are never freed.
KernelFunction typedKernel(const OperatorHandle& op, CastPolicy policy, DeviceType device, KernelFunction boxed);

}  // namespace boxcar::autocast
