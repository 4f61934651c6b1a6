#include <boxcar/backends/autograd/autograd.h>
#include <boxcar/dispatcher/call/grad_mode.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>

#include "tests/backends/autograd/gradient_check.h"
#include "tests/backends/tensor_helpers.h"

// Formulas of operators that move, select, reduce or map elements.

namespace boxcar::autograd {
namespace {

using Tensors = std::vector<Tensor>;

// float64 numbers between -1.2 and 1.5, all different, and none near 0, 0.5 or 1.
Tensor mixed(IntArrayRef sizes, double first) {
  const Tensor places = add(arange(numelOf(sizes), ScalarType::Double), first);
  return reshape(sub(fmod(mul(places, 0.6180339887), 2.7), 1.2), sizes).set_requires_grad(true);
}

struct ElementCase {
  const char* name;
  Differentiable function;
  std::vector<std::vector<int64_t>> sizes;
  bool has_second = true;
};
std::ostream& operator<<(std::ostream& stream, const ElementCase& tested) { return stream << tested.name; }

Tensors inputsOf(const ElementCase& tested) {
  Tensors inputs;
  for (const auto& sizes : tested.sizes) inputs.push_back(mixed(sizes, 0.3 + 4.7 * static_cast<double>(inputs.size())));
  return inputs;
}

// The gradients of the sum of cubes of function(inputs), in one row.
Tensor gradientsOf(const Differentiable& function, const Tensors& inputs) {
  const AutoGradMode recording(true);
  const Tensor output = function(inputs);
  Tensors rows;
  for (const Tensor& gradient : grad({{sum(pow(output, 3))}}, inputs, {}, true, true, true)) {
    if (gradient.defined()) rows.push_back(reshape(gradient, {-1}));
  }
  return cat(rows);
}

class ElementFormulas : public testing::TestWithParam<ElementCase> {};

TEST_P(ElementFormulas, GiveTheGradientsThatFiniteDifferencesGive) {
  EXPECT_EQ(gradientMismatch(GetParam().function, inputsOf(GetParam())), "");
}

TEST_P(ElementFormulas, GiveSecondDerivatives) {
  if (!GetParam().has_second) GTEST_SKIP() << "PyTorch has none, either";
  const Differentiable gradients = [&](const Tensors& x) { return gradientsOf(GetParam().function, x); };
  EXPECT_EQ(gradientMismatch(gradients, inputsOf(GetParam())), "");
}

Tensor complexOf(const Tensors& x) { return complex(x[0], x[1]); }

List<std::optional<Tensor>> indexList(std::initializer_list<std::optional<Tensor>> indices) {
  List<std::optional<Tensor>> list;
  for (const auto& index : indices) list.push_back(index);
  return list;
}

Tensor maskOf(const Tensor& x) { return gt(x, 0.2); }

const ElementCase kIndexCases[] = {
    {"index_add",
     [](const Tensors& x) {
       return index_add(x[0], 1, ints({2, 0, 2}), x[1], 3);
     },
     {{2, 3}, {2, 3}}},
    {"index_add_of_no_dimensions", [](const Tensors& x) { return index_add(x[0], 0, ints({1}), x[1]); }, {{3}, {1}}},
    {"index_copy",
     [](const Tensors& x) {
       return index_copy(x[0], 1, ints({2, 0}), x[1]);
     },
     {{2, 3}, {2, 2}}},
    {"index_fill",
     [](const Tensors& x) {
       return index_fill(x[0], 1, ints({2, 0}), 3);
     },
     {{2, 3}}},
    {"index_fill_tensor",
     [](const Tensors& x) {
       return index_fill(x[0], 1, ints({2, 0, 2}), x[1]);
     },
     {{2, 3}, {}}},
    {"index_put",
     [](const Tensors& x) {
       return index_put(x[0], indexList({ints({1, 0}), ints({2, 2})}), x[1]);
     },
     {{2, 3}, {2}}},
    {"index_put_accumulate",
     [](const Tensors& x) {
       return index_put(x[0], indexList({ints({1, 1, 0})}), x[1], true);
     },
     {{2, 3}, {3}}},
    {"index_put_mask", [](const Tensors& x) { return index_put(x[0], indexList({maskOf(x[0])}), x[1]); }, {{2, 3}, {}}},
    {"unsafe_index",
     [](const Tensors& x) {
       return _unsafe_index(x[0], indexList({ints({1, 1, 0})}));
     },
     {{2, 3}}},
    {"unsafe_index_put",
     [](const Tensors& x) {
       return _unsafe_index_put(x[0], indexList({ints({1, 0})}), x[1]);
     },
     {{2, 3}, {3}}},
    {"unsafe_masked_index",
     [](const Tensors& x) {
       return _unsafe_masked_index(x[0], bools({true, false, true}), indexList({ints({1, 5, 1})}), 2);
     },
     {{3}}},
    {"unsafe_masked_index_put_accumulate",
     [](const Tensors& x) {
       return _unsafe_masked_index_put_accumulate(x[0], bools({true, false, true}), indexList({ints({1, 5, 1})}), x[1]);
     },
     {{3}, {3}}},
    {"take",
     [](const Tensors& x) {
       return take(x[0], ints({5, 0, 5, 2}, {2, 2}));
     },
     {{2, 3}}},
    {"put",
     [](const Tensors& x) {
       return put(x[0], ints({5, 0, 2}), x[1]);
     },
     {{2, 3}, {3}}},
    {"put_accumulate",
     [](const Tensors& x) {
       return put(x[0], ints({5, 0, 5}), x[1], true);
     },
     {{2, 3}, {3}}},
    {"masked_select", [](const Tensors& x) { return masked_select(x[0], maskOf(x[0])); }, {{2, 3}}},
    {"masked_select_broadcast",
     [](const Tensors& x) {
       return masked_select(x[0], bools({true, false, true}));
     },
     {{2, 1}}},
    {"masked_scatter", [](const Tensors& x) { return masked_scatter(x[0], maskOf(x[0]), x[1]); }, {{2, 3}, {7}}},
    {"scatter",
     [](const Tensors& x) {
       return scatter(x[0], 1, ints({2, 0, 1, 2}, {2, 2}), x[1]);
     },
     {{2, 3}, {2, 2}}},
    {"scatter_of_more_than_indices",
     [](const Tensors& x) {
       return scatter(x[0], 1, ints({2, 0}, {1, 2}), x[1]);
     },
     {{2, 3}, {2, 3}}},
    {"scatter_value",
     [](const Tensors& x) {
       return scatter(x[0], 1, ints({2, 0, 1, 2}, {2, 2}), 2);
     },
     {{2, 3}}},
    {"scatter_add",
     [](const Tensors& x) {
       return scatter_add(x[0], 1, ints({2, 2, 1, 2}, {2, 2}), x[1]);
     },
     {{2, 3}, {2, 2}}},
    {"scatter_reduce_sum",
     [](const Tensors& x) {
       return scatter_reduce(x[0], 0, ints({2, 2, 0}), x[1], "sum", false);
     },
     {{3}, {3}}},
    {"scatter_reduce_mean",
     [](const Tensors& x) {
       return scatter_reduce(x[0], 0, ints({2, 2, 0}), x[1], "mean");
     },
     {{3}, {3}}},
    {"scatter_reduce_prod",
     [](const Tensors& x) {
       return scatter_reduce(x[0], 0, ints({2, 2, 0}), x[1], "prod", false);
     },
     {{3}, {3}}},
    {"scatter_reduce_amax",
     [](const Tensors& x) {
       return scatter_reduce(x[0], 0, ints({2, 2, 0}), x[1], "amax");
     },
     {{3}, {3}}},
    {"index_reduce_prod",
     [](const Tensors& x) {
       return index_reduce(x[0], 1, ints({2, 2}), x[1], "prod");
     },
     {{2, 3}, {2, 2}}},
    {"index_reduce_mean",
     [](const Tensors& x) {
       return index_reduce(x[0], 1, ints({2, 2}), x[1], "mean", false);
     },
     {{2, 3}, {2, 2}}},
    {"index_reduce_amin",
     [](const Tensors& x) {
       return index_reduce(x[0], 1, ints({2, 2}), x[1], "amin");
     },
     {{2, 3}, {2, 2}}},
    {"segment_reduce_sum",
     [](const Tensors& x) {
       return segment_reduce(x[0], "sum", ints({1, 0, 3}), {}, {}, 0, false, 1);
     },
     {{4, 2}},
     false},
    {"segment_reduce_mean",
     [](const Tensors& x) {
       return segment_reduce(x[0], "mean", ints({1, 3}));
     },
     {{4, 2}},
     false},
    {"segment_reduce_max",
     [](const Tensors& x) {
       return segment_reduce(x[0], "max", ints({1, 3}));
     },
     {{4, 2}},
     false},
    {"segment_reduce_prod",
     [](const Tensors& x) {
       return segment_reduce(x[0], "prod", {}, {}, ints({0, 1, 3}));
     },
     {{4, 2}},
     false},
};

const ElementCase kShapeCases[] = {
    {"as_strided",
     [](const Tensors& x) {
       return as_strided(x[0], {2, 2}, {3, 2}, 1);
     },
     {{2, 4}}},
    {"as_strided_overlapping",
     [](const Tensors& x) {
       return as_strided(x[0], {3, 3}, {1, 1});
     },
     {{5}}},
    {"as_strided_of_transposed",
     [](const Tensors& x) {
       return as_strided(t(mul(x[0], 1)), {2, 2}, {1, 2}, 1);
     },
     {{2, 3}}},
    {"as_strided_scatter",
     [](const Tensors& x) {
       return as_strided_scatter(x[0], x[1], {2, 2}, {3, 2}, 1);
     },
     {{2, 4}, {2, 2}}},
    {"diag_embed", [](const Tensors& x) { return diag_embed(x[0], 1); }, {{2, 3}}},
    {"diagonal_scatter", [](const Tensors& x) { return diagonal_scatter(x[0], x[1], 1); }, {{3, 3}, {2}}},
    {"roll",
     [](const Tensors& x) {
       return roll(x[0], {1, -2}, {0, 1});
     },
     {{3, 4}}},
    {"roll_flat", [](const Tensors& x) { return roll(x[0], {2}); }, {{3, 4}}},
    {"rot90",
     [](const Tensors& x) {
       return rot90(x[0], 3, {1, 0});
     },
     {{3, 4}}},
    {"unfold", [](const Tensors& x) { return unfold(x[0], 1, 3, 2); }, {{2, 7}}},
    {"unfold_backward", [](const Tensors& x) { return unfold_backward(x[0], {6}, 0, 3, 1); }, {{4, 3}}},
    {"narrow_copy", [](const Tensors& x) { return narrow_copy(x[0], 1, 1, 2); }, {{2, 4}}},
    {"split_with_sizes",
     [](const Tensors& x) {
       const auto parts = split_with_sizes(x[0], {1, 3, 1}, 1);
       return mul(parts[0], parts[1]);
     },
     {{2, 5}}},
    {"unsafe_split", [](const Tensors& x) { return unsafe_split(x[0], 2, 1)[1]; }, {{2, 5}}},
    {"unsafe_split_with_sizes",
     [](const Tensors& x) {
       return unsafe_split_with_sizes(x[0], {1, 4}, 1)[1];
     },
     {{2, 5}}},
    {"transpose_in_place",
     [](const Tensors& x) {
       Tensor y = mul(x[0], x[0]);
       return mul(transpose_(y, 0, 1), 2);
     },
     {{2, 3}}},
    {"select_copy", [](const Tensors& x) { return select_copy(x[0], 1, -1); }, {{2, 3}}},
    {"slice_copy", [](const Tensors& x) { return slice_copy(x[0], 1, 0, 3, 2); }, {{2, 3}}},
    {"view_copy",
     [](const Tensors& x) {
       return view_copy(x[0], {3, 2});
     },
     {{2, 3}}},
    {"permute_copy",
     [](const Tensors& x) {
       return permute_copy(x[0], {1, 0});
     },
     {{2, 3}}},
    {"expand_copy",
     [](const Tensors& x) {
       return expand_copy(x[0], {2, 2, 3});
     },
     {{2, 1}}},
    {"unbind_copy", [](const Tensors& x) { return unbind_copy(x[0])[1]; }, {{2, 3}}},
    {"split_copy", [](const Tensors& x) { return split_copy(x[0], 2, 1)[1]; }, {{2, 3}}},
    {"unfold_copy", [](const Tensors& x) { return unfold_copy(x[0], 1, 2, 1); }, {{2, 3}}},
    {"as_strided_copy",
     [](const Tensors& x) {
       return as_strided_copy(x[0], {2, 2}, {1, 1});
     },
     {{2, 3}}},
    {"diagonal_copy", [](const Tensors& x) { return diagonal_copy(x[0]); }, {{2, 3}}},
    {"lift_fresh_copy", [](const Tensors& x) { return lift_fresh_copy(x[0]); }, {{2, 3}}},
};

const ElementCase kActivationCases[] = {
    {"sigmoid", [](const Tensors& x) { return sigmoid(x[0]); }, {{2, 9}}},
    {"tanh", [](const Tensors& x) { return tanh(x[0]); }, {{2, 9}}},
    {"relu", [](const Tensors& x) { return relu(x[0]); }, {{6}}},
    {"relu_in_place",
     [](const Tensors& x) {
       Tensor y = mul(x[0], 3);
       return relu_(y);
     },
     {{6}}},
    {"silu", [](const Tensors& x) { return silu(x[0]); }, {{2, 9}}},
    {"gelu", [](const Tensors& x) { return gelu(x[0]); }, {{2, 9}}},
    {"gelu_tanh", [](const Tensors& x) { return gelu(x[0], "tanh"); }, {{2, 9}}},
    {"mish", [](const Tensors& x) { return mish(x[0]); }, {{6}}},
    {"softplus", [](const Tensors& x) { return softplus(x[0], 2, 1); }, {{6}}},
    {"elu", [](const Tensors& x) { return elu(x[0], 1.5, 2, 0.7); }, {{6}}},
    {"celu", [](const Tensors& x) { return celu(x[0], 1.5); }, {{6}}},
    {"selu", [](const Tensors& x) { return selu(x[0]); }, {{6}}},
    {"glu", [](const Tensors& x) { return glu(x[0], 1); }, {{2, 4, 2}}},
    {"leaky_relu", [](const Tensors& x) { return leaky_relu(x[0], 0.2); }, {{6}}},
    {"threshold", [](const Tensors& x) { return threshold(x[0], 0.45, 2); }, {{6}}},
    {"hardtanh", [](const Tensors& x) { return hardtanh(x[0], -0.9, 0.9); }, {{6}}},
    {"hardsigmoid", [](const Tensors& x) { return hardsigmoid(mul(x[0], 4)); }, {{6}}},
    {"hardswish", [](const Tensors& x) { return hardswish(mul(x[0], 4)); }, {{6}}},
    {"hardshrink", [](const Tensors& x) { return hardshrink(x[0]); }, {{6}}},
    {"softshrink", [](const Tensors& x) { return softshrink(x[0]); }, {{6}}},
    {"log_sigmoid", [](const Tensors& x) { return log_sigmoid(x[0]); }, {{6}}},
    {"log_sigmoid_forward", [](const Tensors& x) { return std::get<0>(log_sigmoid_forward(x[0])); }, {{6}}},
    {"logit", [](const Tensors& x) { return logit(add(mul(x[0], 0.2), 0.5)); }, {{6}}},
    {"logit_eps", [](const Tensors& x) { return logit(add(mul(x[0], 0.2), 0.5), 0.4); }, {{6}}},
    {"rrelu", [](const Tensors& x) { return rrelu(x[0]); }, {{6}}},
    {"softmax", [](const Tensors& x) { return softmax(x[0], 1); }, {{2, 3}}},
    {"log_softmax", [](const Tensors& x) { return log_softmax(x[0], 0); }, {{2, 3}}},
    {"complex_sigmoid", [](const Tensors& x) { return view_as_real(sigmoid(complexOf(x))); }, {{3}, {3}}},
    {"complex_tanh", [](const Tensors& x) { return view_as_real(tanh(complexOf(x))); }, {{3}, {3}}},
    {"complex_silu", [](const Tensors& x) { return view_as_real(silu(complexOf(x))); }, {{3}, {3}}},
};

// The fourth element is 0.
Tensor withZero(const Tensor& x) { return mul(x, tensorOf<double>({1, 1, 1, 0, 1, 1})); }

const ElementCase kReductionCases[] = {
    {"prod", [](const Tensors& x) { return prod(x[0]); }, {{2, 3}}},
    {"prod_of_zero", [](const Tensors& x) { return prod(withZero(x[0])); }, {{6}}},
    {"prod_dim", [](const Tensors& x) { return prod(x[0], 1); }, {{2, 3}}},
    {"prod_dim_of_zero",
     [](const Tensors& x) {
       return prod(reshape(withZero(x[0]), {2, 3}), 1, true);
     },
     {{6}}},
    {"cumprod", [](const Tensors& x) { return cumprod(x[0], 1); }, {{2, 3}}},
    {"cumprod_of_zero", [](const Tensors& x) { return cumprod(withZero(x[0]), 0); }, {{6}}},
    {"cummax", [](const Tensors& x) { return std::get<0>(cummax(x[0], 1)); }, {{2, 4}}},
    {"cummin", [](const Tensors& x) { return std::get<0>(cummin(x[0], 0)); }, {{4, 2}}},
    {"logcumsumexp", [](const Tensors& x) { return logcumsumexp(x[0], 1); }, {{2, 4}}},
    {"kthvalue", [](const Tensors& x) { return std::get<0>(kthvalue(x[0], 2)); }, {{2, 4}}},
    {"median", [](const Tensors& x) { return median(x[0]); }, {{2, 3}}},
    {"median_dim", [](const Tensors& x) { return std::get<0>(median(x[0], 1, true)); }, {{2, 3}}},
    {"nanmedian", [](const Tensors& x) { return nanmedian(x[0]); }, {{2, 3}}},
    {"nanmedian_dim", [](const Tensors& x) { return std::get<0>(nanmedian(x[0], 0)); }, {{2, 3}}},
    {"mode", [](const Tensors& x) { return std::get<0>(mode(x[0])); }, {{2, 3}}},
    {"nansum", [](const Tensors& x) { return nansum(x[0], {{1}}); }, {{2, 3}}},
    {"aminmax",
     [](const Tensors& x) {
       const auto [least, most] = aminmax(x[0], 1);
       return mul(least, most);
     },
     {{2, 3}}},
    {"aminmax_all", [](const Tensors& x) { return std::get<1>(aminmax(x[0])); }, {{2, 3}}},
    {"var_mean",
     [](const Tensors& x) {
       const auto [variance, average] = var_mean(x[0], {{1}}, 1, false);
       return mul(variance, average);
     },
     {{2, 3}}},
    {"std_mean",
     [](const Tensors& x) {
       const auto [deviation, average] = std_mean(x[0], {{0, 1}}, 0, true);
       return add(deviation, average);
     },
     {{2, 3}}},
    {"complex_prod", [](const Tensors& x) { return view_as_real(prod(complexOf(x))); }, {{3}, {3}}},
    {"complex_cumprod", [](const Tensors& x) { return view_as_real(cumprod(complexOf(x), 0)); }, {{3}, {3}}},
};

// Between 0.3 and 2.
Tensor aboveZero(const Tensor& x) { return add(mul(x, 0.6), 1.1); }
// Between 0 and 1.
Tensor probability(const Tensor& x) { return add(mul(x, 0.25), 0.5); }

const ElementCase kSpecialCases[] = {
    {"clamp_tensors",
     [](const Tensors& x) { return clamp(x[0], sub(mul(x[1], 0.2), 0.4), mul(x[2], x[2])); },
     {{2, 3}, {3}, {2, 1}}},
    {"clamp_tensor_min", [](const Tensors& x) { return clamp(x[0], std::optional(x[1])); }, {{2, 3}, {3}}},
    {"pow_in_place",
     [](const Tensors& x) {
       Tensor y = aboveZero(x[0]);
       return pow_(y, 2.5);
     },
     {{4}}},
    {"pow_in_place_tensor",
     [](const Tensors& x) {
       Tensor y = aboveZero(x[0]);
       return pow_(y, x[1]);
     },
     {{4}, {4}}},
    {"i0", [](const Tensors& x) { return i0(x[0]); }, {{4}}},
    {"i0e", [](const Tensors& x) { return special_i0e(x[0]); }, {{4}}},
    {"i1", [](const Tensors& x) { return special_i1(x[0]); }, {{4}}},
    {"i1e", [](const Tensors& x) { return special_i1e(x[0]); }, {{4}}},
    {"igamma",
     [](const Tensors& x) {
       return igamma(tensorOf<double>({0.5, 1, 2, 3}), aboveZero(x[0]));
     },
     {{4}},
     false},
    {"igammac",
     [](const Tensors& x) {
       return igammac(tensorOf<double>({0.5, 1, 2, 3}), aboveZero(x[0]));
     },
     {{4}},
     false},
    {"polygamma", [](const Tensors& x) { return polygamma(1, aboveZero(x[0])); }, {{4}}},
    {"zeta", [](const Tensors& x) { return special_zeta(Scalar(2.5), aboveZero(x[0])); }, {{4}}, false},
    {"xlog1py", [](const Tensors& x) { return special_xlog1py(x[0], aboveZero(x[1])); }, {{2, 3}, {3}}},
    {"xlog1py_number", [](const Tensors& x) { return special_xlog1py(x[0], 1.5); }, {{4}}},
    {"entr", [](const Tensors& x) { return special_entr(aboveZero(x[0])); }, {{4}}},
    {"ndtri", [](const Tensors& x) { return special_ndtri(probability(x[0])); }, {{4}}},
    {"ndtr", [](const Tensors& x) { return special_ndtr(x[0]); }, {{4}}},
    {"log_ndtr", [](const Tensors& x) { return special_log_ndtr(x[0]); }, {{4}}},
    {"erfcx", [](const Tensors& x) { return special_erfcx(x[0]); }, {{4}}},
    {"bessel_j0", [](const Tensors& x) { return special_bessel_j0(x[0]); }, {{4}}},
    {"bessel_j1", [](const Tensors& x) { return special_bessel_j1(x[0]); }, {{4}}},
    {"bessel_y0", [](const Tensors& x) { return special_bessel_y0(aboveZero(x[0])); }, {{4}}},
    {"bessel_y1", [](const Tensors& x) { return special_bessel_y1(aboveZero(x[0])); }, {{4}}},
    {"modified_bessel_i0", [](const Tensors& x) { return special_modified_bessel_i0(x[0]); }, {{4}}},
    {"modified_bessel_i1", [](const Tensors& x) { return special_modified_bessel_i1(x[0]); }, {{4}}},
    {"modified_bessel_k0", [](const Tensors& x) { return special_modified_bessel_k0(aboveZero(x[0])); }, {{4}}},
    {"modified_bessel_k1", [](const Tensors& x) { return special_modified_bessel_k1(aboveZero(x[0])); }, {{4}}},
};

const auto kNameOf = [](const testing::TestParamInfo<ElementCase>& tested) { return tested.param.name; };
INSTANTIATE_TEST_SUITE_P(Indices, ElementFormulas, testing::ValuesIn(kIndexCases), kNameOf);
INSTANTIATE_TEST_SUITE_P(Shapes, ElementFormulas, testing::ValuesIn(kShapeCases), kNameOf);
INSTANTIATE_TEST_SUITE_P(Activations, ElementFormulas, testing::ValuesIn(kActivationCases), kNameOf);
INSTANTIATE_TEST_SUITE_P(Reductions, ElementFormulas, testing::ValuesIn(kReductionCases), kNameOf);
INSTANTIATE_TEST_SUITE_P(Special, ElementFormulas, testing::ValuesIn(kSpecialCases), kNameOf);

// == Ties and singular places: the numbers are PyTorch's ==

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct PlaceCase {
  const char* name;
  Differentiable function;
  std::vector<double> at;
  std::vector<double> expected;
};
std::ostream& operator<<(std::ostream& stream, const PlaceCase& tested) { return stream << tested.name; }

class PlacesOfFormulas : public testing::TestWithParam<PlaceCase> {};

TEST_P(PlacesOfFormulas, GiveTheGradientsOfPyTorch) {
  const auto& [name, function, at, expected] = GetParam();
  Tensor x = Tensor::allocate({{std::ssize(at)}}, ScalarType::Double);
  std::ranges::copy(at, x.data_ptr<double>());
  x.set_requires_grad(true);
  const Tensor gradient = contiguous(grad({{sum(function({x}))}}, {{x}})[0]);
  for (size_t i = 0; i < expected.size(); ++i) {
    const double found = gradient.data_ptr<double>()[i];
    if (std::isnan(expected[i])) {
      EXPECT_TRUE(std::isnan(found)) << "at " << at[i] << " it is " << found;
    } else {
      EXPECT_DOUBLE_EQ(found, expected[i]) << "at " << at[i];
    }
  }
}

std::optional<Tensor> boundsOf(double value) { return tensorOf<double>({value}); }

const PlaceCase kPlaceCases[] = {
    {"relu", [](const Tensors& x) { return relu(x[0]); }, {-1, 0, 1, kNan}, {0, 0, 1, 1}},
    {"threshold", [](const Tensors& x) { return threshold(x[0], 0.5, 3); }, {0, 0.5, 1, kNan}, {0, 0, 1, 1}},
    {"leaky_relu", [](const Tensors& x) { return leaky_relu(x[0], 0.01); }, {-1, 0, 1, kNan}, {0.01, 0.01, 1, 0.01}},
    {"hardtanh", [](const Tensors& x) { return hardtanh(x[0]); }, {-1, 0, 1, 2, kNan}, {0, 1, 0, 0, 0}},
    {"hardswish", [](const Tensors& x) { return hardswish(x[0]); }, {-3, 0, 3, 4, kNan}, {0, 0.5, 1, 1, kNan}},
    {"hardshrink", [](const Tensors& x) { return hardshrink(x[0]); }, {-1, -0.5, 0.5, 1, kNan}, {1, 0, 0, 1, 0}},
    {"softshrink", [](const Tensors& x) { return softshrink(x[0]); }, {-1, -0.5, 0.5, 1, kNan}, {1, 0, 0, 1, 0}},
    {"elu", [](const Tensors& x) { return elu(x[0], 2); }, {0, 1, kNan}, {2, 1, kNan}},
    {"logit",
     [](const Tensors& x) { return logit(x[0]); },
     {-0.5, 0, 0.5, 1, 1.5},
     {kNan, kInfinity, 4, kInfinity, kNan}},
    {"logit_eps", [](const Tensors& x) { return logit(x[0], 0.5); }, {0, 0.5, 1, kNan}, {0, 4, 0, 0}},
    {"clamp_between",
     [](const Tensors& x) { return clamp(x[0], boundsOf(-1), boundsOf(1)); },
     {-2, -1, 0, 1, 2, kNan},
     {0, 0.5, 1, 0.5, 0, 1}},
    {"clamp_between_equals",
     [](const Tensors& x) { return clamp(x[0], boundsOf(1), boundsOf(1)); },
     {0, 1, 2, kNan},
     {0, 1, 0, 1}},
    {"clamp_from", [](const Tensors& x) { return clamp(x[0], boundsOf(-1)); }, {-2, -1, 0, kNan}, {0, 0.5, 1, 1}},
    {"i1", [](const Tensors& x) { return special_i1(x[0]); }, {0}, {0.5}},
    {"i1e", [](const Tensors& x) { return special_i1e(x[0]); }, {0}, {0.5}},
    {"bessel_j1", [](const Tensors& x) { return special_bessel_j1(x[0]); }, {0}, {0.5}},
    {"bessel_y1", [](const Tensors& x) { return special_bessel_y1(x[0]); }, {0, -1}, {kInfinity, kNan}},
    {"entr", [](const Tensors& x) { return special_entr(x[0]); }, {0, -1}, {kInfinity, kNan}},
    {"xlog1py", [](const Tensors& x) { return special_xlog1py(x[0], -1); }, {0, 1}, {0, -kInfinity}},
    {"prod_of_one_zero", [](const Tensors& x) { return prod(x[0]); }, {2, 0, 3}, {0, 6, 0}},
    {"prod_of_two_zeros", [](const Tensors& x) { return prod(x[0]); }, {2, 0, 0}, {0, 0, 0}},
    {"cumprod_of_one_zero", [](const Tensors& x) { return cumprod(x[0], 0); }, {2, 0, 3, 4}, {1, 2 + 6 + 24, 0, 0}},
    {"cumprod_of_two_zeros", [](const Tensors& x) { return cumprod(x[0], 0); }, {2, 0, 0, 4}, {1, 2, 0, 0}},
    {"median_of_equals", [](const Tensors& x) { return median(x[0]); }, {2, 2, 3}, {0.5, 0.5, 0}},
    {"nansum", [](const Tensors& x) { return nansum(x[0]); }, {2, kNan, 3}, {1, 0, 1}},
    {"aminmax_of_equals", [](const Tensors& x) { return std::get<0>(aminmax(x[0])); }, {2, 2, 3}, {0.5, 0.5, 0}},
    {"scatter_reduce_of_equals",
     [](const Tensors& x) {
       return scatter_reduce(x[0], 0, ints({0, 0, 1}), tensorOf<double>({1, 1, 5}), "amax");
     },
     {1, 2, 3},
     {1.0 / 3, 0, 1}},
    {"scatter_reduce_of_zero",
     [](const Tensors& x) {
       return scatter_reduce(tensorOf<double>({5, 7}), 0, ints({0, 0, 1}), x[0], "prod");
     },
     {0, 3, 2},
     {15, 0, 7}},
    {"segment_reduce_of_equals",
     [](const Tensors& x) { return segment_reduce(x[0], "max", ints({3})); },
     {2, 1, 2},
     {0.5, 0, 0.5}},
};
INSTANTIATE_TEST_SUITE_P(All, PlacesOfFormulas, testing::ValuesIn(kPlaceCases),
                         [](const auto& tested) { return tested.param.name; });

// == What has no gradient ==

TEST(ElementFormulas, DrawsHaveAGradientOfZero) {
  const Tensor x = mixed({2, 3}, 1);
  const auto gradientOf = [&](const Tensor& drawn) {
    EXPECT_TRUE(drawn.requires_grad());
    const Tensor gradient = grad({{sum(drawn)}}, {{x}})[0];
    return item(any(gradient)).toBool();
  };
  const auto drawnInto = [&](const auto& draw) {
    Tensor y = mul(x, 2);
    draw(y);
    return y;
  };
  EXPECT_FALSE(gradientOf(drawnInto([](Tensor& y) { uniform_(y); })));
  EXPECT_FALSE(gradientOf(drawnInto([](Tensor& y) { normal_(y); })));
  EXPECT_FALSE(gradientOf(drawnInto([](Tensor& y) { exponential_(y); })));
  EXPECT_FALSE(gradientOf(drawnInto([](Tensor& y) { bernoulli_(y, 0.5); })));
  EXPECT_FALSE(gradientOf(drawnInto([](Tensor& y) { random_(y, 0, 5); })));
  EXPECT_FALSE(gradientOf(drawnInto([](Tensor& y) { eq_(y, 1); })));
  EXPECT_FALSE(gradientOf(normal(x, 1)));
  EXPECT_FALSE(gradientOf(poisson(square(x))));
}

TEST(ElementFormulas, ResultsThatCannotBeDifferentiatedDoNotRequireGrad) {
  const Tensor x = mixed({2, 3}, 1);
  for (const Tensor& result : {gt(x, 0), eq(x, x), isnan(x), argmax(x), argsort(x), any(x), logical_not(x), nonzero(x),
                               randint_like(x, 3), multinomial(square(x), 1), histc(x), special_airy_ai(x),
                               special_hermite_polynomial_h(x, 2), count_nonzero(x), where(gt(x, 0), 1.0, 2.0)}) {
    EXPECT_FALSE(result.requires_grad());
  }
}

TEST(ElementFormulas, NameTheArgumentThatHasNoDerivative) {
  const Tensor x = square(mixed({2}, 1));
  EXPECT_EQ(errorOf([&] { grad({{sum(igamma(x, x))}}, {{x}}); }),
            "the derivative of igamma for its argument 'self' is not implemented. Compute it under no_grad, or give "
            "an argument that does not require grad");
}

TEST(ElementFormulas, RefuseToResizeWhatRequiresGrad) {
  Tensor leaf = mixed({2, 3}, 1);
  Tensor made = mul(leaf, 2);
  for (Tensor* const x : {&leaf, &made}) {
    EXPECT_EQ(errorOf([&] { resize_(*x, {2}); }),
              "resize_: cannot resize variables that require grad. Call it on a detach()ed tensor");
    EXPECT_EQ(errorOf([&] { resize_as_(*x, ints({1})); }),
              "resize_as_: cannot resize variables that require grad. Call it on a detach()ed tensor");
  }
  Tensor free = detach(made);
  resize_(free, {2});
  EXPECT_EQ(free.numel(), 2);
}

TEST(ElementFormulas, KeepTheNoiseThatRreluWrote) {
  const Tensor x = mixed({50}, 1);
  Tensor noise = empty_like(x);
  const Tensor y = rrelu_with_noise(x, noise, 0.1, 0.4, true);
  const Tensor gradient = grad({{sum(y)}}, {{x}})[0];
  EXPECT_TRUE(equal(gradient, noise));
}

}  // namespace
}  // namespace boxcar::autograd
