#include <boxcar/backends/autograd/history.h>
#include <gtest/gtest.h>

#include <complex>
#include <functional>
#include <vector>

#include "tests/backends/autograd/leaves.h"

// Writes through views, and tensors that share memory.

namespace boxcar::autograd {
namespace {

constexpr const char* kWithoutGrad =
    "A view was created in no_grad mode and is being modified inplace with grad mode enabled, which is ambiguous. Move "
    "both the view and the inplace operation either inside the no_grad block, if it shall not be tracked, or outside";

Tensor partWithoutGrad(const Tensor& x) {
  const NoGradGuard no_grad;
  return slice(x, 0, 0, 1);
}

TEST(ViewsWithoutGrad, AreNotWrittenOutsideOfTheBlock) {
  const Tensor x = leaf({1, 2});
  const Tensor y = mul(x, 2);
  Tensor part = partWithoutGrad(y);
  EXPECT_FALSE(part.requires_grad());
  EXPECT_EQ(errorOf([&] { mul_(part, 10); }), kWithoutGrad);
  EXPECT_EQ(errorOf([&] { mul_(part, slice(x, 0, 1, 2)); }), kWithoutGrad);
  Tensor part_of_part = slice(part, 0, 0, 1);
  EXPECT_EQ(errorOf([&] { mul_(part_of_part, 10); }), kWithoutGrad);
  Tensor of_leaf = partWithoutGrad(x);
  EXPECT_EQ(errorOf([&] { fill_(of_leaf, 0); }), kWithoutGrad);
  EXPECT_EQ(weightedGrad(y, x), "tensor([ 2., 20.])");
}

TEST(ViewsWithoutGrad, AreWrittenInsideOfTheBlock) {
  const Tensor x = leaf({1, 2});
  const Tensor y = mul(x, 2);
  {
    const NoGradGuard no_grad;
    Tensor part = slice(y, 0, 0, 1);
    mul_(part, 10);
  }
  EXPECT_EQ(toString(detach(y)), "tensor([20.,  4.])");
  EXPECT_EQ(weightedGrad(y, x), "tensor([ 2., 20.])");
}

TEST(ViewsWithoutGrad, AreReadAsConstants) {
  const Tensor y = mul(leaf({1, 2}), 2);
  EXPECT_FALSE(mul(partWithoutGrad(y), 3).requires_grad());
}

TEST(ViewsWithoutGrad, MayBecomeLeaves) {
  const Tensor x = leaf({1, 2});
  Tensor part = partWithoutGrad(x);
  setRequiresGrad(part);
  EXPECT_TRUE(isLeaf(part));
  backward({{sum(mul(part, 3))}});
  EXPECT_EQ(gradText(part), "tensor([3.])");
  EXPECT_EQ(gradText(x), "none");
  EXPECT_EQ(errorOf([&] { add_(part, 1); }),
            "a leaf Variable that requires grad is being used in an in-place operation. "
            "Write to a clone() of it, or under no_grad");
}

TEST(ViewsWithoutGrad, OfWhatNeedsNoGradAreWrittenAnywhere) {
  const Tensor x = leaf({1, 2});
  Tensor of_detached = [&] {
    const NoGradGuard no_grad;
    return slice(detach(mul(x, 2)), 0, 0, 1);
  }();
  mul_(of_detached, 2);
  const Tensor plain = zeros({2});
  Tensor part = partWithoutGrad(plain);
  add_(part, slice(x, 0, 1, 2));
  EXPECT_EQ(weightedGrad(plain, x), "tensor([0., 1.])");
}

// PyTorch refuses this, because it cannot find such views again in their base.
TEST(Views, OfOneCallAreWrittenAsOthersAre) {
  const Tensor x = leaf({1, 2, 3, 4});
  const std::function<std::vector<Tensor>(const Tensor&)> ways[] = {[](const Tensor& whole) { return split(whole, 2); },
                                                                    [](const Tensor& whole) { return chunk(whole, 2); },
                                                                    [](const Tensor& whole) {
                                                                      return unbind(view(whole, {2, 2}));
                                                                    }};
  for (const auto& parts : ways) {
    const Tensor y = mul(x, 1);
    std::vector<Tensor> halves = parts(y);
    mul_(halves[0], slice(x, 0, 2));
    EXPECT_EQ(weightedGrad(y, x), "tensor([   3.,   40.,  101., 1020.])");
    EXPECT_EQ(weightedGrad(halves[0], x), "tensor([ 3., 40.,  1., 20.])");
    EXPECT_EQ(weightedGrad(halves[1], x), "tensor([ 0.,  0.,  1., 10.])");
  }
}

TEST(Views, OfViewsAreWritten) {
  const Tensor x = leaf({1, 2, 3, 4});
  const Tensor y = mul(x, 1);
  Tensor inner = slice(slice(y, 0, 1), 0, 1);
  mul_(inner, slice(x, 0, 0, 2));
  EXPECT_EQ(weightedGrad(y, x), "tensor([ 301., 4010.,  100., 2000.])");
}

TEST(Views, KeepWhatWasComputedFromThemBefore) {
  const Tensor x = leaf({1, 2, 3, 4});
  const Tensor y = mul(x, 1);
  const Tensor first = slice(y, 0, 0, 2);
  Tensor last = slice(y, 0, 2);
  const Tensor before = sum(mul(first, 2));
  mul_(last, 10);
  backward({{add(add(before, sum(last)), sum(first))}});
  EXPECT_EQ(gradText(x), "tensor([ 3.,  3., 10., 10.])");
}

TEST(Views, ThatAreWrittenUnderNoGradKeepTheirHistory) {
  const Tensor x = leaf({1, 2});
  const Tensor y = mul(x, 2);
  Tensor part = slice(y, 0, 0, 1);
  {
    const NoGradGuard no_grad;
    mul_(part, 3);
  }
  EXPECT_EQ(weightedGrad(part, x), "tensor([2., 0.])");
}

TEST(Views, InPlaceChangeTheShape) {
  const Tensor x = leaf({1, 2, 3, 4, 5, 6});
  Tensor y = view(mul(x, 2), {2, 3});
  t_(y);
  EXPECT_EQ(weightedGrad(select(y, 0, 0), x), "tensor([ 2.,  0.,  0., 20.,  0.,  0.])");
  unsqueeze_(y, 0);
  mul_(y, 3);
  squeeze_(y);
  EXPECT_EQ(weightedGrad(select(y, 0, 0), x), "tensor([ 6.,  0.,  0., 60.,  0.,  0.])");
}

TEST(Views, ThatChangedTheirShapeFollowTheirBase) {
  const Tensor x = leaf({1, 2, 3, 4, 5, 6});
  Tensor base = mul(x, 2);
  Tensor y = view(base, {2, 3});
  t_(y);
  mul_(base, 5);
  EXPECT_EQ(weightedGrad(select(y, 0, 0), x), "tensor([ 10.,   0.,   0., 100.,   0.,   0.])");
}

TEST(Views, TakePartsOfThemselves) {
  const Tensor x = leaf({1, 2, 3, 4});
  const Tensor y = mul(x, 1);
  Tensor last = slice(y, 0, 1);
  copy_(last, clone(slice(y, 0, 0, 3)));
  EXPECT_EQ(weightedGrad(y, x), "tensor([  11.,  100., 1000.,    0.])");
}

TEST(Views, OfComplexNumbersAreDifferentiatedTwice) {
  const Tensor z = complex(floats({1, 3}), floats({2, 1})).set_requires_grad(true);
  const Tensor w = mul(z, z);
  Tensor real_part = real(w);
  mul_(real_part, clone(real_part));
  const Tensor first = grad({{sum(real(mul(w, conj(w))))}}, {{z}}, {}, true, true)[0];
  EXPECT_EQ(toString(detach(first)), "tensor([ -184.+448.j, 12312.-4024.j])");
  EXPECT_EQ(toString(grad({{sum(real(first))}}, {{z}})[0]), "tensor([  248.-832.j, 31752.-9168.j])");
}

TEST(Views, OfComplexNumbersAreWritten) {
  const Tensor z = complex(floats({1, 3}), floats({2, 1})).set_requires_grad(true);
  const Tensor x = leaf({5, 6});
  const Tensor w = mul(z, 1);
  Tensor real_part = real(w);
  mul_(real_part, 3);
  EXPECT_EQ(toString(grad({{sum(view_as_real(w))}}, {{z}})[0]), "tensor([3.+1.j, 3.+1.j])");
  const Tensor v = mul(z, 1);
  Tensor imaginary_part = imag(v);
  copy_(imaginary_part, x);
  backward({{sum(view_as_real(mul(v, v)))}});
  EXPECT_EQ(gradText(z), "tensor([12.+0.j, 18.+0.j])");
  EXPECT_EQ(gradText(x), "tensor([-8., -6.])");
}

TEST(Views, OfRealNumbersAsComplexOnesAreWritten) {
  const Tensor x = leaf({1, 2});
  Tensor y = mul(x, 1);
  Tensor number = view_as_complex(view(y, {1, 2}));
  mul_(number, std::complex<double>(0, 3));
  EXPECT_EQ(toString(detach(y)), "tensor([-6.,  3.])");
  EXPECT_EQ(weightedGrad(y, x), "tensor([30., -3.])");
  const Tensor numbers = complex(zeros({2}), zeros({2}));
  Tensor real_part = real(numbers);
  copy_(real_part, x);
  EXPECT_TRUE(numbers.requires_grad());
  EXPECT_EQ(toString(grad({{sum(view_as_real(mul(numbers, numbers)))}}, {{x}})[0]), "tensor([2., 4.])");
}

TEST(Views, ThatSpreadAnElementAreNotWritten) {
  Tensor spread = expand(mul(leaf({1}), 2), {3});
  EXPECT_TRUE(errorOf([&] { add_(spread, 1); }).find("more than one element of the written-to tensor refers to") !=
              std::string::npos);
}

TEST(Views, OfAPlainTensorMayBeLeaves) {
  Tensor base = zeros({2});
  Tensor part = slice(base, 0, 0, 1);
  setRequiresGrad(part);
  EXPECT_TRUE(isLeaf(part));
  EXPECT_FALSE(base.requires_grad());
  EXPECT_EQ(errorOf([&] { add_(part, 1); }),
            "a view of a leaf Variable that requires grad is being used in an in-place operation. "
            "Write to a clone() of it, or under no_grad");
  add_(base, 1);
  EXPECT_EQ(toString(detach(part)), "tensor([1.])");
  add_(base, leaf({1, 2}));
  EXPECT_FALSE(isLeaf(part));  // it follows its base from then on
}

TEST(Writes, ToATensorThatIsNotRecordedGiveItAHistory) {
  const Tensor x = leaf({1, 2});
  Tensor y = zeros({2});
  add_(y, x);
  EXPECT_FALSE(isLeaf(y));
  EXPECT_EQ(gradFn(y)->name(), "AddBackward0");
  zero_(y);
  EXPECT_TRUE(y.requires_grad());
  EXPECT_EQ(weightedGrad(y, x), "tensor([0., 0.])");
}

TEST(Writes, ThatFailLeaveHistoryAndVersion) {
  Tensor y = mul(leaf({1, 2}), 2);
  const IntrusivePtr<Node> before = gradFn(y);
  EXPECT_NE(errorOf([&] { add_(y, ones({3})); }), "no error");
  EXPECT_EQ(gradFn(y), before);
  EXPECT_EQ(y.version(), 0u);
}

TEST(Writes, AreCountedForAllThatShareTheMemory) {
  Tensor x = floats({0, 0});
  Tensor part = select(x, 0, 0);
  add_(part, 1);
  EXPECT_EQ(x.version(), 1u);
  Tensor detached = detach(x);
  add_(detached, 1);
  EXPECT_EQ(x.version(), 2u);
  {
    const NoGradGuard no_grad;
    add_(x, 1);
  }
  EXPECT_EQ(part.version(), 3u);
}

TEST(Writes, ToADetachedTensorAreFoundByTheBackwardPass) {
  const Tensor y = mul(leaf({1, 2}), 2);
  const Tensor z = sum(mul(y, y));
  Tensor detached = detach(y);
  add_(detached, 1);
  EXPECT_NE(errorOf([&] { backward({{z}}); }).find("is at version 1; expected version 0 instead"), std::string::npos);
}

TEST(Writes, ToALeafWithoutGradAreFoundByTheBackwardPass) {
  Tensor x = leaf({1, 2});
  const Tensor y = sum(mul(x, x));
  {
    const NoGradGuard no_grad;
    add_(x, 1);
  }
  EXPECT_NE(errorOf([&] { backward({{y}}); }), "no error");
}

TEST(Writes, BesideASavedViewAreFoundToo) {
  const Tensor y = mul(leaf({1, 2, 3}), 1);
  const Tensor first = slice(y, 0, 0, 2);
  const Tensor z = sum(mul(first, first));
  Tensor last = select(y, 0, 2);
  add_(last, 1);
  EXPECT_NE(errorOf([&] { backward({{z}}); }), "no error");
}

TEST(Writes, ByAMaskOrAnIndex) {
  const Tensor x = leaf({1, 2});
  Tensor y = mul(x, 1);
  masked_fill_(y, gt(y, 1), 0);
  EXPECT_EQ(weightedGrad(y, x), "tensor([1., 0.])");
  Tensor filled = zeros({3});
  index_put_(filled, List<std::optional<Tensor>>{ints({1, 2})}, x);
  EXPECT_EQ(weightedGrad(filled, x), "tensor([ 10., 100.])");
}

TEST(Indices, ThatRepeatAddTheirGradients) {
  const Tensor x = leaf({1, 2, 3});
  const List<std::optional<Tensor>> indices{ints({0, 0, 2})};
  EXPECT_EQ(weightedGrad(index(x, indices), x), "tensor([ 11.,   0., 100.])");
  EXPECT_EQ(weightedGrad(index_put(zeros({3}), indices, x), x), "tensor([  1.,   1., 100.])");
  EXPECT_EQ(weightedGrad(index_put(zeros({3}), indices, x, true), x), "tensor([  1.,   1., 100.])");
}

TEST(Detach, InPlaceMakesALeaf) {
  const Tensor x = leaf({1, 2});
  Tensor y = mul(x, 2);
  const Tensor part = slice(y, 0, 0, 1);
  detach_(y);
  EXPECT_FALSE(y.requires_grad());
  EXPECT_TRUE(isLeaf(y));
  EXPECT_TRUE(part.requires_grad());
  setRequiresGrad(y);
  EXPECT_TRUE(isLeaf(y));
  backward({{sum(mul(y, 3))}});
  EXPECT_EQ(gradText(y), "tensor([3., 3.])");
  EXPECT_EQ(gradText(x), "none");
}

TEST(Detach, InPlaceThenWritten) {
  const Tensor x = leaf({1, 2});
  Tensor y = mul(x, 2);
  detach_(y);
  mul_(y, 5);
  mul_(y, x);
  backward({{sum(y)}});
  EXPECT_EQ(gradText(x), "tensor([10., 20.])");
}

TEST(Detach, InPlaceIsNotForViews) {
  Tensor part = slice(mul(leaf({1, 2}), 2), 0, 0, 1);
  EXPECT_EQ(errorOf([&] { detach_(part); }), "Can't detach views in-place. Use detach() instead.");
}

}  // namespace
}  // namespace boxcar::autograd
