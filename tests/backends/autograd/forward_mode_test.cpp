#include <boxcar/backends/autograd/autograd.h>
#include <boxcar/backends/autograd/forward_mode.h>
#include <boxcar/backends/autograd/function.h>
#include <boxcar/dispatcher/call/local_dispatch_key_set.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ops.h>
#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>
#include <vector>

#include "tests/backends/tensor_helpers.h"

namespace boxcar::autograd {
namespace {

using Values = std::vector<double>;

Tensor numbers(std::initializer_list<double> values) { return tensorOf<double>(values); }

Values valuesOf(const Tensor& tensor) { return tensor.defined() ? elements<double>(tensor) : Values(); }

// The tangent of function(x) along [direction].
Values along(const std::function<Tensor(const Tensor&)>& function, const Tensor& x, const Tensor& direction) {
  const ForwardLevel level;
  return valuesOf(level.tangentOf(function(level.makeDual(x, direction))));
}

TEST(ForwardMode, GivesResultsTheirTangents) {
  const Tensor x = numbers({1, 2});
  EXPECT_EQ(along([](const Tensor& v) { return boxcar::mul(v, v); }, x, numbers({1, 10})), (Values{2, 40}));
  EXPECT_EQ(along([](const Tensor& v) { return boxcar::sum(boxcar::mul(v, 3)); }, x, numbers({1, 10})), (Values{33}));
  EXPECT_EQ(along([](const Tensor& v) { return boxcar::detach(v); }, x, numbers({1, 10})), Values());
  EXPECT_EQ(along([&](const Tensor&) { return boxcar::sin(x); }, x, numbers({1, 10})), Values());
}

TEST(ForwardMode, EndsWithItsLevel) {
  const Tensor x = numbers({1, 2});
  Tensor dual;
  {
    const ForwardLevel level;
    dual = level.makeDual(x, numbers({1, 1}));
  }
  const ForwardLevel level;
  EXPECT_FALSE(level.tangentOf(boxcar::mul(dual, 2)).defined());
  EXPECT_FALSE(level.tangentOf(dual).defined());
}

TEST(ForwardMode, CopiesTheTangentThatItIsGiven) {
  const Tensor direction = numbers({1, 10});
  EXPECT_EQ(along(
                [](Tensor v) {
                  boxcar::mul_(v, 2);
                  return v;
                },
                numbers({1, 2}), direction),
            (Values{2, 20}));
  EXPECT_EQ(valuesOf(direction), (Values{1, 10}));
}

TEST(ForwardMode, GoesOnWithoutGrad) {
  const NoGradGuard no_grad;
  EXPECT_EQ(along([](const Tensor& v) { return boxcar::exp(boxcar::mul(v, 0)); }, numbers({1}), numbers({5})),
            (Values{0}));
  // A cumulative product has no formula of its own, so that of its gradient is transposed.
  EXPECT_EQ(along([](const Tensor& v) { return boxcar::cumprod(v, 0); }, numbers({2, 3}), numbers({1, 1})),
            (Values{1, 5}));
}

TEST(ForwardMode, OfWritesReachesEveryView) {
  const Tensor direction = numbers({1, 10, 100});
  // A base that is written.
  EXPECT_EQ(along(
                [](const Tensor& v) {
                  Tensor copy = boxcar::clone(v);
                  const Tensor older = boxcar::select(copy, 0, 2);
                  boxcar::mul_(copy, 2);
                  return older;
                },
                numbers({1, 2, 3}), direction),
            (Values{200}));
  // A view of a tensor without a tangent is written; another view is older.
  EXPECT_EQ(along(
                [](const Tensor& v) {
                  const Tensor plain = boxcar::zeros(std::vector<int64_t>{2, 3}, ScalarType::Double);
                  const Tensor column = boxcar::select(plain, 1, 1);
                  Tensor row = boxcar::select(plain, 0, 1);
                  boxcar::copy_(row, v);
                  return boxcar::cat(std::vector<Tensor>{column, boxcar::sum(plain, std::vector<int64_t>{0})}, 0);
                },
                numbers({1, 2, 3}), direction),
            (Values{0, 10, 1, 10, 100}));
  // What does not depend on the arguments takes their tangent away.
  EXPECT_EQ(along(
                [](const Tensor& v) {
                  Tensor copy = boxcar::clone(v);
                  Tensor first = boxcar::select(copy, 0, 0);
                  boxcar::zero_(first);
                  Tensor second = boxcar::select(copy, 0, 1);
                  boxcar::ge_(second, 0);
                  return copy;
                },
                numbers({1, 2, 3}), direction),
            (Values{0, 0, 100}));
}

TEST(ForwardMode, OfWritesToPartsOfComplexNumbers) {
  EXPECT_EQ(along(
                [](const Tensor& v) {
                  const Tensor numbers = boxcar::zeros(std::vector<int64_t>{2}, ScalarType::ComplexDouble);
                  Tensor real_part = boxcar::real(numbers);
                  boxcar::copy_(real_part, v);
                  return boxcar::real(boxcar::mul(numbers, numbers));
                },
                numbers({2, 3}), numbers({1, 10})),
            (Values{4, 60}));
}

TEST(ForwardMode, OfCallsThatChangeTheShapeOfTheirArgument) {
  EXPECT_EQ(along(
                [](const Tensor& v) {
                  Tensor turned = boxcar::reshape(boxcar::clone(v), std::vector<int64_t>{2, 3});
                  boxcar::t_(turned);
                  return boxcar::select(turned, 0, 0);
                },
                numbers({1, 2, 3, 4, 5, 6}), numbers({10, 20, 30, 40, 50, 60})),
            (Values{10, 40}));
}

TEST(ForwardMode, KeepsResultsApartFromTheirArguments) {
  EXPECT_EQ(along(
                [](const Tensor& v) {
                  Tensor sum = boxcar::add(v, 1);
                  boxcar::mul_(sum, 5);
                  return boxcar::add(v, sum);
                },
                numbers({1}), numbers({1})),
            (Values{6}));
}

TEST(ForwardMode, NestsInItself) {
  // d/dx (x * d/dy (x + y) at y = 1): the inner direction is not the outer one's.
  EXPECT_EQ(along(
                [](const Tensor& x) {
                  const ForwardLevel inner;
                  const Tensor y = inner.makeDual(numbers({1}), numbers({1}));
                  return boxcar::mul(x, inner.tangentOf(boxcar::add(x, y)));
                },
                numbers({3}), numbers({1})),
            (Values{1}));
  // The second derivative of x^4.
  EXPECT_EQ(along(
                [](const Tensor& x) {
                  const ForwardLevel inner;
                  return inner.tangentOf(boxcar::pow(inner.makeDual(x, numbers({1})), 4));
                },
                numbers({2}), numbers({1})),
            (Values{48}));
  // Of one whose formula is transposed.
  EXPECT_EQ(along(
                [](const Tensor& x) {
                  const ForwardLevel inner;
                  return inner.tangentOf(boxcar::cumprod(inner.makeDual(x, numbers({1, 0})), 0));
                },
                numbers({2, 3}), numbers({0, 1})),
            (Values{0, 1}));
}

TEST(ForwardMode, OfGradientsGivesSecondDerivatives) {
  const auto gradient = [](const Tensor& x) {
    x.set_requires_grad(true);
    const Tensor cubes = boxcar::mul(boxcar::mul(x, x), x);
    return grad({{boxcar::sum(boxcar::add(cubes, boxcar::exp(boxcar::mul(x, 0))))}}, {{x}})[0];
  };
  EXPECT_EQ(along(gradient, numbers({2, 3}), numbers({1, 1})), (Values{12, 18}));
}

TEST(ForwardMode, IsDifferentiatedBackwards) {
  const Tensor x = numbers({2, 4}).set_requires_grad(true);
  const ForwardLevel level;
  const Tensor dual = level.makeDual(x, numbers({1, 1}));
  const Tensor change = level.tangentOf(boxcar::mul(boxcar::mul(dual, dual), dual));  // 3x^2
  EXPECT_EQ(valuesOf(change), (Values{12, 48}));
  EXPECT_EQ(valuesOf(grad({{boxcar::sum(change)}}, {{x}})[0]), (Values{12, 24}));
  const Tensor of_product = level.tangentOf(boxcar::cumprod(dual, 0));  // 1, a + b
  EXPECT_EQ(valuesOf(grad({{boxcar::sum(of_product)}}, {{x}})[0]), (Values{1, 1}));
}

Tensor same(const Tensor& x) { return boxcar::clone(x); }

struct StraightThrough : Function<StraightThrough> {
  static Tensor forward(AutogradContext*, const Tensor& x) { return boxcar::round(x); }
  static variable_list backward(AutogradContext*, const variable_list& grads) { return {boxcar::mul(grads[0], 7)}; }
};

struct Doubled : Function<Doubled> {
  static Tensor forward(AutogradContext* context, Tensor x) {
    context->mark_dirty({x});
    return boxcar::mul_(x, 2);
  }
  static variable_list backward(AutogradContext*, const variable_list& grads) { return {boxcar::mul(grads[0], 2)}; }
};

TEST(ForwardMode, OfFunctionsIsTheirBackwardTransposed) {
  EXPECT_EQ(along([](const Tensor& x) { return StraightThrough::apply(x); }, numbers({1.6}), numbers({1})),
            (Values{7}));
  EXPECT_EQ(along([](const Tensor& x) { return Doubled::apply(boxcar::clone(x)); }, numbers({1, 2}), numbers({1, 10})),
            (Values{2, 20}));
  const Tensor plain = numbers({1});
  along([&](const Tensor& x) { return StraightThrough::apply(boxcar::mul(x, plain)); }, plain, numbers({1}));
  EXPECT_FALSE(StraightThrough::apply(plain).requires_grad());
}

TEST(ForwardMode, RefusesWhatHasNoDerivative) {
  const Tensor x = numbers({1});
  EXPECT_EQ(errorOf([&] {
              along(
                  [](const Tensor& v) {
                    Tensor out = boxcar::empty_like(v);
                    return boxcar::sin_out(out, v);
                  },
                  x, x);
            }),
            "aten::sin(): functions with out=... arguments don't support automatic differentiation, but one of the "
            "arguments has a tangent. Use the result of the call without out=, or detach() the arguments");
  EXPECT_EQ(errorOf([&] {
              along([](const Tensor& v) { return v; }, x, numbers({1, 2}));
            }),
            "a tangent must have the shape of its primal, [1], not [2]");
  EXPECT_EQ(errorOf([&] {
              along(
                  [](const Tensor& v) {
                    Tensor resized = boxcar::clone(v);
                    return boxcar::mul(boxcar::resize_(resized, std::vector<int64_t>{3}), 2);
                  },
                  x, x);
            }),
            "resize_: cannot resize a tensor that has a tangent. Call it on a detach()ed tensor");
}

TEST(ForwardMode, AnOperatorOfAPluginWithoutADerivativeSaysSo) {
  Library definitions{Library::DEF, "forward_test", std::nullopt, __FILE__, 1};
  Library kernels{Library::IMPL, "forward_test", DispatchKey::CPU, __FILE__, 2};
  definitions.def("same(Tensor x) -> Tensor");
  kernels.impl("same", BOXCAR_FN(same));
  const auto callSame = [](const Tensor& x) { return callBoxed("forward_test::same", x).toTensor(); };
  EXPECT_EQ(errorOf([&] { along(callSame, numbers({1}), numbers({1})); }),
            "the derivative of forward_test::same is not implemented, so func::jvp() cannot differentiate it. Give it "
            "one by autograd::register_derivative, or detach() its arguments");
  EXPECT_EQ(
      along([&](const Tensor& x) { return boxcar::add(x, callSame(boxcar::detach(x))); }, numbers({1}), numbers({1})),
      (Values{1}));
}

}  // namespace
}  // namespace boxcar::autograd
