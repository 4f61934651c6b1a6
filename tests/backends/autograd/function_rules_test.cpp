#include <boxcar/backends/autograd/forward_mode.h>
#include <boxcar/backends/autograd/function.h>
#include <boxcar/backends/autograd/history.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tests/backends/autograd/leaves.h"

// What a Function may return, write and keep.

namespace boxcar::autograd {
namespace {

constexpr const char* kFunctionView =
    "This view was created inside a custom Function (or because an input was returned as-is), and a write to it would "
    "override the custom backward. Return a clone() of the input from forward()";

struct Doubling {
  static variable_list backward(AutogradContext*, const variable_list& grads) {
    variable_list results;
    for (const Tensor& each : grads) results.push_back(mul(each, 2));
    return results;
  }
};

struct Identity : Function<Identity>, Doubling {
  static Tensor forward(AutogradContext*, const Tensor& x) { return x; }
};

TEST(FunctionResults, MayBeAnInputAsItIs) {
  const Tensor x = leaf({1});
  const Tensor y = Identity::apply(x);
  EXPECT_FALSE(y.is_same(x));
  EXPECT_TRUE(y.storage().get() == x.storage().get());
  backward({{y}});
  EXPECT_EQ(gradText(x), "tensor([2.])");
}

TEST(FunctionResults, ThatShareMemoryWithAnInputAreNotWritten) {
  Tensor w = mul(leaf({1}), 1);
  Tensor y = Identity::apply(w);
  EXPECT_EQ(errorOf([&] { mul_(y, 2); }),
            std::string("Output 0 of IdentityBackward is a view and is being modified inplace. ") + kFunctionView);
  Tensor part = slice(y, 0, 0, 1);
  EXPECT_NE(errorOf([&] { mul_(part, 2); }), "no error");
  mul_(w, 2);
  EXPECT_EQ(errorOf([&] { gradFn(y); }), std::string("Output 0 of IdentityBackward is a view and its base or another "
                                                     "view of its base has been modified inplace. ") +
                                             kFunctionView);
}

TEST(FunctionResults, ThatAreDetachedMayBeWritten) {
  const Tensor w = mul(leaf({1}), 1);
  Tensor y = Identity::apply(w);
  detach_(y);
  mul_(y, 2);
  setRequiresGrad(y);
  backward({{mul(y, 3)}});
  EXPECT_EQ(gradText(y), "tensor([3.])");
}

struct FirstPart : Function<FirstPart> {
  static Tensor forward(AutogradContext*, const Tensor& x) { return slice(x, 0, 0, 1); }
  static variable_list backward(AutogradContext*, const variable_list& grads) {
    return {cat({mul(grads[0], 2), zeros({1})})};
  }
};

TEST(FunctionResults, MayBeAViewOfAnInput) {
  const Tensor x = leaf({1, 2});
  Tensor y = FirstPart::apply(x);
  backward({{y}}, {}, true);
  EXPECT_EQ(gradText(x), "tensor([2., 0.])");
  EXPECT_NE(errorOf([&] { mul_(y, 2); }).find(kFunctionView), std::string::npos);
}

struct Twice : Function<Twice> {
  static variable_list forward(AutogradContext*, const Tensor& x) {
    const Tensor result = mul(x, 2);
    return {result, result};
  }
  static variable_list backward(AutogradContext*, const variable_list& grads) {
    return {add(mul(grads[0], 2), mul(grads[1], 2))};
  }
};

TEST(FunctionResults, MayBeOneTensorTwice) {
  const Tensor x = leaf({1});
  const variable_list y = Twice::apply(x);
  EXPECT_TRUE(y[0].is_same(y[1]));
  backward({{sum(add(mul(y[0], 10), y[1]))}});
  EXPECT_EQ(gradText(x), "tensor([22.])");
}

struct WritesTwice : Function<WritesTwice> {
  static variable_list forward(AutogradContext* context, Tensor x) {
    mul_(x, 2);
    context->mark_dirty({x});
    return {x, x};
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    return Twice::backward(context, grads);
  }
};

TEST(FunctionWrites, ReturnOneTensorTwice) {
  const Tensor x = leaf({1, 2});
  const Tensor w = mul(x, 1);
  const variable_list y = WritesTwice::apply(w);
  EXPECT_TRUE(y[0].is_same(w) && y[1].is_same(w));
  backward({{sum(add(mul(y[0], 10), y[1]))}});
  EXPECT_EQ(gradText(x), "tensor([22., 22.])");
}

TEST(FunctionWrites, ToAViewReturnOneTensorOnly) {
  const Tensor w = mul(leaf({1, 2}), 1);
  EXPECT_EQ(
      errorOf([&] { WritesTwice::apply(slice(w, 0, 0, 1)); }),
      "WritesTwiceBackward: forward() writes an input that is a view of another tensor, and returns 2 tensors; it "
      "may return only one then. Give it a clone() of the view, or make two Functions of it");
}

struct Writes : Function<Writes>, Doubling {
  static Tensor forward(AutogradContext* context, Tensor x) {
    context->mark_dirty({x});
    return mul_(x, 2);
  }
};

TEST(FunctionWrites, ToAViewReachItsBase) {
  const Tensor x = leaf({1, 2});
  const Tensor w = mul(x, 1);
  const Tensor part = slice(w, 0, 0, 1);
  EXPECT_TRUE(Writes::apply(part).is_same(part));
  backward({{sum(w)}});
  EXPECT_EQ(gradText(x), "tensor([2., 1.])");
  EXPECT_EQ(errorOf([&] { Writes::apply(slice(x, 0, 0, 1)); }),
            "a view of a leaf Variable that requires grad is being used in an in-place operation. "
            "Write to a clone() of it, or under no_grad");
}

TEST(FunctionWrites, AreNotRecordedWhereNothingIs) {
  const Tensor plain = ones({2});
  EXPECT_TRUE(Writes::apply(plain).is_same(plain));
  EXPECT_FALSE(plain.requires_grad());
  const Tensor w = mul(leaf({1}), 1);
  const NoGradGuard no_grad;
  EXPECT_EQ(gradFn(Writes::apply(w))->name(), "MulBackward1");
}

struct AddsTo : Function<AddsTo> {
  static variable_list forward(AutogradContext* context, Tensor a, const Tensor& b) {
    context->mark_dirty({a});
    return {add_(a, b), add(b, 2)};
  }
  static variable_list backward(AutogradContext*, const variable_list& grads) {
    return {grads[0], add(grads[0], grads[1])};
  }
};

TEST(FunctionWrites, ToAPlainTensorGiveItAHistory) {
  const Tensor x = zeros({2});
  const Tensor y = leaf({1, 2});
  const variable_list out = AddsTo::apply(x, y);
  EXPECT_TRUE(out[0].is_same(x));
  EXPECT_TRUE(x.requires_grad());
  backward({{sum(x)}});
  EXPECT_EQ(gradText(y), "tensor([1., 1.])");
}

struct WritesAndKeeps : Function<WritesAndKeeps>, Doubling {
  static Tensor forward(AutogradContext* context, Tensor x) {
    context->mark_dirty({x});
    return mul(mul_(x, 2), 3);
  }
};

TEST(FunctionWrites, AreReturned) {
  EXPECT_EQ(errorOf([] { WritesAndKeeps::apply(mul(leaf({1}), 1)); }),
            "WritesAndKeepsBackward: an input that was marked as dirty is not returned by forward()");
}

struct Constant : Function<Constant> {
  static variable_list forward(AutogradContext* context, const Tensor& x) {
    const Tensor other = add(x, 1);
    context->mark_non_differentiable({x, other});
    return {x, other, add(x, 2)};
  }
  static variable_list backward(AutogradContext*, const variable_list& grads) {
    EXPECT_EQ(toString(grads[1]), "tensor([0., 0.])");
    return {grads[2]};
  }
};

TEST(FunctionResults, MayHaveNoDerivative) {
  const Tensor x = leaf({1, 2});
  const variable_list y = Constant::apply(x);
  EXPECT_FALSE(y[0].requires_grad());
  EXPECT_FALSE(y[1].requires_grad());
  EXPECT_TRUE(x.requires_grad());
  backward({{sum(add(y[1], y[2]))}});
  EXPECT_EQ(gradText(x), "tensor([1., 1.])");
}

struct Undefined : Function<Undefined> {
  static variable_list forward(AutogradContext* context, const Tensor& x) {
    context->save_for_backward({Tensor(), x, Tensor()});
    return {Tensor(), mul(x, x)};
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const variable_list saved = context->get_saved_variables();
    EXPECT_FALSE(saved[0].defined() || saved[2].defined());
    return {mul(mul(saved[1], 2), grads.back())};
  }
};

struct Lost : Function<Lost> {
  static Tensor forward(AutogradContext*, const Tensor& x) { return mul(x, 2); }
  static variable_list backward(AutogradContext*, const variable_list&) { return {Tensor()}; }
};

struct WrongShape : Function<WrongShape> {
  static Tensor forward(AutogradContext*, const Tensor& x) { return mul(x, 2); }
  static variable_list backward(AutogradContext*, const variable_list&) { return {ones({10})}; }
};

TEST(FunctionGradients, MayBeUndefined) {
  const Tensor x = leaf({1, 2});
  const Tensor y = sum(Lost::apply(x));
  backward({{y}});
  EXPECT_EQ(gradText(x), "none");
  EXPECT_FALSE(grad({{y}}, {{x}}, {}, {}, false, true)[0].defined());
  EXPECT_TRUE(errorOf([&] { grad({{y}}, {{x}}); }).find("allow_unused=True") != std::string::npos);
}

TEST(FunctionGradients, HaveTheShapeOfTheInput) {
  EXPECT_EQ(errorOf([] {
              backward({{sum(WrongShape::apply(leaf({1, 2})))}});
            }),
            "Function WrongShapeBackward returned an invalid gradient at index 0 - got [10] but expected shape "
            "compatible with [2]");
}

struct TwoParts : Function<TwoParts> {
  static variable_list forward(AutogradContext* context, const Tensor& x) {
    context->set_materialize_grads(false);
    return {mul(x, 2), mul(x, 3)};
  }
  static variable_list backward(AutogradContext*, const variable_list& grads) {
    EXPECT_FALSE(grads[0].defined());
    return {mul(grads[1], 3)};
  }
};

TEST(FunctionGradients, AreUndefinedWhereNobodyAskedIfItSaysSo) {
  const Tensor x = leaf({1, 2});
  backward({{sum(TwoParts::apply(x)[1])}});
  EXPECT_EQ(gradText(x), "tensor([3., 3.])");
}

TEST(FunctionSaves, EmptyTensorsToo) {
  const Tensor x = leaf({1, 2});
  const variable_list y = Undefined::apply(x);
  EXPECT_FALSE(y[0].defined());
  backward({{sum(y[1])}});
  EXPECT_EQ(gradText(x), "tensor([2., 4.])");
}

// Runs another backward pass inside of its own, until the value is 0.
struct Reenters : Function<Reenters> {
  static Tensor forward(AutogradContext* context, const Tensor& x) {
    const AutoGradMode enabled(true);
    const Tensor less = sub(detach(x).set_requires_grad(true), 1);
    context->saved_data["less"] = less;
    return detach(less);
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const Tensor less = context->saved_data["less"].toTensor();
    order.push_back(1);
    if (item(less).to<float>() > 0) {
      const AutoGradMode enabled(true);
      autograd::backward({{sum(apply(less))}});
    }
    return grads;
  }
  static std::vector<int> order;
};
std::vector<int> Reenters::order;

struct Noted : Function<Noted> {
  static Tensor forward(AutogradContext*, const Tensor& x) { return x; }
  static variable_list backward(AutogradContext*, const variable_list& grads) {
    Reenters::order.push_back(0);
    return grads;
  }
};

TEST(FunctionPasses, RunInsideEachOther) {
  Reenters::order.clear();
  const Tensor a = Noted::apply(leaf({6}));
  const Tensor b = Reenters::apply(leaf({9}));
  backward({{mul(a, b)}});
  EXPECT_EQ(Reenters::order, (std::vector<int>{1, 1, 1, 1, 1, 1, 1, 1, 1, 0}));
}

TEST(FunctionPasses, AreNotNestedWithoutEnd) {
  const Tensor deep = leaf({100});
  backward({{Reenters::apply(deep)}});
  EXPECT_EQ(gradText(deep), "tensor([1.])");
  EXPECT_EQ(errorOf([] { backward({{Reenters::apply(leaf({100'000}))}}); }),
            "more than 400 backward passes run inside each other: does the recursion end?");
  backward({{Reenters::apply(deep)}});  // works again
  EXPECT_EQ(gradText(deep), "tensor([2.])");
}

// The tangent of function(x) along ones.
std::string along(const std::function<Tensor(const Tensor&)>& function, const Tensor& x) {
  const ForwardLevel level;
  const Tensor tangent = level.tangentOf(function(level.makeDual(x, ones_like(x))));
  return tangent.defined() ? toString(tangent) : "none";
}

TEST(FunctionTangents, OfInputsThatAreReturnedAndOfViews) {
  const Tensor x = floats({1, 2});
  EXPECT_EQ(along([](const Tensor& v) { return Identity::apply(v); }, x), "tensor([2., 2.])");
  EXPECT_EQ(along([](const Tensor& v) { return FirstPart::apply(v); }, x), "tensor([2.])");
  EXPECT_EQ(along([](const Tensor& v) { return add(Identity::apply(v), v); }, x), "tensor([3., 3.])");
  EXPECT_EQ(along([](const Tensor& v) { return Constant::apply(v)[1]; }, x), "none");
}

TEST(FunctionTangents, OfWritesToAViewReachItsBase) {
  EXPECT_EQ(along(
                [](const Tensor& v) {
                  const Tensor copy = clone(v);
                  Writes::apply(slice(copy, 0, 1, 2));
                  return copy;
                },
                floats({1, 2, 3})),
            "tensor([1., 2., 1.])");
}

TEST(FunctionTangents, OfTwoLevels) {
  // The derivative of v * Identity(v), whose factor is 2 by its backward(): 3 v; and again: 2 + 2 - 1.
  EXPECT_EQ(along(
                [](const Tensor& v) {
                  const ForwardLevel inner;
                  const Tensor w = inner.makeDual(v, ones_like(v));
                  return inner.tangentOf(mul(w, Identity::apply(w)));
                },
                floats({5})),
            "tensor([4.])");
}

TEST(FunctionTangents, AreDifferentiatedBackwards) {
  const Tensor x = leaf({1, 2});
  const ForwardLevel level;
  const Tensor dual = level.makeDual(x, ones_like(x));
  const Tensor change = level.tangentOf(mul(dual, Identity::apply(dual)));
  EXPECT_EQ(toString(grad({{sum(change)}}, {{x}})[0]), "tensor([4., 4.])");
}

}  // namespace
}  // namespace boxcar::autograd
