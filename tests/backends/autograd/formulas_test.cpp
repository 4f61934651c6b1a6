#include <boxcar/backends/autograd/autograd.h>
#include <gtest/gtest.h>

#include <ostream>

#include "tests/backends/autograd/gradient_check.h"
#include "tests/backends/tensor_helpers.h"

namespace boxcar::autograd {
namespace {

using Inputs = std::vector<Tensor>;

// float64 numbers between 0.3 and 2.1, all different.
Tensor positive(IntArrayRef sizes, double first) {
  const Tensor numbers = add(fmod(mul(add(arange(numelOf(sizes), ScalarType::Double), first), 0.6180339887), 1.8), 0.3);
  return reshape(numbers, sizes).set_requires_grad(true);
}

struct Case {
  const char* name;
  Differentiable function;
  std::vector<std::vector<int64_t>> sizes;
};
std::ostream& operator<<(std::ostream& stream, const Case& tested) { return stream << tested.name; }

class Formulas : public testing::TestWithParam<Case> {};

TEST_P(Formulas, GiveTheGradientsThatFiniteDifferencesGive) {
  Inputs inputs;
  for (const auto& sizes : GetParam().sizes) inputs.push_back(positive(sizes, 1.5 + 3.1 * std::ssize(inputs)));
  EXPECT_EQ(gradientMismatch(GetParam().function, inputs), "");
}

#define UNARY(name)                                      \
  Case {                                                 \
#name, [](const Inputs& x) { return name(x[0]); }, { \
      { 2, 3 }                                           \
    }                                                    \
  }
#define BINARY(name)                                           \
  Case {                                                       \
#name, [](const Inputs& x) { return name(x[0], x[1]); }, { \
      {2, 3}, { 3 }                                            \
    }                                                          \
  }

const Case kCases[] = {
    UNARY(neg),
    UNARY(abs),
    UNARY(exp),
    UNARY(exp2),
    UNARY(expm1),
    UNARY(log),
    UNARY(log2),
    UNARY(log10),
    UNARY(log1p),
    UNARY(sqrt),
    UNARY(rsqrt),
    UNARY(reciprocal),
    UNARY(sin),
    UNARY(cos),
    UNARY(tan),
    UNARY(sinh),
    UNARY(cosh),
    UNARY(tanh),
    UNARY(atan),
    UNARY(asinh),
    UNARY(sigmoid),
    UNARY(relu),
    UNARY(floor),
    UNARY(frac),
    UNARY(erf),
    UNARY(erfc),
    UNARY(rad2deg),
    UNARY(sinc),
    UNARY(lgamma),
    UNARY(digamma),
    UNARY(silu),
    UNARY(sum),
    UNARY(mean),
    UNARY(square),
    UNARY(t),
    BINARY(add),
    BINARY(sub),
    BINARY(mul),
    BINARY(div),
    BINARY(remainder),
    BINARY(pow),
    BINARY(maximum),
    BINARY(minimum),
    BINARY(fmax),
    BINARY(fmin),
    BINARY(copysign),
    BINARY(logaddexp),
    BINARY(logaddexp2),
    BINARY(xlogy),
    BINARY(atan2),
    BINARY(hypot),
    {"acos", [](const Inputs& x) { return acos(div(x[0], 3)); }, {{4}}},
    {"asin", [](const Inputs& x) { return asin(div(x[0], 3)); }, {{4}}},
    {"atanh", [](const Inputs& x) { return atanh(div(x[0], 3)); }, {{4}}},
    {"acosh", [](const Inputs& x) { return acosh(add(x[0], 1)); }, {{4}}},
    {"erfinv", [](const Inputs& x) { return erfinv(div(x[0], 3)); }, {{4}}},
    {"gelu", [](const Inputs& x) { return gelu(x[0]); }, {{4}}},
    {"gelu_tanh", [](const Inputs& x) { return gelu(x[0], "tanh"); }, {{4}}},
    {"softplus", [](const Inputs& x) { return softplus(x[0]); }, {{4}}},
    {"leaky_relu", [](const Inputs& x) { return leaky_relu(sub(x[0], 1)); }, {{4}}},
    {"hardtanh", [](const Inputs& x) { return hardtanh(x[0]); }, {{4}}},
    {"clamp", [](const Inputs& x) { return clamp(x[0], 0.5, 1.5); }, {{6}}},
    {"clamp_min", [](const Inputs& x) { return clamp_min(x[0], 1); }, {{6}}},
    {"pow_number", [](const Inputs& x) { return pow(x[0], 2.5); }, {{6}}},
    {"number_pow", [](const Inputs& x) { return pow(Scalar(1.7), x[0]); }, {{6}}},
    {"scaled_add", [](const Inputs& x) { return add(x[0], x[1], 3); }, {{2, 3}, {2, 1}}},
    {"scaled_sub", [](const Inputs& x) { return sub(x[0], x[1], 3); }, {{2, 3}, {2, 1}}},
    {"rsub", [](const Inputs& x) { return rsub(x[0], x[1], 2); }, {{2, 3}, {2, 1}}},
    {"addcmul", [](const Inputs& x) { return addcmul(x[0], x[1], x[2], 2); }, {{2, 3}, {3}, {2, 1}}},
    {"addcdiv", [](const Inputs& x) { return addcdiv(x[0], x[1], x[2], 2); }, {{2, 3}, {3}, {2, 1}}},
    {"lerp", [](const Inputs& x) { return lerp(x[0], x[1], x[2]); }, {{2, 3}, {3}, {2, 1}}},
    {"mm", [](const Inputs& x) { return mm(x[0], x[1]); }, {{2, 3}, {3, 4}}},
    {"addmm", [](const Inputs& x) { return addmm(x[0], x[1], x[2], 2, 3); }, {{4}, {2, 3}, {3, 4}}},
    {"bmm", [](const Inputs& x) { return bmm(x[0], x[1]); }, {{2, 2, 3}, {2, 3, 2}}},
    {"baddbmm", [](const Inputs& x) { return baddbmm(x[0], x[1], x[2], 2, 3); }, {{2}, {2, 2, 3}, {2, 3, 2}}},
    {"mv", [](const Inputs& x) { return mv(x[0], x[1]); }, {{2, 3}, {3}}},
    {"addmv", [](const Inputs& x) { return addmv(x[0], x[1], x[2], 2, 3); }, {{2}, {2, 3}, {3}}},
    {"dot", [](const Inputs& x) { return dot(x[0], x[1]); }, {{3}, {3}}},
    {"addr", [](const Inputs& x) { return addr(x[0], x[1], x[2], 2, 3); }, {{2, 3}, {2}, {3}}},
    {"matmul", [](const Inputs& x) { return matmul(x[0], x[1]); }, {{2, 1, 2, 3}, {2, 3, 2}}},
    {"linear", [](const Inputs& x) { return linear(x[0], x[1], x[2]); }, {{2, 3}, {4, 3}, {4}}},
    {"sum_dim",
     [](const Inputs& x) {
       return sum(x[0], {{1, -1}});
     },
     {{2, 3, 2}}},
    {"sum_keepdim", [](const Inputs& x) { return sum(x[0], {{1}}, true); }, {{2, 3, 2}}},
    {"mean_dim", [](const Inputs& x) { return mean(x[0], {{0}}); }, {{2, 3, 2}}},
    {"softmax", [](const Inputs& x) { return softmax(x[0], 1); }, {{2, 3}}},
    {"log_softmax", [](const Inputs& x) { return log_softmax(x[0], 0); }, {{2, 3}}},
    {"reshape",
     [](const Inputs& x) {
       return reshape(x[0], {3, 2});
     },
     {{2, 3}}},
    {"expand",
     [](const Inputs& x) {
       return expand(x[0], {4, 2, 3});
     },
     {{2, 1}}},
    {"transpose", [](const Inputs& x) { return transpose(x[0], 0, 2); }, {{2, 1, 3}}},
    {"permute",
     [](const Inputs& x) {
       return permute(x[0], {2, 0, -2});
     },
     {{2, 1, 3}}},
    {"unsqueeze", [](const Inputs& x) { return unsqueeze(x[0], -1); }, {{2, 3}}},
    {"squeeze", [](const Inputs& x) { return squeeze(x[0]); }, {{2, 1, 3}}},
    {"squeeze_dim", [](const Inputs& x) { return squeeze(x[0], 1); }, {{2, 1, 3}}},
    {"select", [](const Inputs& x) { return select(x[0], 1, -1); }, {{2, 3}}},
    {"slice", [](const Inputs& x) { return slice(x[0], 1, 0, 4, 2); }, {{2, 5}}},
    {"cat",
     [](const Inputs& x) {
       return cat({{x[0], x[1], x[0]}}, 1);
     },
     {{2, 3}, {2, 1}}},
    {"stack",
     [](const Inputs& x) {
       return stack({{x[0], x[1]}}, 1);
     },
     {{2, 3}, {2, 3}}},
    {"clone", [](const Inputs& x) { return clone(x[0]); }, {{2, 3}}},
    {"fill", [](const Inputs& x) { return mul(fill(x[0], x[1]), x[0]); }, {{2, 3}, {}}},
    {"copy_into",
     [](const Inputs& x) {
       Tensor y = mul(x[0], 2);
       copy_(y, x[1]);
       return mul(y, y);
     },
     {{2, 3}, {3}}},
    {"polar", [](const Inputs& x) { return view_as_real(polar(x[0], x[1])); }, {{3}, {3}}},
    {"complex", [](const Inputs& x) { return view_as_real(complex(x[0], x[1])); }, {{3}, {3}}},
    {"complex_mul",
     [](const Inputs& x) {
       const Tensor z = complex(x[0], x[1]);
       return view_as_real(mul(z, exp(z)));
     },
     {{3}, {3}}},
    {"complex_div",
     [](const Inputs& x) {
       const Tensor z = complex(x[0], x[1]);
       return abs(div(z, sin(z)));
     },
     {{3}, {3}}},
    {"complex_angle", [](const Inputs& x) { return angle(complex(x[0], x[1])); }, {{3}, {3}}},
    {"complex_sgn", [](const Inputs& x) { return view_as_real(sgn(complex(x[0], x[1]))); }, {{3}, {3}}},
    {"where", [](const Inputs& x) { return where(gt(x[0], 1), x[0], x[1]); }, {{2, 3}, {3}}},
    {"masked_fill", [](const Inputs& x) { return masked_fill(x[0], gt(x[0], 1), x[1]); }, {{2, 3}, {}}},
    {"conv2d", [](const Inputs& x) { return conv2d(x[0], x[1], x[2], {2}, {1}); }, {{2, 2, 5, 4}, {3, 2, 3, 3}, {3}}},
    {"conv_transpose1d",
     [](const Inputs& x) { return conv_transpose1d(x[0], x[1], x[2]); },
     {{2, 3, 4}, {3, 2, 3}, {2}}},
    {"layer_norm", [](const Inputs& x) { return layer_norm(x[0], {3}, x[1], x[2]); }, {{2, 3}, {3}, {3}}},
    {"group_norm", [](const Inputs& x) { return group_norm(x[0], 2, x[1], x[2]); }, {{2, 4, 3}, {4}, {4}}},
    {"avg_pool2d", [](const Inputs& x) { return avg_pool2d(x[0], {2}); }, {{1, 2, 4, 5}}},
    {"max_pool2d", [](const Inputs& x) { return max_pool2d(x[0], {2}); }, {{1, 2, 4, 5}}},
    {"adaptive_avg_pool2d",
     [](const Inputs& x) {
       return adaptive_avg_pool2d(x[0], {2, 3});
     },
     {{1, 2, 4, 5}}},
    {"mse_loss", [](const Inputs& x) { return mse_loss(x[0], x[1]); }, {{2, 3}, {2, 3}}},
    {"mse_loss_sum", [](const Inputs& x) { return mse_loss(x[0], x[1], 2); }, {{2, 3}, {2, 3}}},
    {"smooth_l1_loss", [](const Inputs& x) { return smooth_l1_loss(x[0], x[1], 0, 0.4); }, {{2, 3}, {2, 3}}},
    {"huber_loss", [](const Inputs& x) { return huber_loss(x[0], x[1], 1, 0.4); }, {{2, 3}, {2, 3}}},
    {"cross_entropy",
     [](const Inputs& x) {
       return cross_entropy_loss(x[0], ints({2, 0}));
     },
     {{2, 3}}},
    {"nll_loss",
     [](const Inputs& x) {
       return nll_loss(x[0], ints({2, 1}), {}, 0, 1);
     },
     {{2, 3}}},
    {"max_dim", [](const Inputs& x) { return std::get<0>(max(x[0], 1)); }, {{2, 3}}},
    {"min_keepdim", [](const Inputs& x) { return std::get<0>(min(x[0], 0, true)); }, {{2, 3}}},
    {"max", [](const Inputs& x) { return max(x[0]); }, {{2, 3}}},
    {"amin", [](const Inputs& x) { return amin(x[0], {0}); }, {{2, 3}}},
    {"sort", [](const Inputs& x) { return std::get<0>(sort(x[0], 1, true)); }, {{2, 3}}},
    {"topk", [](const Inputs& x) { return std::get<0>(topk(x[0], 2)); }, {{2, 3}}},
    {"cumsum", [](const Inputs& x) { return cumsum(x[0], 1); }, {{2, 3}}},
    {"logsumexp", [](const Inputs& x) { return logsumexp(x[0], {1}); }, {{2, 3}}},
    {"var", [](const Inputs& x) { return var(x[0], {{1}}, 1, false); }, {{2, 3}}},
    {"std",
     [](const Inputs& x) {
       return std(x[0], {{0, 1}}, 0, true);
     },
     {{2, 3}}},
    {"split", [](const Inputs& x) { return split(x[0], 2, 1)[1]; }, {{2, 5}}},
    {"unbind",
     [](const Inputs& x) {
       const auto rows = unbind(x[0]);
       return mul(rows[0], rows[2]);
     },
     {{3, 2}}},
    {"gather",
     [](const Inputs& x) {
       return gather(x[0], 1, ints({2, 2, 0, 1}, {2, 2}));
     },
     {{2, 3}}},
    {"index_select",
     [](const Inputs& x) {
       return index_select(x[0], 1, ints({2, 2, 0}));
     },
     {{2, 3}}},
    {"index",
     [](const Inputs& x) {
       return index(x[0], {std::optional<Tensor>(ints({1, 1, 0}))});
     },
     {{2, 3}}},
    {"embedding",
     [](const Inputs& x) {
       return embedding(x[0], ints({1, 1, 0}));
     },
     {{2, 3}}},
    {"flip", [](const Inputs& x) { return flip(x[0], {0}); }, {{2, 3}}},
    {"tril", [](const Inputs& x) { return tril(x[0]); }, {{3, 3}}},
    {"diagonal", [](const Inputs& x) { return diagonal(x[0], 1); }, {{3, 3}}},
    {"repeat", [](const Inputs& x) { return repeat(x[0], {2, 1, 3}); }, {{2, 3}}},
    {"pad", [](const Inputs& x) { return constant_pad_nd(x[0], {1, -1, 0, 2}); }, {{2, 3}}},
    {"select_scatter", [](const Inputs& x) { return select_scatter(x[0], x[1], 0, 1); }, {{2, 3}, {3}}},
    {"slice_scatter", [](const Inputs& x) { return slice_scatter(x[0], x[1], 1, 0, 2); }, {{2, 3}, {2, 2}}},
    {"mse_of_parts",
     [](const Inputs& x) { return mean(square(sub(select(x[0], 0, 0), select(x[0], 0, 1)))); },
     {{2, 3}}},
};

INSTANTIATE_TEST_SUITE_P(All, Formulas, testing::ValuesIn(kCases),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace boxcar::autograd
