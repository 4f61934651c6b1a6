#include <boxcar/backends/autograd/autograd.h>
#include <boxcar/backends/autograd/history.h>
#include <gtest/gtest.h>

#include "tests/backends/tensor_helpers.h"

namespace boxcar::autograd {
namespace {

Tensor leaf(std::initializer_list<float> values) { return floats(values).set_requires_grad(true); }

std::string gradText(const Tensor& tensor) { return toString(gradOf(tensor)); }

TEST(Hooks, OfALeafChangeWhatItAccumulates) {
  const Tensor x = leaf({1, 2});
  const HookHandle handle = registerHook(x, [](const Tensor& grad) { return mul(grad, 10); });
  registerHook(x, [](const Tensor& grad) { return add(grad, 1); });
  backward({{sum(x)}});
  EXPECT_EQ(gradText(x), "tensor([11., 11.])");
  EXPECT_EQ(toString(grad({{sum(x)}}, {{x}})[0]), "tensor([11., 11.])");
  handle.remove();
  EXPECT_EQ(toString(grad({{sum(x)}}, {{x}})[0]), "tensor([2., 2.])");
}

TEST(Hooks, OfAResultChangeWhatGoesOn) {
  const Tensor x = leaf({1, 2});
  const Tensor y = mul(x, 3);
  int calls = 0;
  const HookHandle handle = registerHook(y, [&](const Tensor& grad) {
    ++calls;
    return mul(grad, 2);
  });
  registerHook(y, [](const Tensor&) { return Tensor(); });  // keeps it
  backward({{sum(y)}}, {}, true);
  EXPECT_EQ(gradText(x), "tensor([6., 6.])");
  handle.remove();
  backward({{sum(y)}});
  EXPECT_EQ(gradText(x), "tensor([9., 9.])");
  EXPECT_EQ(calls, 1);
}

TEST(Hooks, SeeTheMemoryThatALeafOfATurnedProductTakes) {
  const Tensor weight = ones({3, 2}).set_requires_grad(true);
  const void* seen = nullptr;
  registerHook(weight, [&](const Tensor& grad) {
    seen = grad.data_ptr();
    return Tensor();
  });
  backward({{sum(linear(ones({4, 2}), weight))}});
  EXPECT_EQ(gradOf(weight).data_ptr(), seen);
  EXPECT_EQ(gradOf(weight).unsafeGetTensorImpl()->base(), nullptr);
  EXPECT_TRUE(gradOf(weight).is_contiguous());
  // A hook that keeps it gets memory of its own.
  Tensor kept;
  setGrad(weight, {});
  registerHook(weight, [&](const Tensor& grad) {
    kept = grad;
    return Tensor();
  });
  backward({{sum(linear(ones({4, 2}), weight))}});
  EXPECT_NE(gradOf(weight).data_ptr(), kept.data_ptr());
}

TEST(Hooks, MustKeepShapeAndDtype) {
  const Tensor x = leaf({1, 2});
  const HookHandle handle = registerHook(x, [](const Tensor& grad) { return sum(grad); });
  EXPECT_EQ(errorOf([&] { backward({{sum(x)}}); }), "a hook has changed the size of the gradient from [2] to []");
  handle.remove();
  registerHook(x, [](const Tensor& grad) { return to(grad, ScalarType::Double); });
  EXPECT_EQ(errorOf([&] { backward({{sum(x)}}); }),
            "a hook has changed the dtype of the gradient from float32 to float64");
  EXPECT_EQ(errorOf([] { registerHook(floats({1}), [](const Tensor& grad) { return grad; }); }),
            "cannot register a hook on a tensor that doesn't require gradient");
}

TEST(Hooks, OfANodeRunBeforeAndAfterIt) {
  const Tensor x = leaf({1, 2});
  const Tensor y = mul(x, 3);
  const IntrusivePtr<Node> node = gradFn(y);
  std::string order;
  registerPreHook(node, [&](Gradients& grads) {
    order += "pre ";
    grads[0] = mul(grads[0], 2);
  });
  const HookHandle post = registerPostHook(node, [&](Gradients& inputs, const Gradients& outputs) {
    order += "post " + toString(outputs[0]);
    inputs[0] = add(inputs[0], 1);
  });
  backward({{sum(y)}}, {}, true);
  EXPECT_EQ(order, "pre post tensor([2., 2.])");
  EXPECT_EQ(gradText(x), "tensor([7., 7.])");
  post.remove();
  backward({{sum(y)}});
  EXPECT_EQ(gradText(x), "tensor([13., 13.])");
}

TEST(Hooks, DoNotKeepTheirTensorsAlive) {
  WeakIntrusivePtr<TensorImpl> weak;
  HookHandle handle = [&] {
    const Tensor y = mul(leaf({1}), 2);
    weak = WeakIntrusivePtr(IntrusivePtr<TensorImpl>::share(y.unsafeGetTensorImpl()));
    retainGrad(y);
    return registerHook(y, [](const Tensor& grad) { return grad; });
  }();
  EXPECT_TRUE(weak.expired());
  handle.remove();  // of a node that is gone
}

TEST(RetainGrad, KeepsTheGradientOfAResult) {
  const Tensor x = leaf({1, 2});
  const Tensor y = mul(x, 3);
  EXPECT_FALSE(retainsGrad(y));
  retainGrad(y);
  retainGrad(y);
  EXPECT_TRUE(retainsGrad(y));
  backward({{sum(mul(y, y))}}, {}, true);
  EXPECT_EQ(gradText(y), "tensor([ 6., 12.])");
  backward({{sum(y)}});
  EXPECT_EQ(gradText(y), "tensor([ 7., 13.])");
  retainGrad(x);  // a leaf keeps it anyway
  EXPECT_FALSE(retainsGrad(x));
  EXPECT_EQ(errorOf([] { retainGrad(floats({1})); }), "can't retain_grad on Tensor that has requires_grad=False");
}

TEST(RetainGrad, IsThatOfTheNewValueAfterAnInPlaceCall) {
  const Tensor x = leaf({1, 2});
  Tensor y = mul(x, 3);
  retainGrad(y);
  mul_(y, 5);
  backward({{sum(y)}});
  EXPECT_EQ(gradText(y), "tensor([1., 1.])");
  EXPECT_EQ(gradText(x), "tensor([15., 15.])");
}

TEST(RequiresGrad, IsChangedForLeavesOnly) {
  const Tensor x = floats({1, 2});
  setRequiresGrad(x);
  EXPECT_TRUE(x.requires_grad());
  const Tensor y = mul(x, 2);
  EXPECT_EQ(errorOf([&] { setRequiresGrad(y, false); }).substr(0, 60),
            "you can only change requires_grad flags of leaf variables. I");
  setRequiresGrad(x, false);
  EXPECT_FALSE(mul(x, 2).requires_grad());
  EXPECT_EQ(errorOf([] { setRequiresGrad(ones({2}, ScalarType::Long)); }),
            "only tensors of floating point and complex dtype can require gradients, not int64");
}

}  // namespace
}  // namespace boxcar::autograd
