#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/dispatcher/dispatcher_helpers.h"

namespace boxcar {
namespace {

using Key = DispatchKey;
using SumAndProduct = std::tuple<int64_t, int64_t>;

// The last arguments of the kernels below; each takes two ints.
std::vector<int64_t> seen;

int64_t giveFive(int64_t a, int64_t b) {
  seen = {a, b};
  return 5;
}
void giveNothing(int64_t a, int64_t b) { seen = {a, b}; }
SumAndProduct giveTwo(int64_t a, int64_t b) {
  seen = {a, b};
  return {a + b, a * b};
}

struct FiveFunctor final : OperatorKernel {
  int64_t operator()(int64_t a, int64_t b) { return giveFive(a, b); }
};
struct NothingFunctor final : OperatorKernel {
  void operator()(int64_t a, int64_t b) { giveNothing(a, b); }
};
struct TwoFunctor final : OperatorKernel {
  SumAndProduct operator()(DispatchKeySet, int64_t a, int64_t b) { return giveTwo(a, b); }
};

void takeTwoInts(Stack& stack) {
  const int64_t b = pop(stack).toInt();
  const int64_t a = pop(stack).toInt();
  seen = {a, b};
}
void boxedFive(const OperatorHandle&, Stack* stack) {
  takeTwoInts(*stack);
  push(*stack, 5);
}
void boxedNothing(const OperatorHandle&, DispatchKeySet, Stack* stack) { takeTwoInts(*stack); }
void boxedTwo(const OperatorHandle&, Stack* stack) {
  takeTwoInts(*stack);
  push(*stack, seen[0] + seen[1], seen[0] * seen[1]);
}
struct BoxedFive final : OperatorKernel {
  void operator()(const OperatorHandle& op, DispatchKeySet, Stack* stack) { boxedFive(op, stack); }
};

// An operator to pass to kernels that are called directly; it is unrelated to them.
class KernelFunctionTest : public ::testing::Test {
 protected:
  KernelFunctionTest() { m_.def("dummy() -> ()"); }
  OperatorHandle op() const { return find("hand::dummy"); }

  // Calls [kernel] boxed and unboxed, with the ints 3 and 4.
  template <class R>
  void expectResults(const char* form, const KernelFunction& kernel, const Stack& results, auto&& check) const {
    EXPECT_TRUE(kernel.isValid()) << form;
    EXPECT_FALSE(kernel.isFallthrough()) << form;
    seen.clear();
    Stack stack{IValue(3), IValue(4)};
    kernel.callBoxed(op(), DispatchKeySet(), &stack);
    EXPECT_TRUE(stack == results) << form;
    EXPECT_EQ(seen, (std::vector<int64_t>{3, 4})) << form;
    seen.clear();
    check([&] { return kernel.call<R, int64_t, int64_t>(op(), DispatchKeySet(), 3, 4); });
    EXPECT_EQ(seen, (std::vector<int64_t>{3, 4})) << form;
  }

 private:
  Library m_ = definitions("hand");
};

TEST_F(KernelFunctionTest, OfEveryFormGivesOneResultBoxedAndUnboxed) {
  int64_t five = 5;
  const std::pair<const char*, KernelFunction> forms[] = {
      {"boxed function", KernelFunction::makeFromBoxedFunction<&boxedFive>()},
      {"boxed functor", KernelFunction::makeFromBoxedFunctor(BoxedFive())},
      {"boxed functor by pointer", KernelFunction::makeFromBoxedFunctor<BoxedFive>(std::make_unique<BoxedFive>())},
      {"functor", KernelFunction::makeFromUnboxedFunctor<FiveFunctor>(std::make_unique<FiveFunctor>())},
      {"function", KernelFunction::makeFromUnboxedFunction(BOXCAR_FN(giveFive))},
      {"function at run time", KernelFunction::makeFromUnboxedRuntimeFunction(&giveFive)},
      {"lambda", KernelFunction::makeFromUnboxedLambda([](int64_t a, int64_t b) { return giveFive(a, b); })},
      {"lambda with state", KernelFunction::makeFromUnboxedLambda([five](int64_t a, int64_t b) -> int64_t {
         giveNothing(a, b);
         return five;
       })},
      {"boxed only", KernelFunction::makeBoxedOnly(KernelFunction::makeFromUnboxedFunction(BOXCAR_FN(giveFive)))},
  };
  for (const auto& [form, kernel] : forms) {
    EXPECT_EQ(kernel.isValidUnboxed(), std::string(form).find("boxed") == std::string::npos) << form;
    expectResults<int64_t>(form, kernel, {IValue(5)}, [](auto&& call) { EXPECT_EQ(call(), 5); });
  }
}

TEST_F(KernelFunctionTest, OfEveryFormGivesNothingBoxedAndUnboxed) {
  const std::pair<const char*, KernelFunction> forms[] = {
      {"boxed function", KernelFunction::makeFromBoxedFunction<&boxedNothing>()},
      {"functor", KernelFunction::makeFromUnboxedFunctor<NothingFunctor>(std::make_unique<NothingFunctor>())},
      {"function", KernelFunction::makeFromUnboxedFunction(BOXCAR_FN(giveNothing))},
      {"function at run time", KernelFunction::makeFromUnboxedRuntimeFunction(&giveNothing)},
      {"lambda", KernelFunction::makeFromUnboxedLambda([](int64_t a, int64_t b) { giveNothing(a, b); })},
  };
  for (const auto& [form, kernel] : forms) expectResults<void>(form, kernel, {}, [](auto&& call) { call(); });
}

TEST_F(KernelFunctionTest, OfEveryFormGivesSeveralResultsBoxedAndUnboxed) {
  const std::pair<const char*, KernelFunction> forms[] = {
      {"boxed function", KernelFunction::makeFromBoxedFunction<&boxedTwo>()},
      {"functor", KernelFunction::makeFromUnboxedFunctor<TwoFunctor>(std::make_unique<TwoFunctor>())},
      {"function", KernelFunction::makeFromUnboxedFunction(BOXCAR_FN(giveTwo))},
      {"function at run time", KernelFunction::makeFromUnboxedRuntimeFunction(&giveTwo)},
      {"lambda", KernelFunction::makeFromUnboxedLambda([](int64_t a, int64_t b) { return giveTwo(a, b); })},
  };
  for (const auto& [form, kernel] : forms) {
    expectResults<SumAndProduct>(form, kernel, {IValue(7), IValue(12)},
                                 [](auto&& call) { EXPECT_EQ(call(), SumAndProduct(7, 12)); });
  }
}

// Adds [by] to the first element.
void raise(const Tensor& tensor, const Scalar& by) { *tensor.mutable_data_ptr<float>() += by.to<float>(); }
float firstOf(const Tensor& tensor) { return *tensor.data_ptr<float>(); }
Tensor zeroes() {
  Tensor tensor = cpuTensor();
  *tensor.mutable_data_ptr<float>() = 0;
  return tensor;
}

// Boxed kernels that take [count] arguments, write to the tensors among them, each with its scalar, and return the
// tensors.
template <int count, int tensors, bool tensors_first>
void boxedWriter(const OperatorHandle&, Stack* stack) {
  const size_t first_tensor = tensors_first ? 0 : count - tensors;
  const size_t first_scalar = tensors_first ? tensors : 0;
  Stack results;
  for (int i = 0; i < tensors; ++i) {
    const Tensor tensor = peek(*stack, first_tensor + static_cast<size_t>(i), count).toTensor();
    raise(tensor, peek(*stack, first_scalar + static_cast<size_t>(i), count).toScalar());
    push(results, tensor);
  }
  drop(*stack, count);
  for (const IValue& result : results) push(*stack, result);
}

TEST_F(KernelFunctionTest, InPlaceAndOutKernelsGiveBackTheirArgument) {
  const KernelFunction in_place[] = {
      KernelFunction::makeFromBoxedFunction<&boxedWriter<2, 1, true>>(),
      KernelFunction::makeFromUnboxedLambda([](Tensor& self, Scalar by) -> Tensor& { return raise(self, by), self; })};
  for (const KernelFunction& kernel : in_place) {
    Tensor tensor = zeroes();
    Stack stack{IValue(tensor), IValue(1.0)};
    kernel.callBoxed(op(), DispatchKeySet(), &stack);
    ASSERT_EQ(stack.size(), 1U);
    EXPECT_TRUE(stack[0].toTensor().is_same(tensor));
    EXPECT_EQ(firstOf(tensor), 1);
    Tensor& result = kernel.call<Tensor&, Tensor&, Scalar>(op(), DispatchKeySet(), tensor, 2.0);
    EXPECT_EQ(&result, &tensor);
    EXPECT_EQ(firstOf(tensor), 3);
  }
  const KernelFunction outs[] = {
      KernelFunction::makeFromBoxedFunction<&boxedWriter<2, 1, false>>(),
      KernelFunction::makeFromUnboxedLambda([](Scalar by, Tensor& out) -> Tensor& { return raise(out, by), out; })};
  for (const KernelFunction& kernel : outs) {
    Tensor tensor = zeroes();
    Stack stack{IValue(1.0), IValue(tensor)};
    kernel.callBoxed(op(), DispatchKeySet(), &stack);
    ASSERT_EQ(stack.size(), 1U);
    EXPECT_TRUE(stack[0].toTensor().is_same(tensor));
    Tensor& result = kernel.call<Tensor&, Scalar, Tensor&>(op(), DispatchKeySet(), 2.0, tensor);
    EXPECT_EQ(&result, &tensor);
    EXPECT_EQ(firstOf(tensor), 3);
  }
}

TEST_F(KernelFunctionTest, KernelsWithSeveralOutsGiveThemBackInTheirOrder) {
  using Both = std::tuple<Tensor&, Tensor&>;
  const KernelFunction first = KernelFunction::makeFromBoxedFunction<&boxedWriter<4, 2, true>>();
  const KernelFunction last = KernelFunction::makeFromBoxedFunction<&boxedWriter<4, 2, false>>();
  Tensor a = zeroes();
  Tensor b = zeroes();
  Stack stack{IValue(a), IValue(b), IValue(1.0), IValue(2.0)};
  first.callBoxed(op(), DispatchKeySet(), &stack);
  EXPECT_TRUE(stack == (Stack{IValue(a), IValue(b)}));
  stack = {IValue(10.0), IValue(20.0), IValue(a), IValue(b)};
  last.callBoxed(op(), DispatchKeySet(), &stack);
  EXPECT_TRUE(stack == (Stack{IValue(a), IValue(b)}));
  EXPECT_EQ(firstOf(a), 11);
  EXPECT_EQ(firstOf(b), 22);
  const Both front = first.call<Both, Tensor&, Tensor&, Scalar, Scalar>(op(), DispatchKeySet(), a, b, 100, 200);
  EXPECT_EQ(&std::get<0>(front), &a);
  EXPECT_EQ(&std::get<1>(front), &b);
  const Both back = last.call<Both, Scalar, Scalar, Tensor&, Tensor&>(op(), DispatchKeySet(), 1000, 2000, a, b);
  EXPECT_EQ(&std::get<0>(back), &a);
  EXPECT_EQ(&std::get<1>(back), &b);
  EXPECT_EQ(firstOf(a), 1111);
  EXPECT_EQ(firstOf(b), 2222);
}

TEST_F(KernelFunctionTest, KeySetIsTheOneOfTheCall) {
  const auto bits = [](DispatchKeySet keys) { return static_cast<int64_t>(keys.raw_repr()); };
  const KernelFunction kernels[] = {
      KernelFunction::makeFromUnboxedLambda([bits](DispatchKeySet keys) { return bits(keys); }),
      KernelFunction::makeFromBoxedFunctor(
          [bits](const OperatorHandle&, DispatchKeySet keys, Stack* stack) { push(*stack, bits(keys)); })};
  const DispatchKeySet keys({Key::CUDA, Key::Tracer});
  for (const KernelFunction& kernel : kernels) {
    EXPECT_EQ((kernel.call<int64_t>(op(), keys)), bits(keys));
    Stack stack;
    kernel.callBoxed(op(), keys, &stack);
    EXPECT_EQ(stack.back().toInt(), bits(keys));
  }
}

TEST_F(KernelFunctionTest, StateLivesUntilTheCallIsOverAlthoughTheKernelGoesInIt) {
  const auto state = std::make_shared<int64_t>(5);
  std::optional<KernelFunction> kernel;
  for (const bool boxed : {false, true}) {
    kernel = KernelFunction::makeFromUnboxedLambda([&kernel, state](int64_t a) {
      kernel.reset();
      EXPECT_EQ(state.use_count(), 2);
      return a + *state;
    });
    if (boxed) {
      Stack stack{IValue(1)};
      kernel->callBoxed(op(), DispatchKeySet(), &stack);
      EXPECT_EQ(stack.back().toInt(), 6);
    } else {
      EXPECT_EQ((kernel->call<int64_t, int64_t>(op(), DispatchKeySet(), 1)), 6);
    }
    EXPECT_EQ(state.use_count(), 1);
  }
}

TEST_F(KernelFunctionTest, CopiesShareTheStateWhichTablesMayHoldToo) {
  struct Counter final : OperatorKernel {
    Counter() = default;
    Counter(const Counter&) = delete;
    int64_t operator()(const Tensor&) { return ++count; }
    int64_t count = 0;
  };
  KernelFunction kernel = KernelFunction::makeFromUnboxedFunctor<Counter>(std::make_unique<Counter>());
  const KernelFunction copy = kernel;
  Library m = definitions();
  m.def("count(Tensor x) -> int");
  const OperatorHandle count = find("test::count");
  {
    Library cpu = implementations(Key::CPU);
    cpu.impl("count", std::move(kernel));
    EXPECT_EQ(callOp(count, cpuTensor())[0].toInt(), 1);
    EXPECT_EQ((copy.call<int64_t, const Tensor&>(count, DispatchKeySet(), cpuTensor())), 2);
    EXPECT_EQ((count.entry().kernelForDispatchKey(Key::CPU).call<int64_t, const Tensor&>(count, {}, cpuTensor())), 3);
  }
  EXPECT_EQ((copy.call<int64_t, const Tensor&>(count, DispatchKeySet(), cpuTensor())), 4);
}

TEST_F(KernelFunctionTest, FallthroughGoesOnInTheOperatorsTable) {
  Library m = definitions();
  m.def("next(Tensor x) -> int");
  Library cpu = implementations(Key::CPU);
  cpu.impl("next", [](const Tensor&) { return int64_t{8}; });
  const KernelFunction kernel = KernelFunction::makeFallthrough();
  EXPECT_TRUE(kernel.isFallthrough());
  EXPECT_FALSE(kernel.isValidUnboxed());
  const DispatchKeySet keys({Key::Tracer, Key::CPU});
  EXPECT_EQ((kernel.call<int64_t, const Tensor&>(find("test::next"), keys, cpuTensor())), 8);
}

TEST_F(KernelFunctionTest, WrongCallsAreErrorsAndLeaveTheStackAsItWas) {
  EXPECT_FALSE(KernelFunction().isValid());
  EXPECT_FALSE(KernelFunction().isValidUnboxed());
  Stack stack;
  EXPECT_EQ(errorOf([&] { KernelFunction().callBoxed(op(), DispatchKeySet(), &stack); }),
            "a KernelFunction that holds no kernel was called for hand::dummy");
  EXPECT_EQ(errorOf([&] { KernelFunction().call<void>(op(), DispatchKeySet()); }),
            "a KernelFunction that holds no kernel was called for hand::dummy");
  EXPECT_EQ(errorOf([] { KernelFunction::makeFromUnboxedFunctor<FiveFunctor>(nullptr); }),
            "a kernel cannot be made of a functor that is a null pointer");

  const KernelFunction kernel = KernelFunction::makeFromUnboxedFunction(BOXCAR_FN(giveFive));
  EXPECT_EQ(
      errorOf([&] { kernel.call<double, int64_t>(op(), DispatchKeySet(), 3); }),
      "a kernel of hand::dummy was called with C++ signature\n    double (long)\nbut it has\n    long (long, long)");
  stack = {IValue(3)};
  EXPECT_EQ(errorOf([&] { kernel.callBoxed(op(), DispatchKeySet(), &stack); }),
            "a kernel of hand::dummy takes 2 arguments, but the stack holds 1 values");
  push(stack, "x");
  EXPECT_EQ(errorOf([&] { kernel.callBoxed(op(), DispatchKeySet(), &stack); }),
            "hand::dummy() was called with a kernel that takes 2 arguments, but found 'x' of type str at position 2, "
            "which does not fit. Schema: hand::dummy() -> ()");
  EXPECT_TRUE(stack == (Stack{IValue(3), IValue("x")}));

  const KernelFunction boxed = KernelFunction::makeFromBoxedFunction<&boxedFive>();
  EXPECT_EQ(errorOf([&] { boxed.call<double, int64_t, int64_t>(op(), DispatchKeySet(), 3, 4); }),
            "a boxed kernel or handler that was called for hand::dummy left 5 of type int on the stack as result 1 of "
            "1, which does not fit its caller. Schema: hand::dummy() -> ()");
  Library m = definitions("hand");
  m.def("two(int a, int b) -> int");
  stack = {IValue(3)};
  EXPECT_EQ(errorOf([&] { boxed.callBoxed(find("hand::two"), DispatchKeySet(), &stack); }),
            "a kernel of hand::two takes 2 arguments, but the stack holds 1 values");
}

}  // namespace
}  // namespace boxcar
