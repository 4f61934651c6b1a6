#include <boxcar/dispatcher/handlers/trace/trace_fold.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace boxcar::detail {
namespace {

// Parses calls such as "a1 b2": operator a on line 1, b on line 2. "f.c3" is a call in function f, which line 9 calls.
std::vector<TraceNode> nodesOf(std::string_view text) {
  std::vector<TraceNode> nodes;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    TraceNode& node = nodes.emplace_back();
    const bool is_inner = word.size() == 4;
    node.title = word.substr(is_inner ? 2 : 0, 1);
    node.stands_for = nodes.size() - 1;
    const auto site = [](uint32_t line) { return CallSite{"x.ops", line, ""}; };
    node.path.push_back({"", site(is_inner ? 9 : static_cast<uint32_t>(word[1] - '0'))});
    if (is_inner) node.path.push_back({std::string(word.substr(0, 1)), site(static_cast<uint32_t>(word[3] - '0'))});
  }
  return nodes;
}

std::string textOf(const TraceItem& item, const std::vector<TraceNode>& nodes) {
  std::string text = item.kind == TraceItem::Kind::Call ? nodes[item.node].title : item.title + "(";
  if (item.is_closed) return item.title + "[]" + item.countText();
  for (const TraceItem& inner : item.inner) text += (&inner == item.inner.data() ? "" : " ") + textOf(inner, nodes);
  return text + (item.kind == TraceItem::Kind::Call ? "" : ")") + item.countText();
}

std::string folded(std::string_view text, size_t most_boxes = 1000) {
  std::vector<TraceNode> nodes = nodesOf(text);
  TraceItem root = groupByFunction(nodes, true);
  foldRepeats(root, nodes);
  closeFunctions(root, most_boxes);
  return textOf(root, nodes);
}

TEST(TraceFold, CallsOfAFunctionAreAGroup) { EXPECT_EQ(folded("a1 f.b2 f.c3 d4 f.b2"), "(a f(b c) d f(b))"); }

TEST(TraceFold, WhatRepeatsIsFoldedWithItsCount) {
  EXPECT_EQ(folded("a1 a1 a1 b2"), "(a ×3 b)");
  EXPECT_EQ(folded("a1 a1 b2"), "(a a b)") << "two are not many";
  EXPECT_EQ(folded("a1 a2 a3"), "(a a a)") << "of several lines";
  EXPECT_EQ(folded("z9 a1 b2 a1 b2 a1 b2 c3"), "(z (a b) ×3 c)");
  EXPECT_EQ(folded("a1 b2 c3 d4 a1 b2 c3 d4"), "((a b c d) ×2)");
  // Nested loops; the inner ones have several lengths.
  EXPECT_EQ(folded("a1 b2 b2 b2 c3 a1 b2 b2 b2 b2 c3 a1 b2 b2 b2 c3"), "((a b ×3 to 4 c) ×3)");
}

TEST(TraceFold, AFunctionThatIsCalledInALoopIsFoldedAsAWhole) {
  EXPECT_EQ(folded("f.a2 f.b3 f.a2 f.b3 f.a2 f.b3"), "(f(a b) ×3)");
  EXPECT_EQ(folded("x1 f.a2 f.b3 x1 f.a2 f.b3 x1 f.a2 f.b3"), "((x f(a b)) ×3)");
}

TEST(TraceFold, FunctionsAreClosedWhereMuchIsLeft) {
  EXPECT_EQ(folded("a1 f.b2 f.c3 d4", 3), "(a f[] d)");
  EXPECT_EQ(folded("a1 f.b2 d4", 1), "(a f(b) d)") << "one call alone is as small";
}

TEST(TraceFold, RepeatedCallsStandForOneAnother) {
  std::vector<TraceNode> nodes = nodesOf("a1 b2 a1 b2 a1 b2");
  for (size_t i = 0; i < nodes.size(); ++i)
    nodes[i].weights = {{1, "layer" + std::to_string(i) + ".w", "float32 [3, " + std::to_string(i + 8) + "]"}};
  TraceItem root = groupByFunction(nodes, true);
  foldRepeats(root, nodes);
  EXPECT_EQ(nodes[4].stands_for, 0U);
  EXPECT_EQ(nodes[5].stands_for, 1U);
  EXPECT_EQ(nodes[0].weights[0].name, "layer*.w");
  EXPECT_EQ(nodes[0].weights[0].kind, "float32 [3, *]");
}

TEST(TraceFold, TextsHaveInCommonWhatIsNotANumber) {
  EXPECT_EQ(commonText("same", "same"), "same");
  EXPECT_EQ(commonText("l9.a1", "l10.a2"), "l*.a*");
  EXPECT_EQ(commonText("l*.a1", "l3.a1"), "l*.a1");
  EXPECT_EQ(commonText("down.weight", "up.weight"), "*.weight");
  EXPECT_EQ(commonText("float32 [2, 3]", "float32 [2]"), "float32 [2*]");
  EXPECT_EQ(commonText("é1", "è1"), "*1");
  EXPECT_EQ(commonText("a", ""), "*");
}

}  // namespace
}  // namespace boxcar::detail
