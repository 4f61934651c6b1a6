#include <boxcar/backends/autograd/autograd.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/dispatcher/call/grad_mode.h>
#include <boxcar/ivalue/default_generators.h>
#include <boxcar/ivalue/weak_ptr.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "tests/backends/tensor_helpers.h"

namespace boxcar {
namespace {

using Optional = std::optional<Tensor>;

// The arguments of fused::convolution, with its defaults.
struct Conv {
  Tensor input, weight;
  Optional bias{}, norm_weight{}, norm_bias{}, running_mean{}, running_var{};
  double eps = 1e-5;
  std::vector<int64_t> stride{1}, padding{0}, dilation{1};
  int64_t groups = 1;
  Optional add{};
  std::string activation = "none";
  std::vector<double> parameters{};

  Tensor fused() const {
    return fused::convolution(input, weight, bias, norm_weight, norm_bias, running_mean, running_var, eps, stride,
                              padding, dilation, groups, add, activation, parameters);
  }
  Tensor apart() const;
};

Tensor activatedApart(const Tensor& x, std::string_view name, const std::vector<double>& parameters) {
  if (name == "relu") return relu(x);
  if (name == "clamp") return clamp(x, parameters[0], parameters[1]);
  if (name == "leaky_relu") return leaky_relu(x, parameters[0]);
  if (name == "elu") return elu(x, parameters[0]);
  if (name == "sigmoid") return sigmoid(x);
  if (name == "tanh") return tanh(x);
  if (name == "silu") return silu(x);
  if (name == "hardswish") return hardswish(x);
  if (name == "hardsigmoid") return hardsigmoid(x);
  if (name == "gelu") return gelu(x);
  if (name == "gelu_tanh") return gelu(x, "tanh");
  EXPECT_EQ(name, "none");
  return x;
}

Tensor Conv::apart() const {
  Tensor y = convolution(input, weight, bias, stride, padding, dilation, false, {0}, groups);
  if (running_mean.has_value()) {
    y = batch_norm(y, norm_weight, norm_bias, running_mean, running_var, false, 0.1, eps, false);
  }
  if (add.has_value()) y = boxcar::add(y, *add);
  return activatedApart(y, activation, parameters);
}

const std::vector<std::pair<std::string, std::vector<double>>> kAllActivations = {
    {"none", {}}, {"relu", {}}, {"clamp", {-0.5, 1.5}}, {"leaky_relu", {0.1}}, {"elu", {1.3}}, {"sigmoid", {}},
    {"tanh", {}}, {"silu", {}}, {"hardswish", {}},      {"hardsigmoid", {}},   {"gelu", {}},   {"gelu_tanh", {}}};

// The largest difference relative to the largest element; infinite if shapes, layouts or dtypes differ.
double difference(const Tensor& a, const Tensor& b) {
  if (shapeText(a) != shapeText(b) || stridesOf(a) != stridesOf(b)) {
    ADD_FAILURE() << shapeText(a) << " and " << shapeText(b);
    return 1e9;
  }
  if (a.numel() == 0) return 0;
  const auto wide = [](const Tensor& x) { return to(x, ScalarType::Double); };
  const auto largest = [](const Tensor& x) { return elements<double>(amax(abs(x)))[0]; };
  return largest(sub(wide(a), wide(b))) / (largest(wide(b)) + 1e-30);
}

void expectSame(const Conv& conv, double tolerance = 1e-5) {
  EXPECT_LE(difference(conv.fused(), conv.apart()), tolerance);
  EXPECT_LE(difference(conv.fused(), conv.apart()), tolerance);  // with what the first call kept
}

Conv withNorm(Conv conv, bool is_affine = true) {
  const int64_t channels = conv.weight.sizes()[0];
  if (is_affine) {
    conv.norm_weight = randn({channels});
    conv.norm_bias = randn({channels});
  }
  conv.running_mean = randn({channels});
  conv.running_var = add(rand({channels}), 0.5);
  return conv;
}

Tensor channelsLast(const Tensor& x) { return contiguous(x, MemoryFormat::ChannelsLast); }

Conv imageConv(int64_t channels = 16, int64_t outputs = 32, int64_t kernel = 3) {
  Conv conv{randn({2, channels, 9, 10}), div(randn({outputs, channels, kernel, kernel}), 4), randn({outputs})};
  conv.padding = {kernel / 2};
  return conv;
}

TEST(FusedConvolution, IsWhatItStandsForInEachLayout) {
  manualSeed(1);
  for (const bool is_last : {false, true}) {
    for (const int64_t kernel : {1, 3}) {
      Conv conv = imageConv(16, 32, kernel);
      if (is_last) conv.input = channelsLast(conv.input);
      expectSame(conv);
      expectSame(withNorm(conv));
      expectSame(withNorm(conv, false));
      conv.add = randn({2, 32, 9, 10});
      conv.activation = "relu";
      expectSame(withNorm(conv));  // [add] is contiguous
      conv.add = channelsLast(*conv.add);
      expectSame(withNorm(conv));
      conv.bias.reset();
      expectSame(conv);
      expectSame(withNorm(conv));
      conv.weight = channelsLast(conv.weight);
      expectSame(withNorm(conv));
    }
  }
}

TEST(FusedConvolution, TakesEachActivation) {
  manualSeed(2);
  for (const auto& [name, parameters] : kAllActivations) {
    for (const bool is_last : {false, true}) {
      for (const int64_t kernel : {1, 3}) {
        SCOPED_TRACE(name);
        Conv conv = withNorm(imageConv(8, 24, kernel));
        conv.activation = name;
        conv.parameters = parameters;
        if (is_last) conv.input = channelsLast(conv.input);
        expectSame(conv);
        conv.add = is_last ? channelsLast(randn({2, 24, 9, 10})) : randn({2, 24, 9, 10});
        expectSame(conv);
      }
    }
  }
}

// So many channels and pixels go by another algorithm.
TEST(FusedConvolution, TakesManyChannels) {
  manualSeed(15);
  for (const int64_t batch : {1, 4}) {
    for (const bool is_last : {false, true}) {
      Conv conv{randn({batch, 64, 28, 28}), div(randn({96, 64, 3, 3}), 16), randn({96})};
      conv.padding = {1};
      if (is_last) conv.input = channelsLast(conv.input);
      expectSame(withNorm(conv));
      for (const std::string activation : {"relu", "silu"}) {
        conv.activation = activation;
        conv.add = randn({batch, 96, 28, 28});
        expectSame(withNorm(conv));
        if (is_last) conv.add = channelsLast(*conv.add);
        expectSame(withNorm(conv));
      }
    }
  }
}

// Channels are filled up to blocks of 16. The batches and sizes are those for which oneDNN chooses each layout of
// transformed kernels.
TEST(FusedConvolution, TakesManyChannelsThatAreNoMultipleOfABlock) {
  manualSeed(16);
  struct Sizes {
    int64_t batch, inputs, outputs, pixels;
  };
  for (const Sizes& sizes : {Sizes{1, 256, 250, 14}, Sizes{1, 70, 100, 56}, Sizes{8, 100, 70, 28}}) {
    Conv conv{randn({sizes.batch, sizes.inputs, sizes.pixels, sizes.pixels}),
              div(randn({sizes.outputs, sizes.inputs, 3, 3}), 16), randn({sizes.outputs})};
    conv.padding = {1};
    expectSame(conv);
    expectSame(withNorm(conv));
  }
}

TEST(FusedConvolution, TakesEachGeometry) {
  manualSeed(3);
  for (const bool is_last : {false, true}) {
    Conv conv = imageConv(16, 32, 3);
    if (is_last) conv.input = channelsLast(conv.input);
    conv.activation = "relu";
    conv.stride = {2, 1};
    expectSame(withNorm(conv));
    conv.dilation = {2};
    conv.padding = {2, 0};
    expectSame(withNorm(conv));
    conv.groups = 4;
    conv.weight = randn({32, 4, 3, 3});
    expectSame(withNorm(conv));
    conv.groups = 16;
    conv.weight = randn({16, 1, 3, 3});
    conv.bias.reset();
    expectSame(withNorm(conv));
    conv.stride = conv.dilation = conv.padding = {1};
    expectSame(withNorm(conv));
    conv.add = is_last ? channelsLast(randn({2, 16, 9, 10})) : randn({2, 16, 9, 10});
    expectSame(withNorm(conv));
    conv.groups = 1;
    conv.add.reset();
    conv.weight = randn({5, 16, 1, 3});
    conv.padding = {0, 1};
    expectSame(withNorm(conv));
  }
}

TEST(FusedConvolution, TakesSignalsAndVolumes) {
  manualSeed(4);
  Conv signal{randn({2, 8, 40}), randn({12, 8, 5}), randn({12})};
  signal.activation = "gelu";
  signal.stride = {2};
  expectSame(withNorm(signal));
  signal.add = randn({2, 12, 18});
  expectSame(withNorm(signal));
  Conv volume{randn({1, 4, 6, 7, 8}), randn({6, 4, 3, 3, 3}), randn({6})};
  volume.padding = {1, 0, 1};
  volume.activation = "silu";
  expectSame(withNorm(volume));
  volume.add = randn({1, 6, 6, 5, 8});
  expectSame(withNorm(volume));
}

TEST(FusedConvolution, TakesWhatOnlyTheSeparateOperatorsTake) {
  manualSeed(5);
  Conv conv = withNorm(imageConv());
  conv.activation = "relu";
  conv.add = randn({32, 1, 1});  // broadcasts
  expectSame(conv);
  conv.add.reset();
  conv.input = randn({0, 16, 9, 10});
  expectSame(conv);
  Conv wide = imageConv();
  for (Tensor* tensor : {&wide.input, &wide.weight, &*wide.bias}) *tensor = to(*tensor, ScalarType::Double);
  wide.activation = "tanh";
  expectSame(wide, 1e-12);
}

TEST(FusedConvolution, TakesBFloat16) {
  manualSeed(6);
  for (const bool is_last : {false, true}) {
    Conv conv = imageConv();
    if (is_last) conv.input = channelsLast(conv.input);
    for (Tensor* tensor : {&conv.input, &conv.weight, &*conv.bias}) *tensor = to(*tensor, ScalarType::BFloat16);
    conv.activation = "relu";
    expectSame(conv, 0.02);
    expectSame(withNorm(conv), 0.03);  // the norm's numbers are of float32
  }
}

// What is kept of a weight must not outlive what it was made from.
TEST(FusedConvolution, SeesWhatChanges) {
  manualSeed(7);
  Conv conv = withNorm(imageConv());
  conv.input = channelsLast(conv.input);
  expectSame(conv);
  mul_(conv.weight, 2);
  expectSame(conv);
  for (Optional* each : {&conv.bias, &conv.norm_weight, &conv.norm_bias, &conv.running_mean, &conv.running_var}) {
    add_(**each, 1);
    expectSame(conv);
    *each = add(**each, 1);  // another tensor
    expectSame(conv);
  }
  conv.eps = 0.1;
  expectSame(conv);
  set_(conv.weight, randn({32, 16, 3, 3}));  // the same tensor with another storage
  expectSame(conv);
  // Other tensors get the same memory.
  for (int i = 0; i < 20; ++i) {
    conv.weight = Tensor();
    conv.weight = randn({32, 16, 3, 3});
    conv.running_mean.reset();
    conv.running_mean = randn({32});
    expectSame(conv);
  }
  // Different parts of one storage.
  const Tensor both = randn({64, 16, 3, 3});
  for (const int64_t first : {0, 32, 0, 16}) {
    conv.weight = narrow(both, 0, first, 32);
    expectSame(conv);
  }
  conv.weight = transpose(randn({16, 32, 3, 3}), 0, 1);
  expectSame(conv);
  const Tensor all = randn({1000});
  conv.bias = narrow(all, 0, 5, 32);
  conv.running_mean = slice(all, 0, 100, 164, 2);
  expectSame(conv);
}

// The copies of more parts than a storage has room for are dropped.
TEST(FusedConvolution, TakesManyPartsOfOneStorage) {
  manualSeed(16);
  const Tensor all = randn({16 * 16 * 9 + 400});
  Conv conv{randn({1, 16, 6, 6}), Tensor()};
  for (int64_t first = 0; first < 400; first += 2) {
    conv.weight = view(narrow(all, 0, first, 16 * 16 * 9), {16, 16, 3, 3});
    ASSERT_LE(difference(conv.fused(), conv.apart()), 1e-5) << first;
  }
}

// A weight and all others may lie in one storage, as those of a file do.
TEST(FusedConvolution, TakesAllFromOneStorage) {
  manualSeed(8);
  const Tensor all = add(rand({6000}), 0.5);
  Conv conv{randn({1, 16, 6, 6}), view(narrow(all, 0, 0, 32 * 16 * 9), {32, 16, 3, 3})};
  conv.bias = narrow(all, 0, 5000, 32);
  conv.running_mean = narrow(all, 0, 5100, 32);
  conv.running_var = narrow(all, 0, 5200, 32);
  expectSame(conv);
  add_(*conv.running_mean, 1);
  expectSame(conv);
}

TEST(FusedConvolution, KeepsWeightsOnlyWhileTheyLive) {
  Conv conv = withNorm(imageConv());
  conv.fused();
  const WeakIntrusivePtr<Object> kept(attachedTo(*conv.weight.storage()));
  if (kept.expired()) GTEST_SKIP() << "this build has no oneDNN";
  EXPECT_EQ(conv.weight.storage().use_count(), 1u);
  Tensor other = conv.weight.shallowCopy();
  conv.weight = Tensor();
  EXPECT_FALSE(kept.expired());
  other = Tensor();
  EXPECT_TRUE(kept.expired());
}

TEST(FusedConvolution, RunsOnSeveralThreadsAtOnce) {
  manualSeed(9);
  Conv conv = withNorm(imageConv());
  conv.input = channelsLast(conv.input);
  conv.activation = "relu";
  const Tensor expected = conv.apart();
  std::vector<std::thread> threads;
  std::vector<double> differences(4);
  for (size_t i = 0; i < differences.size(); ++i) {
    threads.emplace_back([&, i] {
      for (int repeat = 0; repeat < 50; ++repeat) {
        Conv own = conv;
        own.input = narrow(conv.input, 0, 0, 1 + repeat % 2);
        const Tensor wanted = narrow(expected, 0, 0, 1 + repeat % 2);
        differences[i] = std::max(differences[i], difference(own.fused(), wanted));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const double each : differences) EXPECT_LE(each, 1e-5);
}

TEST(FusedConvolution, HasTheGradientsOfTheSeparateOperators) {
  manualSeed(10);
  Conv conv = withNorm(imageConv(4, 6));
  conv.add = randn({2, 6, 9, 10});
  conv.activation = "silu";
  const std::vector<Tensor> inputs{conv.input, conv.weight, *conv.bias, *conv.norm_weight, *conv.norm_bias, *conv.add};
  conv.fused();  // keeps the weight before gradients are wanted
  for (const Tensor& input : inputs) input.set_requires_grad(true);
  const auto gradients = [&](const Tensor& y) { return autograd::grad({{sum(mul(y, y))}}, inputs); };
  const std::vector<Tensor> fused = gradients(conv.fused());
  const std::vector<Tensor> apart = gradients(conv.apart());
  for (size_t i = 0; i < inputs.size(); ++i) EXPECT_LE(difference(fused[i], apart[i]), 1e-6) << "input " << i;
  const NoGradGuard guard;
  EXPECT_FALSE(conv.fused().requires_grad());
  expectSame(conv);
}

TEST(FusedConvolution, HasShapesOnMeta) {
  Conv conv = withNorm(imageConv());
  conv.add = randn({2, 32, 9, 10});
  conv.activation = "relu";
  const Tensor real = conv.fused();
  for (Tensor* tensor : {&conv.input, &conv.weight, &*conv.bias, &*conv.norm_weight, &*conv.norm_bias,
                         &*conv.running_mean, &*conv.running_var, &*conv.add}) {
    *tensor = to(*tensor, std::nullopt, std::nullopt, Device("meta"));
  }
  const Tensor meta = conv.fused();
  EXPECT_TRUE(meta.is_meta());
  EXPECT_EQ(shapeText(meta), shapeText(real));
  EXPECT_EQ(stridesOf(meta), stridesOf(real));
}

TEST(FusedConvolution, ErrorsNameWhatIsWrong) {
  Conv conv = imageConv();
  conv.activation = "softmax";
  EXPECT_EQ(errorOf([&] { conv.fused(); }),
            "fused::convolution: there is no activation 'softmax'; there are none, relu, clamp [least, greatest], "
            "leaky_relu [slope], elu [alpha], sigmoid, tanh, silu, hardswish, hardsigmoid, gelu, gelu_tanh");
  conv.activation = "clamp";
  conv.parameters = {1};
  EXPECT_EQ(errorOf([&] { conv.fused(); }),
            "fused::convolution: activation 'clamp' takes 2 parameters, but got 1; activations and their parameters "
            "are none, relu, clamp [least, greatest], leaky_relu [slope], elu [alpha], sigmoid, tanh, silu, hardswish, "
            "hardsigmoid, gelu, gelu_tanh");
  conv = imageConv();
  conv.norm_bias = randn({32});
  EXPECT_EQ(errorOf([&] { conv.fused(); }),
            "fused::convolution: norm_bias belongs to a batch norm, which needs running_mean and running_var");
  conv.running_var = randn({32});
  EXPECT_EQ(errorOf([&] { conv.fused(); }),
            "fused::convolution: a batch norm needs both running_mean and running_var, but only running_var is given");
  conv = imageConv();
  conv.input = randn({1, 4, 5, 5});
  EXPECT_EQ(errorOf([&] { conv.fused(); }), errorOf([&] { conv.apart(); }));
  conv = imageConv();
  conv.add = randn({7});
  EXPECT_EQ(errorOf([&] { conv.fused(); }), errorOf([&] { conv.apart(); }));
}

Tensor linearApart(const Tensor& x, const Tensor& w, const Optional& bias, const Optional& added,
                   std::string_view activation, const std::vector<double>& parameters) {
  Tensor y = linear(x, w, bias);
  if (added.has_value()) y = add(y, *added);
  return activatedApart(y, activation, parameters);
}

TEST(FusedLinear, IsWhatItStandsFor) {
  manualSeed(11);
  for (const int64_t rows : {1, 2, 7, 49, 130}) {
    for (const bool is_transposed : {false, true}) {
      for (const auto& [name, parameters] : kAllActivations) {
        SCOPED_TRACE(name + " " + std::to_string(rows));
        const Tensor x = randn({rows, 48});
        const Tensor w = is_transposed ? t(randn({48, 40})) : randn({40, 48});
        for (const Optional& bias : {Optional(), Optional(randn({40}))}) {
          for (const Optional& added : {Optional(), Optional(randn({rows, 40}))}) {
            for (int repeat = 0; repeat < 2; ++repeat) {
              EXPECT_LE(difference(fused::linear(x, w, bias, added, name, parameters),
                                   linearApart(x, w, bias, added, name, parameters)),
                        1e-5);
            }
          }
        }
      }
    }
  }
}

// Few rows go by boxcar's own product or oneDNN's, whose choice depends on the layout, the size and the threads.
TEST(FusedLinear, TakesFewRowsAndLargeWeights) {
  manualSeed(17);
  const int before = cpu::threadCount();
  for (const int threads : {1, 2}) {
    cpu::setThreadCount(threads);
    for (const auto& [inputs, outputs] : {std::pair<int64_t, int64_t>{300, 700}, {700, 600}}) {
      for (const int64_t rows : {1, 2, 3, 4}) {
        const Tensor x = randn({rows, inputs});
        const Tensor added = randn({rows, outputs});
        const Tensor bias = randn({outputs});
        for (const Tensor& w : {randn({outputs, inputs}), t(randn({inputs, outputs}))}) {
          const Tensor product = mm(to(x, ScalarType::Double), t(to(w, ScalarType::Double)));
          const auto expect = [&](const Tensor& got, const Tensor& expected) {
            EXPECT_LE(difference(got, to(expected, ScalarType::Float)), 1e-5) << rows << " rows";
          };
          expect(mm(x, t(w)), product);
          expect(addmm(bias, x, t(w)), add(product, bias));
          expect(fused::linear(x, w), product);
          expect(fused::linear(x, w, bias), add(product, bias));
          expect(fused::linear(x, w, bias, added), add(add(product, bias), added));
          expect(fused::linear(x, w, std::nullopt, added), add(product, added));
        }
      }
    }
  }
  cpu::setThreadCount(before);
}

TEST(FusedLinear, TakesOtherShapesAndLayouts) {
  manualSeed(12);
  const auto same = [](const Tensor& x, const Tensor& w, const Optional& bias, const Optional& added,
                       double tolerance = 1e-5) {
    EXPECT_LE(difference(fused::linear(x, w, bias, added, "relu"), linearApart(x, w, bias, added, "relu", {})),
              tolerance);
  };
  const Tensor w = randn({20, 12});
  same(randn({12}), w, std::nullopt, std::nullopt);
  EXPECT_EQ(errorOf([&] { fused::linear(randn({}), w); }), errorOf([&] { linear(randn({}), w); }));
  same(randn({2, 3, 12}), w, randn({20}), randn({2, 3, 20}));
  same(randn({2, 3, 12}), w, randn({20}), randn({20}));
  same(transpose(randn({12, 5}), 0, 1), w, randn({20}), transpose(randn({20, 5}), 0, 1));
  same(randn({5, 12}), slice(randn({20, 24}), 1, 0, 24, 2), std::nullopt, std::nullopt);
  same(randn({5, 12}), narrow(randn({20, 24}), 1, 3, 12), std::nullopt, std::nullopt);
  same(randn({1, 12}), narrow(randn({20, 24}), 1, 3, 12), std::nullopt, std::nullopt);
  same(randn({5, 12}), expand(randn({1, 12}), {20, 12}), std::nullopt, std::nullopt);
  same(randn({5, 12}), w, slice(randn({40}), 0, 0, 40, 2), std::nullopt);
  same(randn({0, 12}), w, std::nullopt, std::nullopt);
  same(randn({5, 12}, ScalarType::Double), to(w, ScalarType::Double), std::nullopt, std::nullopt, 1e-12);
  for (const int64_t rows : {1, 5, 200}) {
    const auto small = [](const Tensor& x) { return to(x, ScalarType::BFloat16); };
    same(small(randn({rows, 12})), small(w), small(randn({20})), small(randn({rows, 20})), 0.02);
    same(small(randn({rows, 12})), t(small(randn({12, 20}))), std::nullopt, std::nullopt, 0.02);
  }
}

TEST(FusedLinear, SeesWhatChanges) {
  manualSeed(13);
  const Tensor x = randn({8, 48});
  Tensor w = randn({40, 48});
  const auto same = [&](const Tensor& weight) {
    EXPECT_LE(difference(fused::linear(x, weight), linear(x, weight)), 1e-5);
  };
  same(w);
  mul_(w, 3);
  same(w);
  same(t(view(w, {48, 40})));
  set_(w, randn({40, 48}));
  same(w);
  for (int i = 0; i < 10; ++i) {
    w = Tensor();
    w = randn({40, 48});
    same(w);
  }
}

TEST(FusedLinear, HasTheGradientsOfTheSeparateOperators) {
  manualSeed(14);
  const std::vector<Tensor> inputs{randn({3, 6}), randn({4, 6}), randn({4}), randn({3, 4})};
  for (const Tensor& input : inputs) input.set_requires_grad(true);
  const auto gradients = [&](const Tensor& y) { return autograd::grad({{sum(mul(y, y))}}, inputs); };
  const std::vector<Tensor> fused = gradients(fused::linear(inputs[0], inputs[1], inputs[2], inputs[3], "gelu"));
  const std::vector<Tensor> apart = gradients(linearApart(inputs[0], inputs[1], inputs[2], inputs[3], "gelu", {}));
  for (size_t i = 0; i < inputs.size(); ++i) EXPECT_LE(difference(fused[i], apart[i]), 1e-6) << "input " << i;
}

TEST(FusedLinear, ErrorsNameWhatIsWrong) {
  EXPECT_EQ(errorOf([] {
              fused::linear(randn({2, 3}), randn({4, 3}), {}, {}, "elu");
            }),
            "fused::linear: activation 'elu' takes 1 parameters, but got 0; activations and their parameters are none, "
            "relu, clamp [least, greatest], leaky_relu [slope], elu [alpha], sigmoid, tanh, silu, hardswish, "
            "hardsigmoid, gelu, gelu_tanh");
  EXPECT_EQ(errorOf([] {
              fused::linear(randn({2, 3}), randn({4, 5}));
            }),
            errorOf([] {
              linear(randn({2, 3}), randn({4, 5}));
            }));
}

}  // namespace
}  // namespace boxcar
