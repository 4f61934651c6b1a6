// What the preparation of programs computes, as text.

#include <gtest/gtest.h>

#include <string>

#include "tests/interpreter/prepare/prepared_script.h"

namespace boxcar {
namespace {

// Returns function f of a script that is only this function after [before], prepared.
std::string folded(const std::string& parameters, const std::string& body, const std::string& before = {}) {
  const std::string text = preparedScript(before + "fn f(" + parameters + ") -> Any {\n" + body + "}\n", "test.ops");
  const size_t begin = text.find("{\n", text.find("fn f(")) + 2;
  return text.substr(begin, text.find("\n}\n", begin) + 1 - begin);
}

TEST(ConstantsOfThePreparation, ConstantExpressionsThatAreLongerThanTheirValuesAreTheseValues) {
  EXPECT_EQ(folded("Tensor x", "    return x.view([2 * 3, -1]) * (1.0 / 8.0)\n"),
            "    return x.view([6, -1]) * 0.125\n");
  EXPECT_EQ(folded("int n", "    return [n + len(\"abc\" + 'd\"'), n - (2 - 5), [1, 2][0]]\n"),
            "    return [n + 5, n - (-3), 1]\n");
  EXPECT_EQ(folded("Tensor x", "    return x ** (1 - 2)\n"), "    return x ** (-1)\n");
  EXPECT_EQ(folded("Tensor x", "    return x[:-7][:, -7:-3, ..., 1 + 1:][1, 3:3 + 1]\n"),
            "    return x[:-7][:, -7:-3, ..., 2:][1, 3:4]\n");
  EXPECT_EQ(folded("Tensor x", "    return [1 / 3, 1e300 * 1e300, float(\"nan\"), [0] * 100, torch.float32]\n"),
            "    return [1 / 3, 1e300 * 1e300, float(\"nan\"), [0] * 100, torch.float32]\n");
}

TEST(ConstantsOfThePreparation, VariablesAndConstantsThatAreKnownArePartOfConstantExpressions) {
  EXPECT_EQ(
      folded("Dict(str, Tensor) net", "    layer = prefix + \".\" + str(2)\n    return net[f\"{layer}.weight\"]\n",
             "const prefix = \"layer\"\n\n"),
      "    layer = \"layer.2\"\n    return net[\"layer.2.weight\"]\n");
  // What a loop or a branch sets is not known.
  const std::string body =
      "    k = 4\n    m = 4\n    for i in range(n) {\n        k = k + 1\n    }\n"
      "    if n > 2 {\n        m = 5\n    }\n    return [k * 100, m * 100]\n";
  EXPECT_EQ(folded("int n", body), body);
}

TEST(ConstantsOfThePreparation, AConstantThatAFunctionMayReadBeforeItIsSetStays) {
  const std::string body = "    return prefix + \".weight\"\n";
  EXPECT_EQ(folded("", body, "fn g() -> Any { return f() }\nconst first = g()\nconst prefix = \"layer\"\n"), body);
}

TEST(ConstantsOfThePreparation, ErrorsOfConstantExpressionsAreStillThoseOfTheRun) {
  const std::string body = "    return [1 // 0, [1, 2][2], \"a\".index(\"b\"), int(\"a\" + \"b\"), \"abc\"[1 + 6]]\n";
  EXPECT_EQ(folded("", body), "    return [1 // 0, [1, 2][2], \"a\".index(\"b\"), int(\"ab\"), \"abc\"[7]]\n");
  EXPECT_EQ(
      folded("int n", "    assert 1 + 1 == 2\n    assert 2 + 2 == 4, \"never\"\n    assert 1 + 1 == 3\n    return n\n"),
      "    assert 1 + 1 == 3\n    return n\n");
}

TEST(ConstantsOfThePreparation, BranchesThatNeverRunAreRemoved) {
  const std::string constants = "const biased = False\n\n";
  EXPECT_EQ(folded("int n", "    if biased {\n        n = 1\n    } elif n > 3 {\n        n = 2\n    }\n    return n\n",
                   constants),
            "    if n > 3 {\n        n = 2\n    }\n    return n\n");
  EXPECT_EQ(folded("int n",
                   "    if n > 3 {\n        n = 2\n    } elif biased {\n        n = 1\n    } elif not biased {\n"
                   "        n = 5\n    } else {\n        n = 6\n    }\n    return n\n",
                   constants),
            "    if n > 3 {\n        n = 2\n    } else {\n        n = 5\n    }\n    return n\n");
  EXPECT_EQ(folded("int n", "    if n > 3 {\n        n = 2\n    } elif biased {\n        n = 1\n    }\n    return n\n",
                   constants),
            "    if n > 3 {\n        n = 2\n    }\n    return n\n");
  EXPECT_EQ(folded("int n, int m",
                   "    if biased {\n        n = 1\n    } else {\n        # a comment\n        n = 2\n    }\n"
                   "    if True { m = m + n }\n"
                   "    while biased {\n        m = 3\n    }\n    return n if biased else m + 1\n",
                   constants),
            "    # a comment\n    n = 2\n    m = m + n\n    return m + 1\n");
  EXPECT_EQ(folded("int n",
                   "    if n > 1 {\n        if biased {\n            n = 1\n        } else {\n"
                   "            assert True\n            n = 2\n            while biased {\n                n = 3\n"
                   "            }\n        }\n        n = 4\n    }\n    return n\n",
                   constants),
            "    if n > 1 {\n        n = 2\n        n = 4\n    }\n    return n\n");
  EXPECT_EQ(folded("int n", "    if not biased {\n        return n\n    }\n    return n + 1\n", constants),
            "    return n\n");
}

TEST(ConstantsOfThePreparation, ConditionsThatTypesDecideAreKnown) {
  EXPECT_EQ(folded("Tensor x, Tensor? y",
                   "    if x is None {\n        x = zeros(2)\n    }\n"
                   "    if y is None {\n        y = x\n    }\n    return y\n"),
            "    if y is None {\n        y = x\n    }\n    return y\n");
}

TEST(ConstantsOfThePreparation, AChoiceWhoseSideIsConvertedStays) {
  EXPECT_EQ(folded("int n", "    return (n if 1 + 1 == 2 else 0.5) / 2\n"), "    return (n if True else 0.5) / 2\n");
}

}  // namespace
}  // namespace boxcar
