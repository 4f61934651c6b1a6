#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/interpreter/runtime/format_value.h>
#include <boxcar/interpreter/runtime/interrupt.h>
#include <boxcar/interpreter/runtime/script_error.h>
#include <boxcar/interpreter/session/session.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tests/temporary_folder.h"
#include "tests/test_support.h"

namespace boxcar {
namespace {

// Returns the value of an input as `print` shows it, "" if it has none, or the error.
std::string answer(Session& session, const std::string& text) {
  try {
    const Session::Result result = session.evaluate(text);
    return result.value ? interp::formatValue(*result.value, "") : "";
  } catch (const Error& error) {
    return error.what();
  }
}

std::string typeIn(const Session& session, const std::string& name) {
  for (const Session::Variable& variable : session.variables()) {
    if (variable.name == name) return std::string(variable.type->text());
  }
  return "unknown";
}

TEST(Session, GivesTheValueOfTheLastExpressionOnly) {
  Session session;
  EXPECT_EQ(answer(session, "1 + 2"), "3");
  EXPECT_EQ(answer(session, "1; 2.5"), "2.5");
  EXPECT_EQ(answer(session, "x = 3"), "");
  EXPECT_FALSE(session.evaluate("for i in range(3) { i }").value.has_value());
  EXPECT_TRUE(session.evaluate("None if x == 3 else 1").value->isNone());
  EXPECT_TRUE(session.evaluate("float32").is_name);
  EXPECT_FALSE(session.evaluate("'float32'").is_name);
}

TEST(Session, VariablesKeepValuesTypesAndIdentityAcrossInputs) {
  Session session;
  answer(session, "x = 1; y = 2.5; xs = [1, 2]; t = ones(2); d = float64; r = t.topk(1)");
  EXPECT_EQ(answer(session, "x + y"), "3.5");
  answer(session, "xs.append(3)");
  EXPECT_EQ(answer(session, "xs"), "[1, 2, 3]");
  EXPECT_EQ(typeIn(session, "xs"), "int[]");
  EXPECT_EQ(answer(session, "r.values"), "tensor([1.])");
  EXPECT_EQ(answer(session, "ones(1, dtype=d).dtype"), "torch.float64");
}

TEST(Session, AVariableMayChangeItsTypeFromInputToInput) {
  Session session;
  answer(session, "x = 1");
  EXPECT_EQ(typeIn(session, "x"), "int");
  answer(session, "x = 'text'");
  EXPECT_EQ(typeIn(session, "x"), "str");
  EXPECT_EQ(answer(session, "x.upper()"), "TEXT");
  answer(session, "i = 0\nwhile i < 5 { i += 1 }\nfor k in [7.5] { }");
  EXPECT_EQ(answer(session, "i + k"), "12.5");
}

TEST(Session, WhatMayBeUnsetIsSetOnlyWhereItWas) {
  Session session;
  answer(session, "c = True");
  answer(session, "if c { a = 1 } else { b = 2 }");
  EXPECT_EQ(answer(session, "a"), "1");
  EXPECT_NE(answer(session, "b").find("there is no variable or constant called `b`"), std::string::npos);
}

TEST(Session, VariablesOfComprehensionsEndWithThem) {
  Session session;
  answer(session, "e = 'mine'");
  EXPECT_EQ(answer(session, "[e * k for e in [1, 2] for k in [3]]"), "[3, 6]");
  EXPECT_EQ(answer(session, "e"), "mine");
  EXPECT_NE(answer(session, "k").find("there is no variable or constant called `k`"), std::string::npos);
  answer(session, "d = [1 // e for e in [1, 0]]");
  EXPECT_EQ(answer(session, "e"), "mine");
}

TEST(Session, AnInputThatDoesNotCompileLeavesNothing) {
  Session session;
  answer(session, "x = 1");
  const std::string error = answer(session, "x = 2\nfn f() -> int { return 1 }\ny = reluu(x)");
  EXPECT_NE(error.find("<input 2>:3:5: error: there is no function or operator called `reluu`"), std::string::npos)
      << error;
  EXPECT_EQ(answer(session, "x"), "1");
  EXPECT_TRUE(session.functions().empty());
}

TEST(Session, WhatWasAssignedAndDeclaredBeforeAnErrorStays) {
  Session session;
  const std::string error =
      answer(session, "const c = [1]\nfn f() -> int { return c[0] }\na = 1\nd = float32\nb = a // 0\ne = 1");
  EXPECT_NE(error.find("division"), std::string::npos);
  EXPECT_NE(error.find("<input 1>:5:5"), std::string::npos) << error;
  EXPECT_EQ(answer(session, "f() + a"), "2");
  EXPECT_EQ(answer(session, "d"), "torch.float32");
  EXPECT_NE(answer(session, "b").find("no variable"), std::string::npos);
  answer(session, "s = 0\nfor k in [1, 2, 0] { s = s + k; q = 1 // k }");
  EXPECT_EQ(answer(session, "s, k, q"), "(3, 0, 0)");
}

TEST(Session, FunctionsConstantsModesAndUsesAreKnownLater) {
  Session session;
  answer(session, "fn twice(int n) -> int { return 2 * n }");
  answer(session, "const seen = {}");
  answer(session, "op sess::known(int x) -> int { return twice(x) + 1 }\nuse sess");
  answer(session, "mode count { seen[op.name] = 1; return redispatch(op, args) }");
  EXPECT_EQ(answer(session, "known(4)"), "9");
  answer(session, "with count { relu(ones(2)) }");
  EXPECT_EQ(answer(session, "'aten::relu' in seen"), "True");
  session.reset();
  EXPECT_NE(answer(session, "twice(1)"), "2");
  EXPECT_FALSE(Dispatcher::singleton().findSchema({"sess::known", ""}).has_value());
}

TEST(Session, FunctionsAreToldThatTheyDoNotSeeItsVariables) {
  Session session;
  answer(session, "total = 3");
  EXPECT_NE(answer(session, "fn f() -> int { return total }").find("`total` is a variable of the session"),
            std::string::npos);
}

TEST(Session, AFunctionDeclaredAnewReplacesTheFormerForWhatComesAfter) {
  Session session;
  answer(session, "fn f() -> int { return 1 }");
  answer(session, "fn g() -> int { return f() }");
  answer(session, "fn f() -> str { return 'new' }");
  EXPECT_EQ(answer(session, "f()"), "new");
  EXPECT_EQ(answer(session, "g()"), "1");
  answer(session, "const f = 5");
  EXPECT_EQ(answer(session, "f"), "5");
  EXPECT_NE(answer(session, "f = 6").find("`const f = ...` makes another"), std::string::npos);
  answer(session, "const f = 6");
  EXPECT_EQ(answer(session, "f"), "6");
}

TEST(Session, AnOperatorDeclaredAnewChangesForAllCallersAndKeepsItsSchemaWhileItHasThem) {
  Session session;
  answer(session, "op sess::again(int x) -> int { return x }");
  answer(session, "fn call() -> int { return sess::again(1) }");
  EXPECT_EQ(answer(session, "op sess::again(int x) -> int { return x + 10 }"), "");
  EXPECT_EQ(answer(session, "call()"), "11");
  const std::string fault = answer(session, "op sess::again(str x) -> str { return x }");
  EXPECT_NE(fault.find("keeps its schema, sess::again(int x) -> int, as fn call of <input 2> was compiled for it"),
            std::string::npos)
      << fault;
  EXPECT_EQ(answer(session, "sess::again(2)"), "12");
  answer(session, "fn call() -> int { return 0 }");
  EXPECT_EQ(answer(session, "op sess::again(str x) -> str { return x + '!' }"), "");
  EXPECT_EQ(answer(session, "sess::again('a')"), "a!");
}

TEST(Session, AnOperatorKeepsItsSchemaAlsoForFilesThatImportedFilesImport) {
  TemporaryFolder folder;
  folder.write("inner.ops", "fn inner() -> int { return sess::deep(1) }");
  folder.write("outer.ops", "import \"inner.ops\"\nfn outer() -> int { return inner() }");
  Session session;
  answer(session, "op sess::deep(int x) -> int { return x }");
  answer(session, "import \"" + (folder / "outer.ops") + "\"");
  EXPECT_EQ(answer(session, "outer()"), "1");
  EXPECT_NE(answer(session, "op sess::deep(int x, int y) -> int { return y }").find("as fn inner of "),
            std::string::npos);
  EXPECT_EQ(answer(session, "outer()"), "1");
}

TEST(Session, OperatorsOfOthersCannotBeDefinedAnew) {
  Session session;
  EXPECT_NE(answer(session, "op aten::relu(Tensor self) -> Tensor { return self }").find("defined twice"),
            std::string::npos);
}

TEST(Session, ImplsAndFallbacksReplaceThoseOfEarlierInputs) {
  Session session;
  answer(session, "op sess::kernel(Tensor x) -> int");
  answer(session, "impl sess::kernel @ CPU { return 1 }");
  EXPECT_EQ(answer(session, "sess::kernel(ones(1))"), "1");
  answer(session, "impl sess::kernel @ CPU { return 2 }");
  EXPECT_EQ(answer(session, "sess::kernel(ones(1))"), "2");
  EXPECT_EQ(answer(session, "fallback @ TESTING_ONLY_GenericMode { return redispatch(op, args) }"),
            answer(session, "fallback @ TESTING_ONLY_GenericMode { return redispatch(op, args) }"));
  session.reset();
  EXPECT_EQ(answer(session, "relu(ones(1))"), "tensor([1.])");
}

TEST(Session, AnInterruptEndsTheInputAndKeepsTheSession) {
  Session session;
  session.evaluate("i = 1");
  std::atomic<bool> is_done = false;
  std::thread presser([&is_done] {
    while (!is_done) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      interruptScripts();
    }
  });
  try {
    session.evaluate("while True { i = i + 1 }");
    ADD_FAILURE() << "it ended";
  } catch (const ScriptError& error) {
    EXPECT_EQ(error.cause(), ScriptErrorCause::Interrupt);
  }
  is_done = true;
  presser.join();
  EXPECT_EQ(answer(session, "i >= 1"), "True");
}

TEST(Session, LimitsHoldForEachInput) {
  Session session;
  session.setLimits({.max_instructions = 1000});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(answer(session, "for i in range(50) { }\n1"), "1");
  EXPECT_NE(answer(session, "while True { }").find("instructions"), std::string::npos);
}

TEST(Session, LimitsHoldForOperatorsThatCppCalls) {
  Session session;
  answer(session, "op sess::spin_before(int n) -> int { for i in range(n) { }; return n }");
  session.setLimits({.max_instructions = 1000});
  answer(session, "op sess::spin_after(int n) -> int { for i in range(n) { }; return n }");
  for (const char* name : {"sess::spin_before", "sess::spin_after"}) {
    const auto spin = Dispatcher::singleton().findSchemaOrThrow(name, "");
    Stack stack{IValue(int64_t{50})};
    spin.callBoxed(stack);
    EXPECT_EQ(stack.back().toInt(), 50) << name;
    stack = {IValue(int64_t{100'000})};
    EXPECT_NE(errorOf([&] { spin.callBoxed(stack); }).find("instructions"), std::string::npos) << name;
  }
}

TEST(Session, AModeSwitchedOnHoldsForTheInputsThatFollow) {
  Session session;
  answer(session, "const seen = [0]");
  answer(session, "mode count { seen[0] += 1; return redispatch(op, args) } exit { seen[0] += 100 }");
  session.switchOnMode("count");
  EXPECT_EQ(session.switchedOn(), std::vector<std::string>{"count"});
  answer(session, "x = ones(2); y = x.relu()");
  EXPECT_EQ(answer(session, "seen[0] >= 1 and seen[0] < 100"), "True");
  EXPECT_EQ(session.switchOff(), "");
  EXPECT_EQ(answer(session, "seen[0] > 100"), "True");
  EXPECT_THROW(session.switchOff(), Error);
  EXPECT_THROW(session.switchOnMode("cuont"), Error);
}

TEST(Session, AnExpressionIsTimedAndLeavesNothing) {
  Session session;
  answer(session, "x = 2");
  EXPECT_GE(session.time("x * x", std::chrono::milliseconds(1)).size(), 1U);
  EXPECT_THROW(session.time("y = 1", std::chrono::milliseconds(1)), Error);
  EXPECT_EQ(typeIn(session, "y"), "unknown");
}

TEST(Session, AnInputIsUnfinishedWhileABracketIsOpenAndNothingIsWrong) {
  EXPECT_TRUE(Session::isUnfinished("x = [1,\n"));
  EXPECT_TRUE(Session::isUnfinished("fn f(int x) -> int {\n  return x\n"));
  EXPECT_TRUE(Session::isUnfinished("if x {\n\n"));
  EXPECT_FALSE(Session::isUnfinished("x = [1]\n"));
  EXPECT_FALSE(Session::isUnfinished("x = )(\n"));
  EXPECT_FALSE(Session::isUnfinished("x = 1 1 (\n"));
  EXPECT_FALSE(Session::isUnfinished("print(\"abc\n"));
  EXPECT_FALSE(Session::isUnfinished("x = 1 +\n"));
}

TEST(Session, WhatATensorOfAnyDtypeShowsIsReadAsTheSame) {
  Session session;
  std::vector<std::string> values = {"tensor(1)",   "tensor([0, 1])", "tensor([[1, 0, 1], [0, 1, 1]])", "zeros(0)",
                                     "zeros(0, 3)", "zeros(2, 0, 1)", "arange(60).view(3, 20) % 2"};
  const std::vector<std::string> floats = {"tensor([nan, inf, -inf, 0.5])",
                                           "tensor(nan)",
                                           "tensor([1e-5, 1.0, 1e4])",
                                           "tensor(-2.25)",
                                           "tensor(-inf)",
                                           "arange(30) / 4 - 3"};
  const std::vector<std::string> complexes = {"tensor(1 + 2j)", "tensor([0.5 - 1j, nanj, -infj, inf - infj, nan + 2j])",
                                              "tensor([1e-6 + 1e6j, 1.0 + 0j])"};
  const auto all_dtypes = []<class... Ts>(ElementTypes<Ts...>) {
    return std::vector<ScalarType>{scalarTypeOf<Ts>...};
  }(kAllTypes);
  for (const ScalarType dtype : all_dtypes) {
    std::vector<std::string> all = values;
    if (isFloatingType(dtype) || isComplexType(dtype)) all.insert(all.end(), floats.begin(), floats.end());
    if (isComplexType(dtype)) all.insert(all.end(), complexes.begin(), complexes.end());
    for (const std::string& value : all) {
      const std::string shown = answer(session, fmt::format("x = ({}).to({}); x", value, dtypeName(dtype)));
      ASSERT_TRUE(shown.starts_with("tensor(")) << shown;
      EXPECT_EQ(answer(session, fmt::format("y = {}; y", shown)), shown);
      EXPECT_EQ(answer(session, "y.dtype == x.dtype and y.shape == x.shape"), "True") << shown;
    }
    EXPECT_EQ(answer(session, answer(session, fmt::format("ones(1, dtype={}).dtype", dtypeName(dtype)))),
              fmt::format("torch.{}", dtypeName(dtype)));
  }
}

TEST(Session, ATensorThatIsShownInPartIsNotRead) {
  Session session;
  for (const char* value : {"arange(1001)", "zeros(2, 3, device='meta')"}) {
    EXPECT_NE(answer(session, answer(session, value)).find("of a printed tensor, which cannot be read back"),
              std::string::npos);
  }
  EXPECT_NE(answer(session, "tensor([1, 2], size=(0, 3))").find("the data has size (2), not (0, 3)"),
            std::string::npos);
  EXPECT_NE(answer(session, "tensor([], size=(2, 3))").find("the data has size (0), not (2, 3)"), std::string::npos);
}

TEST(Session, ArgvIsWhatItWasMadeWith) {
  Session session({"a", "b"});
  EXPECT_EQ(answer(session, "argv"), "['a', 'b']");
}

TEST(Session, AStructThatIsDeclaredAgainIsAnotherType) {
  Session session;
  answer(session, "struct P { int x; fn twice(self) -> int { return 2 * self.x } }");
  EXPECT_EQ(answer(session, "p = P(3); p"), "P(x=3)");
  EXPECT_EQ(answer(session, "p.x += 1; p.twice()"), "8");
  EXPECT_EQ(answer(session, "isinstance(p, P)"), "True");
  answer(session, "struct P { str x }");
  EXPECT_EQ(answer(session, "p.x"), "4");
  EXPECT_EQ(answer(session, "isinstance(p, P), isinstance(P('a'), P), P('a')"), "(False, True, P(x='a'))");
  EXPECT_NE(answer(session, "q: P = p").find("must be P, not P"), std::string::npos);
  // Its methods go with the input that declared it.
  EXPECT_EQ(answer(session, "fn any(Any x) -> Any { return x.twice() }\nany(p)").substr(0, 53),
            "P is a struct of <input 1>, which is no longer loaded");
  EXPECT_EQ(typeIn(session, "p"), "P");
}

TEST(Session, KnowsTheStructsOfAnImport) {
  const TemporaryFolder folder;
  folder.write("f.ops", "struct P { int x = 5; fn twice(self) -> int { return 2 * self.x } }\n");
  Session session;
  answer(session, "import \"" + (folder / "f.ops") + "\"");
  EXPECT_EQ(answer(session, "P().twice()"), "10");
  answer(session, "import \"" + (folder / "f.ops") + "\" as m");
  EXPECT_EQ(answer(session, "q: m.P = m.P(2); q.twice()"), "4");
  EXPECT_EQ(answer(session, "fn of(m.P p) -> int { return p.x }\nof(q)"), "2");
}

}  // namespace
}  // namespace boxcar
