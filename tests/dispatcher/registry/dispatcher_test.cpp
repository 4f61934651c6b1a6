#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/dispatcher/dispatcher_helpers.h"

namespace boxcar {
namespace {

Tensor first(const Tensor& a, const Tensor&) { return a; }
Tensor second(const Tensor&, const Tensor& b) { return b; }

TEST(Dispatcher, TypedCallReachesTheKernelOfTheArgumentsBackend) {
  Library m = definitions();
  m.def("pick(Tensor a, Tensor b) -> Tensor");
  Library cpu = implementations(DispatchKey::CPU);
  cpu.impl("pick", BOXCAR_FN(first));
  Library meta = implementations(DispatchKey::Meta);
  meta.impl("pick", BOXCAR_FN(second));

  const auto op = find("test::pick").typed<Tensor(const Tensor&, const Tensor&)>();
  const Tensor a = cpuTensor();
  const Tensor b = cpuTensor();
  EXPECT_TRUE(op.call(a, b).is_same(a));
  const Tensor c = metaTensor();
  const Tensor d = metaTensor();
  EXPECT_TRUE(op.call(c, d).is_same(d));
}

TEST(Dispatcher, BoxedCallTakesArgumentsFromTheTopOfTheStackAndLeavesTheResult) {
  Library m = definitions();
  m.def("pick(Tensor a, Tensor b) -> Tensor", BOXCAR_FN(second));
  const Tensor a = cpuTensor();
  const Tensor b = cpuTensor();
  Stack stack{IValue(7), IValue(a), IValue(b)};
  find("test::pick").callBoxed(stack);
  ASSERT_EQ(stack.size(), 2U);
  EXPECT_EQ(stack[0].toInt(), 7);
  EXPECT_TRUE(stack[1].toTensor().is_same(b));
  EXPECT_EQ(a.unsafeGetTensorImpl()->useCount(), 1U);
}

TEST(Dispatcher, TypedCallOfABoxedKernelBoxesAndUnboxes) {
  Library m = definitions();
  m.def("swap(Tensor a, int n) -> (int, Tensor)");
  Library cpu = implementations(DispatchKey::CPU);
  cpu.impl("swap", CppFunction::makeFromBoxedFunctor([](const OperatorHandle&, Stack* stack) {
             IValue n = pop(*stack);
             IValue a = pop(*stack);
             push(*stack, std::move(n), std::move(a));
           }));
  const Tensor a = cpuTensor();
  const auto [n, b] = find("test::swap").typed<std::tuple<int64_t, Tensor>(const Tensor&, int64_t)>().call(a, 4);
  EXPECT_EQ(n, 4);
  EXPECT_TRUE(b.is_same(a));
}

TEST(Dispatcher, InPlaceOperatorsReturnTheirArgumentThroughBoxedKernels) {
  Library m = definitions();
  m.def("touch_(Tensor(a!) self, *, Tensor(b!) out) -> (Tensor(a!), Tensor(b!))");
  Library cpu = implementations(DispatchKey::CPU);
  cpu.impl("touch_", CppFunction::makeFromBoxedFunctor([](const OperatorHandle&, Stack&) {}));
  Tensor a = cpuTensor();
  Tensor b = cpuTensor();
  const auto op = find("test::touch_").typed<std::tuple<Tensor&, Tensor&>(Tensor&, Tensor&)>();
  const std::tuple<Tensor&, Tensor&> results = op.call(a, b);
  EXPECT_EQ(&std::get<0>(results), &a);
  EXPECT_EQ(&std::get<1>(results), &b);
}

TEST(Dispatcher, KernelsThatTakeAKeySetGetTheOneTheyWereCalledWith) {
  Library m = definitions();
  m.def("keys(Tensor a) -> int");
  Library cpu = implementations(DispatchKey::CPU);
  cpu.impl("keys", [](DispatchKeySet keys, const Tensor&) { return static_cast<int64_t>(keys.raw_repr()); });
  const Tensor a = cpuTensor();
  const auto op = find("test::keys").typed<int64_t(const Tensor&)>();
  const DispatchKeySet keys(DispatchKeySet::RAW, static_cast<uint64_t>(op.call(a)));
  EXPECT_EQ(keys.highestPriorityTypeId(), DispatchKey::CPU);
  Stack stack{IValue(a)};
  op.callBoxed(stack);
  EXPECT_EQ(stack[0].toInt(), static_cast<int64_t>(keys.raw_repr()));
}

TEST(Dispatcher, FallbackServesEveryOperatorAndRedispatchReachesTheKernelBelow) {
  Library m = definitions();
  m.def("pick(Tensor a, Tensor b) -> Tensor");
  Library cpu = implementations(DispatchKey::CPU);
  cpu.impl("pick", BOXCAR_FN(first));
  std::vector<std::string> seen;
  Library tracer(Library::IMPL, "_", DispatchKey::Tracer, "test.cpp", 3);
  tracer.fallback(
      CppFunction::makeFromBoxedFunctor([&seen](const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
        seen.push_back(toString(op));
        op.redispatchBoxed(keys.remove(DispatchKey::Tracer), stack);
      }));
  const Tensor a = cpuTensor();
  const auto op = find("test::pick").typed<Tensor(const Tensor&, const Tensor&)>();
  EXPECT_TRUE(op.call(a, a).is_same(a));
  EXPECT_TRUE(seen.empty());
  {
    const IncludeDispatchKeyGuard guard(DispatchKey::Tracer);
    EXPECT_TRUE(op.call(a, a).is_same(a));
    Stack stack{IValue(a), IValue(a)};
    op.callBoxed(stack);
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"test::pick", "test::pick"}));
}

TEST(Dispatcher, CompositeKernelServesEveryBackendAndCallsWithoutTensors) {
  Library m = definitions();
  m.def("count(Tensor[] all) -> int", [](TensorList all) { return static_cast<int64_t>(all.size()); });
  const auto op = find("test::count").typed<int64_t(TensorList)>();
  EXPECT_EQ(op.call({}), 0);
  const std::vector<Tensor> tensors{metaTensor(), metaTensor()};
  EXPECT_EQ(op.call(tensors), 2);
}

TEST(Dispatcher, ExplicitCallsOfShortStacksNameTheOperator) {
  Library m = definitions();
  m.def("pick(Tensor a, Tensor b) -> Tensor", BOXCAR_FN(first));
  Stack stack{IValue(cpuTensor())};
  EXPECT_EQ(
      errorOf([&] { find("test::pick").callBoxed(stack); }),
      "test::pick() takes 2 arguments, but the stack holds 1 values; push all arguments, those with defaults too. "
      "Schema: test::pick(Tensor a, Tensor b) -> Tensor");
  EXPECT_EQ(stack.size(), 1U);
}

TEST(Dispatcher, MistypedArgumentNamesArgumentPositionExpectedAndFound) {
  Library m = definitions();
  m.def("scale(Tensor a, float by) -> Tensor", [](const Tensor& a, double) { return a; });
  Stack stack{IValue(cpuTensor()), IValue("two")};
  EXPECT_EQ(errorOf([&] { find("test::scale").callBoxed(stack); }),
            "test::scale() expected a value of type float for argument 'by' (position 2 of 2), but found 'two' of type "
            "str. Schema: test::scale(Tensor a, float by) -> Tensor");
  ASSERT_EQ(stack.size(), 2U);
  EXPECT_TRUE(stack[0].isTensor());
}

TEST(Dispatcher, MissingKernelSaysWhichArgumentBroughtTheKey) {
  Library m = definitions();
  m.def("pick(Tensor a, Tensor b) -> Tensor");
  Library cpu = implementations(DispatchKey::CUDA);
  cpu.impl("pick", BOXCAR_FN(first));
  const auto op = find("test::pick").typed<Tensor(const Tensor&, const Tensor&)>();
  const Tensor a = cpuTensor();
  EXPECT_EQ(errorOf([&] { op.call(a, a); }),
            "could not run test::pick for dispatch key CPU, which argument 'a' (position 1) brought: no kernel is "
            "registered for it. The arguments bring: 'a' CPU; 'b' CPU. The operator has kernels for: CUDA. Move "
            "arguments 'a' and 'b' to cuda, or register a kernel with BOXCAR_LIBRARY_IMPL(test, CPU, m)");
}

TEST(Dispatcher, ArgumentThatBringsNoKeyIsNamedWhenItIsMistypedOrUndefined) {
  Library m = definitions();
  m.def("only(Tensor self, int n) -> Tensor");
  Library cpu = implementations(DispatchKey::CPU);
  cpu.impl("only", [](const Tensor& self, int64_t) { return self; });
  const OperatorHandle op = find("test::only");
  Stack stack{IValue("text"), IValue(1)};
  EXPECT_EQ(
      errorOf([&] { op.callBoxed(stack); }),
      "test::only() expected a value of type Tensor for argument 'self' (position 1 of 2), but found 'text' of type "
      "str. Schema: test::only(Tensor self, int n) -> Tensor");
  EXPECT_EQ(stack.size(), 2U);
  EXPECT_EQ(errorOf([&] { op.typed<Tensor(const Tensor&, int64_t)>().call(Tensor(), 1); }),
            "could not run test::only: argument 'self' (position 1) is an undefined tensor, which has no backend; pass "
            "a defined tensor");
}

TEST(Dispatcher, FindSchemaOrThrowSaysWhatTheCommonMistakesAre) {
  Library m = definitions();
  m.def("over.Tensor(Tensor x) -> Tensor");
  m.def("over.out(Tensor x) -> Tensor");
  const auto error = [](const char* name, const char* overload) {
    const std::string text = errorOf([&] { find(name, overload); });
    return text.substr(0, text.find("\nregistrations that failed"));
  };
  EXPECT_EQ(error("test::over", ""),
            "Could not find schema for test::over. The overloads of test::over are: Tensor, out");
  EXPECT_EQ(
      error("test::over.Tensor", ""),
      "Could not find schema for test::over.Tensor. The overload is an argument of its own: ask for \"test::over\" "
      "and \"Tensor\"");
  EXPECT_EQ(error("over", "Tensor"),
            "Could not find schema for over.Tensor. A name begins with its namespace: \"aten::add\"");
}

TEST(Dispatcher, CallWithoutTensorsNeedsACompositeKernel) {
  Library m = definitions();
  m.def("count(Tensor[] all) -> int");
  Library cpu = implementations(DispatchKey::CPU);
  cpu.impl("count", [](TensorList all) { return static_cast<int64_t>(all.size()); });
  EXPECT_EQ(errorOf([&] { find("test::count").typed<int64_t(TensorList)>().call({}); }),
            "could not run test::count: it needs at least one tensor, and the list 'all' (position 1) is empty. It has "
            "kernels "
            "for: CPU");
  m.def("size(int n) -> int");
  cpu.impl("size", [](int64_t n) { return n; });
  EXPECT_EQ(errorOf([&] { find("test::size").typed<int64_t(int64_t)>().call(1); }),
            "could not run test::size: no argument is a tensor, and the operator has no composite kernel that runs "
            "without one. It has kernels for: CPU. Pass a tensor, or a device to a factory");
}

TEST(Dispatcher, FindSchemaOrThrowTellsMissingFromUndefinedAndSuggests) {
  Library m = definitions();
  m.def("recognise(Tensor a) -> Tensor");
  EXPECT_EQ(errorOf([] { find("test::recognize"); }),
            "Could not find schema for test::recognize. Did you mean 'test::recognise'?");
  Library cpu = implementations(DispatchKey::CPU);
  cpu.impl("only_implemented", BOXCAR_FN(first));
  EXPECT_EQ(
      errorOf([] { find("test::only_implemented"); }),
      "Could not find schema for test::only_implemented but we found an implementation; did you forget to def() the "
      "operator? It has kernels for: CPU");
  EXPECT_TRUE(Dispatcher::singleton().findOp({"test::only_implemented", ""}).has_value());
  EXPECT_FALSE(Dispatcher::singleton().findSchema({"test::only_implemented", ""}).has_value());
}

TEST(Dispatcher, ASecondDefinitionNamesBothPlaces) {
  Library m = definitions();
  m.def("twice(Tensor a) -> Tensor");
  EXPECT_EQ(errorOf([&] { m.def("twice(Tensor b) -> Tensor"); }),
            "operator test::twice is defined twice: at test.cpp:1 as\n    test::twice(Tensor a) -> Tensor\nand at "
            "test.cpp:1 as\n    test::twice(Tensor b) -> Tensor\nkeep one, or give one of them another overload name");
}

TEST(Dispatcher, RemovedOperatorsStillExplainThemselves) {
  OperatorHandle op = [] {
    Library m = definitions();
    m.def("gone(Tensor a) -> Tensor", [](const Tensor& a) { return a; });
    return find("test::gone");
  }();
  Stack stack{IValue(cpuTensor())};
  EXPECT_EQ(errorOf([&] { op.callBoxed(stack); }),
            "operator test::gone is not defined any more: its definition at test.cpp:1 was removed");
}

TEST(Dispatcher, NewestKernelWinsAndRemovingItRestoresTheOneBefore) {
  Library m = definitions();
  m.def("pick(Tensor a, Tensor b) -> Tensor");
  Library cpu = implementations(DispatchKey::CPU);
  cpu.impl("pick", BOXCAR_FN(first));
  const auto op = find("test::pick").typed<Tensor(const Tensor&, const Tensor&)>();
  const Tensor a = cpuTensor();
  const Tensor b = cpuTensor();
  {
    Library newer = implementations(DispatchKey::CPU);
    newer.impl("pick", BOXCAR_FN(second));
    EXPECT_TRUE(op.call(a, b).is_same(b));
  }
  EXPECT_TRUE(op.call(a, b).is_same(a));
}

TEST(Dispatcher, KernelsMustMatchTheSchema) {
  Library m = definitions();
  m.def("pick(Tensor a, Tensor b) -> Tensor");
  Library cpu = implementations(DispatchKey::CPU);
  const std::string error = errorOf([&] { cpu.impl("pick", [](const Tensor& a) { return a; }); });
  EXPECT_NE(error.find("the kernel of test::pick for key CPU, registered at test.cpp:2, does not match the operator's "
                       "schema, defined at test.cpp:1: "),
            std::string::npos)
      << error;
  EXPECT_NE(error.find("boxcar::Tensor (boxcar::Tensor const&)"), std::string::npos) << error;
}

TEST(Dispatcher, KernelsOfAnOperatorHaveOneCppSignature) {
  Library m = definitions();
  m.def("scale(Tensor a, int[] by) -> Tensor");
  Library cpu = implementations(DispatchKey::CPU);
  cpu.impl("scale", [](const Tensor& a, std::span<const int64_t>) { return a; });
  Library meta = implementations(DispatchKey::Meta);
  const std::string error =
      errorOf([&] { meta.impl("scale", [](const Tensor& a, const List<int64_t>&) { return a; }); });
  EXPECT_NE(error.find("two kernels of test::scale have different C++ signatures"), std::string::npos) << error;
  const std::string typed_error = errorOf([] { find("test::scale").typed<Tensor(const Tensor&, int64_t)>(); });
  EXPECT_NE(typed_error.find("operator test::scale was accessed at tests/dispatcher/registry/dispatcher_test.cpp:"),
            std::string::npos)
      << typed_error;
}

TEST(Dispatcher, SymIntAndIntSignaturesAreOne) {
  Library m = definitions();
  m.def("sizes(SymInt[] size, SymInt n, SymInt? m) -> int");
  Library composite = implementations(DispatchKey::CompositeImplicitAutograd);
  composite.impl("sizes", [](std::span<const SymInt> size, SymInt n, std::optional<SymInt> k) {
    return size[0] + n.expect_int() + k.value_or(0);
  });
  const std::vector<int64_t> size{5};
  EXPECT_EQ((find("test::sizes")
                 .typed<int64_t(std::span<const int64_t>, int64_t, std::optional<int64_t>)>()
                 .call(size, 2, 100)),
            107);
  const std::vector<SymInt> sym_size{5};
  EXPECT_EQ((find("test::sizes")
                 .typed<int64_t(std::span<const SymInt>, SymInt, std::optional<SymInt>)>()
                 .call(sym_size, 2, std::nullopt)),
            7);
  Stack stack{IValue(size), IValue(1), IValue()};
  find("test::sizes").callBoxed(stack);
  EXPECT_EQ(stack[0].toInt(), 6);
}

TEST(Dispatcher, KernelsTakeSymIntsByReferenceAndArrayRefs) {
  Library m = definitions();
  m.def("sizes(SymInt[] size, SymInt n, SymInt? m, SymInt[]? more) -> SymInt");
  Library composite = implementations(DispatchKey::CompositeImplicitAutograd);
  composite.impl("sizes",
                 [](SymIntArrayRef size, const SymInt& n, const std::optional<SymInt>& k,
                    const std::optional<SymIntArrayRef>& more) -> SymInt {
                   return size[0] + n.expect_int() + k.value_or(0) + (more.has_value() ? (*more)[1].expect_int() : 0);
                 });
  const std::vector<int64_t> size{5, 40};
  using Spans =
      int64_t(std::span<const int64_t>, int64_t, std::optional<int64_t>, std::optional<std::span<const int64_t>>);
  using References =
      SymInt(SymIntArrayRef, const SymInt&, const std::optional<SymInt>&, const std::optional<SymIntArrayRef>&);
  const auto expectAnswers = [&](int64_t with_all, int64_t with_few) {
    EXPECT_EQ(find("test::sizes").typed<Spans>().call(size, 2, 100, size), with_all);
    const std::vector<SymInt> sym_size{5, 40};
    EXPECT_EQ(find("test::sizes").typed<References>().call(sym_size, 2, std::nullopt, std::nullopt), with_few);
    EXPECT_EQ(callOp(find("test::sizes"), size, 2, 100, size)[0].toInt(), with_all);
  };
  expectAnswers(147, 7);
  {
    // A second kernel that takes ints.
    Library ints = implementations(DispatchKey::CompositeExplicitAutograd);
    ints.impl("sizes", [](std::span<const int64_t> of, int64_t n, std::optional<int64_t>,
                          std::optional<std::span<const int64_t>>) { return of[0] * n; });
    expectAnswers(10, 10);
  }
  // And a boxed kernel, for which typed callers box.
  Library boxed = implementations(DispatchKey::CompositeExplicitAutograd);
  boxed.impl("sizes", CppFunction::makeFromBoxedFunctor([](const OperatorHandle&, Stack& stack) {
               const int64_t n = stack[1].toInt();
               drop(stack, 4);
               push(stack, 3 * n);
             }));
  expectAnswers(6, 6);
}

TEST(Dispatcher, NamesTheOperatorsThatHaveAKernelForAKey) {
  const auto namesAt = [](std::optional<DispatchKey> key) {
    std::vector<std::string> ours;
    for (const OperatorName& name : Dispatcher::singleton().getRegistrationsForDispatchKey(key)) {
      if (name.getNamespace() == "registered") ours.push_back(toString(name));
    }
    return ours;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(namesAt(std::nullopt), Names());
  {
    Library m = definitions("registered");
    m.def("defined(Tensor x) -> Tensor");
    m.def("both.x(Tensor x) -> Tensor");
    Library on_cpu = implementations(DispatchKey::CPU, "registered");
    on_cpu.impl("both.x", CppFunction::makeFallthrough());
    on_cpu.impl("implemented", CppFunction::makeFallthrough());
    Library composite = implementations(DispatchKey::CompositeExplicitAutograd, "registered");
    composite.impl("defined", CppFunction::makeFallthrough());
    EXPECT_EQ(namesAt(std::nullopt), (Names{"registered::defined", "registered::both.x", "registered::implemented"}));
    EXPECT_EQ(namesAt(DispatchKey::CPU), (Names{"registered::both.x", "registered::implemented"}));
    // Lists operators registered for the alias, not those whose table entries it fills.
    EXPECT_EQ(namesAt(DispatchKey::CompositeExplicitAutograd), Names{"registered::defined"});
    EXPECT_EQ(namesAt(DispatchKey::Meta), Names());
  }
  EXPECT_EQ(namesAt(std::nullopt), Names());
}

TEST(Dispatcher, AKernelThatThrowsLeavesTheStackAndTheThreadsKeysAsTheyWere) {
  Library m = definitions();
  m.def("fail(Tensor a) -> Tensor", [](const Tensor& a) -> Tensor {
    const ExcludeDispatchKeyGuard guard(DispatchKey::AutogradCPU);
    BOXCAR_FAIL("failed with {} elements", a.numel());
  });
  const Tensor a = cpuTensor();
  const LocalDispatchKeySet before = tls_local_dispatch_key_set();
  Stack stack{IValue(a)};
  EXPECT_EQ(errorOf([&] { find("test::fail").callBoxed(stack); }), "failed with 2 elements");
  EXPECT_EQ(stack.size(), 1U);
  EXPECT_EQ(a.unsafeGetTensorImpl()->useCount(), 2U);
  EXPECT_EQ(tls_local_dispatch_key_set().excluded_, before.excluded_);
}

}  // namespace
}  // namespace boxcar
