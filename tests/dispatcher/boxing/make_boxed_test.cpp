#include <boxcar/schema/parse_schema.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/dispatcher/dispatcher_helpers.h"

// Kernels that are functors: their arguments and results when boxed, and their state.

namespace boxcar {
namespace {

using Key = DispatchKey;

// Returns a kernel that is a [Functor] constructed from [args] and passed by pointer.
template <class Functor, class... Args>
CppFunction functor(Args&&... args) {
  return CppFunction(
      KernelFunction::makeFromUnboxedFunctor<Functor>(std::make_unique<Functor>(std::forward<Args>(args)...)));
}

// `test::op` with [schema] after its name, and one kernel.
class FunctorKernel : public ::testing::Test {
 protected:
  Stack call(const char* schema, CppFunction kernel, const auto&... args) {
    Library m = definitions();
    m.def("op" + std::string(schema), std::move(kernel));
    return callOp(find("test::op"), args...);
  }
};

struct Offset final : OperatorKernel {
  explicit Offset(int64_t by, int64_t more = 0) : offset(by + more) {}
  int64_t operator()(const Tensor&, int64_t n) { return n + offset; }
  int64_t offset;
};
struct Never final : OperatorKernel {
  int64_t operator()(const Tensor&, int64_t) {
    ADD_FAILURE() << "a kernel was called with another's keys";
    return 0;
  }
};

TEST_F(FunctorKernel, IsCalledForItsOperatorAndKeyAlone) {
  for (const bool one_library : {true, false}) {
    Library first = definitions();
    Library second = definitions();
    Library& other = one_library ? first : second;
    first.def("op(Tensor x, int n) -> int");
    first.impl("op", Key::CPU, functor<Offset>(1)).impl("op", Key::CUDA, functor<Never>());
    other.def("other(Tensor x, int n) -> int");
    other.impl("other", Key::CPU, functor<Never>()).impl("other", Key::CUDA, functor<Never>());
    EXPECT_EQ(callOp(find("test::op"), cpuTensor(), 5)[0].toInt(), 6);
  }
}

TEST_F(FunctorKernel, IsGoneWithItsRegistration) {
  Library m = definitions();
  m.def("op(Tensor x, int n) -> int").impl("op", Key::CPU, functor<Offset>(1));
  {
    Library cuda = implementations(Key::CUDA);
    cuda.impl("op", functor<Offset>(-1));
    EXPECT_EQ(callOp(find("test::op"), tensorWith({Key::CUDA}), 5)[0].toInt(), 4);
  }
  EXPECT_EQ(callOp(find("test::op"), cpuTensor(), 5)[0].toInt(), 6);
  EXPECT_EQ(errorOf([] { callOp(find("test::op"), tensorWith({Key::CUDA}), 5); }).find("could not run test::op"), 0U);
}

TEST_F(FunctorKernel, IsMadeWithItsConstructorsArguments) {
  Library m = definitions();
  m.def("op(Tensor x, int n) -> int");
  m.impl("op", Key::CPU, functor<Offset>(2)).impl("op", Key::CUDA, functor<Offset>(4, 5));
  EXPECT_EQ(callOp(find("test::op"), cpuTensor(), 4)[0].toInt(), 6);
  EXPECT_EQ(callOp(find("test::op"), tensorWith({Key::CUDA}), 4)[0].toInt(), 13);
}

TEST_F(FunctorKernel, KeepsItsStateBetweenCalls) {
  struct Counter final : OperatorKernel {
    int64_t operator()(const Tensor&) { return ++count; }
    int64_t count = 3;
  };
  Library m = definitions();
  m.def("op(Tensor x) -> int").impl("op", Key::CPU, functor<Counter>());
  for (const int64_t expected : {4, 5, 6}) EXPECT_EQ(callOp(find("test::op"), cpuTensor())[0].toInt(), expected);
}

TEST_F(FunctorKernel, GivesNothingAsVoidAndAsAnEmptyTuple) {
  static int calls = 0;
  struct Void final : OperatorKernel {
    void operator()(const Tensor&) { ++calls; }
  };
  struct Empty final : OperatorKernel {
    std::tuple<> operator()(const Tensor&) { return ++calls, std::tuple<>(); }
  };
  EXPECT_TRUE(call("(Tensor x) -> ()", functor<Void>(), cpuTensor()).empty());
  EXPECT_TRUE(call("(Tensor x) -> ()", functor<Empty>(), cpuTensor()).empty());
  EXPECT_EQ(calls, 2);
}

TEST_F(FunctorKernel, GivesNumbersAndLists) {
  struct Sum final : OperatorKernel {
    int64_t operator()(Tensor, int64_t a, int64_t b) { return a + b; }
  };
  struct Tensors final : OperatorKernel {
    List<Tensor> operator()(const Tensor& a, const Tensor& b, const Tensor& c) { return {a, b, c}; }
  };
  struct Ints final : OperatorKernel {
    List<int64_t> operator()(const Tensor&, int64_t a, int64_t b, int64_t c) { return {a, b, c}; }
  };
  const Tensor a = cpuTensor();
  const Tensor b = metaTensor();
  EXPECT_TRUE(call("(Tensor x, int a, int b) -> int", functor<Sum>(), a, 3, 6) == Stack{IValue(9)});
  const Stack tensors = call("(Tensor a, Tensor b, Tensor c) -> Tensor[]", functor<Tensors>(), a, b, a);
  EXPECT_TRUE(tensors == Stack{IValue(List<Tensor>{a, b, a})});
  EXPECT_TRUE(call("(Tensor x, int a, int b, int c) -> int[]", functor<Ints>(), a, 2, 4, 6) ==
              Stack{IValue(List<int64_t>{2, 4, 6})});
}

TEST_F(FunctorKernel, GivesSeveralResultsOfDifferentTypes) {
  using Results = std::tuple<Tensor, int64_t, List<Tensor>, std::optional<int64_t>, Dict<std::string, Tensor>>;
  struct Many final : OperatorKernel {
    Results operator()(const Tensor& x) {
      Dict<std::string, Tensor> dict;
      dict.insert_or_assign("x", x);
      return {x, 5, List<Tensor>{x, x}, 0, dict};
    }
  };
  const Tensor x = cpuTensor();
  const Stack results = call("(Tensor x) -> (Tensor, int, Tensor[], int?, Dict(str, Tensor))", functor<Many>(), x);
  ASSERT_EQ(results.size(), 5U);
  EXPECT_TRUE(results[0].toTensor().is_same(x));
  EXPECT_EQ(results[1].toInt(), 5);
  EXPECT_EQ(results[2].toTensorList().size(), 2U);
  EXPECT_EQ(results[3].toInt(), 0);
  EXPECT_TRUE((results[4].to<Dict<std::string, Tensor>>().at("x").is_same(x)));
}

TEST_F(FunctorKernel, TakesTensorsByReferenceAndByValueOnEachBackend) {
  static Tensor taken;
  struct ByReference final : OperatorKernel {
    Tensor operator()(const Tensor& x) { return x; }
  };
  struct ByValue final : OperatorKernel {
    Tensor operator()(Tensor x) { return x; }
  };
  struct KeepsReference final : OperatorKernel {
    void operator()(const Tensor& x) { taken = x; }
  };
  struct KeepsValue final : OperatorKernel {
    void operator()(Tensor x) { taken = std::move(x); }
  };
  const auto check = [](const char* schema, auto make) {
    Library m = definitions();
    m.def(schema).impl("op", Key::CPU, make()).impl("op", Key::CUDA, make());
    for (const Key key : {Key::CPU, Key::CUDA}) {
      const Tensor x = tensorWith({key});
      const Stack results = callOp(find("test::op"), x);
      const Tensor back = results.empty() ? std::exchange(taken, Tensor()) : results[0].toTensor();
      EXPECT_TRUE(back.is_same(x)) << schema;
      EXPECT_EQ(useCount(x), results.empty() ? 2U : 3U) << schema;
    }
  };
  check("op(Tensor x) -> Tensor", functor<ByReference>);
  check("op(Tensor x) -> Tensor", functor<ByValue>);
  check("op(Tensor x) -> ()", functor<KeepsReference>);
  check("op(Tensor x) -> ()", functor<KeepsValue>);
}

TEST_F(FunctorKernel, TakesNumbersAndListsWithAndWithoutAResult) {
  static int64_t taken = 0;
  struct KeepsInt final : OperatorKernel {
    void operator()(const Tensor&, int64_t n) { taken = n; }
  };
  struct KeepsInts final : OperatorKernel {
    void operator()(const Tensor&, const List<int64_t>& n) { taken = static_cast<int64_t>(n.size()); }
  };
  struct CountsInts final : OperatorKernel {
    int64_t operator()(const Tensor&, const List<int64_t>& n) { return static_cast<int64_t>(n.size()); }
  };
  struct KeepsTensors final : OperatorKernel {
    void operator()(const List<Tensor>& x) { taken = static_cast<int64_t>(x.size()); }
  };
  struct CountsTensors final : OperatorKernel {
    int64_t operator()(const List<Tensor>& x) { return static_cast<int64_t>(x.size()); }
  };
  const Tensor x = cpuTensor();
  const List<int64_t> three{2, 4, 6};
  const List<Tensor> two{x, x};
  const Stack nothing;
  EXPECT_TRUE(call("(Tensor x, int n) -> ()", functor<KeepsInt>(), x, 7) == nothing);
  EXPECT_EQ(taken, 7);
  EXPECT_TRUE(call("(Tensor x, int n) -> int", functor<Offset>(1), x, 3) == Stack{IValue(4)});
  EXPECT_TRUE(call("(Tensor x, int[] n) -> ()", functor<KeepsInts>(), x, three) == nothing);
  EXPECT_EQ(taken, 3);
  EXPECT_TRUE(call("(Tensor x, int[] n) -> int", functor<CountsInts>(), x, three) == Stack{IValue(3)});
  EXPECT_TRUE(call("(Tensor[] x) -> ()", functor<KeepsTensors>(), two) == nothing);
  EXPECT_EQ(taken, 2);
  EXPECT_TRUE(call("(Tensor[] x) -> int", functor<CountsTensors>(), two) == Stack{IValue(2)});
}

TEST_F(FunctorKernel, TakesAndGivesDictsAndTuples) {
  using Strings = Dict<std::string, std::string>;
  static size_t taken = 0;
  struct Keeps final : OperatorKernel {
    void operator()(Dict<std::string, Tensor> dict) { taken = dict.size(); }
  };
  struct Finds final : OperatorKernel {
    std::string operator()(Strings dict) { return dict.at("b"); }
  };
  struct Gives final : OperatorKernel {
    Strings operator()(const Strings& dict) { return dict; }
  };
  struct First final : OperatorKernel {
    std::string operator()(std::tuple<std::string, int64_t, double> tuple) { return std::get<0>(tuple); }
  };
  Dict<std::string, Tensor> tensors;
  tensors.insert_or_assign("a", cpuTensor());
  tensors.insert_or_assign("b", metaTensor());
  Strings strings;
  strings.insert_or_assign("a", "one");
  strings.insert_or_assign("b", "two");
  EXPECT_TRUE(call("(Dict(str, Tensor) d) -> ()", functor<Keeps>(), tensors).empty());
  EXPECT_EQ(taken, 2U);
  EXPECT_TRUE(call("(Dict(str, str) d) -> str", functor<Finds>(), strings) == Stack{IValue("two")});
  EXPECT_TRUE(call("(Dict(str, str) d) -> Dict(str, str)", functor<Gives>(), strings) == Stack{IValue(strings)});
  EXPECT_TRUE(call("((str, int, float) t) -> str", functor<First>(),
                   std::tuple<std::string, int64_t, double>("x", 1, 2)) == Stack{IValue("x")});
}

TEST_F(FunctorKernel, RunsWithoutAnyTensorAsACompositeOne) {
  static int calls = 0;
  struct Nothing final : OperatorKernel {
    void operator()() { ++calls; }
  };
  struct Next final : OperatorKernel {
    int64_t operator()(int64_t n) { return n + 1; }
  };
  EXPECT_TRUE(call("() -> ()", functor<Nothing>()).empty());
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(call("(int n) -> int", functor<Next>(), 3) == Stack{IValue(4)});
}

using Perhaps = std::tuple<std::optional<Tensor>, std::optional<int64_t>, std::optional<std::string>>;

TEST_F(FunctorKernel, TakesOptionalsAndGivesNoneOneOrSeveral) {
  static Perhaps taken;
  struct Keeps final : OperatorKernel {
    void operator()(Tensor, const std::optional<Tensor>& a, std::optional<int64_t> b, std::optional<std::string> c) {
      taken = {a, b, c};
    }
  };
  struct First final : OperatorKernel {
    std::optional<Tensor> operator()(Tensor, const std::optional<Tensor>& a, std::optional<int64_t> b,
                                     std::optional<std::string> c) {
      taken = {a, b, c};
      return a;
    }
  };
  struct All final : OperatorKernel {
    Perhaps operator()(Tensor, const std::optional<Tensor>& a, std::optional<int64_t> b, std::optional<std::string> c) {
      return taken = {a, b, c};
    }
  };
  const Tensor x = cpuTensor();
  const std::pair<Stack, CppFunction> kernels[] = {
      {Stack(), functor<Keeps>()},
      {Stack{IValue(x)}, functor<First>()},
      {Stack{IValue(x), IValue(), IValue("text")}, functor<All>()},
  };
  const char* const returns[] = {"()", "Tensor?", "(Tensor?, int?, str?)"};
  for (size_t i = 0; i < 3; ++i) {
    const std::string schema = std::string("(Tensor x, Tensor? a, int? b, str? c) -> ") + returns[i];
    EXPECT_TRUE(call(schema.c_str(), kernels[i].second, x, x, IValue(), "text") == kernels[i].first) << schema;
    EXPECT_TRUE(std::get<0>(taken)->is_same(x));
    EXPECT_FALSE(std::get<1>(taken).has_value());
    EXPECT_EQ(std::get<2>(taken), "text");
    const Stack others = call(schema.c_str(), kernels[i].second, x, IValue(), 4, IValue());
    EXPECT_EQ(others.size(), kernels[i].first.size());
    for (size_t k = 0; k < others.size(); ++k) EXPECT_TRUE(k == 1 ? others[k].toInt() == 4 : others[k].isNone());
    EXPECT_FALSE(std::get<0>(taken).has_value());
    EXPECT_EQ(std::get<1>(taken), 4);
    EXPECT_FALSE(std::get<2>(taken).has_value());
  }
}

TEST_F(FunctorKernel, IsCalledUnboxedWithStringsByValueAndByReference) {
  struct Concatenates final : OperatorKernel {
    explicit Concatenates(std::string given) : prefix(std::move(given)) {}
    std::string operator()(const Tensor&, std::string a, const std::string& b, int64_t c) {
      return prefix + a + b + std::to_string(c);
    }
    std::string prefix;
  };
  Library m = definitions();
  m.def("op(Tensor x, str a, str b, int c) -> str").impl("op", Key::CPU, functor<Concatenates>("prefix"));
  const auto op = find("test::op").typed<std::string(const Tensor&, std::string, const std::string&, int64_t)>();
  EXPECT_EQ(op.call(cpuTensor(), "1", "2", 3), "prefix123");
  EXPECT_EQ(callOp(op, cpuTensor(), "1", "2", 3)[0].toStringRef(), "prefix123");
}

TEST_F(FunctorKernel, SchemaIsInferredForAKeyAndForAll) {
  struct Typed final : OperatorKernel {
    std::tuple<int64_t, Tensor> operator()(Tensor, int64_t, const List<Tensor>&) { return {}; }
  };
  const FunctionSchema expected = parseSchema("test::op(Tensor a, int b, Tensor[] c) -> (int, Tensor)");
  for (const bool composite : {false, true}) {
    Library m = definitions();
    m.def("op", composite ? functor<Typed>() : dispatch(Key::CPU, functor<Typed>()));
    EXPECT_EQ(findSchemaDifferences(expected, find("test::op").schema()), std::nullopt);
    EXPECT_EQ(find("test::op").hasKernelForDispatchKey(Key::CPU), !composite);
  }
}

template <class R, class... Args>
struct Gives final : OperatorKernel {
  R operator()(Args...) { return R(); }
};

// Returns why [kernel] does not fit `test::op` with [schema]; "no error" if it does.
std::string mismatch(const char* schema, const CppFunction& kernel) {
  Library m = definitions();
  m.def("op" + std::string(schema));
  const std::string error = errorOf([&] { m.impl("op", Key::CPU, kernel); });
  const size_t place = error.find("test.cpp:1: ");
  return place == std::string::npos ? error : error.substr(place + 12, error.find('\n', place) - place - 12);
}

TEST_F(FunctorKernel, OfAnotherNumberOfArgumentsIsRefused) {
  const CppFunction one = functor<Gives<int64_t, Tensor>>();
  const CppFunction two = functor<Gives<void, Tensor, Tensor>>();
  EXPECT_EQ(mismatch("(Tensor a) -> int", one), "no error");
  EXPECT_EQ(mismatch("(Tensor a, Tensor b) -> int", one), "the schema has 2 arguments, the C++ function has 1");
  EXPECT_EQ(mismatch("(Tensor a, Tensor b) -> ()", two), "no error");
  EXPECT_EQ(mismatch("() -> ()", two), "the schema has 0 arguments, the C++ function has 2");
  EXPECT_EQ(mismatch("(Tensor a) -> ()", two), "the schema has 1 argument, the C++ function has 2");
  EXPECT_EQ(mismatch("(Tensor a, Tensor b, Tensor c) -> ()", two),
            "the schema has 3 arguments, the C++ function has 2");
}

TEST_F(FunctorKernel, OfOtherArgumentTypesIsRefused) {
  const CppFunction kernel = functor<Gives<int64_t, Tensor, int64_t>>();
  EXPECT_EQ(mismatch("(Tensor a, int b) -> int", kernel), "no error");
  EXPECT_EQ(mismatch("(Tensor a, float b) -> int", kernel),
            "argument 'b' (position 2 of 2) is of type float in the schema, but of type int in the C++ function");
  EXPECT_EQ(mismatch("(int a, int b) -> int", kernel),
            "argument 'a' (position 1 of 2) is of type int in the schema, but of type Tensor in the C++ function");
}

TEST_F(FunctorKernel, OfAnotherNumberOfResultsIsRefused) {
  const std::pair<size_t, CppFunction> kernels[] = {{0, functor<Gives<void, Tensor>>()},
                                                    {1, functor<Gives<Tensor, Tensor>>()},
                                                    {2, functor<Gives<std::tuple<Tensor, Tensor>, Tensor>>()}};
  const char* const schemas[] = {"(Tensor a) -> ()", "(Tensor a) -> Tensor", "(Tensor a) -> (Tensor, Tensor)",
                                 "(Tensor a) -> (Tensor, Tensor, Tensor)"};
  for (const auto& [given, kernel] : kernels) {
    for (size_t wanted = 0; wanted < 4; ++wanted) {
      EXPECT_EQ(mismatch(schemas[wanted], kernel),
                wanted == given ? "no error"
                                : fmt::format("the schema has {} result{}, the C++ function has {}", wanted,
                                              wanted == 1 ? "" : "s", given));
    }
  }
}

TEST_F(FunctorKernel, OfOtherResultTypesIsRefused) {
  const auto refusal = [](int position, int count, const char* wanted, const char* given) {
    return fmt::format("result (position {} of {}) is of type {} in the schema, but of type {} in the C++ function",
                       position, count, wanted, given);
  };
  const CppFunction one_int = functor<Gives<int64_t, Tensor>>();
  EXPECT_EQ(mismatch("(Tensor a) -> int", one_int), "no error");
  EXPECT_EQ(mismatch("(Tensor a) -> Tensor", one_int), refusal(1, 1, "Tensor", "int"));
  EXPECT_EQ(mismatch("(Tensor a) -> float", one_int), refusal(1, 1, "float", "int"));
  const CppFunction pair = functor<Gives<std::tuple<Tensor, int64_t>, Tensor>>();
  EXPECT_EQ(mismatch("(Tensor a) -> (Tensor, int)", pair), "no error");
  EXPECT_EQ(mismatch("(Tensor a) -> (Tensor, float)", pair), refusal(2, 2, "float", "int"));
  EXPECT_EQ(mismatch("(Tensor a) -> (int, int)", pair), refusal(1, 2, "int", "Tensor"));
}

int64_t addOne(const Tensor&, int64_t n) { return n + 1; }

// The tests for functors cover all forms of kernels, because they share one adapter.
TEST_F(FunctorKernel, FunctionsAndLambdasAreAdaptedInTheSameWay) {
  const CppFunction forms[] = {
      CppFunction(BOXCAR_FN(addOne)),
      CppFunction(&addOne),
      CppFunction::makeFromUnboxedFunction(addOne),
      CppFunction([](const Tensor&, int64_t n) { return n + 1; }),
      CppFunction([by = int64_t{1}](DispatchKeySet, const Tensor&, int64_t n) { return n + by; }),
      functor<Offset>(1),
      CppFunction(Offset(1)),
  };
  for (const CppFunction& form : forms) {
    EXPECT_TRUE(call("(Tensor x, int n) -> int", form, cpuTensor(), 3) == Stack{IValue(4)});
    Library m = definitions();
    m.def("inferred", form);
    EXPECT_EQ(toString(find("test::inferred").schema()), "test::inferred(Tensor _0, int _1) -> int");
    EXPECT_EQ((find("test::inferred").typed<int64_t(const Tensor&, int64_t)>().call(cpuTensor(), 3)), 4);
    EXPECT_EQ(mismatch("(Tensor x) -> int", form), "the schema has 1 argument, the C++ function has 2");
  }
}

}  // namespace
}  // namespace boxcar
