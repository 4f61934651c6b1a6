#include <boxcar/backends/autograd/history.h>
#include <boxcar/backends/transforms/autocast_classes.h>
#include <boxcar/backends/transforms/autocast_state.h>
#include <boxcar/dispatcher/call/grad_mode.h>
#include <boxcar/dispatcher/call/local_dispatch_key_set.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/weak_ptr.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>

namespace boxcar::autocast {
namespace {

struct KeptCast {
  WeakIntrusivePtr<TensorImpl> source;  // so that no other tensor gets the same address
  uint32_t version;
  Tensor result;
};

struct ThreadState {
  bool cache_enabled = true;
  int nesting = 0;
  std::unordered_map<const TensorImpl*, KeptCast> casts;
};

ThreadState& threadState() {
  thread_local ThreadState state;
  return state;
}

void checkDevice(DeviceType device) {
  BOXCAR_CHECK(is_autocast_available(device), "autocast: there is none on '{}'; it is for \"cpu\" and \"cuda\"",
               toString(device));
}

// Leaves are cast once for a region, as weights are used in many calls.
bool isKept(ScalarType dtype, const Tensor& tensor, DeviceType device) {
  return tensor.scalar_type() == ScalarType::Float && tensor.requires_grad() && dtype == region_dtypes.on(device) &&
         threadState().cache_enabled && GradMode::is_enabled() && tensor.unsafeGetTensorImpl()->base() == nullptr &&
         autograd::gradFn(tensor) == nullptr;
}

}  // namespace

constinit thread_local RegionDtypes region_dtypes = {ScalarType::BFloat16, ScalarType::Half};

DeviceType autocastDevice(std::string_view what, std::string_view name) {
  const std::optional<DeviceType> device = parseDeviceType(name);
  BOXCAR_CHECK(device.has_value() && is_autocast_available(*device),
               "{}: there is no autocast on '{}'; it is for \"cpu\" and \"cuda\"", what, name);
  return *device;
}

bool is_autocast_available(DeviceType device) noexcept { return std::ranges::find(kDevices, device) != kDevices.end(); }

bool is_autocast_enabled(DeviceType device) noexcept {
  if (!is_autocast_available(device)) return false;
  const DispatchKey key = autocastKeyOf(device);
  return tls_is_dispatch_key_included(key) && !tls_is_dispatch_key_excluded(key);
}

// Tensors do not bring the keys: the thread includes that of the device.
void set_autocast_enabled(DeviceType device, bool enabled) {
  checkDevice(device);
  if (enabled) registerKernelsOn(device);
  const DispatchKey key = autocastKeyOf(device);
  tls_set_dispatch_key_included(key, enabled);
  tls_set_dispatch_key_excluded(key, !enabled);
}

ScalarType get_autocast_dtype(DeviceType device) {
  checkDevice(device);
  return region_dtypes.on(device);
}

void set_autocast_dtype(DeviceType device, ScalarType dtype) {
  checkDevice(device);
  region_dtypes.on(device) = dtype;
}

bool is_autocast_cache_enabled() noexcept { return threadState().cache_enabled; }

void set_autocast_cache_enabled(bool enabled) noexcept { threadState().cache_enabled = enabled; }

void clear_cache() noexcept {
  // Apart: what dies with a cast may call operators.
  const auto dying = std::exchange(threadState().casts, {});
}

Tensor cached_cast(ScalarType dtype, const Tensor& tensor, DeviceType device) {
  if (!isEligible(tensor, device) || tensor.scalar_type() == dtype) return tensor;
  if (!isKept(dtype, tensor, device)) return boxcar::_to_copy(tensor, dtype);
  TensorImpl* const impl = tensor.unsafeGetTensorImpl();
  auto& casts = threadState().casts;
  const auto found = casts.find(impl);
  if (found != casts.end() && found->second.version == tensor.version() && found->second.result.dtype() == dtype) {
    return found->second.result;
  }
  Tensor result = boxcar::_to_copy(tensor, dtype);
  const auto source = IntrusivePtr<TensorImpl>::share(impl);
  casts.insert_or_assign(impl, KeptCast{WeakIntrusivePtr<TensorImpl>(source), tensor.version(), result});
  return result;
}

AutocastGuard::AutocastGuard(DeviceType device, std::optional<ScalarType> dtype, bool enabled,
                             std::optional<bool> cache_enabled)
    : device_(device),
      enabled_before_(is_autocast_enabled(device)),
      dtype_before_(get_autocast_dtype(device)),
      cache_enabled_before_(is_autocast_cache_enabled()) {
  const ScalarType chosen = dtype.value_or(dtype_before_);
  BOXCAR_CHECK(!enabled || chosen == ScalarType::BFloat16 || chosen == ScalarType::Half,
               "autocast(\"{}\"): {} is no dtype of lower precision; give it bfloat16 or float16, or enabled=False",
               toString(device), dtypeName(chosen));
  set_autocast_enabled(device, enabled);
  set_autocast_dtype(device, chosen);
  set_autocast_cache_enabled(cache_enabled.value_or(cache_enabled_before_));
  ++threadState().nesting;
}

AutocastGuard::~AutocastGuard() {
  if (--threadState().nesting == 0) clear_cache();
  const DispatchKey key = autocastKeyOf(device_);
  tls_set_dispatch_key_included(key, enabled_before_);
  tls_set_dispatch_key_excluded(key, !enabled_before_);
  region_dtypes.on(device_) = dtype_before_;
  threadState().cache_enabled = cache_enabled_before_;
}

}  // namespace boxcar::autocast
