#include <boxcar/dispatcher/call/mode.h>
#include <boxcar/dispatcher/call/tensor_class.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/dispatcher/dispatcher_helpers.h"

namespace boxcar {
namespace {

using Key = DispatchKey;
using Log = std::vector<std::string>;

// Writes the calls on its tensors to a log, and goes on.
class Logged final : public TensorClass {
 public:
  explicit Logged(Log& log) : log_(log) {}
  std::string nameOf(const Tensor&) const override { return "Logged"; }
  bool answer(const OperatorHandle& op, DispatchKeySet below, Stack& stack) override {
    log_.push_back("logged " + op.operator_name().name);
    op.redispatchBoxed(below, stack);
    setTensorClass(stack.back().toTensor(), makeIntrusive<Logged>(log_));
    return true;
  }

 private:
  Log& log_;
};

// Has a power, which products add. Other calls are left to other classes.
class Metres final : public TensorClass {
 public:
  explicit Metres(int power) : power_(power) {}
  static int powerOf(const Tensor& tensor) {
    const auto* const metres = dynamic_cast<const Metres*>(tensorClassOf(tensor));
    return metres == nullptr ? 0 : metres->power_;
  }
  std::string nameOf(const Tensor&) const override { return "Metres"; }
  bool answer(const OperatorHandle& op, DispatchKeySet below, Stack& stack) override {
    if (op.operator_name().name != "classes::mul") return false;
    const int power = powerOf(peek(stack, 0, 2).toTensor()) + powerOf(peek(stack, 1, 2).toTensor());
    op.redispatchBoxed(below, stack);
    setTensorClass(stack.back().toTensor(), makeIntrusive<Metres>(power));
    return true;
  }

 private:
  int power_;
};

class TensorClassTest : public ::testing::Test {
 protected:
  TensorClassTest() {
    m_.def("mul(Tensor a, Tensor b) -> Tensor");
    m_.def("sum(Tensor[] list) -> Tensor");
    cpu_.impl("mul", [this](const Tensor&, const Tensor&) { return log_.push_back("kernel"), cpuTensor(); });
    cpu_.impl("sum", [this](TensorList) { return log_.push_back("kernel"), cpuTensor(); });
  }

  Tensor metres(int power) {
    Tensor tensor = cpuTensor();
    setTensorClass(tensor, makeIntrusive<Metres>(power));
    return tensor;
  }
  Tensor logged() {
    Tensor tensor = cpuTensor();
    setTensorClass(tensor, makeIntrusive<Logged>(log_));
    return tensor;
  }
  Tensor mul(const Tensor& a, const Tensor& b) { return callOp(find("classes::mul"), a, b).back().toTensor(); }
  Log takeLog() { return std::exchange(log_, {}); }

  Log log_;

 private:
  Library m_ = definitions("classes");
  Library cpu_ = implementations(Key::CPU, "classes");
};

TEST_F(TensorClassTest, AnswersCallsWithItsTensors) {
  EXPECT_EQ(Metres::powerOf(mul(metres(1), metres(2))), 3);
  EXPECT_EQ(Metres::powerOf(mul(cpuTensor(), metres(2))), 2);
  EXPECT_EQ(Metres::powerOf(mul(cpuTensor(), cpuTensor())), 0);
  EXPECT_EQ(takeLog(), (Log{"kernel", "kernel", "kernel"}));
}

TEST_F(TensorClassTest, AnswersTypedCalls) {
  const auto typed = find("classes::mul").typed<Tensor(const Tensor&, const Tensor&)>();
  EXPECT_EQ(Metres::powerOf(typed.call(metres(1), metres(1))), 2);
}

TEST_F(TensorClassTest, AnswersForTensorsInLists) {
  const Tensor result = callOp(find("classes::sum"), List<Tensor>({cpuTensor(), logged()})).back().toTensor();
  EXPECT_NE(tensorClassOf(result), nullptr);
  EXPECT_EQ(takeLog(), (Log{"logged classes::sum", "kernel"}));
}

TEST_F(TensorClassTest, IsAskedFromLeftToRightUntilOneAnswers) {
  mul(logged(), metres(1));
  EXPECT_EQ(takeLog(), (Log{"logged classes::mul", "kernel"}));
  EXPECT_EQ(Metres::powerOf(mul(metres(1), logged())), 1);
  EXPECT_EQ(takeLog(), (Log{"kernel"}));
  callOp(find("classes::sum"), List<Tensor>({metres(1), metres(1), logged()}));
  EXPECT_EQ(takeLog(), (Log{"logged classes::sum", "kernel"}));
}

TEST_F(TensorClassTest, ThatAllLeaveTheCallIsAnErrorWithTheirNames) {
  EXPECT_EQ(
      errorOf([&] {
        callOp(find("classes::sum"), List<Tensor>({metres(1), metres(1)}));
      }),
      "no class of tensors answers classes::sum: Metres left the call to others; answer it in one of them, or call "
      "it with plain tensors");
  EXPECT_EQ(takeLog(), Log{});
}

TEST_F(TensorClassTest, IsNotAskedForAttributes) {
  Library prim = definitions("prim");
  prim.def("tensor_class_test(Tensor a) -> bool", [](const Tensor&) { return true; });
  EXPECT_TRUE(callOp(find("prim::tensor_class_test"), metres(1)).back().toBool());
}

TEST_F(TensorClassTest, ComesAfterTheModesAtPython) {
  const ModeGuard mode(
      [this](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
        log_.push_back("mode");
        op.redispatchBoxed(keys, stack);
      },
      {.key = Key::Python, .sees_calls_below = true, .only_redispatches = true});
  mul(logged(), cpuTensor());
  EXPECT_EQ(takeLog(), (Log{"mode", "logged classes::mul", "kernel"}));
}

TEST_F(TensorClassTest, ViewsAndCopiesArePlain) {
  const Tensor tensor = metres(1);
  const Tensor view = tensor.view(tensor.sizes(), tensor.strides(), 0);
  EXPECT_EQ(tensorClassOf(view), nullptr);
  EXPECT_EQ(Metres::powerOf(mul(view, view)), 0);
  EXPECT_EQ(Metres::powerOf(mul(tensor.shallowCopy(), metres(1))), 1);
}

TEST_F(TensorClassTest, IsRefusedForAnUndefinedTensor) {
  EXPECT_EQ(errorOf([] { setTensorClass(Tensor(), makeIntrusive<Metres>(1)); }),
            "setTensorClass(): the tensor is undefined; give a class to one that has a dtype");
}

}  // namespace
}  // namespace boxcar
