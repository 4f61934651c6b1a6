#pragma once

#include <boxcar/backends/cpu/onednn/buffer.h>
#include <boxcar/backends/cpu/onednn/primitive_cache.h>
#include <boxcar/ivalue/tensor.h>
#include <boxcar/ivalue/weak_ptr.h>

#include <oneapi/dnnl/dnnl.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace boxcar::cpu::onednn {

// A weight as primitives want it, with what was folded into it. It is made once from a weight and other tensors, and is
// valid while none of them is written to or dies.
class PackedWeight final {
 public:
  // What kernels want to keep with a packed weight: a prepared primitive with its operands. It is null if oneDNN has
  // none.
  using Plan = std::shared_ptr<const void>;
  using Block = std::shared_ptr<const Buffer>;

  // The folded bias, made by the first that needs it.
  Block bias;

  // Whether there are elements in some layout.
  bool hasElements() const { return !layouts_.empty(); }

  // Returns the elements in [layout]: those that an earlier plan wanted, or what make() returns.
  template <class Make>
  Block elements(const dnnl::memory::desc& layout, Make&& make) {
    for (const auto& [known, block] : layouts_) {
      if (known == layout) return block;
    }
    layouts_.emplace_back(layout, std::forward<Make>(make)());
    return layouts_.back().second;
  }

 private:
  friend class PackedWeights;

  static constexpr size_t kMostPlans = 16;

  // Whether the tensors beside the weight are those of the key: another at the same address is another.
  bool hasSources() const;
  // Whether no further call can find it.
  bool isStale(uint32_t version) const;
  size_t bytes() const;

  uint32_t version_ = 0;  // of the weight
  std::vector<std::pair<WeakIntrusivePtr<StorageImpl>, uint32_t>> sources_;
  std::vector<std::pair<dnnl::memory::desc, Block>> layouts_;
  std::vector<std::pair<PrimitiveKey, Plan>> plans_;  // the most recently made comes last
};

// The packed weights that were made from one storage. They live as long as it does.
class PackedWeights final : public Object {
 public:
  // Returns those of the storage of [weight].
  static IntrusivePtr<PackedWeights> of(const Tensor& weight);

  // Returns the key of what is made from [weight] and [others], which may be undefined, for use [kind].
  static PrimitiveKey keyOf(int64_t kind, const Tensor& weight, std::span<const Tensor* const> others);

  // Returns the plan for a call of [call] with a weight of key [weight_key], which make(PackedWeight&) returns when it
  // is first needed. Threads that need one made of the same storage wait meanwhile.
  template <class Make>
  PackedWeight::Plan get(const Tensor& weight, const PrimitiveKey& weight_key, std::span<const Tensor* const> others,
                         const PrimitiveKey& call, Make&& make) {
    const std::lock_guard guard(mutex_);
    PackedWeight* packed = find(weight_key);
    if (packed != nullptr) {
      for (const auto& [known, plan] : packed->plans_) {
        if (known == call) return plan;
      }
    } else {
      packed = &insert(weight, weight_key, others);
    }
    PackedWeight::Plan plan = std::forward<Make>(make)(*packed);
    remember(*packed, call, plan);
    limit(weight.storage()->nbytes());
    return plan;
  }

 private:
  struct Hash {
    size_t operator()(const PrimitiveKey& key) const { return boost::hash_range(key.begin(), key.end()); }
  };

  PackedWeight* find(const PrimitiveKey& key);
  PackedWeight& insert(const Tensor& weight, const PrimitiveKey& key, std::span<const Tensor* const> others);
  static void remember(PackedWeight& packed, const PrimitiveKey& call, const PackedWeight::Plan& plan);
  // Drops all if they take many times the [bytes] of the storage, as of a program that convolves with ever other parts
  // of it.
  void limit(size_t bytes);

  std::mutex mutex_;
  std::unordered_map<PrimitiveKey, PackedWeight, Hash> weights_;
};

}  // namespace boxcar::cpu::onednn
