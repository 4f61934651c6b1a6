#pragma once

// Programs of registrations and calls, chosen step by step, that run on the dispatcher and on a model of it.

#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/dispatcher/registry/dispatch_model.h"

namespace boxcar {

class RegistrationProgram final {
 public:
  using Key = DispatchKey;
  // [below](n) chooses a number below n.
  explicit RegistrationProgram(std::function<size_t(size_t)> below) : below_(std::move(below)) {}

  // Performs one step. Returns the difference from the model in words; nullopt if there is none.
  std::optional<std::string> step() {
    const size_t which = below_(3);
    DispatchModel::Operator& op = model_.operators[which];
    switch (below_(14)) {
      case 0: return below_(3) == 0 || !op.is_defined ? defineOrNot(which) : std::nullopt;
      case 1: return registerFallback();
      case 2:
      case 3: return implement(which);
      case 4:
      case 5: return kernels_.size() < 6 ? std::nullopt : remove();
      case 6: return registerManyAtOnce(which);
      case 7: return registerWhatIsRefused(which);
      default: return call(which);
    }
  }

  // Compares all table entries that a step can change.
  std::optional<std::string> compareTables() const {
    for (size_t which = 0; which < model_.operators.size(); ++which) {
      const auto handle = find(which);
      if (!handle) continue;
      for (const Key key : comparedKeys()) {
        const int expected = model_.table_entry(model_.operators[which], key);
        const TableEntry table_entry = Dispatcher::singleton().computeTableEntry(*handle, key);
        if (!isAs(table_entry, expected))
          return fmt::format("the table entry of {} at {} has cause {} and line {}, and the model says {}",
                             kNames[which], toString(key), static_cast<int>(table_entry.cause), table_entry.site.line,
                             expected);
        if (handle->entry().lookup(DispatchKeySet(key)) != table_entry.kernel)
          return fmt::format("the table of {} at {} is not what is computed for it", kNames[which], toString(key));
      }
    }
    return std::nullopt;
  }

  // The number of results of each kind; 0 stands for all kernels.
  const std::map<int, int>& seen() const { return seen_; }

 private:
  static constexpr std::array<const char*, 3> kNames = {"one", "two", "three"};

  struct Implemented {
    size_t op;
    std::vector<std::list<ModelKernel>::iterator> kernels;
    Library library;
  };

  // The key sets of tensors, each of one backend.
  static const std::vector<std::vector<Key>>& tensorKeys() {
    static const std::vector<std::vector<Key>> keys{
        {Key::CPU, Key::SparseCPU, Key::NestedTensorCPU, Key::AutogradCPU, Key::AutogradOther,
         Key::AutogradNestedTensor, Key::Tracer, Key::Functionalize, Key::Conjugate, Key::FuncTorchBatched},
        {Key::CUDA, Key::QuantizedCUDA, Key::AutogradCUDA, Key::FPGA, Key::AutogradOther, Key::Batched},
        {Key::HIP, Key::AutogradHIP, Key::FuncTorchBatched, Key::Tracer, Key::FuncTorchVmapMode},
        // Without MkldnnCPU, where the backends have a fallback.
        {Key::XLA, Key::AutogradXLA, Key::Vulkan, Key::Metal, Key::AutogradOther},
    };
    return keys;
  }
  static std::vector<Key> withTensorKeys(std::vector<Key> keys) {
    for (const auto& of_backend : tensorKeys()) keys.insert(keys.end(), of_backend.begin(), of_backend.end());
    return keys;
  }
  static const std::vector<Key>& keysWithFallback() {
    static const std::vector<Key> keys = withTensorKeys({Key::BackendSelect, Key::ADInplaceOrView});
    return keys;
  }
  static const std::vector<Key>& comparedKeys() {
    static const std::vector<Key> keys = withTensorKeys({Key::Undefined, Key::BackendSelect, Key::ADInplaceOrView});
    return keys;
  }
  static const std::vector<Key>& implementedKeys() {
    static const std::vector<Key> keys = [] {
      std::vector<Key> all = comparedKeys();
      for (auto key = static_cast<uint16_t>(Key::StartOfAliasKeys); key <= static_cast<uint16_t>(Key::EndOfAliasKeys);
           ++key) {
        for (int weight = 0; weight < 3; ++weight) all.push_back(static_cast<Key>(key));
      }
      return all;
    }();
    return keys;
  }

  static CppFunction makeKernel(int number, bool boxed) {
    if (number == kThrough) return CppFunction::makeFallthrough();
    const auto answer = [number](const OperatorHandle&, Stack& stack) {
      drop(stack, 1);
      push(stack, number);
    };
    if (boxed) return CppFunction::makeFromBoxedFunctor(answer);
    return CppFunction([number](const Tensor&) { return int64_t{number}; });
  }

  // The line of a registration is its number.
  static Library library(int number) {
    return {Library::FRAGMENT, "model", std::nullopt, "model.cpp", static_cast<uint32_t>(number)};
  }
  static bool isAs(const TableEntry& table_entry, int expected) {
    switch (expected) {
      case kUndefined: return table_entry.cause == EntryCause::Undefined;
      case kMissing: return table_entry.cause == EntryCause::Missing;
      case kAmbiguous: return table_entry.cause == EntryCause::Ambiguous;
      case kThrough: return table_entry.kernel->isFallthrough();
      default: return !table_entry.kernel->isFallthrough() && table_entry.site.line == static_cast<uint32_t>(expected);
    }
  }
  static std::optional<OperatorHandle> find(size_t which) {
    return Dispatcher::singleton().findOp({std::string("model::") + kNames[which], ""});
  }
  static std::string schemaOf(size_t which) { return std::string(kNames[which]) + "(Tensor x) -> int"; }

  std::optional<std::string> defineOrNot(size_t which) {
    DispatchModel::Operator& op = model_.operators[which];
    if (op.is_defined) {
      definitions_[which].reset();
    } else {
      definitions_[which] = library(++next_number_);
      definitions_[which]->def(schemaOf(which));
    }
    op.is_defined = !op.is_defined;
    return std::nullopt;
  }

  std::optional<std::string> registerFallback() {
    const Key key = keysWithFallback()[below_(keysWithFallback().size())];
    if (model_.fallbacks.erase(key) != 0) {
      fallbacks_.erase(key);
      return std::nullopt;
    }
    const int number = below_(2) == 0 ? kThrough : ++next_number_;
    model_.fallbacks[key] = number;
    Library of_key(Library::IMPL, "_", key, "model.cpp", number == kThrough ? 1 : static_cast<uint32_t>(number));
    of_key.fallback(makeKernel(number, true));
    fallbacks_.emplace(key, std::move(of_key));
    return std::nullopt;
  }

  // Adds a kernel for one key to the model and to [library].
  std::list<ModelKernel>::iterator addKernel(size_t which, Library& library, int number) {
    const Key key = implementedKeys()[below_(implementedKeys().size())];
    DispatchModel::Operator& op = model_.operators[which];
    op.kernels.push_front({key, number});
    library.impl(kNames[which], dispatch(key, makeKernel(number, below_(3) == 0)));
    return op.kernels.begin();
  }

  std::optional<std::string> implement(size_t which) {
    const int number = below_(4) == 0 ? kThrough : ++next_number_;
    Library one = library(number == kThrough ? 1 : number);
    const auto kernel = addKernel(which, one, number);
    kernels_.push_back({which, {kernel}, std::move(one)});
    return std::nullopt;
  }

  // Registers several kernels in one library, so that they are removed together.
  std::optional<std::string> registerManyAtOnce(size_t which) {
    const int number = ++next_number_;
    Library all = library(number);
    std::vector<std::list<ModelKernel>::iterator> added;
    for (size_t count = below_(5); added.size() < count;)
      added.push_back(addKernel(which, all, below_(4) == 0 ? kThrough : number));
    kernels_.push_back({which, std::move(added), std::move(all)});
    return std::nullopt;
  }

  std::optional<std::string> remove() {
    const auto removed = std::next(kernels_.begin(), static_cast<long>(below_(kernels_.size())));
    for (const auto kernel : removed->kernels) model_.operators[removed->op].kernels.erase(kernel);
    kernels_.erase(removed);
    return std::nullopt;
  }

  // Makes a valid registration and then one that contradicts another. Neither may remain.
  std::optional<std::string> registerWhatIsRefused(size_t which) {
    if (!model_.operators[which].is_defined) return std::nullopt;
    const Key key = implementedKeys()[below_(implementedKeys().size())];
    try {
      Library refused = library(++next_number_);
      refused.impl(kNames[which], dispatch(key, makeKernel(next_number_, false)));
      if (below_(2) == 0) {
        refused.def(schemaOf(which));
      } else {
        refused.impl(kNames[which], dispatch(key, [](const Tensor&, int64_t) { return 1.0; }));
      }
      return fmt::format("what contradicts {} was registered all the same", kNames[which]);
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  std::optional<std::string> call(size_t which) {
    const std::vector<Key>& all = tensorKeys()[below_(tensorKeys().size())];
    std::vector<Key> keys;
    for (const Key key : all) {
      if (below_(3) == 0) keys.push_back(key);
    }
    if (keys.empty()) keys.push_back(all[0]);
    const Tensor x = Tensor::allocate(std::vector<int64_t>{2}, ScalarType::Float);
    DispatchKeySet key_set;
    for (const Key key : keys) key_set |= DispatchKeySet(key);
    x.unsafeGetTensorImpl()->set_key_set(key_set);
    keys.push_back(Key::BackendSelect);
    keys.push_back(Key::ADInplaceOrView);
    const DispatchModel::Operator& op = model_.operators[which];
    const auto handle = find(which);
    if (!handle) {
      if (!op.is_defined && op.kernels.empty()) return std::nullopt;
      return fmt::format("{} is not found", kNames[which]);
    }
    const int expected = model_.call(op, keys);
    ++seen_[std::min(expected, 0)];
    for (const bool boxed : {true, false}) {
      std::string error;
      const int found = callOnce(*handle, x, boxed, error);
      if (found != expected)
        return fmt::format("a{} call of {} gives {}, and the model says {}: {}", boxed ? " boxed" : "", kNames[which],
                           found, expected, error);
    }
    return std::nullopt;
  }

  static int callOnce(const OperatorHandle& op, const Tensor& x, bool boxed, std::string& error) {
    try {
      if (!boxed) return static_cast<int>(op.typed<int64_t(const Tensor&)>().call(x));
      Stack stack{IValue(x)};
      op.callBoxed(stack);
      return static_cast<int>(pop(stack).toInt());
    } catch (const Error& caught) {
      error = caught.message();
      if (error.find("is ambiguous") != std::string::npos) return kAmbiguous;
      return error.find("is not defined") != std::string::npos ? kUndefined : kMissing;
    }
  }

  const std::function<size_t(size_t)> below_;
  DispatchModel model_;
  std::array<std::optional<Library>, 3> definitions_;
  std::list<Implemented> kernels_;
  std::map<Key, Library> fallbacks_;
  int next_number_ = 0;
  std::map<int, int> seen_;
};

}  // namespace boxcar
