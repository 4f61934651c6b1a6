#include <boxcar/backends/autograd/autograd.h>
#include <boxcar/dispatcher/call/grad_mode.h>
#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <ostream>
#include <vector>

#include "tests/backends/autograd/gradient_check.h"
#include "tests/backends/tensor_helpers.h"

// Gradients of operators for neural networks, and gradients of these.

namespace boxcar::autograd {
namespace {

using Inputs = std::vector<Tensor>;
using Options = std::optional<Tensor>;

// float64 numbers between -1 and 1, all different.
Tensor numbers(IntArrayRef sizes, double first) {
  const Tensor turns = add(mul(add(arange(numelOf(sizes), ScalarType::Double), first), 0.6180339887), 0);
  return reshape(sub(mul(sub(turns, floor(turns)), 2), 1), sizes).set_requires_grad(true);
}

// The gradients of [function], weighted with the last of the inputs, as one line; it can be differentiated again.
Differentiable gradientsOf(const Differentiable& function) {
  return [function](const Inputs& inputs) {
    const AutoGradMode recording(true);
    const Inputs own(inputs.begin(), inputs.end() - 1);
    const Tensor output = function(own);
    Inputs lines;
    for (const Tensor& gradient : grad({{output}}, own, {{inputs.back()}}, true, true, true)) {
      if (gradient.defined()) lines.push_back(flatten(gradient));
    }
    return cat(lines);
  };
}

enum class Order { kFirst, kSecond };

struct NetworkCase {
  const char* name;
  Differentiable function;
  std::vector<std::vector<int64_t>> sizes;
  Order order = Order::kSecond;  // also of the gradients
};
std::ostream& operator<<(std::ostream& stream, const NetworkCase& tested) { return stream << tested.name; }

class NetworkFormulas : public testing::TestWithParam<NetworkCase> {};

TEST_P(NetworkFormulas, GiveTheGradientsThatFiniteDifferencesGive) {
  const NetworkCase& tested = GetParam();
  Inputs inputs;
  for (const auto& sizes : tested.sizes) inputs.push_back(numbers(sizes, 1.5 + 3.1 * std::ssize(inputs)));
  EXPECT_EQ(gradientMismatch(tested.function, inputs), "");
  if (tested.order == Order::kFirst) return;
  inputs.push_back(numbers(tested.function(inputs).sizes(), 0.7));
  EXPECT_EQ(gradientMismatch(gradientsOf(tested.function), inputs), "");
}

// == Normalisation ==

// With running statistics that training writes.
template <class Call>
Tensor withStatistics(const Call& call) {
  Tensor mean = tensorOf<double>({0.1, -0.2});
  Tensor variance = tensorOf<double>({0.7, 1.3});
  return std::get<0>(call(mean, variance));
}

const std::vector<std::vector<int64_t>> kNormSizes = {{3, 2, 2}, {2}, {2}};

const NetworkCase kNorms[] = {
    {"batch_norm", [](const Inputs& x) { return batch_norm(x[0], x[1], x[2], {}, {}, true, 0.1, 1e-5, false); },
     kNormSizes},
    {"batch_norm_plain",
     [](const Inputs& x) { return batch_norm(x[0], {}, {}, {}, {}, true, 0.1, 1e-5, false); },
     {{3, 2, 2}}},
    {"batch_norm_running",
     [](const Inputs& x) {
       return withStatistics(
           [&](Tensor& m, Tensor& v) { return native_batch_norm(x[0], x[1], x[2], m, v, true, 0.1, 1e-5); });
     },
     kNormSizes},
    {"batch_norm_inference",
     [](const Inputs& x) {
       return withStatistics(
           [&](Tensor& m, Tensor& v) { return native_batch_norm(x[0], x[1], x[2], m, v, false, 0.1, 1e-5); });
     },
     kNormSizes},
    {"batch_norm_legit",
     [](const Inputs& x) {
       return withStatistics(
           [&](Tensor& m, Tensor& v) { return _native_batch_norm_legit(x[0], x[1], x[2], m, v, true, 0.1, 1e-5); });
     },
     kNormSizes},
    {"batch_norm_legit_inference",
     [](const Inputs& x) {
       return withStatistics(
           [&](Tensor& m, Tensor& v) { return _native_batch_norm_legit(x[0], x[1], x[2], m, v, false, 0.1, 1e-5); });
     },
     kNormSizes},
    {"batch_norm_legit_no_stats",
     [](const Inputs& x) { return std::get<0>(_native_batch_norm_legit(x[0], x[1], x[2], true, 0.1, 1e-5)); },
     kNormSizes},
    {"batch_norm_no_training",
     [](const Inputs& x) {
       return withStatistics([&](Tensor& m, Tensor& v) {
         return _native_batch_norm_legit_no_training(x[0], x[1], x[2], m, v, 0.1, 1e-5);
       });
     },
     kNormSizes},
    {"batch_norm_with_update",
     [](const Inputs& x) {
       return withStatistics(
           [&](Tensor& m, Tensor& v) { return _batch_norm_with_update(x[0], x[1], x[2], m, v, 0.1, 1e-5); });
     },
     kNormSizes},
    {"batch_norm_no_update",
     [](const Inputs& x) {
       return withStatistics(
           [&](Tensor& m, Tensor& v) { return _batch_norm_no_update(x[0], x[1], x[2], m, v, 0.1, 1e-5); });
     },
     kNormSizes},
    {"instance_norm",
     [](const Inputs& x) { return instance_norm(x[0], x[1], x[2], {}, {}, true, 0.1, 1e-5, false); },
     {{2, 2, 3}, {2}, {2}}},
    {"layer_norm",
     [](const Inputs& x) {
       return layer_norm(x[0], {2, 3}, x[1], x[2]);
     },
     {{2, 2, 3}, {2, 3}, {2, 3}}},
    {"layer_norm_plain", [](const Inputs& x) { return layer_norm(x[0], {3}); }, {{2, 3}}},
    {"group_norm", [](const Inputs& x) { return group_norm(x[0], 2, x[1], x[2]); }, {{2, 4, 2}, {4}, {4}}},
    {"group_norm_plain", [](const Inputs& x) { return group_norm(x[0], 2); }, {{2, 4, 2}}},
    {"group_norm_statistics",
     [](const Inputs& x) {
       const auto [y, mean, rstd] = native_group_norm(x[0], x[1], {}, 2, 4, 2, 2, 1e-5);
       return add(mul(sum(y, {{1, 2}}), sum(mean, {{1}})), sum(mul(rstd, rstd), {{1}}));
     },
     {{2, 4, 2}, {4}}},
    {"rms_norm", [](const Inputs& x) { return rms_norm(x[0], {3}, x[1]); }, {{2, 3}, {3}}},
};

// == Losses ==

Tensor probabilities(const Tensor& x) { return add(mul(x, 0.4), 0.5); }

const NetworkCase kLosses[] = {
    {"mse_loss", [](const Inputs& x) { return mse_loss(x[0], x[1]); }, {{2, 3}, {2, 3}}},
    {"mse_loss_none", [](const Inputs& x) { return mse_loss(x[0], x[1], 0); }, {{2, 3}, {2, 3}}},
    {"smooth_l1_loss", [](const Inputs& x) { return smooth_l1_loss(x[0], x[1], 0, 0.4); }, {{2, 3}, {2, 3}}},
    {"smooth_l1_loss_sharp",
     [](const Inputs& x) { return smooth_l1_loss(x[0], x[1], 2, 0); },
     {{2, 3}, {2, 3}},
     Order::kFirst},
    {"huber_loss", [](const Inputs& x) { return huber_loss(x[0], x[1], 1, 0.4); }, {{2, 3}, {2, 3}}},
    {"soft_margin_loss",
     [](const Inputs& x) {
       return soft_margin_loss(x[0], tensorOf<double>({1, -1, 1}));
     },
     {{3}}},
    {"binary_cross_entropy",
     [](const Inputs& x) { return binary_cross_entropy(probabilities(x[0]), probabilities(x[1])); },
     {{2, 3}, {2, 3}}},
    {"binary_cross_entropy_weighted",
     [](const Inputs& x) {
       return binary_cross_entropy(probabilities(x[0]), probabilities(x[1]), tensorOf<double>({1, 2, 3}), 0);
     },
     {{2, 3}, {2, 3}}},
    {"bce_with_logits", [](const Inputs& x) { return binary_cross_entropy_with_logits(x[0], x[1]); }, {{2, 3}, {2, 3}}},
    {"bce_with_logits_weighted",
     [](const Inputs& x) {
       return binary_cross_entropy_with_logits(x[0], tensorOf<double>({1, 0, 0.3}), tensorOf<double>({1, 2, 3}),
                                               tensorOf<double>({2, 3, 0.5}), 2);
     },
     {{2, 3}}},
    {"nll_loss",
     [](const Inputs& x) {
       return nll_loss(x[0], ints({2, 1, 0}), Options(tensorOf<double>({1, 2, 3})), 1, 1);
     },
     {{3, 3}}},
    {"nll_loss_none",
     [](const Inputs& x) {
       return nll_loss(x[0], ints({2, 1}), {}, 0);
     },
     {{2, 3}}},
    {"nll_loss_one", [](const Inputs& x) { return nll_loss(x[0], ints({1}, {}), {}, 1); }, {{3}}},
    {"nll_loss2d",
     [](const Inputs& x) {
       return nll_loss2d(x[0], ints({2, 1, 0, 1}, {1, 2, 2}), Options(tensorOf<double>({1, 2, 3})), 1, 0);
     },
     {{1, 3, 2, 2}}},
    {"nll_loss2d_none",
     [](const Inputs& x) {
       return nll_loss2d(x[0], ints({2, 1, 0, 1}, {1, 2, 2}), {}, 0);
     },
     {{1, 3, 2, 2}}},
    {"cross_entropy",
     [](const Inputs& x) {
       return cross_entropy_loss(x[0], ints({2, 0}), {}, 1, -100, 0.1);
     },
     {{2, 3}},
     Order::kFirst},
    {"cross_entropy_of_probabilities",
     [](const Inputs& x) { return cross_entropy_loss(x[0], probabilities(x[1])); },
     {{2, 3}, {2, 3}},
     Order::kFirst},
    {"multi_margin_loss",
     [](const Inputs& x) {
       return multi_margin_loss(x[0], ints({2, 0}));
     },
     {{2, 3}},
     Order::kFirst},
    {"multi_margin_loss_squared",
     [](const Inputs& x) {
       return multi_margin_loss(x[0], ints({2, 0}), 2, 0.7, tensorOf<double>({1, 2, 3}), 0);
     },
     {{2, 3}},
     Order::kFirst},
    {"multilabel_margin_loss",
     [](const Inputs& x) {
       return multilabel_margin_loss(x[0], ints({2, 0, -1, 1, -1, 0}, {2, 3}));
     },
     {{2, 3}},
     Order::kFirst},
    {"multilabel_margin_loss_none",
     [](const Inputs& x) {
       return multilabel_margin_loss(x[0], ints({1, -1, 0}), 0);
     },
     {{3}},
     Order::kFirst},
    {"ctc_loss",
     [](const Inputs& x) {
       return ctc_loss(log_softmax(x[0], 2), ints({1, 2, 2, 2}, {2, 2}), {{5, 4}}, {{2, 2}}, 0, 1, false);
     },
     {{5, 2, 3}},
     Order::kFirst},
    {"ctc_loss_lengths",
     [](const Inputs& x) {
       return ctc_loss(log_softmax(x[0], 2), ints({1, 2, 1}), ints({5, 3, 2}), ints({2, 1, 0}), 0, 0, true);
     },
     {{5, 3, 3}},
     Order::kFirst},
};

// == Embeddings, attention, activations ==

Tensor bagOf(const Tensor& weight, int64_t mode, const Options& scales, bool last = false, int64_t padding = -1) {
  return std::get<0>(_embedding_bag(weight, ints({1, 2, 0, 1, 1}), last ? ints({0, 2, 2, 5}) : ints({0, 2, 2}), false,
                                    mode, false, scales, last, padding));
}

Tensor causalMask() { return reshape(bools({true, false, false, true, true, false, false, false, false}), {3, 3}); }

const std::vector<std::vector<int64_t>> kHeads = {{1, 2, 3, 2}, {1, 2, 3, 2}, {1, 2, 3, 2}};

const NetworkCase kLayers[] = {
    {"embedding",
     [](const Inputs& x) {
       return embedding(x[0], ints({1, 1, 0, 2}, {2, 2}));
     },
     {{3, 2}}},
    {"embedding_by_frequency",
     [](const Inputs& x) {
       return embedding_dense_backward(x[0], ints({1, 1, 0}), 4, 0, false);
     },
     {{3, 2}}},
    {"embedding_bag_sum", [](const Inputs& x) { return bagOf(x[0], 0, {}); }, {{3, 2}}, Order::kFirst},
    {"embedding_bag_mean", [](const Inputs& x) { return bagOf(x[0], 1, {}); }, {{3, 2}}, Order::kFirst},
    {"embedding_bag_max", [](const Inputs& x) { return bagOf(x[0], 2, {}); }, {{3, 2}}, Order::kFirst},
    {"embedding_bag_last", [](const Inputs& x) { return bagOf(x[0], 1, {}, true, 0); }, {{3, 2}}, Order::kFirst},
    {"embedding_bag_weights", [](const Inputs& x) { return bagOf(x[0], 0, x[1]); }, {{3, 2}, {5}}, Order::kFirst},
    {"embedding_bag_padding",
     [](const Inputs& x) { return bagOf(x[0], 0, x[1], false, 1); },
     {{3, 2}, {5}},
     Order::kFirst},
    {"embedding_bag",
     [](const Inputs& x) {
       return std::get<0>(embedding_bag(x[0], ints({1, 2, 0}), ints({0, 1})));
     },
     {{3, 2}},
     Order::kFirst},
    {"attention", [](const Inputs& x) { return scaled_dot_product_attention(x[0], x[1], x[2]); }, kHeads},
    {"attention_causal", [](const Inputs& x) { return scaled_dot_product_attention(x[0], x[1], x[2], {}, 0, true); },
     kHeads},
    {"attention_mask", [](const Inputs& x) { return scaled_dot_product_attention(x[0], x[1], x[2], causalMask()); },
     kHeads},
    {"attention_bias",
     [](const Inputs& x) { return scaled_dot_product_attention(x[0], x[1], x[2], x[3], 0, false, 0.7); },
     {{1, 2, 3, 2}, {1, 2, 3, 2}, {1, 2, 3, 2}, {3, 3}},
     Order::kFirst},
    {"attention_shared",
     [](const Inputs& x) { return scaled_dot_product_attention(x[0], x[1], x[2], {}, 0, false, {}, true); },
     {{1, 4, 3, 2}, {1, 2, 3, 2}, {1, 2, 3, 2}},
     Order::kFirst},
    {"attention_shared_mask",
     [](const Inputs& x) { return scaled_dot_product_attention(x[0], x[1], x[2], causalMask(), 0, false, {}, true); },
     {{1, 4, 3, 2}, {1, 2, 3, 2}, {1, 2, 3, 2}},
     Order::kFirst},
    {"attention_for_cpu",
     [](const Inputs& x) {
       return std::get<0>(_scaled_dot_product_flash_attention_for_cpu(x[0], x[1], x[2], 0, true));
     },
     kHeads},
    {"attention_for_cpu_bias",
     [](const Inputs& x) {
       const Tensor bias = where(causalMask(), 0.3, -std::numeric_limits<double>::infinity());
       return std::get<0>(
           _scaled_dot_product_flash_attention_for_cpu(x[0], x[1], x[2], 0, false, to(bias, ScalarType::Double), 0.7));
     },
     kHeads},
    {"safe_softmax",
     [](const Inputs& x) {
       const double least = -std::numeric_limits<double>::infinity();
       return _safe_softmax(masked_fill(x[0], logical_not(causalMask()), least), 1);
     },
     {{3, 3}},
     Order::kFirst},
    {"prelu", [](const Inputs& x) { return prelu(x[0], x[1]); }, {{2, 3, 2}, {3}}},
    {"prelu_one", [](const Inputs& x) { return prelu(x[0], x[1]); }, {{2, 3}, {1}}},
    {"prelu_kernel", [](const Inputs& x) { return _prelu_kernel(x[0], x[1]); }, {{2, 3, 2}, {3, 1}}},
    {"lstm",
     [](const Inputs& x) {
       return std::get<0>(lstm(x[0], {{x[1], x[2]}}, {{x[3], x[4], x[5], x[6]}}, true, 1, 0, false, false, false));
     },
     {{2, 1, 2}, {1, 1, 2}, {1, 1, 2}, {8, 2}, {8, 2}, {8}, {8}}},
    {"gru",
     [](const Inputs& x) {
       return std::get<0>(gru(x[0], x[1], {{x[2], x[3], x[4], x[5]}}, true, 1, 0, false, false, false));
     },
     {{2, 1, 2}, {1, 1, 2}, {6, 2}, {6, 2}, {6}, {6}}},
    {"rnn_tanh",
     [](const Inputs& x) {
       return std::get<0>(rnn_tanh(x[0], x[1], {{x[2], x[3], x[4], x[5]}}, true, 1, 0, false, false, false));
     },
     {{2, 1, 2}, {1, 1, 2}, {2, 2}, {2, 2}, {2}, {2}}},
    {"rnn_relu_cell",
     [](const Inputs& x) { return rnn_relu_cell(x[0], x[1], x[2], x[3], x[4], x[5]); },
     {{1, 2}, {1, 2}, {2, 2}, {2, 2}, {2}, {2}}},
    {"conv1d", [](const Inputs& x) { return conv1d(x[0], x[1], x[2], {2}, {1}); }, {{1, 2, 5}, {2, 2, 3}, {2}}},
    {"conv1d_complex",
     [](const Inputs& x) { return view_as_real(conv1d(complex(x[0], x[1]), complex(x[2], x[3]), {}, {1}, {1})); },
     {{1, 2, 3}, {1, 2, 3}, {1, 2, 2}, {1, 2, 2}}},
    {"conv_transpose1d_complex",
     [](const Inputs& x) { return view_as_real(conv_transpose1d(complex(x[0], x[1]), complex(x[2], x[3]), {}, {2})); },
     {{1, 2, 3}, {1, 2, 3}, {2, 1, 2}, {2, 1, 2}}},
    {"conv2d_groups",
     [](const Inputs& x) { return conv2d(x[0], x[1], {}, {1}, {1}, {2}, 2); },
     {{1, 2, 4, 3}, {2, 1, 2, 2}}},
    {"conv_transpose1d",
     [](const Inputs& x) { return conv_transpose1d(x[0], x[1], x[2], {2}, {1}, {1}); },
     {{1, 2, 3}, {2, 1, 3}, {1}}},
};

// == Images ==

Tensor sampled(const Inputs& x, int64_t interpolation, int64_t padding, bool align_corners) {
  return grid_sampler(x[0], mul(x[1], 1.4), interpolation, padding, align_corners);
}

const std::vector<std::vector<int64_t>> kGrid2d = {{1, 2, 3, 4}, {1, 2, 3, 2}};
const std::vector<std::vector<int64_t>> kGrid3d = {{1, 1, 2, 3, 2}, {1, 1, 2, 2, 3}};

#define IMAGE(name, expression, ...)                    \
  {                                                     \
    name, [](const Inputs& x) { return expression; }, { \
      { __VA_ARGS__ }                                   \
    }                                                   \
  }

const NetworkCase kImages[] = {
    IMAGE("avg_pool3d", avg_pool3d(x[0], {{2, 1, 2}}, {1}, {{1, 0, 1}}, false, false), 1, 3, 2, 3),
    IMAGE("max_pool1d", max_pool1d(x[0], {2}, {1}), 1, 2, 5),
    IMAGE("max_pool2d", max_pool2d(x[0], {{2, 3}}, {{1, 2}}, {1}), 1, 2, 4, 5),
    IMAGE("max_pool3d", std::get<0>(max_pool3d_with_indices(x[0], {2}, {1})), 1, 1, 3, 2, 3),
    IMAGE("avg_pool2d", avg_pool2d(x[0], {2}, {1}, {1}, true), 1, 1, 3, 3),
    IMAGE("adaptive_avg_pool1d", adaptive_avg_pool1d(x[0], {2}), 1, 2, 5),
    IMAGE("adaptive_avg_pool2d", _adaptive_avg_pool2d(x[0], {{2, 3}}), 1, 3, 4),
    IMAGE("adaptive_avg_pool3d", _adaptive_avg_pool3d(x[0], {{2, 1, 3}}), 1, 3, 2, 2),
    IMAGE("adaptive_avg_pool3d_to_one", adaptive_avg_pool3d(x[0], {{1, 1, 1}}), 1, 3, 2, 2),
    IMAGE("adaptive_max_pool1d", std::get<0>(adaptive_max_pool1d(x[0], {2})), 1, 2, 5),
    IMAGE("adaptive_max_pool2d", std::get<0>(adaptive_max_pool2d(x[0], {{2, 3}})), 1, 3, 4),
    IMAGE("adaptive_max_pool3d", std::get<0>(adaptive_max_pool3d(x[0], {{2, 1, 2}})), 1, 3, 2, 3),
    IMAGE("max_unpool2d", max_unpool2d(x[0], ints({0, 5}, {1, 1, 2}), {{2, 3}}), 1, 1, 2),
    IMAGE("max_unpool3d", max_unpool3d(x[0], ints({0, 5}, {1, 1, 1, 2}), {{1, 2, 3}}, {{1, 1, 1}}, {{0, 0, 0}}), 1, 1,
          1, 2),
    IMAGE("fractional_max_pool2d",
          std::get<0>(fractional_max_pool2d(x[0], {{2, 2}}, {{2, 2}}, full({1, 1, 2}, 0.4, ScalarType::Double))), 1, 1,
          4, 5),
    IMAGE("fractional_max_pool3d",
          std::get<0>(fractional_max_pool3d(x[0], {{1, 2, 2}}, {{1, 2, 2}}, full({1, 1, 3}, 0.4, ScalarType::Double))),
          1, 1, 2, 3, 4),
    IMAGE("upsample_nearest1d", upsample_nearest1d(x[0], {5}), 1, 1, 3),
    IMAGE("upsample_nearest2d", upsample_nearest2d(x[0], {{5, 2}}), 1, 1, 3, 3),
    IMAGE("upsample_nearest3d", upsample_nearest3d(x[0], {{2, 5, 2}}), 1, 1, 2, 3, 3),
    IMAGE("upsample_nearest_exact1d", _upsample_nearest_exact1d(x[0], {5}), 1, 1, 3),
    IMAGE("upsample_nearest_exact2d", _upsample_nearest_exact2d(x[0], {{5, 2}}), 1, 1, 3, 3),
    IMAGE("upsample_nearest_exact3d", _upsample_nearest_exact3d(x[0], {{2, 5, 2}}), 1, 1, 2, 3, 3),
    IMAGE("upsample_linear1d", upsample_linear1d(x[0], {5}, false), 1, 1, 3),
    IMAGE("upsample_bilinear2d", upsample_bilinear2d(x[0], {{5, 2}}, true), 1, 1, 3, 3),
    IMAGE("upsample_bilinear2d_scaled", upsample_bilinear2d(x[0], {{6, 4}}, false, 2.1, 1.4), 1, 1, 3, 3),
    IMAGE("upsample_bicubic2d", upsample_bicubic2d(x[0], {{5, 2}}, false), 1, 1, 3, 3),
    IMAGE("upsample_trilinear3d", upsample_trilinear3d(x[0], {{3, 5, 2}}, false), 1, 1, 2, 3, 3),
    IMAGE("upsample_bilinear2d_aa", _upsample_bilinear2d_aa(x[0], {{2, 5}}, false), 1, 1, 5, 3),
    IMAGE("upsample_bicubic2d_aa", _upsample_bicubic2d_aa(x[0], {{2, 5}}, false), 1, 1, 5, 3),
    IMAGE("reflection_pad1d", reflection_pad1d(x[0], {{2, 1}}), 1, 4),
    IMAGE("reflection_pad2d", reflection_pad2d(x[0], {{2, 1, -1, 2}}), 1, 3, 4),
    IMAGE("reflection_pad3d", reflection_pad3d(x[0], {{1, 0, 1, 1, 1, 1}}), 1, 2, 2, 3),
    IMAGE("replication_pad1d", replication_pad1d(x[0], {{3, -1}}), 1, 3),
    IMAGE("replication_pad2d", replication_pad2d(x[0], {{2, 1, 0, 2}}), 1, 2, 3),
    IMAGE("replication_pad3d", replication_pad3d(x[0], {{1, 0, 1, 1, 2, 1}}), 1, 2, 2, 2),
    {"circular_pad", [](const Inputs& x) { return pad(x[0], {{2, 1}}, "circular"); }, {{1, 2, 3}}, Order::kFirst},
    IMAGE("constant_pad", constant_pad_nd(x[0], {{2, -1, 0, 1}}, 3), 2, 3),
    {"complex_pad",
     [](const Inputs& x) {
       const Tensor z = complex(x[0], x[1]);
       return view_as_real(mul(reflection_pad1d(z, {{1, 2}}), replication_pad1d(z, {{3, 0}})));
     },
     {{1, 3}, {1, 3}}},
    IMAGE("pixel_shuffle", pixel_shuffle(x[0], 2), 1, 4, 1, 2),
    IMAGE("pixel_unshuffle", pixel_unshuffle(x[0], 2), 1, 1, 2, 4),
    IMAGE("channel_shuffle", channel_shuffle(x[0], 2), 1, 4, 1, 2),
    IMAGE("im2col", im2col(x[0], {{2, 2}}, {{1, 1}}, {{1, 0}}, {{1, 2}}), 1, 2, 3, 4),
    IMAGE("col2im", col2im(x[0], {{3, 4}}, {{2, 2}}, {{1, 1}}, {{1, 0}}, {{1, 2}}), 1, 4, 8),
    IMAGE("affine_grid", affine_grid_generator(x[0], {{2, 1, 2, 3}}, false), 2, 2, 3),
    IMAGE("affine_grid_3d", affine_grid_generator(x[0], {{1, 1, 2, 2, 3}}, true), 1, 3, 4),
    {"grid_sampler_zeros", [](const Inputs& x) { return sampled(x, 0, 0, false); }, kGrid2d},
    {"grid_sampler_border", [](const Inputs& x) { return sampled(x, 0, 1, true); }, kGrid2d},
    {"grid_sampler_reflection", [](const Inputs& x) { return sampled(x, 0, 2, false); }, kGrid2d},
    {"grid_sampler_reflection_aligned", [](const Inputs& x) { return sampled(x, 0, 2, true); }, kGrid2d},
    {"grid_sampler_nearest", [](const Inputs& x) { return sampled(x, 1, 0, false); }, kGrid2d},
    {"grid_sampler_cubic", [](const Inputs& x) { return sampled(x, 2, 0, false); }, kGrid2d},
    {"grid_sampler_cubic_reflection", [](const Inputs& x) { return sampled(x, 2, 2, true); }, kGrid2d},
    {"grid_sampler_3d", [](const Inputs& x) { return sampled(x, 0, 0, true); }, kGrid3d},
    {"grid_sampler_3d_cubic", [](const Inputs& x) { return sampled(x, 2, 0, true); }, kGrid3d, Order::kFirst},
    {"grid_sampler_3d_border", [](const Inputs& x) { return sampled(x, 0, 1, false); }, kGrid3d},
};

// == Ties and singular places; the numbers are PyTorch's ==

Tensor leaf(std::initializer_list<double> values, IntArrayRef sizes) {
  return tensorOf<double>(values, sizes).set_requires_grad(true);
}
Tensor leaf(std::initializer_list<double> values) { return leaf(values, {static_cast<int64_t>(values.size())}); }
std::vector<double> gradientOf(const Tensor& output, const Tensor& input) {
  return elements<double>(grad({{sum(output)}}, {{input}}, {}, true, true)[0]);
}
// The gradient of the gradient.
std::vector<double> slopeOf(const Tensor& output, const Tensor& input) {
  return gradientOf(grad({{sum(output)}}, {{input}}, {}, true, true)[0], input);
}
using Values = std::vector<double>;

TEST(NetworkGradients, OfQueriesThatMayAttendToNothingAreZero) {
  const Tensor query = leaf({0.1, -0.2, 0.3, 0.4}, {1, 1, 2, 2});
  const Tensor key = leaf({0.5, -0.6, 0.7, 0.8}, {1, 1, 2, 2});
  const Tensor value = leaf({1, 2, 3, 4}, {1, 1, 2, 2});
  const Tensor mask = reshape(bools({false, false, true, true}), {2, 2});
  const Tensor result = scaled_dot_product_attention(query, key, value, mask);
  const Values of_query = gradientOf(result, query);
  EXPECT_EQ(of_query[0], 0);
  EXPECT_EQ(of_query[1], 0);
  EXPECT_NEAR(of_query[2], 0.1348, 1e-4);
  EXPECT_NEAR(of_query[3], 0.9439, 1e-4);
  EXPECT_NEAR(gradientOf(result, key)[0], -0.2023, 1e-4);
  EXPECT_NEAR(gradientOf(result, value)[0], 0.3921, 1e-4);
}

TEST(NetworkGradients, OfASafeSoftmaxOfNothingAreZero) {
  const double least = -std::numeric_limits<double>::infinity();
  const Tensor x = leaf({least, least, 1, least}, {2, 2});
  EXPECT_EQ(gradientOf(mul(_safe_softmax(x, 1), tensorOf<double>({1, 2, 3, 4}, {2, 2})), x), Values(4, 0));
}

TEST(NetworkGradients, OfLossesWhereTheirPartsMeet) {
  const Tensor x = leaf({0, 2, -2, 1, -1, 3});
  const Tensor zeros = zeros_like(x);
  EXPECT_EQ(gradientOf(smooth_l1_loss(x, zeros, 0, 2), x), (Values{0, 1, -1, 0.5, -0.5, 1}));
  EXPECT_EQ(slopeOf(smooth_l1_loss(x, zeros, 0, 2), x), (Values{0.5, 0, 0, 0.5, 0.5, 0}));
  EXPECT_EQ(gradientOf(smooth_l1_loss(x, zeros, 0, 0), x), (Values{-1, 1, -1, 1, -1, 1}));
  EXPECT_EQ(gradientOf(huber_loss(x, zeros, 0, 2), x), (Values{0, 2, -2, 1, -1, 2}));
  EXPECT_EQ(slopeOf(huber_loss(x, zeros, 0, 2), x), (Values{1, 0, 0, 1, 1, 0}));
}

TEST(NetworkGradients, OfCrossEntropyAreBoundedWhereProbabilitiesAreZeroOrOne) {
  const Tensor p = leaf({0, 1, 0.5, 0, 1});
  const Tensor target = tensorOf<double>({0, 1, 1, 1, 0});
  EXPECT_EQ(gradientOf(binary_cross_entropy(p, target, {}, 2), p), (Values{0, 0, -2, -1e12, 1e12}));
  const Values slopes = slopeOf(binary_cross_entropy(p, target, {}, 2), p);
  const Values expected = {0, 0, 4, 1e24, 1e24};
  for (size_t i = 0; i < slopes.size(); ++i) EXPECT_NEAR(slopes[i], expected[i], 1e-9 * (1 + expected[i])) << i;
  const double infinity = std::numeric_limits<double>::infinity();
  const Tensor wanted = leaf({0, 1, 0.5, 1, 0});
  EXPECT_EQ(gradientOf(binary_cross_entropy(p, wanted, {}, 2), wanted),
            (Values{infinity, -infinity, 0, infinity, -infinity}));
}

TEST(NetworkGradients, OfPreluAtZero) {
  const Tensor x = leaf({0, -0.0, -1, 2});
  const Tensor weight = leaf({0.5});
  EXPECT_EQ(gradientOf(prelu(x, weight), x), (Values{0.5, 0.5, 0.5, 1}));
  EXPECT_EQ(gradientOf(prelu(x, weight), weight), (Values{-1}));
  const Tensor of_weight = grad({{sum(prelu(x, weight))}}, {{weight}}, {}, true, true)[0];
  EXPECT_EQ(gradientOf(of_weight, x), (Values{0, 0, 1, 0}));
}

TEST(NetworkGradients, OfEqualMaximaGoToTheFirst) {
  const Tensor x = ones({1, 2, 3}, ScalarType::Double).set_requires_grad(true);
  EXPECT_EQ(gradientOf(max_pool2d(x, {{1, 2}}, {1}), x), (Values{1, 1, 0, 1, 1, 0}));
  const Tensor line = ones({1, 4}, ScalarType::Double).set_requires_grad(true);
  EXPECT_EQ(gradientOf(std::get<0>(adaptive_max_pool1d(line, {2})), line), (Values{1, 0, 1, 0}));
}

// Dilated windows may step over all elements. Their maximum is minus infinity, at an element outside.
TEST(NetworkGradients, OfMaximaOfNothingAreZero) {
  const Tensor x = ones({2, 1, 5}, ScalarType::Double).set_requires_grad(true);
  const Tensor maxima = max_pool2d(x, {{2, 1}}, {{1, 1}}, {{1, 0}}, {{2, 1}});
  EXPECT_EQ(gradientOf(maxima, x), Values(10, 0));
}

TEST(NetworkGradients, OfGridsAtTheBorders) {
  const Tensor image = reshape(arange(4, ScalarType::Double), {1, 1, 1, 4});
  const auto along_x = [&](int64_t padding, bool align_corners) {
    const Tensor grid = leaf({-1, 0, 1, 0, -1.5, 0, 1.5, 0}, {1, 1, 4, 2});
    const Tensor gradient =
        grad({{sum(grid_sampler(image, grid, 0, padding, align_corners))}}, {{grid}}, {}, true, true)[0];
    return elements<double>(select(gradient, -1, 0));
  };
  EXPECT_EQ(along_x(0, true), (Values{1.5, -4.5, 0, -4.5}));
  EXPECT_EQ(along_x(0, false), (Values{0, -6, 0, 0}));
  EXPECT_EQ(along_x(1, true), (Values{0, 0, 0, 0}));
  EXPECT_EQ(along_x(1, false), (Values{0, 0, 0, 0}));
  EXPECT_EQ(along_x(2, true), (Values{0, 0, -1.5, -1.5}));
  EXPECT_EQ(along_x(2, false), (Values{0, 0, -2, -2}));
}

// == Running statistics ==

TEST(NetworkGradients, OfABatchNormInTrainingAllowItsStatisticsToBeWritten) {
  const Tensor x = numbers({3, 2, 2}, 0.5);
  const Tensor mean = zeros({2}, ScalarType::Double);
  const Tensor variance = ones({2}, ScalarType::Double);
  const Tensor first = batch_norm(x, {}, {}, mean, variance, true, 0.1, 1e-5, false);
  const Tensor second = batch_norm(x, {}, {}, mean, variance, true, 0.1, 1e-5, false);
  EXPECT_EQ(gradientOf(mul(first, x), x), gradientOf(mul(second, x), x));
}

TEST(NetworkGradients, OfABatchNormInInferenceNeedItsStatistics) {
  const Tensor x = numbers({3, 2, 2}, 0.5);
  Tensor mean = zeros({2}, ScalarType::Double);
  const Tensor variance = ones({2}, ScalarType::Double);
  const Tensor result = batch_norm(x, {}, {}, mean, variance, false, 0.1, 1e-5, false);
  fill_(mean, 1);
  const std::string error = errorOf([&] { grad({{sum(result)}}, {{x}}); });
  EXPECT_NE(error.find("modified by an inplace operation"), std::string::npos) << error;
}

// The input may have smaller elements than the weight.
TEST(NetworkGradients, HaveTheDtypesOfTheirArguments) {
  const Tensor x = detach(to(numbers({3, 2, 2}, 0.5), ScalarType::BFloat16)).set_requires_grad(true);
  const Tensor weight = ones({2}, ScalarType::Float).set_requires_grad(true);
  const Tensor result = batch_norm(x, weight, {}, {}, {}, true, 0.1, 1e-5, false);
  const auto gradients = grad({{result}}, {{x, weight}}, {{ones_like(result)}});
  EXPECT_EQ(gradients[0].scalar_type(), ScalarType::BFloat16);
  EXPECT_EQ(gradients[1].scalar_type(), ScalarType::Float);
}

INSTANTIATE_TEST_SUITE_P(Norms, NetworkFormulas, testing::ValuesIn(kNorms),
                         [](const auto& tested) { return tested.param.name; });
INSTANTIATE_TEST_SUITE_P(Losses, NetworkFormulas, testing::ValuesIn(kLosses),
                         [](const auto& tested) { return tested.param.name; });
INSTANTIATE_TEST_SUITE_P(Layers, NetworkFormulas, testing::ValuesIn(kLayers),
                         [](const auto& tested) { return tested.param.name; });
INSTANTIATE_TEST_SUITE_P(Images, NetworkFormulas, testing::ValuesIn(kImages),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace boxcar::autograd
