#include <boxcar/backends/autograd/anomaly_mode.h>
#include <boxcar/backends/autograd/autograd.h>
#include <boxcar/backends/autograd/gradient_graph.h>
#include <boxcar/dispatcher/call/call_site.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/backends/tensor_helpers.h"

namespace boxcar::autograd {
namespace {

Tensor trainable(const Tensor& tensor) { return Tensor(tensor).set_requires_grad(true); }

// A line for each vertex and arrow: "0 MulBackward0 [2] root", "0 -> 1".
std::string textOf(const GradientGraph& graph) {
  std::string text;
  for (size_t i = 0; i < graph.vertices.size(); ++i) {
    const GradientVertex& vertex = graph.vertices[i];
    text += fmt::format("{} {}", i, vertex.name.empty() ? "leaf" : vertex.name);
    for (const GradientShape& shape : vertex.shapes) {
      text += fmt::format(" {}[{}]", dtypeName(shape.dtype), fmt::join(shape.sizes, ", "));
    }
    text += vertex.is_root ? " root\n" : "\n";
  }
  for (const GradientArrow& arrow : graph.arrows) {
    text += fmt::format("{} -> {}{}\n", arrow.from, arrow.to, arrow.output_nr == 0 ? "" : " result 1");
  }
  return text;
}

TEST(GradientGraph, HasNodesLeavesAndWhatLeadsToThem) {
  const Tensor x = trainable(counting({2, 3}));
  const Tensor y = trainable(counting({3}, ScalarType::Double));
  const Tensor product = mul(x, y);
  EXPECT_EQ(textOf(gradientGraph({{sum(add(product, product))}}, 100)),
            "0 SumBackward0 float64[] root\n"
            "1 AddBackward0 float64[2, 3]\n"
            "2 MulBackward0 float64[2, 3]\n"
            "3 leaf float32[2, 3]\n"
            "4 leaf float64[3]\n"
            "0 -> 1\n1 -> 2\n1 -> 2\n2 -> 3\n2 -> 4\n");
}

TEST(GradientGraph, TellsWhichResultAnArrowLeadsTo) {
  const Tensor x = trainable(counting({2, 2}));
  const std::vector<Tensor> rows = unbind(x);
  EXPECT_EQ(textOf(gradientGraph({{rows[1]}}, 100)),
            "0 UnbindBackward0 float32[2] float32[2] root\n1 leaf float32[2, 2]\n0 -> 1\n");
  EXPECT_EQ(gradientGraph({{neg(rows[1])}}, 100).arrows.front().output_nr, 1U);
}

TEST(GradientGraph, TakesSeveralRootsLeavesAndTensorsWithoutHistory) {
  const Tensor x = trainable(floats({1, 2}));
  EXPECT_EQ(textOf(gradientGraph({{neg(x), x, floats({1})}}, 100)),
            "0 NegBackward0 float32[2] root\n1 leaf float32[2] root\n0 -> 1\n");
  EXPECT_EQ(textOf(gradientGraph({{floats({1})}}, 100)), "");
}

TEST(GradientGraph, OfALongChainHasThoseNearestToTheRoot) {
  Tensor x = trainable(floats({1}));
  for (int i = 0; i < 200'000; ++i) x = neg(x);
  const GradientGraph graph = gradientGraph({{x}}, 3);
  EXPECT_EQ(graph.vertices.size(), 3U);
  EXPECT_EQ(graph.arrows.size(), 2U);
  EXPECT_EQ(graph.all, 200'001U);
}

TEST(GradientGraph, KnowsCallsThatAnomalyModeRemembered) {
  const DetectAnomalyGuard guard(false);
  const Tensor x = trainable(floats({1}));
  const std::optional<CallSite> place = CallSite{"train.ops", 3, "y = -x"};
  const CallSiteGuard site(place);
  EXPECT_EQ(gradientGraph({{neg(x)}}, 100).vertices[0].call, "aten::neg at train.ops:3: `y = -x`");
}

TEST(BackwardObserver, IsToldOfEachPassBeforeItRuns) {
  const Tensor x = trainable(floats({1, 2}));
  std::string seen;
  {
    const BackwardObserverGuard outer([&](TensorList) { seen += "outer "; });
    {
      const BackwardObserverGuard guard(
          [&](TensorList roots) { seen += fmt::format("{} {} ", roots.size(), gradOf(x).defined()); });
      backward({{sum(x)}});
      grad({{sum(x), sum(x)}}, {{x}});
      EXPECT_NE(errorOf([&] { backward({{floats({1})}}); }), "");
    }
    backward({{sum(x)}});
  }
  backward({{sum(x)}});
  EXPECT_EQ(seen, "1 false 2 true outer ");
}

}  // namespace
}  // namespace boxcar::autograd
