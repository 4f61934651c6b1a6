#include <boxcar/backends/cpu/onednn/packed_weights.h>

#include <algorithm>

namespace boxcar::cpu::onednn {

bool PackedWeight::hasSources() const {
  return std::ranges::none_of(sources_, [](const auto& source) { return source.first.expired(); });
}

bool PackedWeight::isStale(uint32_t version) const {
  return version_ != version || std::ranges::any_of(sources_, [](const auto& source) {
           const IntrusivePtr<StorageImpl> storage = source.first.lock();
           return !storage || storage->version() != source.second;
         });
}

size_t PackedWeight::bytes() const {
  size_t bytes = bias == nullptr ? 0 : bias->bytes();
  for (const auto& [layout, block] : layouts_) bytes += block == nullptr ? 0 : block->bytes();
  return bytes;
}

IntrusivePtr<PackedWeights> PackedWeights::of(const Tensor& weight) {
  const StorageImpl& storage = *weight.storage();
  IntrusivePtr<Object> attached = attachedTo(storage);
  if (!attached) attached = attach(storage, makeIntrusive<PackedWeights>());
  auto* const packed = dynamic_cast<PackedWeights*>(attached.get());
  // Something else is attached to what has grown: what is packed then lives for one call.
  return packed != nullptr ? IntrusivePtr<PackedWeights>::share(packed) : makeIntrusive<PackedWeights>();
}

PrimitiveKey PackedWeights::keyOf(int64_t kind, const Tensor& weight, std::span<const Tensor* const> others) {
  PrimitiveKey key{kind, static_cast<int64_t>(weight.scalar_type()), weight.version(),
                   reinterpret_cast<int64_t>(weight.data_ptr())};
  key.insert(key.end(), weight.sizes().begin(), weight.sizes().end());
  key.insert(key.end(), weight.strides().begin(), weight.strides().end());
  for (const Tensor* other : others) {
    if (!other->defined()) {
      key.push_back(0);
      continue;
    }
    const int64_t parts[] = {reinterpret_cast<int64_t>(other->storage().get()),
                             reinterpret_cast<int64_t>(other->data_ptr()), other->version(),
                             static_cast<int64_t>(other->scalar_type()), other->strides()[0]};
    key.insert(key.end(), std::begin(parts), std::end(parts));
  }
  return key;
}

PackedWeight* PackedWeights::find(const PrimitiveKey& key) {
  const auto found = weights_.find(key);
  if (found == weights_.end()) return nullptr;
  if (found->second.hasSources()) return &found->second;
  weights_.erase(found);
  return nullptr;
}

PackedWeight& PackedWeights::insert(const Tensor& weight, const PrimitiveKey& key,
                                    std::span<const Tensor* const> others) {
  std::erase_if(weights_, [&](const auto& entry) { return entry.second.isStale(weight.version()); });
  PackedWeight packed;
  packed.version_ = weight.version();
  for (const Tensor* other : others) {
    // A weak reference to the weight's own storage would not tell more than that these packed weights live.
    if (!other->defined() || other->storage().get() == weight.storage().get()) continue;
    packed.sources_.emplace_back(WeakIntrusivePtr<StorageImpl>(other->storage()), other->version());
  }
  return weights_.emplace(key, std::move(packed)).first->second;
}

void PackedWeights::remember(PackedWeight& packed, const PrimitiveKey& call, const PackedWeight::Plan& plan) {
  if (packed.plans_.size() == PackedWeight::kMostPlans) packed.plans_.erase(packed.plans_.begin());
  packed.plans_.emplace_back(call, plan);
}

void PackedWeights::limit(size_t bytes) {
  constexpr size_t kTimes = 8;  // three channels are padded to sixteen, and there may be two layouts
  constexpr size_t kAlways = size_t{1} << 20;
  constexpr size_t kEntry = 1024;  // about what one takes without its elements
  size_t taken = weights_.size() * kEntry;
  for (const auto& [key, packed] : weights_) taken += packed.bytes();
  if (taken > kTimes * bytes + kAlways) weights_.clear();
}

}  // namespace boxcar::cpu::onednn
