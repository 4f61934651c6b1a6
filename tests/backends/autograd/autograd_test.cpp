#include <boxcar/backends/autograd/autograd.h>
#include <boxcar/backends/autograd/history.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <thread>

#include "tests/backends/tensor_helpers.h"

namespace boxcar::autograd {
namespace {

Tensor leaf(std::initializer_list<float> values) { return floats(values).set_requires_grad(true); }

std::string gradText(const Tensor& tensor) { return toString(gradOf(tensor)); }

TEST(Backward, AccumulatesInTheLeaves) {
  const Tensor x = leaf({1, 2, 3});
  const Tensor y = leaf({4, 5, 6});
  backward({{sum(mul(x, y))}});
  EXPECT_EQ(gradText(x), "tensor([4., 5., 6.])");
  EXPECT_EQ(gradText(y), "tensor([1., 2., 3.])");
  backward({{sum(mul(x, 2))}});
  EXPECT_EQ(gradText(x), "tensor([6., 7., 8.])");
}

TEST(Backward, RecordsNothingForTensorsThatDoNotRequireGrad) {
  const Tensor x = floats({1, 2});
  const Tensor y = mul(x, x);
  EXPECT_FALSE(y.requires_grad());
  EXPECT_TRUE(isLeaf(y));
  EXPECT_EQ(AutogradMeta::find(y), nullptr);
}

TEST(Backward, NothingIsRecordedUnderNoGrad) {
  const Tensor x = leaf({1, 2});
  const NoGradGuard no_grad;
  EXPECT_FALSE(GradMode::is_enabled());
  EXPECT_FALSE(mul(x, x).requires_grad());
  {
    const AutoGradMode enabled(true);
    EXPECT_TRUE(mul(x, x).requires_grad());
  }
  EXPECT_FALSE(mul(x, x).requires_grad());
}

TEST(Backward, SaysWhatIsWrongWithItsArguments) {
  const Tensor x = leaf({1, 2});
  EXPECT_EQ(
      errorOf([&] { backward({{floats({1})}}); }),
      "element 0 of tensors does not require grad and does not have a grad_fn: call requires_grad_() on a tensor that "
      "it depends on, and compute it outside of no_grad() and without detach() or an integer dtype");
  EXPECT_EQ(errorOf([&] { backward({{mul(x, x)}}); }),
            "grad can be implicitly created only for scalar outputs, but element 0 of tensors has shape [2]; "
            "reduce it, as sum() does, or give its gradient");
  EXPECT_EQ(errorOf([&] {
              backward({{mul(x, x)}}, {{floats({1, 2, 3})}});
            }),
            "Mismatch in shape: grad_output[0] has a shape of [3] and output[0] has a shape of [2].");
  EXPECT_EQ(errorOf([&] { grad({{sum(x)}}, {{leaf({1})}}); }),
            "One of the differentiated Tensors appears to not have been used in the graph. Set allow_unused=True if "
            "this is the desired behavior.");
  EXPECT_EQ(errorOf([&] { grad({{sum(x)}}, {{floats({1})}}); }),
            "One of the differentiated Tensors does not require grad");
  EXPECT_EQ(errorOf([&] { grad({{sum(x)}}, {}); }), "grad requires non-empty inputs.");
  EXPECT_FALSE(gradOf(x).defined());
}

TEST(Backward, ASecondTimeNeedsRetainGraph) {
  const Tensor x = leaf({1, 2});
  const Tensor y = sum(mul(x, x));
  backward({{y}}, {}, true);
  backward({{y}});
  EXPECT_EQ(gradText(x), "tensor([4., 8.])");
  EXPECT_TRUE(errorOf([&] { backward({{y}}); }).starts_with("Trying to backward through the graph a second time"));
}

TEST(Backward, ASecondTimeNeedsNothingWhereNoTensorWasSaved) {
  const Tensor x = leaf({1, 2});
  const Tensor y = add(x, x, 3);
  backward({{y}}, {{floats({1, 1})}});
  backward({{y}}, {{floats({1, 1})}});
  EXPECT_EQ(gradText(x), "tensor([8., 8.])");
}

TEST(Backward, OfASavedTensorThatWasWrittenIsAnError) {
  const Tensor x = leaf({1, 2});
  Tensor y = mul(x, 3);
  const Tensor z = sum(mul(y, y));
  add_(y, 1);
  EXPECT_EQ(
      errorOf([&] { backward({{z}}); }),
      "one of the variables needed for gradient computation has been modified by an inplace operation: the tensor "
      "of shape [2] and dtype float32 that MulBackward0 saved is at version 1; expected version 0 instead. clone() "
      "it before it is changed; under anomaly_mode(), this error names the lines");
}

TEST(Backward, AWriteToASavedTensorThatNeedsNoGradCounts) {
  const Tensor x = leaf({1, 2});
  Tensor factor = floats({3, 4});
  const Tensor y = sum(mul(x, factor));
  fill_(factor, 0);
  EXPECT_NE(errorOf([&] { backward({{y}}); }), "no error");
}

TEST(Backward, GoesThroughSharedPartsOnce) {
  const Tensor x = leaf({2});
  Tensor y = x;
  for (int i = 0; i < 20; ++i) y = add(y, y);
  backward({{y}});
  EXPECT_EQ(gradText(x), "tensor([1048576.])");
}

TEST(Backward, AMillionStepsNeedNoStack) {
  const Tensor x = leaf({1});
  std::thread([&] {
    Tensor y = x;
    for (int i = 0; i < 200'000; ++i) y = add(y, 1);
    backward({{y}});
  }).join();
  EXPECT_EQ(gradText(x), "tensor([1.])");
}

TEST(Grad, OfAnIntermediateTensorAndOfSeveralInputs) {
  const Tensor x = leaf({1, 2});
  const Tensor y = mul(x, x);
  const Tensor z = sum(mul(y, x));
  const std::vector<Tensor> gradients = grad({{z}}, {{y, x}}, {}, true);
  EXPECT_EQ(toString(gradients[0]), "tensor([1., 2.])");
  EXPECT_EQ(toString(gradients[1]), "tensor([ 3., 12.])");
  EXPECT_FALSE(gradOf(x).defined());
  EXPECT_FALSE(grad({{z}}, {{leaf({1})}}, {}, {}, false, true)[0].defined());
}

TEST(Grad, OfAGradient) {
  const Tensor x = leaf({2, 3});
  const Tensor y = sum(pow(x, 3));
  const Tensor first = grad({{y}}, {{x}}, {}, {}, true)[0];
  EXPECT_TRUE(first.requires_grad());
  const Tensor second = grad({{sum(first)}}, {{x}}, {}, {}, true)[0];
  EXPECT_EQ(toString(second.view(second.sizes(), second.strides(), 0)), "tensor([12., 18.])");
  const Tensor third = grad({{sum(second)}}, {{x}})[0];
  EXPECT_EQ(toString(third), "tensor([6., 6.])");
}

TEST(Grad, OfAGradientThroughASavedResult) {
  const Tensor x = leaf({0, 1});
  const Tensor first = grad({{sum(exp(x))}}, {{x}}, {}, {}, true)[0];
  EXPECT_EQ(toString(grad({{sum(first)}}, {{x}})[0]), "tensor([1.0000, 2.7183])");
}

TEST(InPlace, CallsAreRecorded) {
  const Tensor x = leaf({1, 2});
  Tensor y = mul(x, 2);
  mul_(y, floats({3, 4}));
  exp_(y);
  EXPECT_EQ(toString(grad({{sum(y)}}, {{x}})[0]), "tensor([2.4206e+03, 7.1089e+07])");
}

TEST(InPlace, ALeafThatRequiresGradIsNotWritten) {
  Tensor x = leaf({1, 2});
  EXPECT_EQ(errorOf([&] { add_(x, 1); }),
            "a leaf Variable that requires grad is being used in an in-place operation. "
            "Write to a clone() of it, or under no_grad");
  Tensor part = select(x, 0, 0);
  EXPECT_EQ(errorOf([&] { add_(part, 1); }),
            "a view of a leaf Variable that requires grad is being used in an in-place operation. "
            "Write to a clone() of it, or under no_grad");
  const NoGradGuard no_grad;
  add_(x, 1);
  EXPECT_EQ(elements<float>(x), (std::vector<float>{2, 3}));
}

TEST(InPlace, StatisticsAreWrittenWhereTheInputIsALeaf) {
  const Tensor x = ones({4, 3}).set_requires_grad(true);
  Tensor mean = zeros({3});
  Tensor var = ones({3});
  const Tensor y = std::get<0>(_native_batch_norm_legit(x, {}, {}, mean, var, true, 0.5, 1e-5));
  EXPECT_TRUE(y.requires_grad());
  EXPECT_EQ(toString(mean), "tensor([0.5000, 0.5000, 0.5000])");
}

TEST(InPlace, AWriteThroughAViewChangesTheBasesHistory) {
  const Tensor w = leaf({5});
  const Tensor out = zeros({3});
  Tensor first = select(out, 0, 0);
  copy_(first, select(w, 0, 0));
  EXPECT_TRUE(out.requires_grad());
  EXPECT_FALSE(isLeaf(out));
  backward({{sum(mul(out, floats({2, 3, 4})))}});
  EXPECT_EQ(gradText(w), "tensor([2.])");
}

TEST(InPlace, AWriteThroughAViewCutsTheGradientOfWhatWasThere) {
  const Tensor x = leaf({1, 2, 3});
  const Tensor y = mul(x, 2);
  Tensor middle = slice(y, 0, 1, 2);
  mul_(middle, 10);
  backward({{sum(y)}}, {}, true);
  EXPECT_EQ(gradText(x), "tensor([ 2., 20.,  2.])");
  fill_(middle, 0);
  setGrad(x, Tensor());
  backward({{sum(y)}});
  EXPECT_EQ(gradText(x), "tensor([2., 0., 2.])");
}

TEST(InPlace, AViewFollowsAWriteToItsBase) {
  const Tensor x = leaf({1, 2, 3});
  Tensor y = mul(x, 2);
  const Tensor last = select(y, 0, 2);
  mul_(y, 5);
  backward({{last}});
  EXPECT_EQ(gradText(x), "tensor([ 0.,  0., 10.])");
}

TEST(InPlace, OlderViewsFollowAWriteThatGivesTheirBaseAHistory) {
  std::thread([] {  // which has a state of its own
    const Tensor w = leaf({5, 6});
    Tensor base = zeros({4});
    Tensor older = slice(base, 0, 0, 2);
    Tensor written = slice(base, 0, 1, 3);
    copy_(written, w);
    EXPECT_TRUE(base.requires_grad());
    const Tensor y = sum(mul(older, floats({10, 100})));
    EXPECT_TRUE(y.requires_grad());
    backward({{y}});
    EXPECT_EQ(gradText(w), "tensor([100.,   0.])");
    EXPECT_FALSE(mul(floats({1}), 2).requires_grad());
  })
      .join();
}

TEST(InPlace, TheSecondDerivativeGoesThroughTheOldValue) {
  const Tensor x = leaf({2});
  Tensor y = mul(x, x);
  mul_(y, floats({4}));
  sin_(y);
  const Tensor first = grad({{sum(y)}}, {{x}}, {}, true, true)[0];
  EXPECT_TRUE(first.requires_grad());
  // Of sin(4 x²): 8 x cos(4 x²), and its derivative 8 cos(4 x²) - 64 x² sin(4 x²).
  EXPECT_NEAR(item(first).to<double>(), 16 * std::cos(16.0), 1e-4);
  EXPECT_NEAR(item(grad({{sum(first)}}, {{x}})[0]).to<double>(), 8 * std::cos(16.0) - 256 * std::sin(16.0), 1e-3);
}

TEST(InPlace, TheSecondDerivativeGoesThroughAWriteToAView) {
  const Tensor x = leaf({3, 5});
  const Tensor base = mul(x, x);
  Tensor part = slice(base, 0, 0, 1);
  mul_(part, 2);
  const Tensor first = grad({{sum(mul(base, base))}}, {{x}}, {}, true, true)[0];
  EXPECT_EQ(toString(boxcar::detach(first)), "tensor([432., 500.])");  // of 4 x⁴ and x⁴: 16 x³ and 4 x³
  EXPECT_EQ(toString(grad({{sum(first)}}, {{x}})[0]), "tensor([432., 300.])");
}

TEST(InPlace, OutArgumentsAreRefused) {
  const Tensor x = leaf({1});
  Tensor out = zeros({1});
  EXPECT_EQ(errorOf([&] { mul_out(out, x, x); }),
            "aten::mul(): functions with out=... arguments don't support automatic differentiation, but one of the "
            "arguments requires grad. Use the result of the call without out=, or detach() the arguments");
}

TEST(Leaves, KeepTheirGradientsLayout) {
  const Tensor x = view(arange(6, ScalarType::Float), {2, 3});
  const Tensor turned = clone(x.view({{3, 2}}, {{1, 3}}, 0)).set_requires_grad(true);
  backward({{sum(mul(turned, turned))}});
  EXPECT_EQ(sizesOf(gradOf(turned)), (std::vector<int64_t>{3, 2}));
  setGrad(turned, Tensor());
  EXPECT_FALSE(gradOf(turned).defined());
  EXPECT_EQ(errorOf([&] { setGrad(turned, zeros({2})); }),
            "assigned grad has data of a different size: expected [3, 2], got [2]");
}

TEST(Threads, ShareAGraph) {
  const Tensor x = leaf({1, 2});
  const Tensor y = sum(mul(x, x));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 25; ++k) backward({{y}}, {}, true);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(gradText(x), "tensor([200., 400.])");
}

TEST(Threads, BeginPassesAtALeafThatNoneHasSeen) {
  for (int round = 0; round < 50; ++round) {
    const Tensor x = leaf({1, 2});
    std::vector<std::thread> threads;
    std::atomic<int> waiting{4};
    std::atomic<int> right{0};
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        --waiting;
        while (waiting > 0) std::this_thread::yield();
        if (toString(grad({{sum(mul(x, 2))}}, {{x}})[0]) == "tensor([2., 2.])") ++right;
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(right, 4);
  }
}

TEST(Threads, ReadAViewThatWasWritten) {
  const Tensor x = leaf({1, 2});
  for (int round = 0; round < 20; ++round) {
    Tensor base = mul(x, 1);
    const Tensor view = select(base, 0, 0);
    mul_(base, 3);  // the next use of the view takes its history from the base
    std::vector<std::thread> threads;
    std::atomic<int> right{0};
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        if (toString(grad({{mul(view, 2)}}, {{x}}, {}, true)[0]) == "tensor([6., 0.])") ++right;
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(right, 4);
  }
}

TEST(Operators, WithoutAFormulaSaySoWhenTheirGradientIsAskedFor) {
  const Tensor x = leaf({1, 2});
  const Tensor y = sum(_sample_dirichlet(x));
  EXPECT_TRUE(y.requires_grad());
  EXPECT_TRUE(
      errorOf([&] { backward({{y}}); }).starts_with("derivative for aten::_sample_dirichlet is not implemented"));
}

TEST(Backward, AnInPlaceCallOnItselfIsDifferentiatedAndFreed) {
  const WeakIntrusivePtr<TensorImpl> seen = [] {
    const Tensor w = leaf({2, 3});
    Tensor x = boxcar::mul(w, 1);
    Tensor plain = floats({5, 7});
    const Tensor alias = boxcar::view(plain, {2});
    boxcar::addcmul_(plain, alias, w);  // plain + plain * w
    boxcar::mul_(x, x);
    EXPECT_EQ(toString(grad({{sum(add(x, plain))}}, {{w}})[0]), "tensor([ 9., 13.])");
    return WeakIntrusivePtr(IntrusivePtr<TensorImpl>::share(plain.unsafeGetTensorImpl()));
  }();
  EXPECT_FALSE(seen.lock());
}

}  // namespace
}  // namespace boxcar::autograd
