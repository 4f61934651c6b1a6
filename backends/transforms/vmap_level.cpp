#include <boxcar/backends/transforms/batched_tensor.h>
#include <boxcar/backends/transforms/vmap_level.h>
#include <boxcar/dispatcher/call/local_dispatch_key_set.h>
#include <boxcar/dispatcher/call/mode_levels.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

namespace boxcar::transforms {
namespace {

// Null unless the thread is in a call of func::vmap().
constinit thread_local std::vector<VmapLevelInfo>* vmap_levels __attribute__((tls_model("initial-exec"))) = nullptr;
constinit thread_local size_t active_vmap_levels __attribute__((tls_model("initial-exec"))) = 0;

void activateVmapLevels(size_t count) noexcept {
  constexpr uint64_t kMode = DispatchKeySet(DispatchKey::FuncTorchVmapMode).raw_repr();
  active_vmap_levels = count;
  if (boxcar::detail::mode_levels != nullptr) [[unlikely]]
    return tls_set_dispatch_key_included(DispatchKey::FuncTorchVmapMode, count != 0);
  // As tls_set_dispatch_key_included() does, but without a call: each call of an operator is here twice.
  uint64_t& included = raw_local_dispatch_key_set.included_bits;
  included = count != 0 ? included | kMode : included & ~kMode;
}

}  // namespace

Randomness parseRandomness(std::string_view name) {
  if (name == "error") return Randomness::kError;
  if (name == "same") return Randomness::kSame;
  BOXCAR_CHECK(name == "different", "Only allowed values for randomness are 'error', 'different', or 'same'. Got {}",
               name);
  return Randomness::kDifferent;
}

VmapLevel::VmapLevel(int64_t batch, Randomness randomness, std::string_view transform) : index_(active_vmap_levels) {
  static std::atomic<uint64_t> next = 1;
  registerBatchedKernels();
  level_ = next.fetch_add(1, std::memory_order_relaxed);
  if (vmap_levels == nullptr) vmap_levels = new std::vector<VmapLevelInfo>;
  vmap_levels->insert(vmap_levels->begin() + static_cast<ptrdiff_t>(index_), {level_, batch, randomness, transform});
  activateVmapLevels(index_ + 1);
}

VmapLevel::~VmapLevel() {
  vmap_levels->erase(vmap_levels->begin() + static_cast<ptrdiff_t>(index_));
  if (vmap_levels->empty()) delete std::exchange(vmap_levels, nullptr);
  activateVmapLevels(index_);
}

std::span<const VmapLevelInfo> vmapLevels() noexcept {
  if (vmap_levels == nullptr) return {};
  return std::span(*vmap_levels).first(active_vmap_levels);
}

bool isInsideVmap() noexcept { return vmap_levels != nullptr; }

const VmapLevelInfo& vmapLevelOf(uint64_t level) {
  const std::vector<VmapLevelInfo>* const all = vmap_levels;
  if (all != nullptr) {
    const auto found = std::ranges::find(*all, level, &VmapLevelInfo::level);
    if (found != all->end()) return *found;
  }
  BOXCAR_FAIL("a tensor of a call of func::vmap() that is over was kept; the function must return what is used later");
}

size_t vmapLevelsAround(uint64_t level) {
  const VmapLevelInfo& found = vmapLevelOf(level);
  return std::min(static_cast<size_t>(&found - vmap_levels->data()), active_vmap_levels);
}

OuterVmapLevels::OuterVmapLevels(size_t count) noexcept : before_(active_vmap_levels) { activateVmapLevels(count); }
OuterVmapLevels::~OuterVmapLevels() { activateVmapLevels(before_); }

Tensor toPhysical(const Tensor& tensor, std::span<const VmapLevelInfo> levels) {
  Tensor physical = tensor;
  for (size_t i = levels.size(); i-- > 0;) {
    const Tensor inner = withoutLevel(physical, levels[i].level);
    physical = inner.defined() ? inner : expandedBy(physical, levels[i].batch);
  }
  return physical;
}

Tensor fromPhysical(const Tensor& tensor, std::span<const VmapLevelInfo> levels) {
  Tensor batched = tensor;
  for (const VmapLevelInfo& level : levels) batched = withLevel(batched, level.level);
  return batched;
}

}  // namespace boxcar::transforms
