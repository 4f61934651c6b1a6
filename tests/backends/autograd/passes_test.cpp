#include <boxcar/backends/autograd/history.h>
#include <boxcar/ivalue/error.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/backends/autograd/leaves.h"

// What a backward pass starts from, where it accumulates, and what it leaves.

namespace boxcar::autograd {
namespace {

TEST(Roots, MayRepeat) {
  const Tensor x = leaf({1, 2});
  const Tensor y = sum(mul(x, x));
  backward({{y, y}});
  EXPECT_EQ(gradText(x), "tensor([4., 8.])");
}

TEST(Roots, MayBeLeaves) {
  const Tensor x = leaf({3});
  backward({{x}});
  EXPECT_EQ(gradText(x), "tensor([1.])");
  EXPECT_EQ(toString(grad({{x}}, {{x}})[0]), "tensor([1.])");
}

TEST(Roots, MayLieOnEachOthersWay) {
  const Tensor x = leaf({1, 2});
  const Tensor y = mul(x, x);
  backward({{y, sum(mul(y, 3))}}, {{floats({1, 10}), Tensor()}});
  EXPECT_EQ(gradText(x), "tensor([ 8., 52.])");
}

TEST(Roots, MayHaveTheirOwnGradients) {
  const Tensor x = leaf({1, 2});
  backward({{sum(mul(x, x)), mul(x, 3)}}, {{Tensor(), ones({2})}});
  EXPECT_EQ(gradText(x), "tensor([5., 7.])");
  EXPECT_EQ(errorOf([&] {
              backward({{sum(x), mul(x, 3)}}, {{Tensor()}});
            }),
            "got 2 tensors and 1 gradients; give one gradient for each tensor, or None for those of one element");
}

TEST(Roots, OfComplexNumbersNeedAGradient) {
  const Tensor z = complex(floats({1}), floats({2})).set_requires_grad(true);
  EXPECT_EQ(errorOf([&] { backward({{mul(z, z)}}); }),
            "grad can be implicitly created only for real scalar outputs but got complex64; give its gradient");
  EXPECT_TRUE(errorOf([&] {
                backward({{mul(z, z)}}, {{ones({1})}});
              }).starts_with("For complex Tensors, both grad_output and output are required to have the same dtype."));
  backward({{sum(real(mul(z, conj(z))))}});
  EXPECT_EQ(gradText(z), "tensor([2.+4.j])");
}

TEST(Roots, GetTheirGradientsInTheirDtype) {
  const Tensor x = leaf({1, 2});
  backward({{mul(x, 2)}}, {{ones({2}, ScalarType::Double)}});
  EXPECT_EQ(gradText(x), "tensor([2., 2.])");
  const Tensor y = leaf({1, 2});
  backward({{sum(mul(to(y, ScalarType::Double), 2))}});
  EXPECT_EQ(gradOf(y).scalar_type(), ScalarType::Float);
}

TEST(Inputs, AreTheOnlyOnesThatAccumulate) {
  const Tensor x = leaf({1, 2});
  const Tensor w = leaf({3, 4});
  const Tensor unused = leaf({5});
  int calls = 0;
  registerHook(w, [&](const Tensor& g) {
    ++calls;
    return g;
  });
  backward({{sum(mul(x, w))}}, {}, true, false, {{x, x, unused}});
  EXPECT_EQ(gradText(x), "tensor([3., 4.])");
  EXPECT_EQ(gradText(w), "none");
  EXPECT_EQ(gradText(unused), "none");
  EXPECT_EQ(calls, 0);
}

TEST(Inputs, NeedNotBeLeaves) {
  const Tensor x = leaf({1, 2});
  const Tensor y = mul(x, 2);
  const Tensor z = sum(mul(y, y));
  backward({{z}}, {}, true, false, {{y}});
  EXPECT_EQ(gradText(y), "tensor([4., 8.])");
  EXPECT_EQ(gradText(x), "none");
  EXPECT_TRUE(retainsGrad(y));
  backward({{z}}, {}, true, false, {{x, y}});
  EXPECT_EQ(gradText(y), "tensor([ 8., 16.])");
  EXPECT_EQ(gradText(x), "tensor([ 8., 16.])");
}

TEST(Inputs, OfGradMayRepeatAndBeUnused) {
  const Tensor x = leaf({1, 2});
  const std::vector<Tensor> twice = grad({{sum(mul(x, x))}}, {{x, x}});
  EXPECT_EQ(toString(twice[0]), "tensor([2., 4.])");
  EXPECT_EQ(toString(twice[1]), "tensor([2., 4.])");
  // Another view of the same elements is another tensor.
  EXPECT_FALSE(grad({{sum(select(x, 0, 0))}}, {{select(x, 0, 0)}}, {}, {}, false, true)[0].defined());
}

TEST(Leaves, ThatNoLongerRequireGradAccumulateNothing) {
  const Tensor x = leaf({1, 2});
  const Tensor y = sum(mul(x, 2));
  int calls = 0;
  registerHook(x, [&](const Tensor& g) {
    ++calls;
    return g;
  });
  setRequiresGrad(x, false);
  backward({{y}});
  EXPECT_EQ(gradText(x), "none");
  EXPECT_EQ(calls, 1);
  setRequiresGrad(x);
  backward({{y}});
  EXPECT_EQ(gradText(x), "tensor([2., 2.])");
}

TEST(Leaves, AreTensorsThatNoRecordedCallMade) {
  const Tensor x = leaf({1, 2});
  EXPECT_TRUE(isLeaf(x));
  EXPECT_TRUE(isLeaf(detach(x)));
  EXPECT_TRUE(isLeaf(zeros({1})));
  EXPECT_FALSE(isLeaf(clone(x)));
  EXPECT_FALSE(argmax(x).requires_grad());
  EXPECT_FALSE(gt(x, 0).requires_grad());
  EXPECT_FALSE(to(x, ScalarType::Long).requires_grad());
  EXPECT_FALSE(zeros_like(x).requires_grad());
  EXPECT_TRUE(sign(x).requires_grad());
  const auto [values, indices] = topk(x, 1);
  EXPECT_TRUE(values.requires_grad());
  EXPECT_FALSE(indices.requires_grad());
}

std::vector<int64_t> stridesOfGrad(const Tensor& weight, const Tensor& gradient) {
  setRequiresGrad(weight);
  backward({{weight}}, {{gradient}});
  return stridesOf(gradOf(weight));
}

TEST(AccumulatedGradients, HaveTheLayoutOfTheLeafIfItIsDense) {
  using Strides = std::vector<int64_t>;
  EXPECT_EQ(stridesOfGrad(detach(t(zeros({2, 3}))), ones({3, 2})), (Strides{1, 3}));
  EXPECT_EQ(stridesOfGrad(zeros({3, 2}), t(ones({2, 3}))), (Strides{2, 1}));
  EXPECT_EQ(stridesOfGrad(zeros({3, 2}), expand(ones({1, 1}), {3, 2})), (Strides{2, 1}));
  EXPECT_EQ(stridesOfGrad(detach(expand(zeros({1, 2}), {3, 2})), t(ones({2, 3}))), (Strides{2, 1}));
  EXPECT_EQ(stridesOfGrad(detach(slice(zeros({3, 4}), 1, 0, 4, 2)), ones({3, 2})), (Strides{2, 1}));
  const Tensor turned = detach(t(zeros({2, 3})));
  setRequiresGrad(turned);
  backward({{sum(mul(turned, ones({3, 2})))}}, {}, true, true);
  EXPECT_EQ(stridesOf(gradOf(turned)), (Strides{1, 3}));
}

TEST(AccumulatedGradients, AreTensorsOfTheirOwn) {
  const Tensor x = leaf({1, 2});
  const Tensor given = ones({2});
  backward({{x}}, {{given}});
  EXPECT_FALSE(gradOf(x).storage().get() == given.storage().get());
  const Tensor held = gradOf(x);
  backward({{sum(x)}});
  EXPECT_TRUE(gradOf(x).is_same(held));  // added in place
  EXPECT_EQ(toString(held), "tensor([2., 2.])");
  const Tensor y = mul(x, 1);
  retainGrad(y);
  backward({{sum(y)}});
  Tensor of_y = gradOf(y);
  zero_(of_y);
  EXPECT_EQ(gradText(x), "tensor([3., 3.])");
}

TEST(AccumulatedGradients, ThatAreDifferentiableAreNotAddedInPlace) {
  const Tensor x = leaf({1, 2});
  backward({{sum(x)}});
  const Tensor held = gradOf(x);
  backward({{sum(mul(x, x))}}, {}, {}, true);
  EXPECT_EQ(toString(held), "tensor([1., 1.])");
  EXPECT_EQ(gradText(x), "tensor([3., 5.])");
  EXPECT_TRUE(gradOf(x).requires_grad());
  setGrad(x, Tensor());  // or the gradient keeps x, which keeps it
}

TEST(AccumulatedGradients, AreDifferentiatedByTheGradientGiven) {
  const Tensor x = leaf({1, 2});
  const Tensor given = leaf({1, 1});
  backward({{mul(x, x)}}, {{given}}, {}, true);
  EXPECT_EQ(gradText(x), "tensor([2., 4.])");
  EXPECT_EQ(toString(grad({{sum(gradOf(x))}}, {{given}})[0]), "tensor([2., 4.])");
  setGrad(x, Tensor());
}

TEST(AccumulatedGradients, CannotBeTheTensorItself) {
  const Tensor x = leaf({1, 2});
  EXPECT_EQ(errorOf([&] { setGrad(x, x); }), "can't assign Variable as its own grad");
  EXPECT_EQ(errorOf([&] { setGrad(x, ones({2}, ScalarType::Double)); }),
            "assigned grad has data of a different type: expected float32, got float64");
}

TEST(Graph, IsFreedWhereAPassWentOnly) {
  const Tensor x = leaf({1, 2});
  const Tensor shared = mul(x, x);
  const Tensor a = sum(shared);
  const Tensor b = sum(mul(shared, 2));
  backward({{a}});
  EXPECT_TRUE(errorOf([&] { backward({{b}}); }).starts_with("Trying to backward through the graph a second time"));
  const Tensor c = sum(mul(x, x));
  grad({{c}}, {{x}}, {}, {}, true);  // keeps it
  EXPECT_EQ(toString(grad({{c}}, {{x}})[0]), "tensor([2., 4.])");
}

TEST(Graph, EndsWhereTheDerivativeIsZero) {
  const Tensor x = leaf({2});
  Tensor y = pow(x, 4);
  std::string values;
  while (y.requires_grad()) {
    y = grad({{y}}, {{x}}, {}, {}, true)[0];
    values += toString(item(y)) + " ";
  }
  EXPECT_EQ(values, "32.0 48.0 48.0 24.0 ");
}

TEST(Graph, IsUsableAfterAFailedPass) {
  const Tensor x = leaf({2});
  const Tensor y = mul(x, 2);
  const Tensor z = mul(y, 3);
  const HookHandle hook = registerHook(y, [](const Tensor&) -> Tensor { BOXCAR_FAIL("stop here"); });
  EXPECT_EQ(errorOf([&] { backward({{z}}, {}, true); }), "stop here");
  EXPECT_EQ(gradText(x), "none");
  EXPECT_TRUE(GradMode::is_enabled());
  hook.remove();
  backward({{z}});
  EXPECT_EQ(gradText(x), "tensor([6.])");
}

TEST(Numbers, ZeroTimesInfinityIsNotANumber) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto gradAt = [](float at, auto function) {
    const Tensor x = leaf({at});
    return toString(grad({{sum(function(x))}}, {{x}})[0]);
  };
  EXPECT_EQ(gradAt(0, [](const Tensor& x) { return mul(x, kInfinity); }), "tensor([inf])");
  EXPECT_EQ(gradAt(0, [](const Tensor& x) { return pow(x, 0.5); }), "tensor([inf])");
  EXPECT_EQ(gradAt(0, [](const Tensor& x) { return mul(sqrt(x), 0); }), "tensor([nan])");
  EXPECT_EQ(gradAt(0, [](const Tensor& x) { return where(gt(x, 0), sqrt(x), mul(x, 0)); }), "tensor([nan])");
  // The value is not a number, the factor is.
  EXPECT_EQ(gradAt(NAN, [](const Tensor& x) { return mul(x, 0); }), "tensor([0.])");
  EXPECT_EQ(gradAt(NAN, [](const Tensor& x) { return nansum(x); }), "tensor([0.])");
  EXPECT_EQ(gradAt(NAN, [](const Tensor& x) { return nan_to_num(x); }), "tensor([0.])");
}

TEST(Numbers, EqualExtremesShareTheGradientWhereNoPlaceIsChosen) {
  const Tensor x = leaf({2, 2, 1});
  EXPECT_EQ(weightedGrad(max(x), x), "tensor([0.5000, 0.5000, 0.0000])");
  EXPECT_EQ(weightedGrad(amax(x), x), "tensor([0.5000, 0.5000, 0.0000])");
  EXPECT_EQ(weightedGrad(std::get<0>(max(x, 0)), x), "tensor([1., 0., 0.])");
}

TEST(Numbers, OfNoElements) {
  const Tensor x = zeros({0, 3}).set_requires_grad(true);
  backward({{sum(x)}});
  EXPECT_EQ(sizesOf(gradOf(x)), (std::vector<int64_t>{0, 3}));
}

TEST(Nodes, HaveTheNamesOfPyTorch) {
  const Tensor x = view(leaf({1, 2}), {1, 2});
  const auto name = [](const Tensor& tensor) { return gradFn(tensor)->name(); };
  EXPECT_EQ(name(add(x, x)), "AddBackward0");
  EXPECT_EQ(name(matmul(x, t(x))), "MmBackward0");
  EXPECT_EQ(name(select(x, 0, 0)), "SelectBackward0");
  EXPECT_EQ(name(sum(x)), "SumBackward0");
  EXPECT_EQ(name(mean(x, std::vector<int64_t>{0})), "MeanBackward1");
  EXPECT_EQ(name(reshape(x, {2})), "ViewBackward0");
  EXPECT_EQ(name(to(x, ScalarType::Double)), "ToCopyBackward0");
  EXPECT_EQ(name(unbind(x)[0]), "UnbindBackward0");
  EXPECT_EQ(name(cat({x, x})), "CatBackward0");
  EXPECT_EQ(name(softmax(x, 1)), "SoftmaxBackward0");
  EXPECT_EQ(name(neg(x)), "NegBackward0");
  EXPECT_EQ(name(expand(x, {3, 2})), "ExpandBackward0");
}

}  // namespace
}  // namespace boxcar::autograd
