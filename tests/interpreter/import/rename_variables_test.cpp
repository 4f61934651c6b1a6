#include <boxcar/interpreter/import/torchscript/rename_variables.h>
#include <boxcar/interpreter/import/torchscript/translation.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../script_helpers.h"

namespace boxcar::interp::torchscript {
namespace {

// A function `f` of an archive's code, as the importer reads and writes it.
class ImportedFunction {
 public:
  explicit ImportedFunction(std::string source)
      : source_(std::move(source)),
        unit_([this](const std::string&) { return std::optional<std::string_view>(source_); }, "t.pt"),
        translation_(unit_) {
    const FunctionInfo* const info = unit_.findFunction("__torch__.f");
    BOXCAR_CHECK(info != nullptr, "the source has no function f");
    definition_ = info->definition;
    translated_ = translateFunction(translation_, {nullptr, info, info->definition, info->file});
  }

  // Its lines in the script, each followed by a newline.
  std::string lines() const {
    std::string text;
    for (const std::string& each : translated_->lines) text += each + "\n";
    return text;
  }
  // What a call of the script's function prints: "f(1, 2)".
  std::string printed(const std::string& call) const {
    return outputOf(fmt::format("fn f{} {{\n{}}}\nprint({})\n", translated_->signature, lines(), call));
  }
  std::map<std::string, std::string> renamed() const {
    const auto names = renamedVariables(*definition_);
    return {names.begin(), names.end()};
  }

 private:
  const std::string source_;
  CompilationUnit unit_;
  Translation translation_;
  const Function* definition_ = nullptr;
  std::optional<TranslatedFunction> translated_;
};

using Names = std::map<std::string, std::string>;

// ---- Which variables share a name ----

TEST(TorchScriptVariables, ValuesOfOneVariableShareItsName) {
  const ImportedFunction f(R"(
def f(x: int) -> int:
  x0 = torch.add(x, 1)
  x1 = torch.mul(x0, 2)
  x2 = torch.sub(x1, x1)
  return torch.add(x2, x2)
)");
  EXPECT_EQ(f.renamed(), (Names{{"x", "x"}, {"x0", "x"}, {"x1", "x"}, {"x2", "x"}}));
  EXPECT_EQ(f.lines(), "x = x + 1\nx = x * 2\nx = x - x\nreturn x + x\n");
  EXPECT_EQ(f.printed("f(3)"), "0\n");
}

TEST(TorchScriptVariables, AParameterThatIsReadLaterKeepsItsValue) {
  const ImportedFunction f(R"(
def f(x: int) -> int:
  x0 = torch.add(x, 1)
  x1 = torch.mul(x0, x0)
  x2 = torch.mul(x1, x)
  return torch.add(x2, x2)
)");
  EXPECT_EQ(f.lines(), "x0 = x + 1\nx0 = x0 * x0\nx = x0 * x\nreturn x + x\n");
  EXPECT_EQ(f.printed("f(3)"), "96\n");
}

TEST(TorchScriptVariables, TakeTheNameWithoutANumberWhereNobodyHasIt) {
  const ImportedFunction f(R"(
def f(n: int) -> int:
  y3 = torch.add(n, n)
  y5 = torch.mul(y3, y3)
  return torch.add(y5, n)
)");
  EXPECT_EQ(f.lines(), "y = n + n\ny = y * y\nreturn y + n\n");
}

TEST(TorchScriptVariables, ParametersNeverShareAName) {
  const ImportedFunction f(R"(
def f(x: int, x0: int) -> int:
  x1 = torch.add(x, 1)
  return torch.add(x1, x1)
)");
  const Names names = f.renamed();
  EXPECT_FALSE(names.contains("x") && names.contains("x0") && names.at("x") == names.at("x0"));
  EXPECT_EQ(f.printed("f(1, 5)"), "4\n");
}

TEST(TorchScriptVariables, ASwapStaysASwap) {
  const ImportedFunction f(R"(
def f(a: int, b: int, n: int) -> int:
  a0, b0 = a, b
  for i in range(n):
    a0, b0 = b0, a0
  return torch.sub(a0, b0)
)");
  EXPECT_EQ(f.lines(), "for i in range(n) {\na, b = b, a\n}\nreturn a - b\n");
  EXPECT_EQ(f.printed("f(5, 3, 1)"), "-2\n");
  EXPECT_EQ(f.printed("f(5, 3, 2)"), "2\n");
}

TEST(TorchScriptVariables, ARotationThroughACopyKeepsTheOldValue) {
  const ImportedFunction f(R"(
def f(a: int, b: int, n: int) -> int:
  a0, b0 = a, b
  for i in range(n):
    a1 = b0
    b1 = torch.add(a0, b0)
    a0, b0 = a1, b1
  return torch.add(torch.mul(a0, 100), b0)
)");
  EXPECT_EQ(f.printed("f(0, 1, 6)"), "813\n") << f.lines();
}

TEST(TorchScriptVariables, AValueThatALoopNeedsInEveryTurnIsNotOverwritten) {
  const ImportedFunction f(R"(
def f(x: int, n: int) -> int:
  total = 0
  for i in range(n):
    x0 = torch.mul(x, i)
    total0 = torch.add(total, torch.mul(x0, x0))
    total = total0
  return total
)");
  EXPECT_EQ(f.renamed(), (Names{{"total", "total"}, {"total0", "total"}}));
  EXPECT_EQ(f.lines(), "total = 0\nfor i in range(n) {\nx0 = x * i\ntotal = total + x0 * x0\n}\nreturn total\n");
  EXPECT_EQ(f.printed("f(2, 4)"), "56\n");
}

TEST(TorchScriptVariables, AValueThatTheNextTurnReadsIsNotOverwritten) {
  // x is read before it is assigned in each turn of the inner loop; x0 is defined in the outer one.
  const ImportedFunction f(R"(
def f(n: int) -> int:
  x = 1
  y = 0
  for i in range(n):
    x0 = torch.add(y, 10)
    for j in range(2):
      x1 = torch.add(x, 1)
      x = x1
      y = torch.add(y, torch.mul(x, x0))
  return torch.add(torch.mul(x, 10000), y)
)");
  EXPECT_EQ(f.printed("f(2)"), "50590\n") << f.lines();
}

TEST(TorchScriptVariables, WhileReadsItsConditionAfterTheBody) {
  const ImportedFunction f(R"(
def f(x: int, y: int) -> int:
  _0 = torch.gt(x, 3)
  x0 = x
  _1 = _0
  while _1:
    x1 = torch.sub(x0, 2)
    _2 = torch.gt(x1, y)
    _1, x0 = _2, x1
  return x0
)");
  EXPECT_EQ(f.printed("f(9, 3)"), "3\n") << f.lines();
  EXPECT_EQ(f.printed("f(1, 3)"), "1\n");
}

TEST(TorchScriptVariables, VariablesWithADeclaredTypeAreTheirOwn) {
  const ImportedFunction f(R"(
def f(n: int) -> List[int]:
  xs = annotate(List[float], [])
  _0 = torch.append(xs, 1.5)
  xs0 = annotate(List[int], [])
  _1 = torch.append(xs0, torch.len(xs))
  if torch.gt(n, 0):
    _2 = torch.append(xs0, n)
  else:
    pass
  return xs0
)");
  EXPECT_TRUE(f.renamed().empty());
  EXPECT_EQ(f.printed("f(7)"), "[1, 7]\n") << f.lines();
}

// ---- Branches ----

TEST(TorchScriptVariables, CopiesInBranchesVanishSoThatAChainIsElif) {
  const ImportedFunction f(R"(
def f(n: int) -> int:
  if torch.eq(n, 0):
    y0 = 10
  else:
    if torch.eq(n, 1):
      y1 = 20
    else:
      if torch.eq(n, 2):
        y2 = 30
      else:
        y2 = n
      y1 = y2
    y0 = y1
  return torch.add(y0, y0)
)");
  EXPECT_EQ(f.lines(),
            "if n == 0 {\nn = 10\n} elif n == 1 {\nn = 20\n} elif n == 2 {\nn = 30\n}\n"
            "return n + n\n");
  EXPECT_EQ(f.printed("(f(0), f(1), f(2), f(7))"), "(20, 40, 60, 14)\n");
}

TEST(TorchScriptVariables, AnElseWithMoreThanAnIfIsNoElif) {
  const ImportedFunction f(R"(
def f(n: int, m: int) -> int:
  if torch.eq(n, 0):
    y0 = 10
  else:
    if torch.eq(n, 1):
      y1 = 20
    else:
      y1 = 5
    if torch.eq(m, 1):
      y2 = torch.mul(y1, 2)
    else:
      y2 = y1
    y0 = y2
  return torch.add(y0, m)
)");
  EXPECT_EQ(f.printed("(f(0, 1), f(1, 1), f(2, 1), f(2, 2))"), "(11, 41, 11, 7)\n") << f.lines();
}

TEST(TorchScriptVariables, BoolsOfBranchesAreAndOr) {
  const auto result = [](std::string_view chosen, std::string_view other) {
    return ImportedFunction(fmt::format(R"(
def f(a: int, b: int) -> bool:
  if torch.gt(a, 0):
    _0 = {}
  else:
    _0 = {}
  return _0
)",
                                        chosen, other));
  };
  const std::string e = "torch.gt(b, 0)";
  EXPECT_EQ(result("True", e).lines(), "return a > 0 or b > 0\n");
  EXPECT_EQ(result(e, "False").lines(), "return a > 0 and b > 0\n");
  EXPECT_EQ(result("False", e).lines(), "return not a > 0 and b > 0\n");
  EXPECT_EQ(result(e, "True").lines(), "return not a > 0 or b > 0\n");
  EXPECT_EQ(result("True", "False").lines(), "return a > 0\n");
  EXPECT_EQ(result("False", "True").lines(), "return not a > 0\n");
  for (const auto& [chosen, other] : {std::pair<std::string, std::string>{"True", e},
                                      {e, "False"},
                                      {"False", e},
                                      {e, "True"},
                                      {"True", "False"},
                                      {"False", "True"}}) {
    for (const int a : {0, 1}) {
      for (const int b : {0, 1}) {
        const auto value = [&](const std::string& text) { return text == e ? b > 0 : text == "True"; };
        EXPECT_EQ(result(chosen, other).printed(fmt::format("f({}, {})", a, b)),
                  value(a > 0 ? chosen : other) ? "True\n" : "False\n");
      }
    }
  }
}

TEST(TorchScriptVariables, WhatAnAndKnowsOfNoneNeedsNoCheck) {
  const ImportedFunction f(R"(
def f(x: Optional[int], n: int) -> int:
  if torch.__isnot__(x, None):
    x1 = unchecked_cast(int, x)
    _0, x0 = torch.gt(x1, 3), x1
  else:
    _0, x0 = False, x
  if _0:
    x2 = unchecked_cast(int, x0)
    y = torch.add(x2, n)
  else:
    y = n
  return y
)");
  EXPECT_EQ(f.lines(), "if x is not None and x > 3 {\nn = x + n\n}\nreturn n\n");
  EXPECT_EQ(f.printed("(f(None, 1), f(2, 1), f(5, 1))"), "(1, 1, 6)\n");
}

TEST(TorchScriptVariables, ACheckThatIsNeededStays) {
  const ImportedFunction f(R"(
def f(x: Optional[int], n: int) -> int:
  if torch.gt(n, 0):
    x0 = unchecked_cast(int, x)
    y = torch.add(x0, n)
  else:
    y = n
  return y
)");
  EXPECT_EQ(f.lines(), "if n > 0 {\nassert x is not None\nn = x + n\n}\nreturn n\n");
}

TEST(TorchScriptVariables, OnlyTheBranchThatRunsIsWritten) {
  const ImportedFunction f(R"(
def f(n: int) -> int:
  if False:
    _0, y = True, torch.mul(n, 100)
  else:
    _0, y = False, n
  if _0:
    z = 1
  else:
    z = torch.add(y, 2)
  return torch.mul(z, z)
)");
  EXPECT_EQ(f.lines(), "z = n + 2\nreturn z * z\n");
  EXPECT_EQ(f.printed("f(1)"), "9\n");
}

TEST(TorchScriptVariables, BranchesReturnWhatTheyWouldAssign) {
  const ImportedFunction f(R"(
def f(n: int) -> int:
  if torch.gt(n, 0):
    if torch.gt(n, 5):
      _1 = torch.mul(n, 2)
    else:
      _1 = torch.mul(n, 3)
    _0 = _1
  else:
    _0 = 7
  return _0
)");
  EXPECT_EQ(f.lines(), "if n > 0 {\nif n > 5 {\nreturn n * 2\n}\nreturn n * 3\n}\nreturn 7\n");
  EXPECT_EQ(f.printed("(f(6), f(2), f(0))"), "(12, 6, 7)\n");
}

TEST(TorchScriptVariables, BranchesThatLeaveAValueDoNotReturn) {
  const ImportedFunction f(R"(
def f(n: int) -> int:
  if torch.gt(n, 0):
    n0 = torch.mul(n, 2)
  else:
    n0 = n
  return n0
)");
  EXPECT_EQ(f.lines(), "if n > 0 {\nn = n * 2\n}\nreturn n\n");
}

TEST(TorchScriptVariables, AConditionIsStillAskedWhereItsBranchesAreEmpty) {
  const auto lines = [](std::string_view condition) {
    return ImportedFunction(fmt::format(R"(
def f(xs: List[int], n: int) -> int:
  if torch.gt({}, 3):
    y = n
  else:
    y = n
  return torch.add(y, torch.len(xs))
)",
                                        condition));
  };
  EXPECT_EQ(lines("torch.pop(xs)").lines(), "xs.pop() > 3\nreturn n + len(xs)\n");
  EXPECT_EQ(lines("torch.pop(xs)").printed("f([1, 2], 10)"), "11\n");
  EXPECT_EQ(lines("torch.len(xs)").lines(), "return n + len(xs)\n");
}

// ---- Values that nobody reads ----

TEST(TorchScriptVariables, AVariableKeepsItsValueWhereItGetsOneThatNobodyReads) {
  const ImportedFunction f(R"(
def f(x: int, n: int) -> int:
  _0 = uninitialized(int)
  if torch.gt(n, 2):
    _1, x0 = True, _0
  else:
    _1, x0 = False, torch.add(x, n)
  if _1:
    y = n
  else:
    y = torch.mul(x0, 2)
  return y
)");
  EXPECT_EQ(f.lines(),
            "if n > 2 {\n_1 = True\n} else {\n_1, x = False, x + n\n}\n"
            "if not _1 {\nn = x * 2\n}\nreturn n\n");
  EXPECT_EQ(f.printed("(f(1, 5), f(1, 2))"), "(5, 6)\n");
}

TEST(TorchScriptVariables, AVariableOfAnotherTypeGetsAValueThatNobodyReads) {
  // x may be None where x0 is unset, and the language would not let it be added to.
  const ImportedFunction f(R"(
def f(x: Optional[int], n: int) -> int:
  _0 = uninitialized(int)
  if torch.gt(n, 2):
    _1, x0 = True, _0
  else:
    _1, x0 = False, n
  if _1:
    y = n
  else:
    y = torch.mul(x0, 2)
  return y
)");
  EXPECT_EQ(f.printed("(f(None, 5), f(None, 2))"), "(5, 4)\n") << f.lines();
}

// ---- Values where they are read ----

TEST(TorchScriptVariables, TemporariesStandWhereTheyAreReadInTheirOrder) {
  const ImportedFunction f(R"(
def f(xs: List[int]) -> int:
  _0 = torch.pop(xs)
  _1 = torch.pop(xs)
  y = torch.sub(_0, _1)
  return torch.add(y, y)
)");
  EXPECT_EQ(f.lines(), "y = xs.pop() - xs.pop()\nreturn y + y\n");
  EXPECT_EQ(f.printed("f([1, 5])"), "8\n");
}

TEST(TorchScriptVariables, TemporariesOfTemporariesStandWhereTheyAreRead) {
  const ImportedFunction f(R"(
def f(xs: List[int]) -> int:
  _0 = torch.pop(xs)
  _1 = [torch.pop(xs), torch.pop(xs)]
  _2 = torch.add(_0, torch.len(_1))
  y = torch.mul(_2, torch.len(xs))
  return torch.add(y, y)
)");
  EXPECT_EQ(f.lines(), "y = (xs.pop() + len([xs.pop(), xs.pop()])) * len(xs)\nreturn y + y\n");
  EXPECT_EQ(f.printed("f([1, 5, 7, 9])"), "22\n");
}

TEST(TorchScriptVariables, TemporariesInAnotherOrderHaveLines) {
  const ImportedFunction f(R"(
def f(xs: List[int]) -> int:
  _0 = torch.pop(xs)
  _1 = torch.pop(xs)
  y = torch.sub(_1, _0)
  return torch.add(y, y)
)");
  EXPECT_EQ(f.printed("f([1, 5])"), "-8\n") << f.lines();
}

TEST(TorchScriptVariables, AMessageStandsInItsError) {
  const ImportedFunction f(R"(
def f(n: int) -> int:
  _0 = "n is {}"
  _1 = torch.lt(n, 5)
  _2 = torch.format(_0, n)
  if _1:
    pass
  else:
    ops.prim.RaiseException(_2)
  return n
)");
  EXPECT_EQ(f.lines(), "if not n < 5 {\nraise f\"n is {n}\"\n}\nreturn n\n");
}

TEST(TorchScriptVariables, AListHasItsFirstItemsAtOnce) {
  const ImportedFunction f(R"(
def f(n: int) -> List[int]:
  xs = annotate(List[int], [])
  _0 = torch.append(xs, n)
  _1 = torch.append(xs, torch.add(n, 1))
  _2 = torch.append(xs, torch.len(xs))
  return xs
)");
  EXPECT_EQ(f.lines(), "xs: int[] = [n, n + 1]\nxs.append(len(xs))\nreturn xs\n");
  EXPECT_EQ(f.printed("f(4)"), "[4, 5, 2]\n");
}

TEST(TorchScriptVariables, AConditionThatABodyRepeatsIsThatOfTheLoop) {
  const ImportedFunction f(R"(
def f(n: int) -> int:
  _0 = torch.gt(n, 3)
  n0 = n
  _1 = _0
  while _1:
    n1 = torch.sub(n0, 2)
    _2 = torch.gt(n1, 3)
    _1, n0 = _2, n1
  return n0
)");
  EXPECT_EQ(f.lines(), "while n > 3 {\nn = n - 2\n}\nreturn n\n");
  EXPECT_EQ(f.printed("f(10)"), "2\n");
}

TEST(TorchScriptVariables, AConditionThatIsReadElsewhereIsAVariable) {
  const ImportedFunction f(R"(
def f(n: int) -> bool:
  more = torch.gt(n, 3)
  n0 = n
  while more:
    n1 = torch.sub(n0, 2)
    more0 = torch.gt(n1, 3)
    more, n0 = more0, n1
  return more
)");
  EXPECT_EQ(f.printed("f(10)"), "False\n") << f.lines();
}

TEST(TorchScriptVariables, ALoopOverIndicesIsOneOverItems) {
  const ImportedFunction f(R"(
def f(n: int) -> int:
  total = 0
  _0 = [1, 2, n]
  for _1 in range(torch.len(_0)):
    k = _0[_1]
    total0 = torch.add(total, torch.mul(k, k))
    total = total0
  return total
)");
  EXPECT_EQ(f.lines(), "total = 0\nfor k in [1, 2, n] {\ntotal = total + k * k\n}\nreturn total\n");
  EXPECT_EQ(f.printed("f(3)"), "14\n");
}

TEST(TorchScriptVariables, ALoopThatAppendsToItsListGoesOverIndices) {
  const ImportedFunction f(R"(
def f(xs: List[int]) -> int:
  for _0 in range(torch.len(xs)):
    k = xs[_0]
    _1 = torch.append(xs, torch.mul(k, 2))
  return torch.len(xs)
)");
  EXPECT_EQ(f.printed("f([1, 2])"), "4\n") << f.lines();
}

TEST(TorchScriptVariables, ALoopThatReadsItsIndexGoesOverIndices) {
  const ImportedFunction f(R"(
def f(xs: List[int]) -> int:
  total = 0
  for i in range(torch.len(xs)):
    k = xs[i]
    total0 = torch.add(total, torch.mul(k, i))
    total = total0
  return total
)");
  EXPECT_EQ(f.printed("f([5, 6, 7])"), "20\n") << f.lines();
}

TEST(TorchScriptVariables, ComparisonsAreReversed) {
  const auto lines = [](std::string_view condition) {
    return ImportedFunction(fmt::format(R"(
def f(n: int, xs: List[int]) -> int:
  if {}:
    pass
  else:
    ops.prim.RaiseException("no")
  return n
)",
                                        condition))
        .lines();
  };
  EXPECT_EQ(lines("torch.eq(n, 1)"), "if n != 1 {\nraise \"no\"\n}\nreturn n\n");
  EXPECT_EQ(lines("torch.ne(n, 1)"), "if n == 1 {\nraise \"no\"\n}\nreturn n\n");
  EXPECT_EQ(lines("torch.__contains__(xs, n)"), "if n not in xs {\nraise \"no\"\n}\nreturn n\n");
  EXPECT_EQ(lines("torch.eq(torch.eq(n, 1), torch.eq(n, 2))"),
            "if not (n == 1) == (n == 2) {\nraise \"no\"\n}\nreturn n\n");
}

}  // namespace
}  // namespace boxcar::interp::torchscript
