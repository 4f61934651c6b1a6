#include <boxcar/backends/autograd/autograd.h>
#include <boxcar/backends/autograd/forward_mode.h>
#include <boxcar/backends/transforms/autocast.h>
#include <boxcar/backends/transforms/batched_tensor.h>
#include <boxcar/backends/transforms/deferred_init.h>
#include <boxcar/backends/transforms/fake_scope.h>
#include <boxcar/backends/transforms/fake_tensor.h>
#include <boxcar/backends/transforms/functionalize.h>
#include <boxcar/backends/transforms/vmap.h>
#include <boxcar/dispatcher/call/mode.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/ivalue/default_generators.h>
#include <boxcar/ops.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/backends/tensor_helpers.h"

// What modes see at the levels of transforms.

namespace boxcar::transforms {
namespace {

using Key = DispatchKey;
using Ints = std::vector<int64_t>;
using Tensors = std::vector<Tensor>;

// The calls that a mode at [level] sees while [program] runs, each with its first tensor: "mul.Scalar[2, 3]". A batched
// tensor has a * behind, a fake one a ?, and one that requires grad a '.
std::string seenAt(Key level, const std::function<void()>& program) {
  std::string seen;
  const ModeGuard mode(
      [&](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
        const std::string name = toString(op.operator_name());
        if (name == "aten::contiguous") return op.redispatchBoxed(keys, stack);  // elements() calls it
        seen += (seen.empty() ? "" : " ") + name.substr(name.rfind(':') + 1);
        const IValue& first = stack[stack.size() - op.schema().arguments().size()];
        if (first.isTensor()) {
          const Tensor& tensor = first.toTensor();
          seen += fmt::format("[{}]", fmt::join(tensor.sizes(), ", "));
          if (levelOf(tensor) != 0) seen += "*";
          if (isFake(tensor)) seen += "?";
          if (tensor.requires_grad()) seen += "'";
          if (tensor.scalar_type() != ScalarType::Float) seen += dtypeName(tensor.scalar_type());
        }
        op.redispatchBoxed(keys, stack);
      },
      {.key = level});
  program();
  return seen;
}

TEST(ModeLevels, AboveVmapSeeSlicesAndBelowItTheWholeBatch) {
  const Tensor x = counting({2, 3});
  const auto program = [&] {
    const auto each = vmap([](const Tensors& args) { return Tensors{boxcar::mul(args[0], 2)}; });
    EXPECT_EQ(elements<float>(each({x})[0]), (std::vector<float>{0, 2, 4, 6, 8, 10}));
  };
  for (const Key level : {Key::PreDispatch, Key::DeferredInit, Key::VmapMode, Key::FuncTorchVmapMode}) {
    EXPECT_EQ(seenAt(level, program), "mul.Scalar[3]*") << level;
  }
  // vmap() itself moves the batch, which FuncTorchBatched sees where it has a batch.
  EXPECT_EQ(seenAt(Key::FuncTorchBatched, program), "mul.Scalar[3]*");
  for (const Key level : {Key::Tracer, Key::AutogradFunctionality, Key::ADInplaceOrView, Key::ZeroTensor, Key::Negative,
                          Key::Conjugate, Key::Functionalize, Key::Fake, Key::Python, Key::Dense}) {
    EXPECT_EQ(seenAt(level, program), "mul.Scalar[2, 3]") << level;
  }
}

TEST(ModeLevels, BetweenTwoLevelsOfVmapAModeSeesEachLevelTakenOff) {
  const auto program = [] {
    const auto inner =
        vmap([](const Tensors& args) { return Tensors{boxcar::add(args[0], args[1])}; }, {std::nullopt, 0});
    const auto outer = vmap(inner, {0, std::nullopt});
    EXPECT_EQ(sizesOf(outer({counting({2, 3}), counting({4, 3})})[0]), (Ints{2, 4, 3}));
  };
  std::string seen;
  const ModeGuard mode(
      [&](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
        if (op.operator_name().name == "aten::add") seen += fmt::format("{}", stack[stack.size() - 3].toTensor().dim());
        op.redispatchBoxed(keys, stack);
      },
      {.key = Key::FuncTorchBatched, .sees_calls_below = true});
  program();
  // Both without their batches, then what the inner level calls, then what the outer one calls.
  EXPECT_EQ(seen.substr(0, 1), "1");
  EXPECT_GT(seen.size(), 1U);
}

TEST(ModeLevels, AboveVmapAnAnswerIsForAllSlices) {
  const ModeGuard mode(
      [](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
        op.redispatchBoxed(keys, stack);
        if (op.operator_name().name == "aten::relu") stack.back() = boxcar::neg(stack.back().toTensor());
      },
      {.key = Key::VmapMode});
  const auto each = vmap([](const Tensors& args) { return Tensors{boxcar::relu(args[0])}; });
  EXPECT_EQ(elements<float>(each({floats({-1, 2, 3, -4}, {2, 2})})[0]), (std::vector<float>{0, -2, -3, 0}));
}

TEST(ModeLevels, AtTheLevelOfRandomnessDoNotMakeItDrawOutsideOfVmap) {
  const auto drawn = [] {
    manualSeed(3);
    return elements<float>(boxcar::rand(Ints{4}));
  };
  const std::vector<float> wanted = drawn();
  EXPECT_EQ(seenAt(Key::FuncTorchVmapMode, [&] { EXPECT_EQ(drawn(), wanted); }), "rand");
  // A region that begins and ends while the mode is on.
  const auto program = [&] {
    const auto each = vmap([](const Tensors& args) { return Tensors{boxcar::add(args[0], boxcar::rand(Ints{2}))}; }, {},
                           {}, Randomness::kDifferent);
    EXPECT_EQ(sizesOf(each({floats({1, 2})})[0]), (Ints{2, 2}));
    EXPECT_EQ(drawn(), wanted);
  };
  EXPECT_EQ(seenAt(Key::FuncTorchVmapMode, program), "rand add.Tensor[]* rand");
  EXPECT_FALSE(tls_local_dispatch_key_set().included_.has(Key::FuncTorchVmapMode));
}

TEST(ModeLevels, AboveAutocastSeeCallsAsTheyAreMadeAndBelowItTheCasts) {
  const Tensor x = counting({2, 2});
  const auto program = [&] {
    boxcar::mm(x, x);
    const autocast::AutocastGuard region(DeviceType::CPU, ScalarType::BFloat16);
    EXPECT_EQ(boxcar::mm(x, x).scalar_type(), ScalarType::BFloat16);
  };
  // Outside of a region the thread excludes the level.
  EXPECT_EQ(seenAt(Key::AutocastCPU, program), "mm[2, 2]");
  EXPECT_EQ(seenAt(Key::FuncTorchBatched, program), "mm[2, 2] mm[2, 2]");
  const std::string below = seenAt(Key::Tracer, program);
  EXPECT_EQ(below, "mm[2, 2] _to_copy[2, 2] _to_copy[2, 2] mm[2, 2]bfloat16");
  EXPECT_EQ(seenAt(Key::Python, program), below);
  EXPECT_FALSE(autocast::is_autocast_enabled(DeviceType::CPU));
}

TEST(ModeLevels, AtTheLevelOfAutocastDoNotCastWhatARegionLeavesOut) {
  const Tensor x = counting({2, 2});
  const autocast::AutocastGuard region(DeviceType::CPU, ScalarType::BFloat16);
  const std::string seen = seenAt(Key::AutocastCPU, [&] {
    EXPECT_EQ(boxcar::mm(x, x).scalar_type(), ScalarType::BFloat16);
    const autocast::AutocastGuard off(DeviceType::CPU, std::nullopt, false);
    EXPECT_EQ(boxcar::mm(x, x).scalar_type(), ScalarType::Float);
  });
  EXPECT_EQ(seen, "mm[2, 2]");
  EXPECT_TRUE(autocast::is_autocast_enabled(DeviceType::CPU));
  EXPECT_EQ(boxcar::mm(x, x).scalar_type(), ScalarType::BFloat16);
}

TEST(ModeLevels, AboveAutogradSeeWhatIsDifferentiatedAndBelowItWhatIsComputed) {
  Tensor x = counting({2, 2});
  x.set_requires_grad(true);
  const auto program = [&] {
    const Tensor y = boxcar::linear(boxcar::mul(x, 2), x);
    EXPECT_TRUE(y.requires_grad());
    const Tensor grad = autograd::grad(Tensors{boxcar::sum(y)}, Tensors{x})[0];
    EXPECT_EQ(sizesOf(grad), (Ints{2, 2}));
  };
  const std::string above = seenAt(Key::Tracer, program);
  EXPECT_TRUE(above.starts_with("mul.Scalar[2, 2]' linear[2, 2]' sum[2, 2]'")) << above;
  EXPECT_TRUE(seenAt(Key::AutogradFunctionality, program).starts_with("mul.Scalar[2, 2]' linear[2, 2]' sum[2, 2]'"));
  for (const Key level : {Key::ADInplaceOrView, Key::Functionalize, Key::Python}) {
    const std::string below = seenAt(level, program);
    // Those that linear() is made of, and the formulas of the gradients.
    EXPECT_TRUE(below.starts_with("mul.Scalar[2, 2]' t[2, 2]' mm[2, 2]")) << level << ": " << below;
  }
}

TEST(ModeLevels, AtAutogradLeaveTensorsWithoutHistoryAlone) {
  const Tensor x = counting({2});
  EXPECT_EQ(seenAt(Key::AutogradFunctionality, [&] { EXPECT_FALSE(boxcar::mul(x, 2).requires_grad()); }),
            "mul.Scalar[2]");
}

TEST(ModeLevels, AboveFunctionalizeSeeWritesAndBelowItNone) {
  const auto program = [] {
    Tensor x = boxcar::zeros(Ints{2, 2});
    const FunctionalizeGuard guard;
    Tensor row = boxcar::select(x, 0, 0);
    boxcar::add_(row, 1);
    EXPECT_EQ(elements<float>(x), (std::vector<float>{1, 1, 0, 0}));
  };
  EXPECT_EQ(seenAt(Key::Functionalize, program), "zeros select.int[2, 2] add_.Scalar[2]");
  EXPECT_EQ(seenAt(Key::Conjugate, program), "zeros select.int[2, 2] add_.Scalar[2]");
  const std::string below = "select.int[2, 2] add.Scalar[2] select_scatter[2, 2] copy_[2, 2]";
  for (const Key level : {Key::Fake, Key::Python, Key::BackendSelect}) {
    const std::string seen = seenAt(level, program);
    EXPECT_TRUE(seen.ends_with(below)) << level << ": " << seen;
  }
}

TEST(ModeLevels, AtFunctionalizeOutsideOfAScopeWritesStayWrites) {
  Tensor x = floats({1, 2});
  EXPECT_EQ(seenAt(Key::Functionalize, [&] { boxcar::add_(x, 1); }), "add_.Scalar[2]");
  EXPECT_EQ(elements<float>(x), (std::vector<float>{2, 3}));
}

TEST(ModeLevels, AtFakeSeeFakeTensorsAndRealOnesStayReal) {
  const Tensor real = floats({1, 2});
  const auto program = [&] {
    boxcar::add(real, 1);
    const FakeTensorGuard fake;
    const Tensor x = boxcar::zeros(Ints{3});
    EXPECT_TRUE(isFake(boxcar::mul(x, 2)));
  };
  EXPECT_EQ(seenAt(Key::Fake, program), "add.Scalar[2] zeros mul.Scalar[3]?");
  EXPECT_EQ(seenAt(Key::Tracer, program), "add.Scalar[2] zeros mul.Scalar[3]?");
}

TEST(ModeLevels, AtTheFrontSeeACallAndBelowItsTangentsToo) {
  const Tensor x = floats({1, 2});
  const auto program = [&] {
    const autograd::ForwardLevel level;
    const Tensor dual = level.makeDual(x, boxcar::ones_like(x));
    const Tensor y = boxcar::sin(dual);
    EXPECT_TRUE(level.tangentOf(y).defined());
  };
  const std::string above = seenAt(autograd::kForwardKey, program);
  EXPECT_NE(above.find("sin[2]"), std::string::npos) << above;
  EXPECT_EQ(above.find("cos[2]"), std::string::npos) << above;
  const std::string below = seenAt(Key::Python, program);
  EXPECT_NE(below.find("cos[2]"), std::string::npos) << below;
}

TEST(ModeLevels, AtDeferredInitSeeWhatIsPutOff) {
  IValue made;
  EXPECT_EQ(seenAt(Key::DeferredInit,
                   [&] { made = deferredInit([] { return IValue(boxcar::add(boxcar::ones(Ints{2}), 1)); }); }),
            "ones add.Scalar[2]?");
  EXPECT_EQ(elements<float>(materialize(made).toTensor()), (std::vector<float>{2, 2}));
}

TEST(ModeLevels, KeepResultsOfAllTransformsTogether) {
  const auto program = [] {
    Tensor x = boxcar::div(counting({2, 3, 3}), 10);
    x.set_requires_grad(true);
    const auto each = vmap([](const Tensors& args) {
      return Tensors{boxcar::sum(boxcar::mul(boxcar::sin(args[0]), boxcar::mm(args[0], args[0])))};
    });
    const FunctionalizeGuard functional;
    const Tensor sum = boxcar::sum(each({x})[0]);
    return elements<float>(autograd::grad(Tensors{sum}, Tensors{x})[0]);
  };
  const std::vector<float> wanted = program();
  for (int i = 1; i < num_functionality_keys; ++i) {
    const auto level = static_cast<Key>(i);
    if (!whyNoModeAt(level).empty()) continue;
    std::vector<float> found;
    const std::string seen = seenAt(level, [&] { found = program(); });
    EXPECT_EQ(found, wanted) << level;
    // Autocast's levels are excluded outside of its regions, and the lower one of autograd below the other.
    const bool is_excluded = autocast_dispatch_keyset.has(level) || level == Key::AutogradOther;
    EXPECT_EQ(seen.find("sin") == std::string::npos, is_excluded) << level << ": " << seen;
  }
}

}  // namespace
}  // namespace boxcar::transforms
