#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include "tests/dispatcher/dispatcher_helpers.h"

namespace boxcar {
namespace {

using Key = DispatchKey;

// Kernels of `op(Tensor x, int n) -> int`.
template <int by>
void boxedAdd(const OperatorHandle&, Stack* stack) {
  const int64_t n = pop(*stack).toInt();
  drop(*stack, 1);
  push(*stack, n + by);
}
void boxedNever(const OperatorHandle& op, Stack*) {
  ADD_FAILURE() << toString(op) << " was called with another's keys";
}

template <int by>
CppFunction add() {
  return CppFunction::makeFromBoxedFunction<&boxedAdd<by>>();
}
CppFunction never() { return CppFunction::makeFromBoxedFunction<&boxedNever>(); }

int64_t call(const char* name, Key key, int64_t n = 5) {
  const Stack results = callOp(find(name), tensorWith({key}), n);
  EXPECT_EQ(results.size(), 1U);
  return results[0].toInt();
}

TEST(BoxedKernel, IsCalledBoxedAndUnboxed) {
  Library m = definitions();
  m.def("op(Tensor x, int n) -> int");
  m.impl("op", Key::CPU, add<1>());
  EXPECT_EQ(call("test::op", Key::CPU), 6);
  EXPECT_EQ((find("test::op").typed<int64_t(const Tensor&, int64_t)>().call(cpuTensor(), 5)), 6);
}

TEST(BoxedKernel, OfSeveralOperatorsInOneLibraryOrSeveralIsItsOwnOperators) {
  const auto defineAll = [](Library& op, Library& other) {
    op.def("op(Tensor x, int n) -> int");
    op.impl("op", Key::CPU, add<1>()).impl("op", Key::CUDA, never());
    other.def("other(Tensor x, int n) -> int");
    other.impl("other", Key::CPU, never()).impl("other", Key::CUDA, add<-1>());
  };
  for (const bool one_library : {true, false}) {
    Library first = definitions();
    Library second = definitions();
    defineAll(first, one_library ? first : second);
    EXPECT_EQ(call("test::op", Key::CPU), 6);
    EXPECT_EQ(call("test::other", Key::CUDA), 4);
  }
}

TEST(BoxedKernel, IsGoneWithItsRegistrationAndTheOperatorWithItsDefinition) {
  {
    Library m = definitions();
    m.def("op(Tensor x, int n) -> int");
    m.impl("op", Key::CPU, add<1>());
    {
      Library cuda = implementations(Key::CUDA);
      cuda.impl("op", add<-1>());
      EXPECT_EQ(call("test::op", Key::CPU), 6);
      EXPECT_EQ(call("test::op", Key::CUDA), 4);
    }
    EXPECT_EQ(call("test::op", Key::CPU), 6);
    EXPECT_EQ(errorOf([] { call("test::op", Key::CUDA); }).find("could not run test::op for dispatch key CUDA"), 0U);
  }
  EXPECT_FALSE(Dispatcher::singleton().findSchema({"test::op", ""}).has_value());
}

TEST(BoxedKernel, OfAnOperatorWithoutTensorsRunsAsACompositeOne) {
  static int calls = 0;
  static constexpr auto kCount = [](const OperatorHandle&, Stack*) { ++calls; };
  Library m = definitions();
  m.def("nothing() -> ()", CppFunction::makeFromBoxedFunctor(kCount));
  EXPECT_TRUE(callOp(find("test::nothing")).empty());
  find("test::nothing").typed<void()>().call();
  EXPECT_EQ(calls, 2);
  m.def("next(int n) -> int", CppFunction::makeFromBoxedFunctor(
                                  [](const OperatorHandle&, Stack& stack) { push(stack, pop(stack).toInt() + 1); }));
  EXPECT_EQ(callOp(find("test::next"), 3)[0].toInt(), 4);
  EXPECT_EQ(find("test::next").typed<int64_t(int64_t)>().call(3), 4);
}

TEST(BoxedKernel, SaysNothingOfASchema) {
  Library m = definitions();
  EXPECT_EQ(
      errorOf([&] { m.def("op", add<1>()); }),
      "operator op at test.cpp:1 is defined by its name alone, but its kernel is a boxed function, whose type says "
      "nothing of arguments and returns: write the schema");
  EXPECT_FALSE(Dispatcher::singleton().findSchema({"test::op", ""}).has_value());
}

TEST(BoxedKernel, WithItsKeySetGoesOnToTheKernelsBelow) {
  int calls = 0;
  Library m = definitions();
  m.def("op(Tensor x, int n) -> int");
  Library cpu = fallbacks(Key::CPU);
  cpu.fallback(add<1>());
  Library wrapper = fallbacks(Key::TESTING_ONLY_GenericWrapper);
  wrapper.fallback(CppFunction::makeFromBoxedFunctor([&](const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
    ++calls;
    op.redispatchBoxed(keys & DispatchKeySet(DispatchKeySet::FULL_AFTER, Key::TESTING_ONLY_GenericWrapper), stack);
  }));
  EXPECT_EQ(call("test::op", Key::CPU), 6);
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(callOp(find("test::op"), tensorWith({Key::TESTING_ONLY_GenericWrapper, Key::CPU}), 5)[0].toInt(), 6);
  EXPECT_EQ(calls, 1);
}

// `plain` has a CPU kernel; `composite` calls it twice.
class BackendFallback : public ::testing::Test {
 protected:
  BackendFallback() {
    m_.def("plain(Tensor x) -> Tensor").impl("plain", Key::CPU, [](const Tensor& x) { return x; });
    m_.def("composite(Tensor x) -> Tensor", [](const Tensor& x) { return callPlain(callPlain(x)); });
  }
  static Tensor callPlain(const Tensor& x) { return find("test::plain").typed<Tensor(const Tensor&)>().call(x); }
  static Tensor callComposite(const Tensor& x) {
    return find("test::composite").typed<Tensor(const Tensor&)>().call(x);
  }

  // Excludes its key on this thread during the call, like a mode.
  CppFunction excludingFallback() {
    return CppFunction::makeFromBoxedFunctor([this](const OperatorHandle& op, Stack* stack) {
      ++calls_;
      const ExcludeDispatchKeyGuard guard(Key::TESTING_ONLY_GenericMode);
      op.callBoxed(stack);
    });
  }

  int calls_ = 0;
  Library m_ = definitions();
};

TEST_F(BackendFallback, OfAModeSeesTheCallsThatTheThreadMakesAndNotThoseBelow) {
  Library mode = fallbacks(Key::TESTING_ONLY_GenericMode);
  mode.fallback(excludingFallback());
  const IncludeDispatchKeyGuard guard(Key::TESTING_ONLY_GenericMode);
  const Tensor x = cpuTensor();
  EXPECT_TRUE(callComposite(x).is_same(x));
  EXPECT_EQ(calls_, 1);
  EXPECT_TRUE(callPlain(x).is_same(x));
  EXPECT_EQ(calls_, 2);
}

// Metadata of a wrapper tensor: the inner tensor. The wrapper itself has only a key.
struct Wrapped final : TensorMetadata {
  explicit Wrapped(Tensor given) : TensorMetadata(Kind::kTransform), tensor(std::move(given)) {}
  Tensor tensor;
};
Tensor wrap(Tensor tensor) {
  Tensor wrapper = tensorWith({Key::TESTING_ONLY_GenericWrapper});
  wrapper.unsafeGetTensorImpl()->set_metadata(makeIntrusive<Wrapped>(std::move(tensor)));
  return wrapper;
}
Tensor unwrap(const Tensor& wrapper) {
  return static_cast<const Wrapped&>(*wrapper.unsafeGetTensorImpl()->metadata(TensorMetadata::Kind::kTransform)).tensor;
}

TEST_F(BackendFallback, OfAWrapperUnwrapsArgumentsAndWrapsResults) {
  Library wrapper = fallbacks(Key::TESTING_ONLY_GenericWrapper);
  wrapper.fallback(CppFunction::makeFromBoxedFunctor([this](const OperatorHandle& op, Stack* stack) {
    ++calls_;
    const size_t arguments = op.schema().arguments().size();
    for (size_t i = 0; i < arguments; ++i) {
      IValue& value = peek(*stack, i, arguments);
      if (value.isTensor() && value.toTensor().key_set().has(Key::TESTING_ONLY_GenericWrapper))
        value = unwrap(value.toTensor());
    }
    op.callBoxed(stack);
    const size_t returns = op.schema().returns().size();
    for (size_t i = 0; i < returns; ++i) {
      IValue& value = peek(*stack, i, returns);
      if (value.isTensor()) value = wrap(value.toTensor());
    }
  }));
  const Tensor x = cpuTensor();
  const Tensor result = callComposite(wrap(x));
  EXPECT_EQ(calls_, 1);
  EXPECT_TRUE(unwrap(result).is_same(x));
  EXPECT_TRUE(callComposite(x).is_same(x));
  EXPECT_EQ(calls_, 1);
}

TEST_F(BackendFallback, ThatLetsThroughLeavesTheKernelsThatOperatorsHaveThere) {
  Library own = implementations(Key::TESTING_ONLY_GenericMode);
  own.impl("plain", excludingFallback());
  Library mode = fallbacks(Key::TESTING_ONLY_GenericMode);
  mode.fallback(CppFunction::makeFallthrough());
  m_.def("other(Tensor x) -> Tensor").impl("other", Key::CPU, [](const Tensor& x) { return x; });
  const IncludeDispatchKeyGuard guard(Key::TESTING_ONLY_GenericMode);
  const Tensor x = cpuTensor();
  EXPECT_TRUE(callOp(find("test::other"), x)[0].toTensor().is_same(x));
  EXPECT_EQ(calls_, 0);
  EXPECT_TRUE(callPlain(x).is_same(x));
  EXPECT_EQ(calls_, 1);
}

}  // namespace
}  // namespace boxcar
