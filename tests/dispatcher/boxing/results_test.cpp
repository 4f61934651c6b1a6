#include <gtest/gtest.h>

#include <stdexcept>
#include <tuple>

#include "tests/dispatcher/dispatcher_helpers.h"

namespace boxcar {
namespace {

CppFunction boxedKernel(auto body) { return CppFunction::makeFromBoxedFunctor(std::move(body)); }

TEST(Results, NoneOneTwoAndManyInAllPairings) {
  using Four = std::tuple<int64_t, std::string, std::vector<double>, Tensor>;
  const Tensor a = cpuTensor();
  for (const bool boxed : {false, true}) {
    Library m = definitions();
    m.def("none(Tensor a, int n) -> ()");
    m.def("two(Tensor a, int n) -> (int, Tensor)");
    m.def("four(Tensor a, int n) -> (int, str, float[], Tensor)");
    int64_t seen = 0;
    if (boxed) {
      m.impl("none", boxedKernel([&](const OperatorHandle&, Stack& stack) {
               seen = pop(stack).toInt();
               drop(stack, 1);
             }));
      m.impl("two",
             boxedKernel([](const OperatorHandle&, Stack& stack) { std::swap(stack.end()[-1], stack.end()[-2]); }));
      m.impl("four", boxedKernel([](const OperatorHandle&, Stack& stack) {
               IValue n = pop(stack);
               IValue tensor = pop(stack);
               push(stack, std::move(n), "s", std::vector<double>{0.5}, std::move(tensor));
             }));
    } else {
      m.impl("none", [&seen](const Tensor&, int64_t n) { seen = n; });
      m.impl("two", [](const Tensor& x, int64_t n) { return std::tuple(n, x); });
      m.impl("four", [](const Tensor& x, int64_t n) { return Four(n, "s", {0.5}, x); });
    }
    find("test::none").typed<void(const Tensor&, int64_t)>().call(a, 5);
    EXPECT_EQ(seen, 5);
    Stack stack{IValue("below"), IValue(a), IValue(6)};
    find("test::none").callBoxed(stack);
    EXPECT_EQ(seen, 6);
    EXPECT_EQ(stack.size(), 1U);

    const auto [n, x] = find("test::two").typed<std::tuple<int64_t, Tensor>(const Tensor&, int64_t)>().call(a, 7);
    EXPECT_EQ(n, 7);
    EXPECT_TRUE(x.is_same(a));
    push(stack, a, 8);
    find("test::two").callBoxed(stack);
    EXPECT_TRUE(stack == (Stack{IValue("below"), IValue(8), IValue(a)}));
    stack.resize(1);

    const auto four = find("test::four").typed<Four(const Tensor&, int64_t)>().call(a, 9);
    EXPECT_EQ(std::get<0>(four), 9);
    EXPECT_EQ(std::get<1>(four), "s");
    EXPECT_EQ(std::get<2>(four), std::vector<double>{0.5});
    EXPECT_TRUE(std::get<3>(four).is_same(a));
    push(stack, a, 9);
    find("test::four").callBoxed(stack);
    EXPECT_TRUE(stack == (Stack{IValue("below"), IValue(9), IValue("s"), IValue(std::vector<double>{0.5}), IValue(a)}));
  }
}

TEST(Results, InPlaceAndOutFormsReturnTheirArguments) {
  using Written = std::tuple<Tensor&, Tensor, Tensor&>;
  for (const bool boxed : {false, true}) {
    Library m = definitions();
    m.def("relu_(Tensor(a!) self) -> Tensor(a!)");
    m.def("split(Tensor other, Tensor(a!) one, *, Tensor(b!) out) -> (Tensor(a!), Tensor, Tensor(b!))");
    if (boxed) {
      m.impl("relu_", boxedKernel([](const OperatorHandle&, Stack&) {}));
      m.impl("split",
             boxedKernel([](const OperatorHandle&, Stack& stack) { std::swap(stack.end()[-3], stack.end()[-2]); }));
    } else {
      m.impl("relu_", [](Tensor& self) -> Tensor& { return self; });
      m.impl("split", [](Tensor other, Tensor& one, Tensor& out) { return Written(one, other, out); });
    }
    Tensor a = cpuTensor();
    Tensor b = cpuTensor();
    const Tensor c = cpuTensor();
    EXPECT_EQ(&find("test::relu_").typed<Tensor&(Tensor&)>().call(a), &a);
    Stack stack{IValue(a)};
    find("test::relu_").callBoxed(stack);
    EXPECT_TRUE(stack == Stack{IValue(a)});

    const Written results = find("test::split").typed<Written(Tensor, Tensor&, Tensor&)>().call(c, a, b);
    EXPECT_EQ(&std::get<0>(results), &a);
    EXPECT_TRUE(std::get<1>(results).is_same(c));
    EXPECT_EQ(&std::get<2>(results), &b);
    stack = {IValue(c), IValue(a), IValue(b)};
    find("test::split").callBoxed(stack);
    EXPECT_TRUE(stack == (Stack{IValue(a), IValue(c), IValue(b)}));
    EXPECT_EQ(useCount(b), 2U);
  }
}

// Kernels and callers of one operator may use either type: alone, in lists and among several results.
TEST(Results, SymIntAndIntAreOneType) {
  using Ints = std::vector<int64_t>;
  using SymInts = std::vector<SymInt>;
  Library m = definitions();
  m.def("sizes(Tensor a) -> SymInt[]");
  m.impl("sizes", DispatchKey::CPU, [](const Tensor&) { return Ints{1, 2}; });
  m.impl("sizes", DispatchKey::CUDA, [](const Tensor&) { return SymInts{3, 4}; });
  m.impl("sizes", DispatchKey::XLA, [n = SymInt(5)](const Tensor&) { return SymInts{n}; });
  m.impl("sizes", DispatchKey::HIP,
         boxedKernel([](const OperatorHandle&, Stack& stack) { stack.back() = IValue(Ints{6}); }));
  const std::pair<DispatchKey, Ints> sizes[] = {
      {DispatchKey::CPU, {1, 2}}, {DispatchKey::CUDA, {3, 4}}, {DispatchKey::XLA, {5}}, {DispatchKey::HIP, {6}}};
  for (const auto& [key, expected] : sizes) {
    const Tensor a = tensorWith({key});
    EXPECT_EQ(find("test::sizes").typed<Ints(const Tensor&)>().call(a), expected) << toString(key);
    const SymInts symbolic = find("test::sizes").typed<SymInts(const Tensor&)>().call(a);
    EXPECT_EQ(Ints(symbolic.begin(), symbolic.end()), expected) << toString(key);
    EXPECT_TRUE(callOp(find("test::sizes"), a) == Stack{IValue(expected)}) << toString(key);
  }

  using Plain = std::tuple<int64_t, std::optional<Ints>, Tensor, std::optional<int64_t>>;
  using Symbolic = std::tuple<SymInt, std::optional<SymInts>, Tensor, std::optional<SymInt>>;
  m.def("many(Tensor a) -> (SymInt, SymInt[]?, Tensor, SymInt?)");
  m.impl("many", DispatchKey::CPU, [](const Tensor& a) { return Plain(1, Ints{2}, a, 3); });
  m.impl("many", DispatchKey::CUDA, [](const Tensor& a) { return Symbolic(1, SymInts{2}, a, SymInt(3)); });
  for (const DispatchKey key : {DispatchKey::CPU, DispatchKey::CUDA}) {
    const Tensor a = tensorWith({key});
    const Plain plain = find("test::many").typed<Plain(const Tensor&)>().call(a);
    EXPECT_EQ(std::get<0>(plain), 1);
    EXPECT_EQ(std::get<1>(plain), Ints{2});
    EXPECT_EQ(std::get<3>(plain), 3);
    const Symbolic symbolic = find("test::many").typed<Symbolic(const Tensor&)>().call(a);
    EXPECT_EQ(std::get<0>(symbolic), 1);
    EXPECT_EQ(std::get<1>(symbolic)->at(0), 2);
    EXPECT_TRUE(std::get<2>(symbolic).is_same(a));
    EXPECT_EQ(*std::get<3>(symbolic), 3);
  }
}

TEST(Results, AreMovedNotCopied) {
  Library m = definitions();
  m.def("fresh(Tensor a) -> (Tensor, Tensor[])", [](const Tensor&) {
    return std::tuple(cpuTensor(), std::vector<Tensor>{cpuTensor(), cpuTensor()});
  });
  m.def("boxed_fresh(Tensor a) -> (Tensor, Tensor[])", boxedKernel([](const OperatorHandle&, Stack& stack) {
          stack.clear();
          push(stack, cpuTensor(), std::vector<Tensor>{cpuTensor()});
        }));
  Stack stack{IValue(cpuTensor())};
  find("test::fresh").callBoxed(stack);
  EXPECT_EQ(useCount(stack[0].toTensor()), 1U);
  EXPECT_EQ(useCount(stack[1].toTensorList().span()[1]), 1U);
  EXPECT_EQ(stack[1].toTensorList().object()->useCount(), 2U);  // on the stack and here
  for (const char* name : {"test::fresh", "test::boxed_fresh"}) {
    const auto [one, all] =
        find(name).typed<std::tuple<Tensor, std::vector<Tensor>>(const Tensor&)>().call(cpuTensor());
    EXPECT_EQ(useCount(one), 1U) << name;
    EXPECT_EQ(useCount(all[0]), 1U) << name;
  }
}

TEST(Results, OfOneTensorReplaceTheArgumentsWhateverTheyAre) {
  Library m = definitions();
  m.def("first(Tensor a, Tensor b) -> Tensor");
  m.impl("first", [](const Tensor& a, const Tensor&) { return a; });
  m.def("second(Tensor a, Tensor b) -> Tensor");
  m.impl("second", [](const Tensor&, const Tensor& b) { return b; });
  m.def("fresh(Tensor a, int n) -> Tensor");
  m.impl("fresh", [](const Tensor&, int64_t) { return cpuTensor(); });
  m.def("last(int n, Tensor b) -> Tensor");
  m.impl("last", [](int64_t, const Tensor& b) { return b; });
  m.def("only() -> Tensor");
  m.impl("only", [] { return cpuTensor(); });
  const Tensor a = cpuTensor();
  const Tensor b = cpuTensor();
  const auto call = [](const char* name, auto... arguments) {
    Stack stack{IValue("below")};
    push(stack, arguments...);
    find(name).callBoxed(stack);
    EXPECT_EQ(stack.size(), 2U) << name;
    EXPECT_EQ(stack[0].toStringRef(), "below");
    return stack[1].toTensor();
  };
  EXPECT_TRUE(call("test::first", a, b).is_same(a));
  EXPECT_TRUE(call("test::second", a, b).is_same(b));
  EXPECT_TRUE(call("test::last", 3, b).is_same(b));
  EXPECT_EQ(useCount(call("test::fresh", a, 3)), 1U);
  EXPECT_EQ(useCount(call("test::only")), 1U);
  EXPECT_FALSE(call("test::first", Tensor(), b).defined());
  EXPECT_TRUE(call("test::second", Tensor(), b).is_same(b));
  EXPECT_EQ(useCount(a), 1U);
  EXPECT_EQ(useCount(b), 1U);
}

TEST(Arguments, AreBorrowedFromTheStack) {
  Library m = definitions();
  const void* tensor_address = nullptr;
  const void* ints_address = nullptr;
  const void* tensors_address = nullptr;
  const char* text_address = nullptr;
  uint32_t count = 0;
  m.def("look(Tensor a, int[] n, Tensor[] t, str s, SymInt[] y) -> ()",
        [&](const Tensor& a, std::span<const int64_t> n, TensorList t, std::string_view s, std::span<const SymInt>) {
          tensor_address = &a;
          ints_address = n.data();
          tensors_address = t.data();
          text_address = s.data();
          count = useCount(a);
        });
  const Tensor a = cpuTensor();
  const List<int64_t> ints{1, 2};
  const List<Tensor> tensors{a};
  Stack stack{IValue(a), IValue(ints), IValue(tensors), IValue("text"), IValue(ints)};
  const void* expected_tensor = &stack[0].toTensor();
  const char* expected_text = stack[3].toStringRef().data();
  find("test::look").callBoxed(stack);
  EXPECT_EQ(tensor_address, expected_tensor);
  EXPECT_EQ(ints_address, ints.span().data());
  EXPECT_EQ(tensors_address, tensors.span().data());
  EXPECT_EQ(text_address, expected_text);
  EXPECT_EQ(count, 3U);  // here, in the list, on the stack
  EXPECT_EQ(useCount(a), 2U);
  EXPECT_EQ(ints.object()->useCount(), 1U);
}

TEST(Arguments, AfterAMistypedOneAreAllStillThere) {
  Library m = definitions();
  m.def("f(Tensor a, int n, Tensor b, str s) -> Tensor",
        [](const Tensor& a, int64_t, const Tensor&, std::string_view) { return a; });
  const Tensor a = cpuTensor();
  const Stack good{IValue("below"), IValue(a), IValue(1), IValue(a), IValue("s")};
  const char* const names[] = {"'a' (position 1 of 4)", "'n' (position 2 of 4)", "'b' (position 3 of 4)",
                               "'s' (position 4 of 4)"};
  for (size_t wrong = 0; wrong < 4; ++wrong) {
    Stack stack = good;
    stack[wrong + 1] = IValue(0.5);
    const Stack before = stack;
    EXPECT_NE(errorOf([&] { find("test::f").callBoxed(stack); }).find(names[wrong]), std::string::npos) << wrong;
    EXPECT_TRUE(stack == before) << wrong;
  }
  for (size_t size = 0; size < 4; ++size) {
    Stack stack(good.begin(), good.begin() + size);
    EXPECT_EQ(errorOf([&] { find("test::f").callBoxed(stack); }).find("test::f() takes 4 arguments, but the stack"),
              0U);
    EXPECT_EQ(stack.size(), size);
  }
  EXPECT_EQ(useCount(a), 3U);
}

TEST(Results, WrongNumberFromABoxedKernel) {
  Library m = definitions();
  m.def("one(Tensor a) -> Tensor", boxedKernel([](const OperatorHandle&, Stack& stack) { push(stack, 1, 2); }));
  m.def("none(Tensor a) -> ()", boxedKernel([](const OperatorHandle&, Stack&) {}));
  m.def("two(Tensor a) -> (Tensor, Tensor)", boxedKernel([](const OperatorHandle&, Stack& stack) { stack.clear(); }));
  const Tensor a = cpuTensor();
  const auto message = [](const char* name, int found, int expected) {
    return fmt::format(
        "a boxed kernel or handler of test::{} left {} values on the stack, but the operator returns {}: it must pop "
        "all its arguments and push its results",
        name, found, expected);
  };
  EXPECT_EQ(errorOf([&] { find("test::one").typed<Tensor(const Tensor&)>().call(a); }), message("one", 3, 1));
  EXPECT_EQ(errorOf([&] { find("test::none").typed<void(const Tensor&)>().call(a); }), message("none", 1, 0));
  EXPECT_EQ(errorOf([&] { find("test::two").typed<std::tuple<Tensor, Tensor>(const Tensor&)>().call(a); }),
            message("two", 0, 2));
  EXPECT_EQ(useCount(a), 1U);
}

TEST(Results, MistypedOneAmongSeveralIsNamedWithItsPosition) {
  Library m = definitions();
  m.def("three(Tensor a) -> (Tensor, int, str)",
        boxedKernel([](const OperatorHandle&, Stack& stack) { push(stack, 2.5, "s"); }));
  const Tensor a = cpuTensor();
  EXPECT_EQ(
      errorOf([&] { find("test::three").typed<std::tuple<Tensor, int64_t, std::string>(const Tensor&)>().call(a); }),
      "a boxed kernel or handler of test::three left 2.5 of type float on the stack as result 2 of 3, but the operator "
      "returns int: test::three(Tensor a) -> (Tensor, int, str)");
  EXPECT_EQ(useCount(a), 1U);
}

TEST(Exceptions, OfKernelsBecomeErrorsThatNameTheOperator) {
  struct Foreign {};
  const Tensor a = cpuTensor();
  for (const bool boxed : {false, true}) {
    Library m = definitions();
    m.def("throws(Tensor a, int what) -> Tensor");
    const auto fail = [](int64_t what) {
      if (what == 0) BOXCAR_FAIL("an Error");
      if (what == 1) throw std::out_of_range("too far");
      throw Foreign();
    };
    if (boxed) {
      m.impl("throws", boxedKernel([fail](const OperatorHandle&, Stack& stack) { fail(stack.back().toInt()); }));
    } else {
      m.impl("throws", [fail](const Tensor& x, int64_t what) {
        fail(what);
        return x;
      });
    }
    const char* const messages[] = {
        "an Error", "test::throws() failed: too far",
        "test::throws() failed: its kernel or a handler threw something that is not a std::exception"};
    for (int64_t what = 0; what < 3; ++what) {
      EXPECT_EQ(errorOf([&] { find("test::throws").typed<Tensor(const Tensor&, int64_t)>().call(a, what); }),
                messages[what]);
      Stack stack{IValue(a), IValue(what)};
      EXPECT_EQ(errorOf([&] { find("test::throws").callBoxed(stack); }), messages[what]);
      EXPECT_EQ(stack.size(), 2U);
    }
    EXPECT_EQ(useCount(a), 1U);
  }
}

TEST(Exceptions, LeaveTheThreadsKeysTheStackAndReferenceCountsAsTheyWere) {
  const Tensor a = cpuTensor();
  const Tensor b = cpuTensor();
  // Changes the key sets of this thread, keeps another reference to the tensor, and throws.
  const auto fail = [](const Tensor& x) -> Tensor {
    const IncludeDispatchKeyGuard include(DispatchKey::Negative);
    const ExcludeDispatchKeyGuard exclude(DispatchKey::AutogradCPU);
    const std::vector<Tensor> held(3, x);
    BOXCAR_FAIL("failed with {} references", useCount(held[0]));
  };
  const CppFunction kernels[] = {
      [fail](const Tensor& x, TensorList) { return fail(x); },
      [fail](DispatchKeySet, const Tensor& x, TensorList) { return fail(x); },
      boxedKernel([fail](const OperatorHandle&, Stack& stack) { fail(peek(stack, 0, 2).toTensor()); })};
  const LocalDispatchKeySet before = tls_local_dispatch_key_set();
  for (const CppFunction& kernel : kernels) {
    for (const bool below_a_fallback : {false, true}) {
      Library m = definitions();
      m.def("fails(Tensor a, Tensor[] b) -> Tensor", kernel);
      Library tracer = fallbacks(DispatchKey::Tracer);
      tracer.fallback(boxedKernel([](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
        const ExcludeDispatchKeyGuard guard(DispatchKey::Tracer);
        op.redispatchBoxed(keys.remove(DispatchKey::Tracer), stack);
      }));
      const OperatorHandle op = find("test::fails");
      {
        const IncludeDispatchKeyGuard guard(below_a_fallback ? DispatchKey::Tracer : DispatchKey::BackendSelect);
        const LocalDispatchKeySet inside = tls_local_dispatch_key_set();
        const std::vector<Tensor> list{b};
        EXPECT_EQ(errorOf([&] { op.typed<Tensor(const Tensor&, TensorList)>().call(a, list); }).find("failed with "),
                  0U);
        Stack stack{IValue("below"), IValue(a), IValue(list)};
        const Stack same = stack;
        EXPECT_EQ(errorOf([&] { op.callBoxed(stack); }).find("failed with "), 0U);
        EXPECT_TRUE(stack == same);
        EXPECT_EQ(tls_local_dispatch_key_set().included_, inside.included_);
        EXPECT_EQ(tls_local_dispatch_key_set().excluded_, inside.excluded_);
      }
      EXPECT_EQ(useCount(a), 1U);
      EXPECT_EQ(useCount(b), 1U);
    }
  }
  EXPECT_EQ(tls_local_dispatch_key_set().included_, before.included_);
  EXPECT_EQ(tls_local_dispatch_key_set().excluded_, before.excluded_);
}

TEST(Exceptions, AreErrorsAlreadyToTheFallbackAbove) {
  Library m = definitions();
  m.def("throws(Tensor a) -> Tensor", [](const Tensor&) -> Tensor { throw std::runtime_error("no luck"); });
  std::string seen;
  Library tracer = fallbacks(DispatchKey::Tracer);
  tracer.fallback(boxedKernel([&seen](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
    seen = errorOf([&] { op.redispatchBoxed(keys.remove(DispatchKey::Tracer), stack); });
    stack.back() = IValue(cpuTensor());
  }));
  const IncludeDispatchKeyGuard guard(DispatchKey::Tracer);
  EXPECT_EQ(find("test::throws").typed<Tensor(const Tensor&)>().call(cpuTensor()).numel(), 2);
  EXPECT_EQ(seen, "test::throws() failed: no luck");
}

// A typed handle of an operator with only boxed kernels can only be checked against the schema.
TEST(TypedHandle, MatchesTheSchemaWhereThereIsNoUnboxedKernel) {
  Library m = definitions();
  m.def("pick(Tensor a, Tensor b) -> Tensor", boxedKernel([](const OperatorHandle&, Stack& stack) { drop(stack, 1); }));
  int line = 0;
  const auto access = [&] { line = __LINE__, static_cast<void>(find("test::pick").typed<Tensor(const Tensor&)>()); };
  const std::string error = errorOf(access);
  EXPECT_EQ(error,
            "operator test::pick was accessed at tests/dispatcher/boxing/results_test.cpp:" + std::to_string(line) +
                " with C++ signature\n    boxcar::Tensor (boxcar::Tensor const&)\nwhich "
                "does not match its schema, defined at test.cpp:1: the schema has 2 arguments, the C++ function has 1\n"
                "    schema: test::pick(Tensor a, Tensor b) -> Tensor");
  const Tensor a = cpuTensor();
  EXPECT_TRUE(find("test::pick").typed<Tensor(const Tensor&, const Tensor&)>().call(a, cpuTensor()).is_same(a));
}

}  // namespace
}  // namespace boxcar
