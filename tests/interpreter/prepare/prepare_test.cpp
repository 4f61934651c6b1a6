// What the preparation of programs makes of scripts, as text.

#include <boxcar/interpreter/session/prepared_program.h>
#include <boxcar/interpreter/session/program.h>
#include <boxcar/interpreter/syntax/diagnostic.h>
#include <boxcar/ops.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/interpreter/prepare/prepared_script.h"
#include "tests/temporary_folder.h"
#include "tests/test_support.h"

namespace boxcar {
namespace {

// Without the lines that convert images.
std::string preparedLayers(const std::string& body) {
  std::string text = prepared("Tensor x, Dict(str, Tensor) net", body);
  const std::string line = "    x = to_channels_last(x)\n";
  if (text.starts_with(line)) text.erase(0, line.size());
  return text;
}

// ---- Layers ----

TEST(Preparation, ANormASumAndAnActivationBecomePartOfTheConvolution) {
  EXPECT_EQ(preparedLayers("    y = conv2d_layer(x, net, \"c\", padding=1)\n"
                           "    y = batch_norm_layer(y, net, \"n\", training=False)\n"
                           "    y = (y + x).relu()\n"
                           "    return y.sum() + y.mean() + linear_layer(y, net, \"fc\")\n"),
            "    y = fused_conv2d_layer(x, net, \"c\", norm=\"n\", padding=1, add=x, activation=\"relu\")\n"
            "    return fused_linear_layer(y, net, \"fc\", add=y.sum() + y.mean())\n");
}

TEST(Preparation, InPlaceCallsOnNewTensorsCountAsTheirOtherForms) {
  EXPECT_EQ(preparedLayers("    y = conv2d_layer(x, net, \"c\")\n"
                           "    y = batch_norm_layer(y, net, \"n\", training=False).relu_()\n"
                           "    y.hardtanh_(0.0, 6.0)\n"
                           "    return linear_layer(y, net, \"fc\")\n"),
            "    y = fused_conv2d_layer(x, net, \"c\", norm=\"n\", activation=\"relu\")\n"
            "    y.hardtanh_(0.0, 6.0)\n"
            "    return fused_linear_layer(y, net, \"fc\")\n");
  EXPECT_EQ(preparedLayers("    y = conv2d_layer(x, net, \"c\", groups=4)\n"
                           "    y.hardtanh_(min_val=0.0, max_val=6.0)\n"
                           "    return linear_layer(y, net, \"fc\")\n"),
            "    y = fused_conv2d_layer(x, net, \"c\", groups=4, activation=\"clamp\", parameters=[0.0, 6.0])\n"
            "    return fused_linear_layer(y, net, \"fc\")\n");
}

TEST(Preparation, ASumThatIsWrittenInPlaceSetsTheVariable) {
  EXPECT_EQ(preparedLayers("    y = linear_layer(x, net, \"a\")\n"
                           "    y += x\n"
                           "    y.tanh_()\n"
                           "    return y\n"),
            "    y = fused_linear_layer(x, net, \"a\", add=x, activation=\"tanh\")\n"
            "    return y\n");
}

TEST(Preparation, OperatorsAreFusedAsLayersAre) {
  EXPECT_EQ(prepared("Tensor x, Tensor w, Tensor b", "    return x + linear(x, w, b).gelu(approximate=\"tanh\")\n"),
            "    return x + fused::linear(x, w, b, activation=\"gelu_tanh\")\n");
  EXPECT_EQ(prepared("Tensor x, Tensor w, Tensor b", "    return addmm(b, x, w)\n"),
            "    return fused::linear(x, w.t(), b)\n");
  EXPECT_EQ(prepared("Tensor x, Tensor w, int step",
                     "    assert step > 0\n    return conv2d(x, w, stride=step).silu().sum()\n"),
            "    x = to_channels_last(x)\n"
            "    assert step > 0\n"
            "    return to_channels_first(\n"
            "        fused::convolution(\n"
            "            x,\n"
            "            w,\n"
            "            stride=[step, step],\n"
            "            padding=[0, 0],\n"
            "            dilation=[1, 1],\n"
            "            activation=\"silu\",\n"
            "        ).sum(),\n"
            "    )\n");
}

// ---- Attention ----

TEST(Preparation, AttentionWrittenByHandIsOneLayer) {
  const auto attention = [](const std::string& body) {
    return prepared("Tensor q, Tensor k, Tensor v, Tensor m", body);
  };
  EXPECT_EQ(attention("    return softmax(q @ k.transpose(-2, -1) * 0.125, -1) @ v\n"),
            "    return fused_attention_layer(q, k.transpose(-2, -1), v, scale=0.125)\n");
  EXPECT_EQ(attention("    scores = q @ k.mT() / math::sqrt(q.size(-1))\n"
                      "    scores += m\n"
                      "    weights = dropout(scores.softmax(dim=-1), 0.1, False)\n"
                      "    return weights @ v\n"),
            "    return fused_attention_layer(q, k.mT(), v, divisor=math::sqrt(q.size(-1)), mask=m)\n");
  EXPECT_EQ(attention("    return dropout((m + q @ k / 8).softmax(-1), 0.0, True).matmul(v)\n"),
            "    return fused_attention_layer(q, k, v, divisor=8, mask=m)\n");
  EXPECT_EQ(attention("    return softmax(q.bmm(k.transpose(1, 2)), -1).bmm(v)\n"),
            "    return fused_attention_layer(q, k.transpose(1, 2), v)\n");
  // Not over the keys, or read elsewhere.
  expectUnchanged("Tensor q, Tensor k, Tensor v", "    return softmax(q @ k, -2) @ v\n");
  expectUnchanged("Tensor q, Tensor k, Tensor v", "    w = softmax(q @ k, -1)\n    return w @ v + w.sum()\n");
  expectUnchanged("Tensor q, Tensor k, Tensor v", "    return dropout(softmax(q @ k, -1), 0.1, True) @ v\n");
}

TEST(Preparation, AttentionGivesWhatItGaveByHandForAllSizesAndMasks) {
  Program program = Program::compile(
      "fn f(Tensor q, Tensor k, Tensor v, Tensor m) -> Tensor {\n"
      "    return softmax(q @ k.transpose(-2, -1) / q.dim() + m, -1) @ v\n}\n"
      "fn g(Tensor q, Tensor k, Tensor v) -> Tensor {\n    return softmax(q @ k.mT() * 0.0, -1) @ v\n}\n"
      "fn h(Tensor q, Tensor k, Tensor v) -> Tensor {\n    return softmax(q @ k.mT() / 0, -1) @ v\n}\n",
      "test.ops");
  const auto resultsOf = [&program](const std::vector<Tensor>& tensors) {
    std::vector<Tensor> results;
    for (const char* name : {"f", "g", "h"}) {
      Stack stack;
      for (const Tensor& tensor : tensors) {
        if (name[0] == 'f' || stack.size() < 3) push(stack, tensor);
      }
      program.function(name).call(stack);
      results.push_back(pop(stack).toTensor());
    }
    return results;
  };
  const std::vector<Tensor> mask = {boxcar::randn({5, 7}), boxcar::randn({2, 1, 1, 5, 7}),
                                    boxcar::ge(boxcar::randn({1, 7}), 0)};
  std::vector<std::vector<Tensor>> cases;
  for (const Tensor& each : mask) {
    cases.push_back({boxcar::randn({3, 5, 8}), boxcar::randn({3, 7, 8}), boxcar::randn({3, 7, 6}), each});
    cases.push_back({boxcar::randn({5, 8}), boxcar::randn({3, 7, 8}), boxcar::randn({7, 6}), each});
  }
  cases.push_back({boxcar::randn({8}), boxcar::randn({7, 8}), boxcar::randn({7, 6}), boxcar::randn({7})});
  std::vector<std::vector<Tensor>> before;
  for (const auto& each : cases) before.push_back(resultsOf(each));
  program.prepare();
  for (size_t i = 0; i < cases.size(); ++i) {
    const std::vector<Tensor> after = resultsOf(cases[i]);
    for (size_t k = 0; k < after.size(); ++k) {
      EXPECT_TRUE(boxcar::allclose(before[i][k], after[k], 1e-4, 1e-5, /*equal_nan=*/true)) << i << " " << k;
    }
  }
}

// ---- What stays ----

TEST(Preparation, AValueThatIsReadTwiceStays) {
  EXPECT_EQ(preparedLayers("    y = linear_layer(x, net, \"a\")\n    return y.relu() @ y\n"),
            "    y = fused_linear_layer(x, net, \"a\")\n    return y.relu() @ y\n");
}

TEST(Preparation, AnInPlaceCallOnWhatOthersSeeStays) {
  expectUnchanged("Tensor x, Tensor y", "    x.mul_(y).add_(y)\n    return x\n");
  EXPECT_EQ(preparedLayers("    z = x[0]\n    z.add_(linear_layer(x, net, \"a\"))\n    return x\n"),
            "    z = x[0]\n    z.add_(fused_linear_layer(x, net, \"a\"))\n    return x\n");
}

TEST(Preparation, NothingMovesPastAWriteToWhatItReads) {
  EXPECT_EQ(preparedLayers("    y = linear_layer(x, net, \"a\")\n"
                           "    x.zero_()\n"
                           "    return y.relu()\n"),
            "    y = fused_linear_layer(x, net, \"a\")\n    x.zero_()\n    return y.relu()\n");
  EXPECT_EQ(preparedLayers("    y = linear_layer(x, net, \"a\")\n"
                           "    x = x * 2\n"
                           "    return y.relu() @ x\n"),
            "    y = fused_linear_layer(x, net, \"a\")\n    x = x * 2\n    return y.relu() @ x\n");
  EXPECT_EQ(preparedLayers("    y = linear_layer(x, net, \"a\")\n"
                           "    net[\"a.weight\"] = x\n"
                           "    return y.relu()\n"),
            "    y = fused_linear_layer(x, net, \"a\")\n    net[\"a.weight\"] = x\n    return y.relu()\n");
}

TEST(Preparation, OperandsThatWriteOrDrawKeepTheirOrder) {
  expectUnchanged("Tensor x", "    return x * 7 + x.add_(1).sin()\n");
  expectUnchanged("Tensor x", "    return x * 7 + randn(2) * rand(2)\n");
  EXPECT_EQ(prepared("Tensor x, Tensor w", "    return relu(linear(x, w) + x.add_(1))\n"),
            "    return relu(fused::linear(x, w) + x.add_(1))\n");
  // Nobody sees what is written to a new tensor.
  EXPECT_EQ(prepared("Tensor x, Tensor w", "    return linear(x.exp().add_(1), w).relu()\n"),
            "    return fused::linear(fused::pointwise(\"exp(a) + 1\", [x]), w, activation=\"relu\")\n");
}

TEST(Preparation, ANormInTrainingStays) {
  EXPECT_EQ(preparedLayers("    y = conv2d_layer(x, net, \"c\")\n"
                           "    y = batch_norm_layer(y, net, \"n\", training=True)\n"
                           "    return linear_layer(y, net, \"fc\")\n"),
            "    y = fused_conv2d_layer(x, net, \"c\")\n"
            "    y = batch_norm_layer(y, net, \"n\", training=True)\n"
            "    return fused_linear_layer(y, net, \"fc\")\n");
}

TEST(Preparation, WhatALoopOrABranchSetsStays) {
  EXPECT_EQ(preparedLayers("    y = linear_layer(x, net, \"a\")\n"
                           "    if x.dim() > 2 {\n        y = x\n    }\n"
                           "    return y.relu()\n"),
            "    y = fused_linear_layer(x, net, \"a\")\n"
            "    if x.dim() > 2 {\n        y = x\n    }\n"
            "    return y.relu()\n");
  EXPECT_EQ(preparedLayers("    y = linear_layer(x, net, \"a\")\n"
                           "    for i in range(2) {\n        y = y.relu()\n    }\n"
                           "    return y\n"),
            "    y = fused_linear_layer(x, net, \"a\")\n"
            "    for i in range(2) {\n        y = y.relu()\n    }\n"
            "    return y\n");
}

TEST(Preparation, NothingMovesIntoTheConditionOfALoop) {
  EXPECT_EQ(preparedLayers("    y = linear_layer(x, net, \"a\")\n"
                           "    while y.relu().sum().item() > 0 {\n        x.sub_(1)\n    }\n"
                           "    return x\n"),
            "    y = fused_linear_layer(x, net, \"a\")\n"
            "    while y.relu().sum().item() > 0 {\n        x.sub_(1)\n    }\n"
            "    return x\n");
}

TEST(Preparation, AScriptWithFunctionsOfTheNamesOfLayersStays) {
  const std::string script =
      "fn fused_linear_layer(Tensor x) -> Tensor { return x }\n"
      "fn f(Tensor x, Tensor w) -> Tensor { return linear(x, w).relu() }\n";
  EXPECT_EQ(preparedScript(script, "test.ops"), script);
}

TEST(Preparation, StatementsOfOneLineAndMethodsAreFused) {
  EXPECT_EQ(preparedScript("struct Layer {\n    Tensor w\n\n    fn forward(self, Tensor x) -> Tensor {\n"
                           "        y = linear(x, self.w); return y.relu()\n    }\n}\n",
                           "test.ops"),
            "struct Layer {\n    Tensor w\n\n    fn forward(self, Tensor x) -> Tensor {\n"
            "        return fused::linear(x, self.w, activation=\"relu\")\n    }\n}\n");
}

TEST(Preparation, LayersWithinLoopsAreFused) {
  EXPECT_EQ(preparedLayers("    for i in range(2) {\n"
                           "        y = linear_layer(x, net, f\"a.{i}\")\n"
                           "        x = y.relu()\n"
                           "        y = x\n"
                           "    }\n"
                           "    return x\n"),
            "    for i in range(2) {\n"
            "        x = fused_linear_layer(x, net, f\"a.{i}\", activation=\"relu\")\n"
            "        y = x\n"
            "    }\n"
            "    return x\n");
}

TEST(Preparation, CommentsInWhatIsReplacedComeBeforeIt) {
  EXPECT_EQ(preparedLayers("    y = linear_layer(  # the first\n        x, net, \"a\"\n    )  # stays\n"
                           "    y = relu(\n        y  # the second\n    )\n"
                           "    return y @ linear_layer(x, net, \"b\")  # the last\n"),
            "    # the first\n    # stays\n    # the second\n"
            "    y = fused_linear_layer(x, net, \"a\", activation=\"relu\")\n"
            "    return y @ fused_linear_layer(x, net, \"b\")  # the last\n");
}

// ---- Groups of pointwise operators ----

TEST(Preparation, PointwiseOperatorsInARowAreOneCall) {
  EXPECT_EQ(prepared("Tensor x",
                     "    y = x * 0.5\n"
                     "    return y * (((x + x ** 3.0 * 0.044715) * 0.79788).tanh() + 1.0)\n"),
            "    return fused::pointwise(\"a * 0.5 * (tanh((a + a ** 3.0 * 0.044715) * 0.79788) + 1.0)\", [x])\n");
  EXPECT_EQ(prepared("Tensor x, Tensor y", "    return (x - (y - x)) / -(y * 2) ** 2\n"),
            "    return fused::pointwise(\"(a - (b - a)) / -(b * 2) ** 2\", [x, y])\n");
}

TEST(Preparation, NumbersThatStandForTensorsAreNumbers) {
  EXPECT_EQ(prepared("Tensor x", "    return 1 / x + 1\n"), "    return fused::pointwise(\"1 / a + 1\", [x])\n");
  EXPECT_EQ(prepared("Tensor x, float by", "    return by / x + 1\n"), "    return by / x + 1\n");
  EXPECT_EQ(prepared("Tensor x, Tensor w", "    return 2 + linear(x, w).relu()\n"),
            "    return 2 + fused::linear(x, w, activation=\"relu\")\n");
}

TEST(Preparation, AReductionEndsAGroup) {
  EXPECT_EQ(prepared("Tensor x, Tensor y", "    gap = x - y\n    return (gap ** 2).mean()\n"),
            "    return fused::pointwise_reduce(\"mean\", \"(a - b) ** 2\", [x, y])\n");
  EXPECT_EQ(
      prepared("Tensor x, Tensor y, int d", "    return (x * y).sum([d], True) + x.abs().amax(-1)\n"),
      "    return fused::pointwise_reduce(\n        \"sum\",\n        \"a * b\",\n        [x, y],\n        dim=d,\n"
      "        keepdim=True,\n    ) + fused::pointwise_reduce(\"amax\", \"abs(a)\", [x], dim=-1)\n");
  // With a dtype, of what is read elsewhere, or of no operator.
  expectUnchanged("Tensor x", "    return (x * x).sum(dtype=float64)\n");
  expectUnchanged("Tensor x", "    y = x * x\n    return y.sum() * y\n");
  expectUnchanged("Tensor x", "    return x.sum().add(1)\n");
}

TEST(Preparation, APointwiseOperatorAloneStays) {
  expectUnchanged("Tensor x, Tensor y", "    return x * y\n");
  expectUnchanged("Tensor x, float by", "    return x * by + 1\n");
  expectUnchanged("Tensor x, Tensor y", "    z = x * y\n    return (z + 1).cumsum(0) + z.cumsum(0)\n");
}

// ---- Formats ----

TEST(Preparation, ImagesAreConvertedAtTheEdgesOfTheProgram) {
  const std::string text = preparedScript(
      std::string(kImports) +
          "fn block(Tensor x, Dict(str, Tensor) net) -> Tensor {\n    return conv2d_layer(x, net, \"c\")\n}\n\n"
          "fn forward(Tensor x, Dict(str, Tensor) net) -> Tensor {\n"
          "    check_input(x, \"x\", float32, [1, 2, 8, 8])\n    return block(x, net)\n}\n",
      "test.ops");
  EXPECT_NE(text.find("    check_input(x, \"x\", float32, [1, 2, 8, 8])\n"
                      "    x = to_channels_last(x)\n"
                      "    return to_channels_first(block(x, net))\n"),
            std::string::npos)
      << text;
}

TEST(Preparation, AProgramThatMakesViewsByStridesKeepsItsFormat) {
  EXPECT_EQ(prepared("Tensor x, Dict(str, Tensor) net", "    return conv2d_layer(x, net, \"c\").view(x.size(0), -1)\n"),
            "    return fused_conv2d_layer(x, net, \"c\").view(x.size(0), -1)\n");
}

TEST(Preparation, AProgramThatWritesToItsArgumentsKeepsItsFormat) {
  EXPECT_EQ(
      prepared("Tensor x, Dict(str, Tensor) net", "    y = conv2d_layer(x, net, \"c\")\n    x.add_(1)\n    return y\n"),
      "    y = fused_conv2d_layer(x, net, \"c\")\n    x.add_(1)\n    return y\n");
}

TEST(Preparation, AProgramThatWritesToViewsKeepsItsFormat) {
  EXPECT_EQ(prepared("Tensor x, Dict(str, Tensor) net",
                     "    y = conv2d_layer(x, net, \"c\")\n    z = y.flatten(1)\n    z.zero_()\n    return y\n"),
            "    y = fused_conv2d_layer(x, net, \"c\")\n    z = y.flatten(1)\n    z.zero_()\n    return y\n");
}

TEST(Preparation, OnlyFunctionsWithConvolutionsConvertAndWeightsStay) {
  const std::string text = preparedScript(
      "fn pick(Tensor x) -> Tensor {\n    return x\n}\n\n"
      "fn f(Tensor x, Tensor w) -> Tensor {\n    return conv2d(x, w)\n}\n",
      "test.ops");
  EXPECT_NE(text.find("fn pick(Tensor x) -> Tensor {\n    return x\n}\n"), std::string::npos) << text;
  EXPECT_NE(text.find("fn f(Tensor x, Tensor w) -> Tensor {\n    x = to_channels_last(x)\n    return"),
            std::string::npos)
      << text;
}

TEST(Preparation, APreparedProgramIsPreparedAlready) {
  const std::string once = preparedScript(std::string(kImports) +
                                              "fn forward(Tensor x, Dict(str, Tensor) net) -> Tensor {\n"
                                              "    return (conv2d_layer(x, net, \"c\") * 2 + 1).relu()\n}\n",
                                          "test.ops");
  EXPECT_EQ(preparedScript(once, "test.ops"), once);
}

TEST(Preparation, AScriptThatNothingCanBeDoneForStaysAsItIs) {
  const std::string script = "fn f(Tensor x) -> Tensor { return x+1 }  # a comment\n";
  EXPECT_EQ(preparedScript(script, "test.ops"), script);
}

// ---- Programs ----

TEST(Preparation, OfAProgramKeepsItsResultsAndItsConstants) {
  Program program = Program::compile(
      "import \"nn.ops\"\n"
      "const net = {\"c.weight\": ones(4, 3, 3, 3), \"c.bias\": ones(4)}\n"
      "op prepared::twice(Tensor x) -> Tensor { return x * 2 }\n"
      "fn forward(Tensor x) -> Tensor { return prepared::twice(conv2d_layer(x, net, \"c\").relu()) }\n",
      "test.ops");
  const auto resultOf = [&program] {
    program.run();
    Stack stack;
    push(stack, boxcar::ones({1, 3, 5, 5}));
    program.function("forward").call(stack);
    return pop(stack).toTensor();
  };
  const Tensor before = resultOf();
  program.prepare();
  const Tensor after = resultOf();
  EXPECT_TRUE(boxcar::allclose(before, after));
  EXPECT_TRUE(after.is_contiguous());
  const Program::Function held = program.function("forward");
  program.prepare();  // nothing is left to do
}

TEST(Preparation, OfAProgramLeavesTheFunctionsThatAreHeld) {
  Program program = Program::compile(
      "import \"nn.ops\"\n"
      "op prepared::once(Tensor x) -> Tensor { return x * 2 }\n"
      "fn forward(Tensor x) -> Tensor { return prepared::once(linear_layer(x, {\"c.weight\": ones(2, 3)}, "
      "\"c\").relu()) }\n",
      "test.ops");
  const Program::Function held = program.function("forward");
  program.prepare();
  const Program::Function prepared = program.function("forward");
  for (const Program::Function* each : {&held, &prepared}) {
    Stack stack;
    push(stack, boxcar::ones({1, 3}));
    each->call(stack);
    EXPECT_TRUE(boxcar::allclose(pop(stack).toTensor(), boxcar::full({1, 2}, 6.0)));
  }
}

class PreparationOfImports : public testing::Test {
 protected:
  // Returns what function f of the program gives for 2.
  static double resultOf(const Program& program) {
    Stack stack;
    push(stack, boxcar::full({1, 2}, 2.0));
    program.function("f").call(stack);
    return boxcar::item(boxcar::sum(pop(stack).toTensor())).toDouble();
  }

  // It stays until the process ends: another file with the number of one that was imported could not be written.
  static TemporaryFolder& keptFolder() {
    static TemporaryFolder folder;
    return folder;
  }
  TemporaryFolder& folder_ = keptFolder();
};

TEST_F(PreparationOfImports, OtherProgramsKeepTheirs) {
  folder_.write("lower.ops",
                "struct Weight {\n    Tensor w\n}\nfn lower(Tensor x, Weight w) -> Tensor {\n"
                "    return linear(x, w.w).relu()\n}\n");
  folder_.write("upper.ops",
                "import \"lower.ops\"\nfn upper(Tensor x) -> Tensor {\n"
                "    return lower(x, Weight(ones(3, 2)))\n}\n");
  const std::string text =
      "import \"upper.ops\"\nimport \"lower.ops\"\n"
      "fn f(Tensor x) -> Tensor {\n    return upper(x) + lower(x, Weight(ones(3, 2)))\n}\n";
  const std::string name = folder_ / "main.ops";
  const interp::PreparedScript prepared = interp::prepareScript(text, name);
  EXPECT_EQ(prepared.text, text);
  ASSERT_EQ(prepared.imports.size(), 2u);  // upper.ops imports one that has changed
  Program program = Program::compile(text, name);
  const Program other = Program::compile(text, name);
  program.prepare();
  EXPECT_EQ(resultOf(program), 24.0);
  EXPECT_EQ(resultOf(other), 24.0);
}

TEST_F(PreparationOfImports, FilesWithOperatorsAndWhatTheyImportStay) {
  const std::string lower = "fn lower(Tensor x) -> Tensor {\n    return linear(x, ones(3, 2)).relu()\n}\n";
  folder_.write("lower.ops", lower);
  folder_.write("upper.ops",
                "import \"lower.ops\"\nop prepared::upper(Tensor x) -> Tensor {\n"
                "    return lower(x)\n}\n");
  const std::string text =
      "import \"upper.ops\"\nimport \"lower.ops\"\n"
      "fn f(Tensor x) -> Tensor {\n    return prepared::upper(x) + lower(x)\n}\n";
  EXPECT_TRUE(interp::prepareScript(text, folder_ / "main.ops").imports.empty());
  Program program = Program::compile(text, folder_ / "main.ops");
  program.prepare();
  EXPECT_EQ(resultOf(program), 24.0);
}

TEST_F(PreparationOfImports, AProgramWhoseImportsMakeViewsByStridesKeepsItsFormat) {
  folder_.write("head.ops", "fn head(Tensor x) -> Tensor {\n    return x.view(x.size(0), -1)\n}\n");
  const std::string text =
      "import \"head.ops\"\nfn f(Tensor x, Tensor w) -> Tensor {\n    return head(conv2d(x, w))\n}\n";
  const std::string prepared = preparedScript(text, folder_ / "main.ops");
  EXPECT_EQ(prepared.find("to_channels_last"), std::string::npos) << prepared;
}

TEST(Preparation, ThatFailsLeavesTheProgram) {
  Program program = Program::compile(
      "op prepared::thrice(Tensor x) -> Tensor { return x * 3 }\n"
      "fn forward(Tensor x) -> Tensor { return prepared::thrice(x) }\n",
      "test.ops");
  expectError([&] { program.prepare({"missing.ops"}); }, "missing.ops: cannot be opened: No such file or directory");
  Stack stack;
  push(stack, boxcar::ones({2}));
  program.function("forward").call(stack);
  EXPECT_TRUE(boxcar::allclose(pop(stack).toTensor(), boxcar::full({2}, 3.0)));
}

}  // namespace
}  // namespace boxcar
