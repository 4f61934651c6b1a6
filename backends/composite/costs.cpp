#include <boxcar/backends/native/fused.h>
#include <boxcar/dispatcher/registry/operator_cost.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

// The cost of calls to operators that are not pointwise. Composite operators have no cost of their own.

namespace boxcar::composite {
namespace {

const Tensor& tensorAt(const FinishedCall& call, size_t index) { return call.arguments[index].toTensor(); }
const Tensor& result(const FinishedCall& call) { return call.results.front().toTensor(); }
double numel(const Tensor& tensor) { return static_cast<double>(tensor.numel()); }
double nbytes(const Tensor& tensor) { return static_cast<double>(tensor.nbytes()); }

// One multiply and one add for each element of the result and each index that both factors share.
template <size_t factor>
OperatorCost product(const FinishedCall& call) {
  return {.flops = 2 * numel(result(call)) * static_cast<double>(tensorAt(call, factor).sizes().back()), .bytes = {}};
}

// beta * self + alpha * (mat1 @ mat2)
OperatorCost productAndSum(const FinishedCall& call) {
  const double product_flops = *product<1>(call).flops;
  return {.flops = product_flops + 3 * numel(result(call)), .bytes = {}};
}

// One multiply and one add for each element of the result (of the input if transposed) and each kernel element that it
// meets; one more add per result element for the bias.
OperatorCost convolution(const FinishedCall& call) {
  const Tensor& weight = tensorAt(call, 1);
  const bool transposed = call.arguments[6].toBool();
  const double kernel = numel(weight) / static_cast<double>(weight.sizes()[0]);
  const double products = kernel * numel(transposed ? tensorAt(call, 0) : result(call));
  const double sums = call.arguments[2].isNone() ? 0 : numel(result(call));
  return {.flops = 2 * products + sums, .bytes = {}};
}

// Whether a fused operator ran as one kernel; else the operators that it is made of have costs of their own.
bool ranFused(const FinishedCall& call, size_t added) {
  const Tensor& out = result(call);
  const bool broadcasts = !call.arguments[added].isNone() && tensorAt(call, added).numel() != out.numel();
  return native::convolveFused.has(out.device().type()) && out.scalar_type() == ScalarType::Float && out.numel() > 0 &&
         !out.requires_grad() && !broadcasts;
}

// One more operation per result element for the bias or the norm, the sum, and the activation.
double fusedSteps(const FinishedCall& call, size_t added) {
  int steps = call.arguments[2].isNone() ? 0 : 1;
  if (!call.arguments[added].isNone()) ++steps;
  if (call.arguments[added + 1].toStringView() != "none") ++steps;
  return steps * numel(result(call));
}

OperatorCost fusedConvolutionCost(const FinishedCall& call) {
  if (!ranFused(call, 12)) return {.flops = 0, .bytes = 0};
  const Tensor& weight = tensorAt(call, 1);
  const double kernel = numel(weight) / static_cast<double>(weight.sizes()[0]);
  const double norm = call.arguments[2].isNone() && !call.arguments[5].isNone() ? numel(result(call)) : 0;
  return {.flops = 2 * kernel * numel(result(call)) + norm + fusedSteps(call, 12), .bytes = {}};
}

OperatorCost fusedLinearCost(const FinishedCall& call) {
  if (!ranFused(call, 3)) return {.flops = 0, .bytes = 0};
  return {.flops = *product<1>(call).flops + fusedSteps(call, 3), .bytes = {}};
}

// One operation for each element of each result element's window.
OperatorCost pool(const FinishedCall& call) {
  double window = 1;
  const List<int64_t> sizes = call.arguments[1].toIntList();
  for (size_t i = 0; i < 2; ++i) window *= static_cast<double>(sizes[i < sizes.size() ? i : 0]);
  return {.flops = window * numel(result(call)), .bytes = {}};
}

// [products] multiply-adds for each score and each element of a query, and a softmax. Only CPUs have kernels, others
// the operators that have costs of their own.
template <size_t first, size_t causal, int products>
OperatorCost attention(const FinishedCall& call) {
  const Tensor& query = tensorAt(call, first);
  if (!query.device().is_cpu()) return {.flops = 0, .bytes = 0};
  const auto queries = static_cast<double>(query.size(2));
  const auto keys = static_cast<double>(tensorAt(call, first + 1).size(2));
  const double both = std::min(queries, keys);
  const bool is_causal = call.arguments[causal].toBool();
  const double seen = is_causal ? both * (both + 1) / 2 + (queries - both) * keys : queries * keys;
  const double scores = static_cast<double>(query.size(0) * query.size(1)) * seen;
  return {.flops = scores * (2.0 * products * static_cast<double>(query.size(3)) + 5), .bytes = {}};
}

// One weight and one add for each target class.
OperatorCost classLoss(const FinishedCall& call) { return {.flops = 2 * numel(tensorAt(call, 1)), .bytes = {}}; }

// [per_element] operations for each element of the result.
template <int per_element>
OperatorCost interpolation(const FinishedCall& call) {
  return {.flops = per_element * numel(result(call)), .bytes = {}};
}

// [per_element] operations for each element of the first argument.
template <int per_element>
OperatorCost reduction(const FinishedCall& call) {
  return {.flops = per_element * numel(tensorAt(call, 0)), .bytes = {}};
}

// Along each of the dimensions, 5 log2(n) operations for each complex element, or half as many for a real one.
OperatorCost fourier(const FinishedCall& call) {
  const Tensor& complex = tensorAt(call, 0).is_complex() ? tensorAt(call, 0) : result(call);
  const List<int64_t> dims = call.arguments[1].toIntList();
  double flops = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    const double size = static_cast<double>(std::max(tensorAt(call, 0).size(dims[i]), result(call).size(dims[i])));
    if (size > 1) flops += 5 * std::log2(size) * numel(complex);
  }
  return {.flops = flops, .bytes = {}};
}

// Operators that only move elements: each element of the result is read once and written once.
OperatorCost movement(const FinishedCall& call) { return {.flops = 0, .bytes = 2 * nbytes(result(call))}; }

// Operators that also read an index for each element.
template <size_t index>
OperatorCost movementByIndex(const FinishedCall& call) {
  return {.flops = 0, .bytes = 2 * nbytes(result(call)) + nbytes(tensorAt(call, index))};
}

// Operators that write the values in the argument [index] into another tensor.
template <size_t index>
OperatorCost placement(const FinishedCall& call) {
  return {.flops = 0, .bytes = 2 * nbytes(tensorAt(call, index))};
}

OperatorCost copying(const FinishedCall& call) {
  return {.flops = 0, .bytes = nbytes(result(call)) + nbytes(tensorAt(call, 1))};
}

// Operators that write a whole tensor and read none.
OperatorCost filling(const FinishedCall& call) { return {.flops = 0, .bytes = nbytes(result(call))}; }

// Operators that read elements and compute nothing.
OperatorCost reading(const FinishedCall&) { return {.flops = 0, .bytes = {}}; }

// Operators that look only at a tensor's shape, not at its elements.
OperatorCost nothing(const FinishedCall&) { return {.flops = 0, .bytes = 0}; }

constexpr CostRow kCosts[] = {
    {&product<0>, "mm mm.out bmm bmm.out mv mv.out dot vdot"},
    {&productAndSum, "addmm addmm.out addmm_ baddbmm baddbmm.out baddbmm_ addmv addmv.out addmv_"},
    {&reduction<1>, "sum prod mean amax amin max max.dim min min.dim argmax argmin any all equal"},
    // A maximum, a subtraction, an exponential, a sum, and a division or subtraction.
    {&reduction<5>, "_softmax _log_softmax"},
    {&fourier, "_fft_c2c _fft_r2c _fft_c2r"},
    {&convolution, "convolution"},
    {&attention<0, 4, 2>, "_scaled_dot_product_flash_attention_for_cpu"},
    {&attention<1, 7, 5>, "_scaled_dot_product_flash_attention_for_cpu_backward"},
    {&pool, "max_pool2d_with_indices avg_pool2d"},
    {&reduction<1>, "_adaptive_avg_pool2d adaptive_avg_pool2d.out adaptive_max_pool2d"},
    {&classLoss, "nll_loss_forward nll_loss2d_forward"},
    // Two multiplies and one add along each dimension.
    {&interpolation<3>, "upsample_linear1d"},
    {&interpolation<6>, "upsample_bilinear2d"},
    // A multiply and an add for each corner.
    {&interpolation<8>, "grid_sampler_2d"},
    {&interpolation<16>, "grid_sampler_3d"},
    {&movement, "upsample_nearest1d upsample_nearest2d"},
    {&movement, "clone _to_copy cat stack index"},
    {&movementByIndex<2>, "index_select gather"},
    {&placement<2>, "index_put_"},
    {&reading, "_local_scalar_dense nonzero"},
    {&copying, "copy_"},
    {&filling, "fill_ zero_ uniform_ normal_ zeros ones full arange rand randn zeros_like ones_like full_like"},
    {&nothing, "size is_floating_point is_same_size empty empty_like empty_strided"},
};

constexpr CostRow kFusedCosts[] = {
    {&fusedConvolutionCost, "convolution"},
    {&fusedLinearCost, "linear"},
};

[[maybe_unused]] const bool kCostsAreRegistered =
    (registerCosts("aten", kCosts), registerCosts("fused", kFusedCosts), true);

}  // namespace
}  // namespace boxcar::composite
