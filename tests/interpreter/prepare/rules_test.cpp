// The rules of the preparation of programs: those of the library, and those of a file.

#include <boxcar/interpreter/session/prepared_program.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/interpreter/prepare/prepared_script.h"
#include "tests/temporary_folder.h"
#include "tests/test_support.h"

namespace boxcar {
namespace {

TEST(RulesOfTheLibrary, BothSidesOfEachRuleOfTheLibraryAgree) {
  const std::vector<std::string> faults = interp::faultsOfLibraryRules();
  EXPECT_TRUE(faults.empty()) << (faults.empty() ? "" : faults[0]);
}

class RulesOfAFile : public testing::Test {
 protected:
  std::string fileWith(const std::string& text) {
    folder_.write("rules.ops", text);
    return (folder_ / "rules.ops");
  }

  TemporaryFolder folder_;
};

TEST_F(RulesOfAFile, ComeBeforeThoseOfTheLibrary) {
  const std::string rules = fileWith(
      "fn twice(Tensor x) -> (Tensor before, Tensor after) { return (relu(relu(x)), relu(x)) }\n"
      "fn example_x() -> Tensor { return randn(3) }\n");
  EXPECT_EQ(preparedScript("fn f(Tensor x) -> Tensor {\n    return x.relu().relu().relu()\n}\n", "test.ops", {rules}),
            "fn f(Tensor x) -> Tensor {\n    return relu(x)\n}\n");
  EXPECT_TRUE(interp::faultsOfRules(rules).empty());
}

TEST_F(RulesOfAFile, WhoseSidesDifferAreNamed) {
  const std::string rules = fileWith(
      "fn wrong(Tensor x) -> (Tensor before, Tensor after) { return (relu(x), x + 1) }\n"
      "fn failing(Tensor x) -> (Tensor before, Tensor after) { return (relu(x), x @ x @ ones(7, 1)) }\n"
      "fn smaller(Tensor x) -> (Tensor before, Tensor after) { return (neg(x), x[0]) }\n"
      "fn example_x() -> Tensor { return ones(2, 3) }\n");
  const std::vector<std::string> faults = interp::faultsOfRules(rules);
  ASSERT_EQ(faults.size(), 3u);
  EXPECT_EQ(faults[0], rules + ": the sides of the rule `wrong` give results that differ by 1");
  EXPECT_NE(faults[1].find("the sides of the rule `failing` give an error: "), std::string::npos) << faults[1];
  EXPECT_EQ(faults[2], rules + ": the sides of the rule `smaller` give results of other shapes");
}

TEST_F(RulesOfAFile, ThatFindTheirOwnResultsAreErrors) {
  const std::string rules = fileWith(
      "fn more(Tensor x) -> (Tensor before, Tensor after) { return (x.sin(), x.sin().neg()) }\n"
      "fn example_x() -> Tensor { return zeros(2) }\n");
  const std::string error =
      errorOf([&] { preparedScript("fn f(Tensor x) -> Tensor { return x.sin() }\n", "test.ops", {rules}); });
  EXPECT_TRUE(
      error.starts_with("test.ops: the rules find something in their own results, again and again; the last of "
                        "these programs begins with\nimport \"fused.ops\"\nfn f(Tensor x) -> Tensor { return neg("))
      << error;
}

TEST_F(RulesOfAFile, ThatAreNoneAreErrors) {
  const auto prepareWith = [this](const std::string& text) {
    preparedScript("print(1)\n", "test.ops", {fileWith(text)});
  };
  expectError([&] { prepareWith("fn r(Tensor x) -> (Tensor before, Tensor after) { return (relu(x), x) }\n"); },
              (folder_ / "rules.ops") +
                  ":1:4: the parameter `x` of the rule `r` has no example, for which both sides can be compared; "
                  "declare `fn example_x() -> Tensor`");
  expectError(
      [&] {
        prepareWith(
            "fn r(Tensor x) -> (Tensor before, Tensor after) { y = relu(x)\n return (y, x) }\n"
            "fn example_x() -> Tensor { return ones(2) }\n");
      },
      (folder_ / "rules.ops") +
          ":1:4: the rule `r` must consist of `return (…, …)`, what it replaces and by what, and of asserts before it, "
          "which "
          "say when");
  expectError(
      [&] {
        prepareWith(
            "fn r(Tensor x) -> (Tensor before, Tensor after) { return (x, relu(x)) }\n"
            "fn example_x() -> Tensor { return ones(2) }\n");
      },
      (folder_ / "rules.ops") + ":1:4: the rule `r` would replace every expression; its first result must be a call");
}

TEST_F(RulesOfAFile, ApplyWhereTheirConditionsHold) {
  const std::string rules = fileWith(
      "fn r(Tensor x, Tensor w, Tensor? b, int[2] stride, str padding) -> (Tensor before, Tensor after) {\n"
      "    assert stride == [1, 1] and b is None\n"
      "    assert padding in [\"same\", \"valid\"], \"not both\"\n"
      "    return (conv2d(x, w, b, stride, padding), x @ w)\n}\n"
      "fn example_x() -> Tensor { return randn(1, 1, 1, 1) }\nfn example_w() -> Tensor { return randn(1, 1, 1, 1) }\n"
      "fn example_b() -> Tensor? { return None }\nfn example_stride() -> int[] { return [1, 1] }\n"
      "fn example_padding() -> str { return \"same\" }\n");
  EXPECT_TRUE(interp::faultsOfRules(rules).empty());
  const auto prepared = [&](const std::string& arguments) {
    const std::string text =
        preparedScript("fn f(Tensor x, Tensor w, Tensor b, Tensor? c, int n) -> Tensor {\n    return conv2d(x, w, " +
                           arguments + ")\n}\n",
                       "test.ops", {rules});
    return text.substr(text.find("return"), text.rfind("\n}") - text.find("return"));
  };
  EXPECT_EQ(prepared("None, 1, \"same\""), "return x @ w");
  EXPECT_EQ(prepared("None, [2 - 1, 1], \"valid\""), "return x @ w");
  for (const char* arguments : {"None, 2, \"same\"", "b, 1, \"same\"", "c, 1, \"same\"", "None, n, \"same\""}) {
    EXPECT_NE(prepared(arguments).find(std::string("conv2d(x, w, ") + arguments), std::string::npos);
  }
}

TEST_F(RulesOfAFile, WhoseConditionsCannotBeJudgedAreErrors) {
  const auto errorOfCondition = [this](const std::string& condition) {
    const std::string rules = fileWith("fn r(Tensor x, int n) -> (Tensor before, Tensor after) {\n    assert " +
                                       condition + "\n    return (relu(x + n), x)\n}\n");
    const std::string error = errorOf([&] { preparedScript("print(1)\n", "test.ops", {rules}); });
    EXPECT_TRUE(error.starts_with(folder_ / "rules.ops:2:")) << error;
    return error.substr(error.find("rules.ops:2:"));
  };
  EXPECT_EQ(errorOfCondition("n > 0 and x.dim() == 2"),
            "rules.ops:2:22: the condition `n > 0 and x.dim() == 2` of the rule `r` cannot be judged when a program is "
            "prepared, because `x.dim()` is not known then; a condition is about the numbers, texts and lists that "
            "parameters stand for, and about whether one is None");
  EXPECT_NE(errorOfCondition("x.sum() > 2").find("because `x.sum()"), std::string::npos);
  EXPECT_NE(errorOfCondition("clock() > n").find("because `clock()`"), std::string::npos);
}

TEST_F(RulesOfAFile, WhoseResultsAreErrorsAreNamed) {
  const std::string rules = fileWith(
      "import \"nn.ops\"\n"
      "fn r(Tensor x, Tensor w) -> (Tensor before, Tensor after) {\n"
      "    return (relu(x @ w), linear_layer(x, {\"a.weight\": w.t()}, \"a\").relu())\n}\n"
      "fn example_x() -> Tensor { return ones(2, 2) }\nfn example_w() -> Tensor { return ones(2, 2) }\n");
  const std::string script = "fn f(Tensor x) -> Tensor {\n    return relu(x @ x)\n}\n";
  expectError([&] { preparedScript(script, "test.ops", {rules}); },
              (folder_ / "rules.ops") +
                  ":2:4: what the rule `r` writes in test.ops, `relu(linear_layer(x, {\"a.weight\": x.t()}, \"a\"))`, "
                  "is an error there: there is no function or operator called `linear_layer`");
  EXPECT_NE(preparedScript("import \"nn.ops\"\n" + script, "test.ops", {rules}).find("activation=\"relu\""),
            std::string::npos);
}

}  // namespace
}  // namespace boxcar
