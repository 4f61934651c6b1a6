#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/dispatcher/dispatcher_helpers.h"

namespace boxcar {
namespace {

using Key = DispatchKey;
using Pick = Tensor(const Tensor&, const Tensor&);

Tensor first(const Tensor& a, const Tensor&) { return a; }
Tensor second(const Tensor&, const Tensor& b) { return b; }

// `test::pick` with kernels for CPU and CUDA that return the first argument.
class FallthroughTest : public ::testing::Test {
 protected:
  FallthroughTest() {
    m_.def("pick(Tensor a, Tensor b) -> Tensor");
    cpu_.impl("pick", BOXCAR_FN(first));
    cuda_.impl("pick", BOXCAR_FN(first));
  }
  TypedOperatorHandle<Pick> op() const { return find("test::pick").typed<Pick>(); }
  // Returns which argument a call returns, typed and boxed: 1 or 2.
  int call(const Tensor& a) const {
    const Tensor b = cpuTensor();
    const bool typed = op().call(a, b).is_same(b);
    Stack stack{IValue(a), IValue(b)};
    op().callBoxed(stack);
    EXPECT_EQ(stack[0].toTensor().is_same(b), typed);
    return typed ? 2 : 1;
  }
  DispatchKeySet mask() const { return op().entry().dispatchKeyExtractor().nonFallthroughKeys(); }

 private:
  Library m_ = definitions();
  Library cpu_ = implementations(Key::CPU);
  Library cuda_ = implementations(Key::CUDA);
};

TEST_F(FallthroughTest, DiffersByBackend) {
  EXPECT_FALSE(mask().has(Key::AutogradFunctionality));
  Library autograd = implementations(Key::AutogradCUDA);
  autograd.impl("pick", BOXCAR_FN(second));
  EXPECT_TRUE(mask().has(Key::AutogradFunctionality));
  EXPECT_EQ(call(tensorWith({Key::CPU, Key::AutogradCPU})), 1);
  EXPECT_EQ(call(tensorWith({Key::CUDA, Key::AutogradCUDA})), 2);
  EXPECT_EQ(call(tensorWith({Key::CUDA})), 1);
}

TEST_F(FallthroughTest, OnOneOperatorOnly) {
  Library m = definitions();
  m.def("other(Tensor a, Tensor b) -> Tensor", BOXCAR_FN(first));
  Library fallback = fallbacks(Key::Conjugate);
  fallback.fallback(CppFunction::makeFromBoxedFunctor([](const OperatorHandle&, Stack& stack) {
    drop(stack, 1);
    stack.back() = IValue(Tensor());
  }));
  Library own = implementations(Key::Conjugate);
  own.impl("pick", CppFunction::makeFallthrough());
  const Tensor a = tensorWith({Key::CPU, Key::Conjugate});
  EXPECT_EQ(call(a), 1);
  EXPECT_FALSE(find("test::other").typed<Pick>().call(a, a).defined());
  EXPECT_FALSE(mask().has(Key::Conjugate));
  EXPECT_TRUE(find("test::other").entry().dispatchKeyExtractor().nonFallthroughKeys().has(Key::Conjugate));
}

TEST_F(FallthroughTest, NeverMovesATensorAndExplainsWhenNothingIsLeft) {
  Library m = definitions();
  m.def("all_through(Tensor a) -> Tensor", CppFunction::makeFallthrough());
  m.def("backend_through(Tensor a) -> Tensor");
  Library cpu = implementations(Key::CPU);
  cpu.impl("backend_through", CppFunction::makeFallthrough());
  const Tensor a = cpuTensor();
  for (const auto& [name, kernels] :
       {std::pair("all_through", "CompositeImplicitAutograd"), std::pair("backend_through", "CPU")}) {
    const std::string expected = "could not run test::" + std::string(name) +
                                 ": every kernel for the keys of its arguments lets the call through to the next, and "
                                 "none computes. It has kernels for: " +
                                 kernels + ". Register one that is not a fallthrough";
    const OperatorHandle op = find(("test::" + std::string(name)).c_str());
    EXPECT_EQ(errorOf([&] { op.typed<Tensor(const Tensor&)>().call(a); }), expected);
    Stack stack{IValue(a)};
    EXPECT_EQ(errorOf([&] { op.callBoxed(stack); }), expected);
    EXPECT_EQ(stack.size(), 1U);
  }
  const std::string no_tensor =
      errorOf([&] { find("test::all_through").typed<Tensor(const Tensor&)>().call(Tensor()); });
  EXPECT_EQ(no_tensor.find("could not run test::all_through: argument 'a' (position 1) is an undefined tensor"), 0U)
      << no_tensor;
}

TEST_F(FallthroughTest, OfAFallbackLetsEveryOperatorThrough) {
  const Tensor a = tensorWith({Key::CPU, Key::Negative});
  EXPECT_EQ(errorOf([&] { call(a); }),
            "could not run test::pick for dispatch key Negative, which argument 'a' (position 1) brought: no kernel is "
            "registered for it. The arguments bring: 'a' CPU, Negative; 'b' CPU. The operator has kernels for: CUDA, "
            "CPU. Register a kernel with BOXCAR_LIBRARY_IMPL(test, Negative, m), or a fallback with "
            "BOXCAR_LIBRARY_IMPL(_, Negative, m) for every "
            "operator");
  {
    Library fallback = fallbacks(Key::Negative);
    fallback.fallback(CppFunction::makeFallthrough());
    EXPECT_EQ(call(a), 1);
    Library m = definitions();  // defined after the fallback, which still applies
    m.def("later(Tensor a, Tensor b) -> Tensor");
    Library cpu = implementations(Key::CPU);
    cpu.impl("later", BOXCAR_FN(second));
    EXPECT_TRUE(find("test::later").typed<Pick>().call(a, a).is_same(a));
  }
  EXPECT_NE(errorOf([&] { call(a); }), "no error");
}

TEST_F(FallthroughTest, KernelOverridesTheFallbackOfItsKey) {
  Library fallback = fallbacks(Key::Tracer);
  int calls = 0;
  fallback.fallback(
      CppFunction::makeFromBoxedFunctor([&calls](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
        ++calls;
        op.redispatchBoxed(keys.remove(Key::Tracer), stack);
      }));
  const IncludeDispatchKeyGuard guard(Key::Tracer);
  EXPECT_EQ(call(cpuTensor()), 1);
  EXPECT_EQ(calls, 2);
  {
    Library own = implementations(Key::Tracer);
    own.impl("pick", BOXCAR_FN(second));
    EXPECT_EQ(call(cpuTensor()), 2);
    EXPECT_EQ(calls, 2);
  }
  EXPECT_EQ(call(cpuTensor()), 1);
  EXPECT_EQ(calls, 4);
}

TEST_F(FallthroughTest, FallbacksStackAndRedispatchTypedAndBoxed) {
  std::vector<std::string> seen;
  Library tracer = fallbacks(Key::Tracer);
  tracer.fallback(
      CppFunction::makeFromBoxedFunctor([&seen](const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
        seen.push_back("Tracer");
        op.redispatchBoxed(keys & DispatchKeySet(DispatchKeySet::FULL_AFTER, Key::Tracer), stack);
      }));
  Library negative = fallbacks(Key::Negative);
  negative.fallback(
      CppFunction::makeFromBoxedFunctor([&seen](const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
        seen.push_back("Negative");
        IValue b = pop(*stack);
        IValue a = pop(*stack);
        push(*stack, op.typed<Pick>().redispatch(keys.remove(Key::Negative), a.toTensor(), b.toTensor()));
      }));
  Library autograd = implementations(Key::Autograd);
  autograd.impl("pick", [&seen](DispatchKeySet keys, const Tensor& a, const Tensor& b) {
    seen.push_back("Autograd");
    return find("test::pick").typed<Pick>().redispatch(keys & after_autograd_keyset, b, a);
  });
  const Tensor a = tensorWith({Key::CPU, Key::AutogradCPU, Key::Negative});
  const IncludeDispatchKeyGuard guard(Key::Tracer);
  EXPECT_EQ(call(a), 2);
  EXPECT_EQ(seen, (std::vector<std::string>{"Tracer", "Autograd", "Negative", "Tracer", "Autograd", "Negative"}));
}

TEST_F(FallthroughTest, RedispatchGoesByTheGivenKeysAlone) {
  Library meta = implementations(Key::Meta);
  meta.impl("pick", BOXCAR_FN(second));
  const Tensor a = cpuTensor();
  const Tensor b = cpuTensor();
  const IncludeDispatchKeyGuard guard(Key::Tracer);  // no kernel at this key
  EXPECT_TRUE(op().redispatch(DispatchKeySet(Key::Meta), a, b).is_same(b));
  EXPECT_TRUE(op().redispatch(DispatchKeySet({Key::CPU, Key::AutogradCPU, Key::BackendSelect}), a, b).is_same(a));
  Stack stack{IValue(a), IValue(b)};
  op().redispatchBoxed(DispatchKeySet({Key::Meta, Key::AutogradMeta}), &stack);
  EXPECT_TRUE(stack[0].toTensor().is_same(b));
}

TEST_F(FallthroughTest, BackendSelectPicksTheKeyOfAFactory) {
  Library m = definitions();
  m.def("make(Device device) -> int");
  Library cpu = implementations(Key::CPU);
  cpu.impl("make", [](Device) { return int64_t{1}; });
  Library meta = implementations(Key::Meta);
  meta.impl("make", [](Device) { return int64_t{2}; });
  Library select = implementations(Key::BackendSelect);
  select.impl("make", [](DispatchKeySet keys, Device device) {
    const Key key = device.type() == DeviceType::Meta ? Key::Meta : Key::CPU;
    return find("test::make").typed<int64_t(Device)>().redispatch(keys.remove(Key::BackendSelect).add(key), device);
  });
  const auto make = find("test::make").typed<int64_t(Device)>();
  EXPECT_EQ(make.call(Device(DeviceType::CPU)), 1);
  EXPECT_EQ(make.call(Device(DeviceType::Meta)), 2);
}

TEST(OperatorHandle, OutlivesRemovalAndComesBackWithTheName) {
  const Tensor a = cpuTensor();
  const auto [op, typed] = [&] {
    Library m = definitions("test", 40);
    m.def("passing(Tensor a, Tensor b) -> Tensor", BOXCAR_FN(first));
    const OperatorHandle handle = find("test::passing");
    return std::pair(handle, handle.typed<Pick>());
  }();
  const std::string gone = "operator test::passing is not defined any more: its definition at test.cpp:40 was removed";
  EXPECT_EQ(errorOf([&, handle = typed] { handle.call(a, a); }), gone);
  Stack stack{IValue(a), IValue(a)};
  EXPECT_EQ(errorOf([&, handle = op] { handle.callBoxed(stack); }), gone);
  EXPECT_EQ(errorOf([&, handle = op] { handle.redispatchBoxed(DispatchKeySet(Key::CPU), stack); }), gone);
  EXPECT_EQ(stack.size(), 2U);
  EXPECT_FALSE(op.hasSchema());
  EXPECT_FALSE(Dispatcher::singleton().findOp({"test::passing", ""}).has_value());
  EXPECT_EQ(errorOf([] { find("test::passing"); }).find("Could not find schema for test::passing."), 0U);

  Library m = definitions();
  m.def("passing(Tensor a, Tensor b) -> Tensor", BOXCAR_FN(second));
  const Tensor b = cpuTensor();
  EXPECT_TRUE(typed.call(a, b).is_same(b));
  EXPECT_EQ(find("test::passing"), op);
}

TEST(OperatorHandle, KernelsWithoutDefinitionSayWhatIsMissing) {
  Library cpu = implementations(Key::CPU);
  cpu.impl("undeclared", BOXCAR_FN(first));
  const OperatorHandle op = *Dispatcher::singleton().findOp({"test::undeclared", ""});
  const std::string expected =
      "operator test::undeclared is not defined: it has kernels, but nobody called def() for it";
  const Tensor a = cpuTensor();
  EXPECT_EQ(errorOf([&] { op.typed<Pick>().call(a, a); }), expected);
  Stack stack{IValue(a), IValue(a)};
  EXPECT_EQ(errorOf([&] { op.callBoxed(stack); }), expected);
}

}  // namespace
}  // namespace boxcar
