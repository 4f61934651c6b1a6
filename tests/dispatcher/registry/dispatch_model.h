#pragma once

// A slow and obvious model of the dispatcher: the rules of PyTorch's documentation for tables, evaluated for each table
// entry and call, without any cache. It shares only the names of the keys with the tested code, so it lists again what
// each alias key stands for.

#include <boxcar/ivalue/dispatch_key.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <list>
#include <map>
#include <optional>
#include <vector>

namespace boxcar {

// The result of a call: a kernel's number, or one of these.
inline constexpr int kUndefined = -1;
inline constexpr int kMissing = -2;
inline constexpr int kAmbiguous = -3;
inline constexpr int kThrough = -4;

struct ModelKernel {
  DispatchKey key;
  int number;  // kThrough: a fallthrough
};

class DispatchModel {
 public:
  using Key = DispatchKey;

  struct Operator {
    bool is_defined = false;
    std::list<ModelKernel> kernels;  // newest first
  };
  std::array<Operator, 3> operators;
  std::map<Key, int> fallbacks;

  int table_entry(const Operator& op, Key key) const {
    if (!op.is_defined) return kUndefined;
    // 1. The key's own kernel.
    if (const auto own = newest(op, key)) return *own;
    // 2. The first of these aliases that stands for the key.
    const auto of_alias = [&](Key alias) { return standsFor(alias, key) ? newest(op, alias) : std::nullopt; };
    if (const auto kernel = of_alias(Key::CompositeExplicitAutogradNonFunctional)) return *kernel;
    if (const auto kernel = of_alias(Key::CompositeExplicitAutograd)) return *kernel;
    if (const auto kernel = of_alias(Key::CompositeImplicitAutogradNestedTensor)) return *kernel;
    if (const auto kernel = of_alias(Key::CompositeImplicitAutograd)) {
      const bool backend_has_one =
          std::ranges::any_of(op.kernels, [&](const ModelKernel& other) { return isDifferentiatedAt(other.key, key); });
      if (key == Key::AutogradOther && backend_has_one) return kAmbiguous;
      if (!backend_has_one && !newest(op, Key::CompositeExplicitAutograd)) return *kernel;
    }
    if (const auto kernel = of_alias(Key::Autograd)) return *kernel;
    if (const auto kernel = of_alias(Key::FuncTorchBatchedDecomposition)) return *kernel;
    // 3. The fallback, which serves every operator at the key.
    if (const auto fallback = fallbacks.find(key); fallback != fallbacks.end()) return fallback->second;
    const bool lets_through = isAutograd(key) || is(key, {Key::BackendSelect, Key::ADInplaceOrView, Key::VmapMode,
                                                          Key::FuncTorchVmapMode, Key::AutocastCPU, Key::AutocastCUDA});
    return lets_through ? kThrough : kMissing;
  }

  // Returns the result of a call with the runtime keys [keys], at most one of which is a backend.
  int call(const Operator& op, const std::vector<Key>& keys) const {
    std::vector<Key> from_highest = keys;
    std::ranges::sort(from_highest, [](Key a, Key b) { return toFunctionalityKey(a) > toFunctionalityKey(b); });
    for (const Key key : from_highest) {
      const int found = table_entry(op, key);
      if (found != kThrough) return found;
    }
    const int last = table_entry(op, Key::Undefined);
    return last == kThrough ? kMissing : last;
  }

 private:
  static bool is(Key key, std::initializer_list<Key> keys) { return std::ranges::find(keys, key) != keys.end(); }
  static bool isAutograd(Key key) {
    return is(toFunctionalityKey(key), {Key::AutogradFunctionality, Key::AutogradOther, Key::AutogradNestedTensor});
  }
  // Returns whether the key is under AutogradOther: a backend without an autograd key of its own.
  static bool isUnderAutogradOther(Key key) {
    return is(toFunctionalityKey(key),
              {Key::FPGA, Key::ORT, Key::Vulkan, Key::Metal, Key::SparseCsrCPU, Key::SparseCsrCUDA, Key::CustomRNGKeyId,
               Key::MkldnnCPU, Key::Sparse, Key::Quantized});
  }
  static bool isBackend(Key key) { return toFunctionalityKey(key) == Key::Dense || isUnderAutogradOther(key); }
  static bool isNestedTensor(Key key) { return toFunctionalityKey(key) == Key::NestedTensor; }

  // Returns whether a kernel for [alias] also serves the runtime key [key]. A call without tensors, at Undefined, can
  // use the composites that serve any backend, too.
  static bool standsFor(Key alias, Key key) {
    const bool undefined = key == Key::Undefined;
    switch (alias) {
      case Key::Autograd: return isAutograd(key);
      case Key::FuncTorchBatchedDecomposition: return key == Key::FuncTorchBatched;
      case Key::CompositeExplicitAutograd: return undefined || isBackend(key);
      case Key::CompositeExplicitAutogradNonFunctional: {
        // Backends that make views and in-place operators functional need kernels of their own.
        const bool is_functional = toFunctionalityKey(key) == Key::Sparse ||
                                   (isBackend(key) && (toBackendComponent(key) == BackendComponent::XLABit ||
                                                       toBackendComponent(key) == BackendComponent::LazyBit));
        return undefined || (isBackend(key) && !is_functional);
      }
      case Key::CompositeImplicitAutogradNestedTensor:
        return isNestedTensor(key) || toFunctionalityKey(key) == Key::AutogradNestedTensor;
      case Key::CompositeImplicitAutograd:
        return undefined || isBackend(key) || isAutograd(key) || isNestedTensor(key) || key == Key::Functionalize;
      default: return false;
    }
  }

  static std::optional<int> newest(const Operator& op, Key key) {
    for (const ModelKernel& kernel : op.kernels) {
      if (kernel.key == key) return kernel.number;
    }
    return std::nullopt;
  }
  // Returns whether the autograd key [autograd] differentiates kernels for [backend].
  static bool isDifferentiatedAt(Key backend, Key autograd) {
    switch (toFunctionalityKey(autograd)) {
      case Key::AutogradFunctionality:
        return toFunctionalityKey(backend) == Key::Dense && toBackendComponent(backend) == toBackendComponent(autograd);
      case Key::AutogradNestedTensor: return isNestedTensor(backend);
      case Key::AutogradOther: return isUnderAutogradOther(backend);
      default: return false;
    }
  }
};

}  // namespace boxcar
