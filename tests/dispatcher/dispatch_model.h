#pragma once

// A model of the dispatcher that is slow and obvious: the rules of the table as they are written down, cell by cell and
// call by call; nothing is kept.

#include <boxcar/ivalue/dispatch_key.h>
#include <boxcar/ivalue/dispatch_key_set.h>

#include <algorithm>
#include <array>
#include <list>
#include <map>
#include <optional>
#include <vector>

namespace boxcar {

// What a call gives: a kernel's number, or one of these.
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

  int cell(const Operator& op, Key key) const {
    if (!op.is_defined) return kUndefined;
    if (const auto own = newest(op, key)) return *own;
    for (const Key alias : {Key::CompositeExplicitAutogradNonFunctional, Key::CompositeExplicitAutograd}) {
      if (key != Key::Undefined && !getRuntimeDispatchKeySet(alias).has(key)) continue;
      if (const auto kernel = newest(op, alias)) return *kernel;
    }
    if (key != Key::Undefined && getRuntimeDispatchKeySet(Key::CompositeImplicitAutogradNestedTensor).has(key)) {
      if (const auto kernel = newest(op, Key::CompositeImplicitAutogradNestedTensor)) return *kernel;
    }
    if (key == Key::Undefined || getRuntimeDispatchKeySet(Key::CompositeImplicitAutograd).has(key)) {
      if (const auto kernel = newest(op, Key::CompositeImplicitAutograd)) {
        const bool backend_has_one = hasKernelOfBackend(op, key);
        if (key == Key::AutogradOther && backend_has_one) return kAmbiguous;
        const bool explicit_one = isAutograd(key) && newest(op, Key::CompositeExplicitAutograd).has_value();
        if (!backend_has_one && !explicit_one) return *kernel;
      }
    }
    for (const Key alias : {Key::Autograd, Key::FuncTorchBatchedDecomposition}) {
      if (key == Key::Undefined || !getRuntimeDispatchKeySet(alias).has(key)) continue;
      if (const auto kernel = newest(op, alias)) return *kernel;
    }
    if (const auto fallback = fallbacks.find(key); fallback != fallbacks.end()) return fallback->second;
    const bool lets_through = key == Key::BackendSelect || key == Key::ADInplaceOrView || isAutograd(key);
    return lets_through ? kThrough : kMissing;
  }

  // Of a call with the runtime keys [keys], which have one backend at most.
  int call(const Operator& op, const std::vector<Key>& keys) const {
    std::vector<Key> from_highest = keys;
    std::ranges::sort(from_highest, [](Key a, Key b) { return toFunctionalityKey(a) > toFunctionalityKey(b); });
    for (const Key key : from_highest) {
      const int found = cell(op, key);
      if (found != kThrough) return found;
    }
    const int last = cell(op, Key::Undefined);
    return last == kThrough ? kMissing : last;
  }

 private:
  static bool isAutograd(Key key) {
    const Key functionality = toFunctionalityKey(key);
    return functionality == Key::AutogradFunctionality || functionality == Key::AutogradOther ||
           functionality == Key::AutogradNestedTensor;
  }
  static std::optional<int> newest(const Operator& op, Key key) {
    for (const ModelKernel& kernel : op.kernels) {
      if (kernel.key == key) return kernel.number;
    }
    return std::nullopt;
  }
  // Whether a backend that the autograd key [autograd] serves has a kernel of its own.
  static bool hasKernelOfBackend(const Operator& op, Key autograd) {
    const Key functionality = toFunctionalityKey(autograd);
    return std::ranges::any_of(op.kernels, [&](const ModelKernel& kernel) {
      if (isAliasDispatchKey(kernel.key) || kernel.key == Key::Undefined) return false;
      const Key backend = toFunctionalityKey(kernel.key);
      if (functionality == Key::AutogradFunctionality) {
        return backend == Key::Dense && toBackendComponent(kernel.key) == toBackendComponent(autograd);
      }
      if (functionality == Key::AutogradNestedTensor) return backend == Key::NestedTensor;
      return functionality == Key::AutogradOther && autogradother_backends.has(kernel.key);
    });
  }
};

}  // namespace boxcar
