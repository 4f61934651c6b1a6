#include <boxcar/backends/autograd/forward_mode.h>
#include <boxcar/backends/autograd/function.h>
#include <boxcar/backends/autograd/history.h>
#include <boxcar/interpreter/session/program.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/storage_observer.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>

#include "tests/backends/autograd/leaves.h"

// Nothing is left of steps that are over: neither the memory of tensors, nor nodes, nor what hooks captured.

namespace boxcar::autograd {
namespace {

// Counts the storages that were made and are not freed yet, of all threads.
class LiveStorages final {
 public:
  LiveStorages() : before_(setStorageObserver(&observer_)) {}
  ~LiveStorages() { setStorageObserver(before_); }
  LiveStorages(const LiveStorages&) = delete;
  LiveStorages& operator=(const LiveStorages&) = delete;

  int64_t count() const noexcept { return count_; }

 private:
  std::atomic<int64_t> count_ = 0;
  const StorageObserver observer_{
      [](void* self, const StorageImpl&, size_t) { ++static_cast<LiveStorages*>(self)->count_; },
      [](void* self, const StorageImpl&, size_t) { --static_cast<LiveStorages*>(self)->count_; }, this};
  const StorageObserver* const before_;
};

// Lives as long as what captured it, and is in the graph by a hook.
using Witness = std::shared_ptr<int>;

// Calls [step], which gets a witness to capture, a thousand times. A first call may fill caches.
void expectNothingLeft(const std::function<void(const Witness&)>& step) {
  const auto witness = std::make_shared<int>(0);
  step(witness);
  EXPECT_EQ(witness.use_count(), 1);
  const LiveStorages live;
  for (int i = 0; i < 1000; ++i) step(witness);
  EXPECT_EQ(live.count(), 0);
  EXPECT_EQ(witness.use_count(), 1);
}

Tensor watched(const Tensor& tensor, const Witness& witness) {
  registerHook(tensor, [witness](const Tensor&) { return Tensor(); });
  return tensor;
}

TEST(Memory, OfTrainingSteps) {
  const Tensor weight = ones({4, 3}).set_requires_grad(true);
  const Tensor bias = zeros({3}).set_requires_grad(true);
  backward({{add(sum(weight), sum(bias))}});  // their gradients stay
  const Tensor x = ones({2, 4});
  expectNothingLeft([&](const Witness& witness) {
    const Tensor hidden = watched(tanh(linear(x, t(weight), bias)), witness);
    backward({{sum(mul(hidden, hidden))}});
    const NoGradGuard no_grad;
    for (Tensor each : {weight, bias}) {
      add_(each, gradOf(each), -0.001);
      Tensor gradient = gradOf(each);
      zero_(gradient);
    }
  });
}

TEST(Memory, OfGraphsThatNoPassWentThrough) {
  expectNothingLeft([](const Witness& witness) {
    const Tensor x = leaf({1, 2});
    Tensor y = watched(exp(x), witness);
    for (int i = 0; i < 10; ++i) y = mul(softmax(y, 0), y);
    const Tensor part = slice(y, 0, 0, 1);
    mul_(y, 2);
    EXPECT_TRUE(part.requires_grad());
  });
}

TEST(Memory, OfGraphsThatWereKept) {
  expectNothingLeft([](const Witness& witness) {
    const Tensor x = leaf({1, 2});
    const Tensor y = sum(exp(watched(mul(x, x), witness)));
    backward({{y}}, {}, true);
    backward({{y}}, {}, true);
    const Tensor first = grad({{y}}, {{x}}, {}, true, true)[0];
    grad({{sum(first)}}, {{x}}, {}, true);
  });
}

TEST(Memory, OfHooksThatCaptureOtherTensors) {
  expectNothingLeft([](const Witness& witness) {
    const Tensor x = watched(leaf({1, 2}), witness);
    const Tensor y = mul(x, 2);
    const Tensor z = mul(y, y);
    retainGrad(y);
    registerHook(z, [y](const Tensor& g) { return mul(g, detach(y)); });  // what z was made of
    registerPreHook(gradFn(z), [x](Gradients&) {});
    registerPostHook(gradFn(z), [x](Gradients&, const Gradients&) {});
    backward({{sum(z)}});
  });
}

TEST(Memory, OfWritesToViews) {
  expectNothingLeft([](const Witness& witness) {
    const Tensor x = watched(leaf({1, 2}), witness);
    const Tensor base = mul(x, 2);
    Tensor part = slice(base, 0, 0, 1);
    retainGrad(part);
    mul_(part, slice(x, 0, 1, 2));
    exp_(part);
    backward({{sum(base)}});
  });
}

TEST(Memory, OfPassesThatFail) {
  expectNothingLeft([](const Witness& witness) {
    const Tensor x = leaf({1, 2});
    const Tensor y = watched(exp(x), witness);
    const Tensor z = mul(y, x);
    registerHook(y, [](const Tensor&) -> Tensor { BOXCAR_FAIL("no further"); });
    EXPECT_EQ(errorOf([&] { backward({{sum(z)}}, {}, true); }), "no further");
    EXPECT_EQ(errorOf([&] { grad({{sum(z)}}, {{y}}, {}, true); }), "no further");
  });
}

struct Saves : Function<Saves> {
  static variable_list forward(AutogradContext* context, const Tensor& x) {
    const Tensor result = exp(x);
    const Tensor other = mul(x, 2);
    context->save_for_backward({x, result, other});
    return {result, x};
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const variable_list saved = context->get_saved_variables();
    if (toString(item(select(saved[0], 0, 0))) == "9.0") BOXCAR_FAIL("nine");
    return {add(mul(grads[0], saved[1]), grads[1])};
  }
};

TEST(Memory, OfFunctionsThatSaveTheirResults) {
  expectNothingLeft([](const Witness& witness) {
    const Tensor x = watched(leaf({1, 2}), witness);
    const variable_list unused = Saves::apply(x);
    const variable_list y = Saves::apply(mul(x, 1));
    const Tensor first = grad({{sum(y[0])}}, {{x}}, {}, true, true)[0];
    grad({{sum(first)}}, {{x}});
    const Tensor nine = leaf({9});
    EXPECT_EQ(errorOf([&] { autograd::backward({{Saves::apply(nine)[0]}}); }), "nine");
  });
}

TEST(Memory, OfTangents) {
  expectNothingLeft([](const Witness& witness) {
    const ForwardLevel level;
    const Tensor x = watched(leaf({1, 2}), witness);
    const Tensor dual = level.makeDual(x, ones({2}));
    {
      const ForwardLevel inner;
      const Tensor y = inner.makeDual(dual, ones({2}));
      EXPECT_TRUE(inner.tangentOf(prod(mul(y, Saves::apply(y)[0]))).defined());
    }
    Tensor written = clone(dual);
    Tensor part = slice(written, 0, 0, 1);
    mul_(part, 2);
    EXPECT_EQ(errorOf([&] { level.tangentOf(matmul(written, ones({3}))); }).empty(), false);
    grad({{sum(level.tangentOf(exp(written)))}}, {{x}});
  });
}

TEST(Memory, OfScripts) {
  const Program program = Program::compile(
      "fn part(Tensor x) -> Tensor { return (x * x).exp() }\n"
      "fn total(Tensor x) -> Tensor { return part(x).sum() }\n"
      "fn tripled_backward(Tensor grad) -> Tensor { return 3 * grad }\n"
      "fn tripled(Tensor x) -> Tensor { return 3 * x }\n"
      "fn loud(Tensor grad) -> Tensor { return 2 * grad }\n"
      "fn step(Tensor x) -> Tensor {\n"
      "    w = x.clone().requires_grad_()\n"
      "    y: Tensor = autograd::apply(tripled, tripled_backward, w)\n"
      "    z = autograd::checkpoint(part, y)\n"
      "    remove = z.register_hook(loud)\n"
      "    z.sum().backward()\n"
      "    remove()\n"
      "    (_, tangent) = func::jvp(part, [w], [x])\n"
      "    slope = func::grad(total)\n"
      "    return tangent + slope(x) + w.grad\n"
      "}\n",
      "steps.ops");
  program.run();
  const auto step = program.function("step");
  expectNothingLeft([&](const Witness&) {
    Stack stack;
    push(stack, floats({1, 2}));
    step.call(stack);
    EXPECT_TRUE(pop(stack).isTensor());
  });
}

// As in PyTorch: the tensor keeps its node, which keeps the hook.
TEST(Memory, OfAHookThatCapturesItsOwnTensorIsLeftUntilTheHookIsRemoved) {
  const auto witness = std::make_shared<int>(0);
  const HookHandle handle = [&] {
    const Tensor y = mul(leaf({1}), 2);
    return registerHook(y, [y, witness](const Tensor&) { return Tensor(); });
  }();
  EXPECT_EQ(witness.use_count(), 2);
  handle.remove();
  EXPECT_EQ(witness.use_count(), 1);
}

}  // namespace
}  // namespace boxcar::autograd
