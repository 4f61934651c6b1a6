#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <list>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tests/dispatcher/dispatcher_helpers.h"

// Random programs of def, impl, fallback, remove and call, against a model of the dispatcher that is slow and obvious.

namespace boxcar {
namespace {

using Key = DispatchKey;

// What a call gives: a kernel's number, or one of these.
constexpr int kUndefined = -1;
constexpr int kMissing = -2;
constexpr int kAmbiguous = -3;
constexpr int kThrough = -4;

struct ModelKernel {
  Key key;
  int number;  // kThrough: a fallthrough
};

// The rules of the table as they are written down, cell by cell and call by call; nothing is kept.
class Model {
 public:
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

CppFunction makeKernel(int number, bool boxed) {
  if (number == kThrough) return CppFunction::makeFallthrough();
  const auto answer = [number](const OperatorHandle&, Stack& stack) {
    drop(stack, 1);
    push(stack, number);
  };
  if (boxed) return CppFunction::makeFromBoxedFunctor(answer);
  return CppFunction([number](const Tensor&) { return int64_t{number}; });
}

int resultOf(const std::string& error) {
  if (error.find("is ambiguous") != std::string::npos) return kAmbiguous;
  if (error.find("is not defined") != std::string::npos) return kUndefined;
  return kMissing;
}

// What the dispatcher gives, typed and boxed.
int callOperator(const OperatorHandle& op, const Tensor& x) {
  Stack stack{IValue(x)};
  int boxed = 0;
  const std::string boxed_error = errorOf([&] {
    op.callBoxed(stack);
    boxed = static_cast<int>(pop(stack).toInt());
  });
  if (boxed_error != "no error") boxed = resultOf(boxed_error);
  int typed = 0;
  const std::string typed_error =
      errorOf([&] { typed = static_cast<int>(op.typed<int64_t(const Tensor&)>().call(x)); });
  if (typed_error != "no error") typed = resultOf(typed_error);
  EXPECT_EQ(typed, boxed) << typed_error << "\n" << boxed_error;
  return boxed;
}

TEST(Model, AgreesWithTheDispatcherOverRandomPrograms) {
  std::mt19937 random(4711);
  const auto below = [&random](size_t bound) { return random() % bound; };
  // The keys of one backend at a time, which tensors bring, and those that kernels are registered for beside them.
  const std::vector<std::vector<Key>> tensor_keys{
      {Key::CPU, Key::SparseCPU, Key::NestedTensorCPU, Key::AutogradCPU, Key::AutogradOther, Key::AutogradNestedTensor,
       Key::Tracer, Key::Functionalize, Key::Conjugate, Key::FuncTorchBatched},
      {Key::CUDA, Key::QuantizedCUDA, Key::AutogradCUDA, Key::FPGA, Key::AutogradOther, Key::Batched},
      {Key::HIP, Key::AutogradHIP, Key::FuncTorchBatched, Key::Tracer},
      {Key::XLA, Key::AutogradXLA, Key::Vulkan, Key::MkldnnCPU, Key::AutogradOther},
  };
  std::vector<Key> implemented{Key::Undefined, Key::BackendSelect, Key::ADInplaceOrView};
  std::vector<Key> with_fallback{Key::BackendSelect, Key::ADInplaceOrView};
  for (const auto& keys : tensor_keys) {
    implemented.insert(implemented.end(), keys.begin(), keys.end());
    with_fallback.insert(with_fallback.end(), keys.begin(), keys.end());
  }
  for (auto key = static_cast<uint16_t>(Key::StartOfAliasKeys); key <= static_cast<uint16_t>(Key::EndOfAliasKeys);
       ++key) {
    for (int weight = 0; weight < 3; ++weight) implemented.push_back(static_cast<Key>(key));
  }

  const char* const names[] = {"one", "two", "three"};
  Model model;
  std::array<std::optional<Library>, 3> definition;
  struct Implemented {
    size_t op;
    std::list<ModelKernel>::iterator kernel;
    Library library;
  };
  std::list<Implemented> kernels;
  std::map<Key, Library> fallback_libraries;
  int next_number = 0;
  std::map<int, int> seen;  // how often each kind of result came, so that the test shows what it reached

  for (long step = 0; step < 100000; ++step) {
    const size_t which = below(3);
    Model::Operator& op = model.operators[which];
    switch (below(12)) {
      case 0:
        if (below(3) == 0 || !op.is_defined) {
          if (op.is_defined) {
            definition[which].reset();
          } else {
            definition[which] = definitions("model");
            definition[which]->def(std::string(names[which]) + "(Tensor x) -> int");
          }
          op.is_defined = !op.is_defined;
        }
        break;
      case 1: {
        const Key key = with_fallback[below(with_fallback.size())];
        if (model.fallbacks.erase(key) != 0) {
          fallback_libraries.erase(key);
        } else {
          const int number = below(2) == 0 ? kThrough : ++next_number;
          model.fallbacks[key] = number;
          fallback_libraries.emplace(key, fallbacks(key)).first->second.fallback(makeKernel(number, true));
        }
        break;
      }
      case 2:
      case 3: {
        const Key key = implemented[below(implemented.size())];
        const int number = below(4) == 0 ? kThrough : ++next_number;
        op.kernels.push_front({key, number});
        Library library = definitions("model");
        library.impl(names[which], dispatch(key, makeKernel(number, below(3) == 0)));
        kernels.push_back({which, op.kernels.begin(), std::move(library)});
        break;
      }
      case 4:
      case 5: {
        if (kernels.size() < 6) break;
        auto removed = std::next(kernels.begin(), static_cast<long>(below(kernels.size())));
        model.operators[removed->op].kernels.erase(removed->kernel);
        kernels.erase(removed);
        break;
      }
      default: {
        const std::vector<Key>& all = tensor_keys[below(tensor_keys.size())];
        std::vector<Key> keys;
        for (const Key key : all) {
          if (below(3) == 0) keys.push_back(key);
        }
        if (keys.empty()) keys.push_back(all[0]);
        Tensor x = cpuTensor();
        DispatchKeySet key_set;
        for (const Key key : keys) key_set |= DispatchKeySet(key);
        x.unsafeGetTensorImpl()->set_key_set(key_set);
        keys.push_back(Key::BackendSelect);
        keys.push_back(Key::ADInplaceOrView);
        const auto handle = Dispatcher::singleton().findOp({std::string("model::") + names[which], ""});
        if (!handle.has_value()) {
          EXPECT_FALSE(op.is_defined);
          EXPECT_TRUE(op.kernels.empty());
          break;
        }
        const int expected = model.call(op, keys);
        ASSERT_EQ(callOperator(*handle, x), expected) << "at step " << step;
        ++seen[std::min(expected, 0)];
      }
    }
    if (::testing::Test::HasFailure()) FAIL() << "at step " << step;
  }
  for (const int kind : {0, kUndefined, kMissing, kAmbiguous}) EXPECT_GT(seen[kind], 0) << kind;
}

}  // namespace
}  // namespace boxcar
