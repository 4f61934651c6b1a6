#include <boxcar/backends/autograd/history.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/backends/autograd/leaves.h"

// When hooks run, and what they may do meanwhile.

namespace boxcar::autograd {
namespace {

// Hooks that note their name.
struct Order {
  std::string text;

  TensorHook of(std::string name, double factor = 1) {
    return [this, name = std::move(name), factor](const Tensor& g) {
      text += name + " ";
      return mul(g, factor);
    };
  }
  void watch(const Tensor& tensor) {
    registerPreHook(gradFn(tensor), [this](Gradients&) { text += "pre "; });
    registerPostHook(gradFn(tensor), [this](Gradients&, const Gradients&) { text += "post "; });
  }
};

TEST(HookOrder, TensorsThenTheirNodeThenTheLeaf) {
  Order order;
  const Tensor x = leaf({1, 2});
  const Tensor y = mul(x, 2);
  order.watch(y);
  registerHook(y, order.of("first"));
  retainGrad(y);
  registerHook(y, order.of("second", 3));
  registerHook(x, order.of("leaf"));
  backward({{sum(y)}});
  EXPECT_EQ(order.text, "first second pre post leaf ");
  EXPECT_EQ(gradText(y), "tensor([3., 3.])");  // retained after all hooks of the tensor
  EXPECT_EQ(gradText(x), "tensor([6., 6.])");
}

TEST(HookOrder, GradOfATensorRunsItsHooksButNotItsNode) {
  Order order;
  const Tensor x = leaf({1, 2});
  const Tensor y = mul(x, 2);
  order.watch(y);
  registerHook(y, order.of("tensor", 3));
  const Tensor z = sum(mul(y, y));
  EXPECT_EQ(toString(grad({{z}}, {{y}}, {}, true)[0]), "tensor([12., 24.])");
  EXPECT_EQ(order.text, "tensor ");
  grad({{z}}, {{x}});
  EXPECT_EQ(order.text, "tensor tensor pre post ");
}

TEST(HookOrder, RunInGradModeOfThePass) {
  const Tensor x = leaf({1, 2});
  std::string modes;
  registerHook(x, [&](const Tensor&) {
    modes += GradMode::is_enabled() ? "on " : "off ";
    return Tensor();
  });
  grad({{sum(mul(x, x))}}, {{x}});
  grad({{sum(mul(x, x))}}, {{x}}, {}, {}, true);
  EXPECT_EQ(modes, "off on ");
}

TEST(HookOrder, OnceForAllUsesOfATensor) {
  Order order;
  const Tensor x = leaf({1, 2});
  const Tensor y = mul(x, 2);
  registerHook(x, order.of("x"));
  registerHook(y, order.of("y"));
  backward({{add(sum(mul(y, y)), add(sum(y), sum(x)))}});
  EXPECT_EQ(order.text, "y x ");
}

TEST(Hooks, MayAddAndRemoveHooks) {
  const Tensor x = leaf({1});
  std::string calls;
  HookHandle second({}, 0);
  const HookHandle first = registerHook(x, [&](const Tensor&) {
    calls += "first ";
    second.remove();
    registerHook(x, [&](const Tensor&) {
      calls += "added ";
      return Tensor();
    });
    return Tensor();
  });
  second = registerHook(x, [&](const Tensor&) {
    calls += "second ";
    return Tensor();
  });
  backward({{mul(x, 2)}});
  EXPECT_EQ(calls, "first second ");  // the hooks of this time are those that were there when it came
  first.remove();
  backward({{mul(x, 2)}});
  EXPECT_EQ(calls, "first second added ");
}

TEST(Hooks, AddedToALaterNodeRunInTheSamePass) {
  Order order;
  const Tensor y = mul(leaf({1}), 2);
  const Tensor z = mul(y, 3);
  registerHook(z, [&](const Tensor&) {
    registerHook(y, order.of("later"));
    return Tensor();
  });
  backward({{z}});
  EXPECT_EQ(order.text, "later ");
}

TEST(Hooks, BelongToTheValueThatTheTensorHadThen) {
  const Tensor x = leaf({1});
  Tensor y = mul(x, 2);
  std::string calls;
  const auto note = [&](const char* name) {
    return [&calls, name](const Tensor& g) {
      calls += name + toString(g) + " ";
      return Tensor();
    };
  };
  registerHook(y, note("old "));
  mul_(y, 3);
  registerHook(y, note("new "));
  backward({{y}});
  EXPECT_EQ(calls, "new tensor([1.]) old tensor([3.]) ");
}

TEST(Hooks, OfAViewDoNotSurviveAWriteToItsBase) {
  const Tensor x = leaf({1, 2});
  Tensor y = mul(x, 2);
  const Tensor part = slice(y, 0, 0, 1);
  Order order;
  registerHook(part, order.of("before"));
  mul_(y, 3);
  registerHook(part, order.of("after"));
  backward({{add(sum(part), sum(y))}});
  EXPECT_EQ(order.text, "after ");
  EXPECT_EQ(gradText(x), "tensor([12.,  6.])");
}

TEST(RetainedGradients, OfAViewAndItsBaseFollowAWrite) {
  const Tensor x = leaf({1, 2});
  Tensor y = mul(x, 2);
  const Tensor part = slice(y, 0, 0, 1);
  retainGrad(part);
  retainGrad(y);
  mul_(y, 3);
  backward({{add(sum(part), sum(y))}});
  EXPECT_EQ(gradText(part), "tensor([1.])");
  EXPECT_EQ(gradText(y), "tensor([2., 1.])");
  const Tensor base = mul(x, 2);
  retainGrad(base);
  Tensor written = slice(base, 0, 0, 1);
  mul_(written, 5);
  backward({{sum(base)}});
  EXPECT_EQ(gradText(base), "tensor([1., 1.])");
}

}  // namespace
}  // namespace boxcar::autograd
