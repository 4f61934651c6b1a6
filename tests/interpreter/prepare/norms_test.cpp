// What the preparation of programs makes of norms and softmax that are written by hand, and how it finds them.

#include <boxcar/interpreter/session/program.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/interpreter/prepare/prepared_script.h"

namespace boxcar {
namespace {

TEST(PreparationOfNorms, ARootMeanSquareWrittenByHandIsOneLayer) {
  const std::string one = "    return fused_rms_norm_layer(x, 1e-06)\n";
  EXPECT_EQ(prepared("Tensor x", "    return x * ((x ** 2).mean([-1], keepdim=True) + 1e-06).rsqrt()\n"), one);
  EXPECT_EQ(prepared("Tensor x", "    return rsqrt(x.pow(2).mean(-1, True) + 1e-06) * x\n"), one);
  EXPECT_EQ(prepared("Tensor x", "    v = (x * x).mean(-1, keepdim=True)\n    return x / sqrt(v + 1e-06)\n"), one);
  EXPECT_EQ(prepared("Tensor x", "    return x * rsqrt(square(x).mean(-1, True) + 1e-06)\n"), one);
  EXPECT_EQ(prepared("Tensor x, Tensor w",
                     "    y = x.to(float32)\n"
                     "    v = y.pow(2).mean(-1, keepdim=True)\n"
                     "    y = y * rsqrt(v + 1e-06)\n"
                     "    return (w + 1.0) * y\n"),
            "    y = x.to(float32)\n    return fused_rms_norm_layer(y, 1e-06, (w + 1.0))\n");
}

TEST(PreparationOfNorms, ALayerNormWrittenByHandIsOneLayer) {
  const std::string one = "    return fused_layer_norm_layer(x, 1e-05)\n";
  EXPECT_EQ(prepared("Tensor x",
                     "    gap = x - x.mean(-1, True)\n"
                     "    return gap / (gap.pow(2).mean(-1, True) + 1e-05).sqrt()\n"),
            one);
  EXPECT_EQ(prepared("Tensor x",
                     "    mean = x.mean(-1, True)\n"
                     "    v = ((x - mean) * (x - mean)).mean(-1, True)\n"
                     "    return (v + 1e-05).rsqrt() * (x - mean)\n"),
            one);
  EXPECT_EQ(prepared("Tensor x",
                     "    mean = x.mean(-1, True)\n"
                     "    return (x - mean) / (x.var(-1, unbiased=False, keepdim=True) + 1e-05).sqrt()\n"),
            one);
  EXPECT_EQ(prepared("Tensor x, Tensor w, Tensor b",
                     "    gap = x - x.mean(-1, True)\n"
                     "    y = gap * ((gap * gap).mean(-1, True) + 1e-05).rsqrt()\n"
                     "    return w * y + b\n"),
            "    return fused_layer_norm_layer(x, 1e-05, w, bias=b)\n");
}

TEST(PreparationOfNorms, ASoftmaxWrittenByHandIsOneLayer) {
  const std::string one = "    return fused_softmax_layer(x, [-1])\n";
  EXPECT_EQ(prepared("Tensor x",
                     "    powers = (x - x.amax([-1], True)).exp()\n"
                     "    return powers / powers.sum([-1], True)\n"),
            one);
  EXPECT_EQ(
      prepared("Tensor x", "    powers = (x - x.amax(-2, True)).exp()\n    return powers / powers.sum(-1, True)\n"),
      "    powers = fused::pointwise(\"exp(a - b)\", [x, x.amax(-2, True)])\n"
      "    return powers / powers.sum(-1, True)\n");
}

TEST(PreparationOfNorms, AVariableThatIsReadElsewhereStays) {
  const auto has_layer = [](const std::string& body, const std::string& layer = "_norm_layer") {
    return prepared("Tensor x, Tensor w", body).find(layer) != std::string::npos;
  };
  EXPECT_TRUE(has_layer("    v = x.pow(2).mean(-1, True)\n    return x * rsqrt(v + 1e-06)\n"));
  EXPECT_FALSE(has_layer("    v = x.pow(2).mean(-1, True)\n    return x * rsqrt(v + 1e-06) + v\n"));
  EXPECT_FALSE(
      has_layer("    gap = x - x.mean(-1, True)\n"
                "    return gap / (gap.pow(2).mean(-1, True) + 1e-05).sqrt() + gap\n",
                "_layer_norm_layer"));
  EXPECT_FALSE(
      has_layer("    gap = x - x.mean(-1, True)\n    if w.dim() == 1 {\n        w = gap\n    }\n"
                "    return gap / (gap.pow(2).mean(-1, True) + 1e-05).sqrt() + w\n",
                "_layer_norm_layer"));
  EXPECT_FALSE(
      has_layer("    gap = x - x.mean(-1, True)\n    if w.dim() == 1 {\n        gap = w\n    }\n"
                "    return gap / (gap.pow(2).mean(-1, True) + 1e-05).sqrt()\n",
                "_layer_norm_layer"));
}

TEST(PreparationOfNorms, WhatIsWrittenBetweenStays) {
  const auto has_layer = [](const std::string& body) {
    return prepared("Tensor x, Tensor w", body).find("_norm_layer") != std::string::npos;
  };
  EXPECT_FALSE(has_layer("    v = x.pow(2).mean(-1, True)\n    x = x + 1\n    return x * rsqrt(v + 1e-06)\n"));
  EXPECT_FALSE(has_layer("    v = x.pow(2).mean(-1, True)\n    x.add_(1)\n    return x * rsqrt(v + 1e-06)\n"));
  EXPECT_FALSE(has_layer("    v = x.pow(2).mean(-1, True)\n    w.add_(1)\n    return x * rsqrt(v + 1e-06)\n"));
  EXPECT_FALSE(
      has_layer("    gap = x - x.mean(-1, True)\n    v = gap.pow(2).mean(-1, True)\n"
                "    gap.mul_(2)\n    return gap / (v + 1e-05).sqrt()\n"));
  // The result of a call in place has the shape of its first operand.
  EXPECT_FALSE(has_layer("    r = (x.pow(2).mean(-1, True) + 1e-06).rsqrt()\n    r.mul_(x)\n    return r\n"));
  EXPECT_FALSE(has_layer("    return x * rsqrt(x.pow(2).mean(-2, True) + 1e-06)\n"));
  EXPECT_FALSE(has_layer("    return x * rsqrt(w.pow(2).mean(-1, True) + 1e-06)\n"));
  EXPECT_FALSE(has_layer("    return x * rsqrt(x.pow(2).mean(-1, False) + 1e-06)\n"));
}

// What the layers of fused.ops do with tensors for which no operator stands.
TEST(PreparationOfNorms, LayersAreWhatTheyStandFor) {
  Program program = Program::compile(
      "import \"fused.ops\"\n"
      "fn rms(Tensor x, Tensor w) -> Tensor { return x * (x.pow(2).mean(-1, True) + 1e-6).rsqrt() * w }\n"
      "fn norm(Tensor x, Tensor w) -> Tensor {\n"
      "    gap = x - x.mean(-1, True)\n"
      "    return gap / (gap.pow(2).mean(-1, True) + 1e-6).sqrt() * w + w\n}\n"
      "fn soft(Tensor x) -> Tensor {\n"
      "    e = (x - x.amax(-1, True)).exp()\n"
      "    return e / e.sum(-1, True)\n}\n"
      "fn check(Tensor a, Tensor b) -> () {\n"
      "    assert a.dtype == b.dtype and a.shape == b.shape\n"
      "    assert a.sym_is_contiguous() == b.sym_is_contiguous()\n"
      "    assert allclose(a, b, 1e-5, 1e-6)\n}\n"
      "x = randn(6, 8)\n"
      "for a, b in [(x, randn(8)), (x.t(), randn(6)), (x, randn(6, 8)), (x, randn(1)), (x.to(float64), randn(8)),\n"
      "             (x, randn(8).to(float64)), (x.to(bfloat16), randn(8)), (x[0], randn(3, 8)), (x, tensor(2.0))] {\n"
      "    check(fused_rms_norm_layer(a, 1e-6, b), rms(a, b))\n"
      "    check(fused_layer_norm_layer(a, 1e-6, b, b), norm(a, b))\n"
      "    check(fused_softmax_layer(a, [-1]), soft(a))\n}\n"
      "check(fused_softmax_layer(tensor([[1, 2]]), [1]), soft(tensor([[1, 2]])))\n",
      "test.ops");
  program.run();
}

}  // namespace
}  // namespace boxcar
