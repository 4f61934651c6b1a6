#include <boxcar/dispatcher/handlers/trace/trace_graph.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace boxcar::detail {
namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TraceGraph::Call callIn(const std::string& op, uint32_t line, const std::string& function = {}) {
  TraceGraph::Call call{.op = op, .path = {{"", {"x.ops", line, ""}}}, .is_view = false};
  if (!function.empty()) call.path.push_back({function, {"x.ops", 1, ""}});
  return call;
}

// A chain of [count] calls that take a weight each, ten in each function.
TraceGraph chain(size_t count) {
  TraceGraph graph;
  graph.addOutside("x", "x");
  std::string last = "x";
  for (size_t i = 0; i < count; ++i) {
    const std::string weight = fmt::format("w{}", i);
    const std::string result = fmt::format("r{}", i);
    graph.addOutside(weight, weight);
    graph.addCall(callIn(fmt::format("aten::op{}", i), static_cast<uint32_t>(i / 10), fmt::format("f{}", i / 10)),
                  std::vector<TraceGraph::Use>{{last, "a"}, {weight, "b"}}, std::vector<std::string>{result});
    last = result;
  }
  return graph;
}

TEST(TraceGraph, ALargeGraphDrawsEachFunctionAsOneBoxWithWhatIsInIt) {
  const std::string small = chain(30).dot(true);
  EXPECT_TRUE(has(small, "subgraph")) << small;
  EXPECT_FALSE(has(small, "10 operators")) << small;
  const std::string large = chain(600).dot(true);
  EXPECT_FALSE(has(large, "subgraph")) << large;
  EXPECT_TRUE(has(large, "f0")) << large;
  EXPECT_TRUE(has(large, "10 operators, 11 tensors from outside")) << large;
  EXPECT_TRUE(has(large, "10 operators, 10 tensors from outside")) << large;
  EXPECT_TRUE(has(large, "n0 -> n10 ")) << large;
  EXPECT_TRUE(has(chain(600).dot(false), "subgraph"));
}

TEST(TraceGraph, AViewOfATensorFromOutsideIsShownInTheCallThatTakesIt) {
  TraceGraph graph;
  graph.addOutside("w", "fc.weight");
  TraceGraph::Call view = callIn("aten::t", 1);
  view.is_view = true;
  graph.addCall(view, std::vector<TraceGraph::Use>{{"w", "float32 [2, 3]"}}, std::vector<std::string>{"wt"});
  graph.addCall(callIn("aten::mm", 2), std::vector<TraceGraph::Use>{{"wt", "float32 [3, 2]"}},
                std::vector<std::string>{"y"});
  const std::string text = graph.dot(true);
  EXPECT_TRUE(has(text, "t(fc.weight)  float32 [3, 2]")) << text;
  EXPECT_FALSE(has(text, "n1 [")) << "the view has no box of its own: " << text;
}

TEST(TraceGraph, TextOfLabelsIsEscaped) {
  TraceGraph graph;
  graph.addOutside("w", "<a> & \"b\"");
  graph.addCall(callIn("aten::relu", 1), std::vector<TraceGraph::Use>{{"w", "k"}}, std::vector<std::string>{"y"});
  const std::string text = graph.dot(true);
  EXPECT_TRUE(has(text, "&lt;a&gt; &amp; &quot;b&quot;")) << text;
}

}  // namespace
}  // namespace boxcar::detail
