#include <boxcar/backends/autograd/function.h>
#include <boxcar/backends/autograd/history.h>
#include <gtest/gtest.h>

#include "tests/backends/tensor_helpers.h"

namespace boxcar::autograd {
namespace {

Tensor leaf(std::initializer_list<float> values) { return floats(values).set_requires_grad(true); }

struct Cube : Function<Cube> {
  static Tensor forward(AutogradContext* context, const Tensor& x, double factor) {
    context->save_for_backward({x});
    context->saved_data["factor"] = factor;
    EXPECT_FALSE(GradMode::is_enabled());
    return mul(pow(x, 3), factor);
  }
  static variable_list backward(AutogradContext* context, variable_list grad_outputs) {
    const Tensor x = context->get_saved_variables()[0];
    const double factor = context->saved_data["factor"].toDouble();
    return {mul(grad_outputs[0], mul(mul(x, x), 3 * factor)), Tensor()};
  }
};

TEST(AutogradFunction, HasTheDerivativeThatItSays) {
  const Tensor x = leaf({1, 2});
  const Tensor y = Cube::apply(x, 2.0);
  EXPECT_EQ(toString(boxcar::detach(y)), "tensor([ 2., 16.])");
  EXPECT_EQ(gradFn(y)->name(), "CubeBackward");
  const Tensor first = grad({{sum(y)}}, {{x}}, {}, true, true)[0];
  EXPECT_EQ(toString(boxcar::detach(first)), "tensor([ 6., 24.])");
  EXPECT_EQ(toString(grad({{sum(first)}}, {{x}})[0]), "tensor([12., 24.])");
}

TEST(AutogradFunction, RecordsNothingWhereNothingRequiresGrad) {
  EXPECT_FALSE(Cube::apply(floats({1}), 1.0).requires_grad());
  const Tensor x = leaf({1});
  const NoGradGuard no_grad;
  EXPECT_FALSE(Cube::apply(x, 1.0).requires_grad());
}

TEST(AutogradFunction, ItsSavedTensorsAreFreedAndChecked) {
  Tensor x = mul(leaf({1, 2}), 1);
  const Tensor y = sum(Cube::apply(x, 1.0));
  backward({{y}});
  EXPECT_NE(errorOf([&] { backward({{y}}); }).find("Trying to backward through the graph a second time"),
            std::string::npos);
  const Tensor z = sum(Cube::apply(x, 1.0));
  mul_(x, 2);
  EXPECT_NE(errorOf([&] { backward({{z}}); }).find("CubeBackward"), std::string::npos);
}

struct Exponential : Function<Exponential> {
  static Tensor forward(AutogradContext* context, const Tensor& x) {
    Tensor result = exp(x);
    context->save_for_backward({result});
    return result;
  }
  static variable_list backward(AutogradContext* context, variable_list grad_outputs) {
    return {mul(grad_outputs[0], context->get_saved_variables()[0])};
  }
};

TEST(AutogradFunction, SavesAnOutputWithItsHistory) {
  const Tensor x = leaf({0});
  WeakIntrusivePtr<Node> weak;
  {
    const Tensor y = Exponential::apply(x);
    weak = WeakIntrusivePtr<Node>(gradFn(y));
    const Tensor first = grad({{sum(y)}}, {{x}}, {}, true, true)[0];
    EXPECT_EQ(toString(grad({{sum(first)}}, {{x}})[0]), "tensor([1.])");
  }
  EXPECT_TRUE(weak.expired());
}

// Doubles in place, and returns whether elements are positive, too.
struct Doubled : Function<Doubled> {
  static variable_list forward(AutogradContext* context, Tensor x, const variable_list& others) {
    mul_(x, 2);
    Tensor is_positive = gt(x, 0);
    Tensor unused = mul(others[0], others[1]);
    context->mark_dirty({x});
    context->mark_non_differentiable({is_positive});
    EXPECT_TRUE(context->saved_data.empty());
    return {x, is_positive, unused};
  }
  static variable_list backward(AutogradContext* context, variable_list grad_outputs) {
    EXPECT_TRUE(context->needs_input_grad(0));
    EXPECT_TRUE(context->needs_input_grad(1));
    EXPECT_FALSE(context->needs_input_grad(2));
    EXPECT_EQ(toString(grad_outputs[2]), "tensor([0.])");  // made, because nobody used it
    return {mul(grad_outputs[0], 2), grad_outputs[2], Tensor()};
  }
};

TEST(AutogradFunction, WritesInPlaceAndReturnsSeveral) {
  const Tensor x = leaf({1, -2});
  const Tensor y = mul(x, 1);
  const variable_list results = Doubled::apply(y, variable_list{leaf({3}), floats({4})});
  EXPECT_TRUE(results[0].is_same(y));
  EXPECT_FALSE(results[1].requires_grad());
  EXPECT_TRUE(results[2].requires_grad());
  backward({{sum(mul(y, floats({10, 100})))}});
  EXPECT_EQ(toString(gradOf(x)), "tensor([ 20., 200.])");
  EXPECT_EQ(errorOf([&] {
              Doubled::apply(x, variable_list{leaf({3}), floats({4})});
            }),
            "a leaf Variable that requires grad is being used in an in-place operation. "
            "Write to a clone() of it, or under no_grad");
}

struct Wrong : Function<Wrong> {
  static Tensor forward(AutogradContext*, const Tensor& x, int64_t) { return x; }
  static variable_list backward(AutogradContext*, variable_list grad_outputs) { return grad_outputs; }
};

TEST(AutogradFunction, ReturnsAGradientForEachArgument) {
  const Tensor x = leaf({1});
  const Tensor y = Wrong::apply(x, 3);
  EXPECT_FALSE(y.is_same(x));
  EXPECT_EQ(errorOf([&] { backward({{y}}); }),
            "Function WrongBackward returned an incorrect number of gradients (expected 2, got 1)");
}

}  // namespace
}  // namespace boxcar::autograd
