#include <boxcar/backends/autograd/autograd.h>
#include <boxcar/backends/transforms/autocast.h>
#include <boxcar/backends/transforms/autocast_classes.h>
#include <boxcar/dispatcher/call/grad_mode.h>
#include <boxcar/dispatcher/call/local_dispatch_key_set.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/from_blob.h>
#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <thread>

#include "tests/backends/tensor_helpers.h"

namespace boxcar::autocast {
namespace {

constexpr DeviceType kCpu = DeviceType::CPU;
constexpr DeviceType kCuda = DeviceType::CUDA;
constexpr ScalarType kFloat = ScalarType::Float;
constexpr ScalarType kDouble = ScalarType::Double;
constexpr ScalarType kHalf = ScalarType::Half;
constexpr ScalarType kBFloat16 = ScalarType::BFloat16;

Tensor square() { return floats({1, 2, 3, 4}, {2, 2}); }
Tensor weight() { return square().set_requires_grad(true); }

TEST(Autocast, ProductsRunInTheDtypeOfTheRegion) {
  const Tensor a = square();
  {
    const AutocastGuard region(kCpu);
    EXPECT_EQ(mm(a, a).dtype(), kBFloat16);
    EXPECT_EQ(add(a, a).dtype(), kFloat);
    EXPECT_EQ(mse_loss(to(a, kBFloat16), a).dtype(), kFloat);
    EXPECT_EQ(cat({to(a, kBFloat16), a}).dtype(), kFloat);
    EXPECT_EQ(mm(to(a, kDouble), to(a, kDouble)).dtype(), kDouble);
  }
  EXPECT_EQ(mm(a, a).dtype(), kFloat);
}

// Typed calls without a cast go on unboxed, boxed ones on their own stack.
TEST(Autocast, CallsWithoutACastAreMadeAsTheyAre) {
  const Tensor lower = to(square(), kBFloat16);
  const Tensor single = square();
  const AutocastGuard region(kCpu);
  EXPECT_EQ(mm(lower, lower).dtype(), kBFloat16);
  EXPECT_EQ(linear(lower, lower).dtype(), kBFloat16);
  EXPECT_EQ(cat({single, single}).dtype(), kFloat);
  EXPECT_EQ(cat({lower, lower}).dtype(), kBFloat16);
  EXPECT_EQ(mse_loss(single, single).dtype(), kFloat);
  const OperatorHandle op = Dispatcher::singleton().findSchemaOrThrow("aten::mm", "");
  Stack stack;
  push(stack, lower, lower);
  op.callBoxed(stack);
  EXPECT_EQ(pop(stack).toTensor().dtype(), kBFloat16);
}

TEST(Autocast, TypedAndBoxedCallsCastAlike) {
  const Tensor lower = to(square(), kBFloat16);
  const Tensor single = square();
  const AutocastGuard region(kCpu);
  EXPECT_EQ(mm(lower, single).dtype(), kBFloat16);
  EXPECT_EQ(linear(single, lower, single).dtype(), kBFloat16);
  EXPECT_EQ(cat({lower, single}).dtype(), kFloat);
  EXPECT_EQ(mse_loss(lower, lower).dtype(), kFloat);
  EXPECT_EQ(errorOf([&] {
              static_cast<void>(cat({to(single, kHalf), single}));
            }),
            "aten::cat got a tensor of float16 where autocast(\"cpu\", bfloat16) is on: it promotes tensors of "
            "bfloat16 and float32 alone. Cast it before, or use that dtype for the block");
  // What a kernel calls is part of its call, with and without a cast.
  EXPECT_TRUE(tls_is_dispatch_key_included(DispatchKey::AutocastCPU));
  EXPECT_FALSE(tls_is_dispatch_key_excluded(DispatchKey::AutocastCPU));
}

TEST(Autocast, RegionsNestAndEndInOrder) {
  const Tensor a = square();
  const AutocastGuard region(kCpu, kBFloat16);
  {
    const AutocastGuard off(kCpu, std::nullopt, false);
    EXPECT_FALSE(is_autocast_enabled(kCpu));
    EXPECT_EQ(mm(a, a).dtype(), kFloat);
    const AutocastGuard half(kCpu, kHalf, true, false);
    EXPECT_FALSE(is_autocast_cache_enabled());
    EXPECT_EQ(mm(a, a).dtype(), kHalf);
  }
  EXPECT_TRUE(is_autocast_enabled(kCpu));
  EXPECT_TRUE(is_autocast_cache_enabled());
  EXPECT_EQ(get_autocast_dtype(kCpu), kBFloat16);
  EXPECT_EQ(get_autocast_dtype(kCuda), kHalf);
  EXPECT_EQ(mm(a, a).dtype(), kBFloat16);
}

TEST(Autocast, AThreadBeginsWithoutIt) {
  const AutocastGuard region(kCpu);
  std::thread([] {
    EXPECT_FALSE(is_autocast_enabled(kCpu));
    EXPECT_EQ(mm(square(), square()).dtype(), kFloat);
  }).join();
}

TEST(Autocast, ARegionLeavesTheKeysOfTheThreadAsTheyWere) {
  const LocalDispatchKeySet before = tls_local_dispatch_key_set();
  {
    const AutocastGuard region(kCpu);
    EXPECT_TRUE(tls_is_dispatch_key_included(DispatchKey::AutocastCPU));
    static_cast<void>(errorOf([] { static_cast<void>(mm(square(), floats({1}))); }));
    EXPECT_FALSE(tls_is_dispatch_key_excluded(DispatchKey::AutocastCPU));
  }
  EXPECT_EQ(tls_local_dispatch_key_set().included_, before.included_);
  EXPECT_EQ(tls_local_dispatch_key_set().excluded_, before.excluded_);
}

TEST(Autocast, GradientsHaveTheDtypesOfTheirLeaves) {
  const Tensor w = weight();
  Tensor loss;
  {
    const AutocastGuard region(kCpu);
    loss = sum(mm(square(), w));
    EXPECT_EQ(loss.dtype(), kBFloat16);
  }
  autograd::backward({{loss}});
  EXPECT_EQ(autograd::gradOf(w).dtype(), kFloat);
  EXPECT_EQ(elements<float>(autograd::gradOf(w)), (std::vector<float>{4, 4, 6, 6}));
}

TEST(Autocast, SeveralPassesGoThroughOneKeptCast) {
  const Tensor w = weight();
  const AutocastGuard region(kCpu);
  for (int i = 0; i < 3; ++i) autograd::backward({{sum(mm(square(), w))}});
  EXPECT_EQ(elements<float>(autograd::gradOf(w)), (std::vector<float>{12, 12, 18, 18}));
}

TEST(AutocastCache, ALeafIsCastOnceForTheOutermostRegion) {
  const Tensor w = weight();
  std::optional<AutocastGuard> region(std::in_place, kCpu);
  const Tensor first = cached_cast(kBFloat16, w, kCpu);
  EXPECT_EQ(first.dtype(), kBFloat16);
  EXPECT_TRUE(first.requires_grad());
  {
    const AutocastGuard inner(kCpu);
    EXPECT_TRUE(cached_cast(kBFloat16, w, kCpu).is_same(first));
  }
  EXPECT_TRUE(cached_cast(kBFloat16, w, kCpu).is_same(first));
  region.reset();
  region.emplace(kCpu);
  EXPECT_FALSE(cached_cast(kBFloat16, w, kCpu).is_same(first));
}

TEST(AutocastCache, AWriteToTheLeafEndsTheCast) {
  Tensor w = weight();
  const AutocastGuard region(kCpu);
  const Tensor first = cached_cast(kBFloat16, w, kCpu);
  {
    const NoGradGuard no_grad;
    mul_(w, 2);
  }
  const Tensor second = cached_cast(kBFloat16, w, kCpu);
  EXPECT_FALSE(second.is_same(first));
  EXPECT_EQ(toString(detach(second)), "tensor([[2., 4.],\n        [6., 8.]], dtype=torch.bfloat16)");
}

TEST(AutocastCache, HasNoCastOfAnotherDtype) {
  const Tensor w = weight();
  const AutocastGuard region(kCpu);
  EXPECT_EQ(mm(w, w).dtype(), kBFloat16);
  const AutocastGuard half(kCpu, kHalf);
  EXPECT_EQ(mm(w, w).dtype(), kHalf);
}

TEST(AutocastCache, KeepsWhatIsALeafThatRequiresGradAlone) {
  const AutocastGuard region(kCpu);
  const auto isKept = [](const Tensor& tensor) {
    return cached_cast(kBFloat16, tensor, kCpu).is_same(cached_cast(kBFloat16, tensor, kCpu));
  };
  const Tensor w = weight();
  EXPECT_TRUE(isKept(w));
  EXPECT_FALSE(isKept(square()));
  EXPECT_FALSE(isKept(mul(w, 2)));
  EXPECT_FALSE(isKept(select(w, 0, 0)));
  clear_cache();
  {
    const AutocastGuard uncached(kCpu, std::nullopt, true, false);
    EXPECT_FALSE(isKept(w));
  }
  // A cast without history must not serve calls that are recorded.
  const NoGradGuard no_grad;
  EXPECT_FALSE(isKept(w));
}

TEST(AutocastCache, DoesNotKeepTheLeafAlive) {
  const AutocastGuard region(kCpu);
  for (int i = 0; i < 100; ++i) {
    const Tensor w = full({2, 2}, i, kFloat).set_requires_grad(true);
    const NoGradGuard no_grad;
    EXPECT_EQ(elements<float>(to(cached_cast(kBFloat16, w, kCpu), kFloat))[0], static_cast<float>(i));
    const AutoGradMode recorded(true);
    EXPECT_EQ(elements<float>(to(detach(cached_cast(kBFloat16, w, kCpu)), kFloat))[0], static_cast<float>(i));
  }
}

TEST(AutocastClasses, AreOfOperatorsThatBoxcarHas) {
  std::set<std::string_view> names;
  for (const OperatorClass& each : operatorClasses()) {
    EXPECT_TRUE(Dispatcher::singleton().findSchema(parseName(each.op)).has_value()) << each.op;
    EXPECT_TRUE(names.insert(each.op).second) << each.op << " has two lines";
    EXPECT_TRUE(each.policies[0].has_value() || each.policies[1].has_value()) << each.op;
  }
  EXPECT_EQ(names.size(), 194U);
}

TEST(AutocastClasses, OthersPassTheKeyOver) {
  registerAutocastKernels();
  const OperatorHandle add = Dispatcher::singleton().findSchemaOrThrow("aten::add", "Tensor");
  const TableEntry entry = Dispatcher::singleton().computeTableEntry(add, DispatchKey::AutocastCPU);
  EXPECT_TRUE(entry.kernel->isFallthrough());
  EXPECT_EQ(describeAutocast(add), "");
}

TEST(AutocastClasses, AreTold) {
  const OperatorHandle mm = Dispatcher::singleton().findSchemaOrThrow("aten::mm", "");
  EXPECT_TRUE(describeAutocast(mm).starts_with("lower_precision_fp on cpu and cuda, by backends/ops/aten.autocast:"));
  const OperatorHandle prod = Dispatcher::singleton().findSchemaOrThrow("aten::prod", "");
  EXPECT_TRUE(describeAutocast(prod).starts_with("fp32 on cpu, fp32_set_opt_dtype on cuda, by "));
  EXPECT_EQ(describeCast(mm), "");
  const AutocastGuard region(kCpu, kHalf);
  EXPECT_EQ(describeCast(mm), "on cpu, arguments are cast to float16");
  const AutocastGuard both(kCuda);
  EXPECT_EQ(describeCast(prod),
            "on cpu, arguments are cast to float32; on cuda, the argument 'dtype' becomes float32, unless it is given");
}

// Kernels that say with what they were called, instead of those of a GPU.
class AutocastOnCuda : public ::testing::Test {
 protected:
  AutocastOnCuda() {
    library_.impl("_to_copy",
                  [](const Tensor&, std::optional<ScalarType> dtype, std::optional<Layout>, std::optional<Device>,
                     std::optional<bool>, bool, std::optional<MemoryFormat>) { return onCuda(*dtype); });
    library_.impl("exp", [](const Tensor& self) { return self; });
    library_.impl("dot", [](const Tensor& self, const Tensor& tensor) {
      EXPECT_EQ(self.dtype(), tensor.dtype());
      return self;
    });
    library_.impl("sum", [](const Tensor& self, std::optional<ScalarType> dtype) {
      return onCuda(dtype.value_or(self.dtype()));
    });
    library_.impl("norm.ScalarOpt_dtype",
                  [](const Tensor&, const std::optional<Scalar>&, ScalarType dtype) { return onCuda(dtype); });
    library_.impl("norm.Scalar", [](const Tensor& self, const Scalar&) { return self; });
  }

  static Tensor onCuda(ScalarType dtype) {
    static float memory[4];
    return from_blob(memory, {2}, {.dtype = dtype, .device = Device(kCuda, 0)});
  }

 private:
  Library library_ = MAKE_BOXCAR_LIBRARY_IMPL(aten, CUDA);
};

TEST_F(AutocastOnCuda, EachClassHasItsWay) {
  const Tensor full = onCuda(kFloat);
  const Tensor half = onCuda(kHalf);
  EXPECT_EQ(exp(half).dtype(), kHalf);
  const AutocastGuard region(kCuda);
  EXPECT_EQ(exp(half).dtype(), kFloat);
  EXPECT_EQ(dot(full, half).dtype(), kFloat);
  EXPECT_EQ(dot(half, half).dtype(), kHalf);
  EXPECT_EQ(sum(half).dtype(), kFloat);
  EXPECT_EQ(sum(half, kHalf).dtype(), kHalf);
  EXPECT_EQ(sum(onCuda(kDouble)).dtype(), kDouble);
  EXPECT_EQ(norm(half).dtype(), kFloat);
  EXPECT_EQ(norm(onCuda(kDouble)).dtype(), kDouble);
}

TEST_F(AutocastOnCuda, OtherDevicesAreLeftAlone) {
  const Tensor half = to(square(), kHalf);
  const AutocastGuard region(kCuda);
  EXPECT_EQ(exp(half).dtype(), kHalf);
  EXPECT_EQ(mm(square(), square()).dtype(), kFloat);
  const AutocastGuard both(kCpu);
  EXPECT_EQ(mm(square(), square()).dtype(), kBFloat16);
  EXPECT_EQ(exp(onCuda(kHalf)).dtype(), kFloat);
}

TEST_F(AutocastOnCuda, WhatIsUnsafeIsAnError) {
  const AutocastGuard region(kCuda);
  EXPECT_EQ(errorOf([] { static_cast<void>(binary_cross_entropy(onCuda(kHalf), onCuda(kHalf))); }),
            "aten::binary_cross_entropy is unsafe where autocast(\"cuda\") is on: its gradients may be too large for "
            "float16. Call binary_cross_entropy_with_logits on what sigmoid() gets, or call it in a block `with "
            "autocast(\"cuda\", enabled=False)`");
}

TEST(Autocast, RefusesWhatItIsNotFor) {
  EXPECT_EQ(errorOf([] { const AutocastGuard region(DeviceType::Meta); }),
            "autocast: there is none on 'meta'; it is for \"cpu\" and \"cuda\"");
  EXPECT_EQ(errorOf([] { const AutocastGuard region(kCpu, kFloat); }),
            "autocast(\"cpu\"): float32 is no dtype of lower precision; give it bfloat16 or float16, or enabled=False");
  EXPECT_FALSE(is_autocast_enabled(kCpu));
  EXPECT_EQ(errorOf([] {
              const AutocastGuard region(kCpu);
              static_cast<void>(stack({square(), to(square(), kHalf)}));
            }),
            "aten::stack got a tensor of float16 where autocast(\"cpu\", bfloat16) is on: it promotes tensors of "
            "bfloat16 and float32 alone. Cast it before, or use that dtype for the block");
}

class AutocastOfOwnOperators : public ::testing::Test {
 protected:
  AutocastOfOwnOperators() {
    library_.def("shifted(Tensor self, Tensor? by, Tensor[] more) -> Tensor",
                 [](const Tensor& self, const std::optional<Tensor>& by, const List<Tensor>& more) {
                   EXPECT_EQ(by->dtype(), self.dtype());
                   EXPECT_EQ(more.get(0).dtype(), self.dtype());
                   // Autocast is off in it.
                   return mm(self, to(more.get(0), self.dtype()));
                 });
  }
  static Tensor call(const Tensor& self) {
    static const auto op = Dispatcher::singleton()
                               .findSchemaOrThrow("autocast_test::shifted", "")
                               .typed<Tensor(const Tensor&, const std::optional<Tensor>&, const List<Tensor>&)>();
    List<Tensor> more;
    more.push_back(square());
    Tensor result = op.call(self, square(), more);
    EXPECT_EQ(more.get(0).dtype(), kFloat);
    return result;
  }

 private:
  Library library_ = MAKE_BOXCAR_LIBRARY(autocast_test);
};

TEST_F(AutocastOfOwnOperators, TakePartIfTheyAreRegistered) {
  const AutocastGuard region(kCpu, kBFloat16);
  {
    const RegistrationHandleRAII registered = register_autocast("autocast_test::shifted", kCpu, kHalf);
    EXPECT_EQ(call(square()).dtype(), kHalf);
    const AutocastGuard off(kCpu, std::nullopt, false);
    EXPECT_EQ(call(square()).dtype(), kFloat);
  }
  EXPECT_EQ(call(square()).dtype(), kBFloat16);
}

TEST_F(AutocastOfOwnOperators, AreRegisteredByNameAndDtype) {
  EXPECT_EQ(errorOf([] { static_cast<void>(register_autocast("autocast_test::shifted", DeviceType::Meta, kHalf)); }),
            "register_autocast: autocast_test::shifted cannot be cast on 'meta', which has no autocast; it is for "
            "\"cpu\" and \"cuda\"");
  EXPECT_EQ(errorOf([] { static_cast<void>(register_autocast("autocast_test::shifted", kCpu, ScalarType::Long)); }),
            "register_autocast: arguments of autocast_test::shifted are floating point tensors, which are not cast to "
            "int64");
  EXPECT_EQ(errorOf([] { static_cast<void>(register_autocast("autocast_test::shift", kCpu, kHalf)); }),
            "register_autocast: there is no operator autocast_test::shift; define it, or load its plugin, before");
}

}  // namespace
}  // namespace boxcar::autocast
