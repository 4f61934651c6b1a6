#include <boxcar/backends/autograd/gradient_rule.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/registry/library.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/test_support.h"

namespace boxcar::autograd {
namespace {

std::string gradientOf(const char* name, const char* overload = "") {
  return describeGradient(Dispatcher::singleton().findSchemaOrThrow(name, overload));
}

TEST(GradientRule, SaysWhereTheFormulaIs) {
  const std::string place = "by the formula at backends/ops/aten_arithmetic.derivatives:";
  EXPECT_EQ(gradientOf("aten::mul", "Tensor").substr(0, place.size()), place);
  // In-place forms have the formula of the other.
  EXPECT_EQ(gradientOf("aten::mul_", "Tensor"), gradientOf("aten::mul", "Tensor"));
}

TEST(GradientRule, SaysWhyThereIsNone) {
  EXPECT_EQ(gradientOf("aten::argmax"), "none, as its results are not differentiable");
  EXPECT_EQ(gradientOf("aten::mul", "out"),
            "none, as it has out=, so to call it on tensors that require grad is an error");
  EXPECT_EQ(gradientOf("aten::linear"), "composed of other operators, which are differentiated");
  EXPECT_EQ(gradientOf("aten::floor_divide"), "no formula, so to ask for it is an error");
}

TEST(GradientRule, KnowsOperatorsOfOthers) {
  Library library = MAKE_BOXCAR_LIBRARY(gradient_rule);
  library.def("plain(Tensor x) -> Tensor");
  library.def("own(Tensor x) -> Tensor");
  library.impl("plain", DispatchKey::CPU, [](const Tensor& x) { return x; });
  library.impl("own", DispatchKey::Autograd, [](const Tensor& x) { return x; });
  EXPECT_EQ(gradientOf("gradient_rule::plain"), "no formula, so to ask for it is an error");
  EXPECT_EQ(gradientOf("gradient_rule::own"), "by its own kernel for Autograd");
}

}  // namespace
}  // namespace boxcar::autograd
