#include <boxcar/backends/transforms/batched_call.h>
#include <boxcar/ops.h>

#include <cstdint>
#include <numeric>
#include <utility>

// Gradients of networks that are operators of their own.

namespace boxcar::transforms {
namespace {

IValue maskOf(bool first, bool second, bool third) {
  List<bool> mask;
  for (const bool wanted : {first, second, third}) mask.push_back(wanted);
  return mask;
}

bool isWanted(const IValue& mask, size_t i) { return mask.elementAt(i).toBool(); }

// Of [N, B * C, …].
Tensor channelsApart(const Tensor& tensor, int64_t batch) { return boxcar::movedim(unfolded(tensor, batch, 1), 1, 0); }

std::vector<IValue> convolutionGradients(const BatchedCall& call) {
  const IValue mask = call.args[10];
  std::vector<IValue> results{Tensor(), Tensor(), Tensor()};
  bool input_is_left = isWanted(mask, 0);
  if (input_is_left && !call.isBatched(2)) {
    // With the same filters, the slices are more samples.
    std::vector<IValue> args = call.args;
    args[0] = folded(call.expanded(0));
    args[1] = folded(call.expanded(1));
    args[10] = maskOf(true, false, false);
    results[0] = unfolded(callOperator(call.op, std::move(args))[0].toTensor(), call.batch);
    input_is_left = false;
  }
  if (!input_is_left && !isWanted(mask, 1) && !isWanted(mask, 2)) return results;
  // Each slice is a group.
  std::vector<IValue> args = call.args;
  for (size_t i = 0; i < 2; ++i) args[i] = folded(boxcar::movedim(call.expanded(i), 0, 1), 1);
  args[2] = folded(call.expanded(2));
  if (!args[3].isNone()) {
    std::vector<int64_t> sizes = intsOf(args[3]);
    for (int64_t& size : sizes) size *= call.batch;
    args[3] = sizes;
  }
  args[9] = args[9].toInt() * call.batch;
  args[10] = maskOf(input_is_left, isWanted(mask, 1), isWanted(mask, 2));
  const std::vector<IValue> found = callOperator(call.op, std::move(args));
  if (input_is_left) results[0] = channelsApart(found[0].toTensor(), call.batch);
  for (size_t i = 1; i < 3; ++i) {
    if (isWanted(mask, i)) results[i] = unfolded(found[i].toTensor(), call.batch);
  }
  return results;
}

std::vector<IValue> layerNormGradients(const BatchedCall& call) {
  const IValue mask = call.args[7];
  const int64_t rank = call.logical(1).dim();
  const auto leading = static_cast<size_t>(rank) - intsOf(call.args[2]).size();
  const Tensor grad = call.expanded(0);
  const Tensor input = call.expanded(1);
  const Tensor mean = call.expanded(3);
  const Tensor rstd = call.expanded(4);
  std::vector<int64_t> samples(leading);
  std::iota(samples.begin(), samples.end(), 1);
  const auto overSamples = [&](const Tensor& each) { return samples.empty() ? each : boxcar::sum(each, samples); };
  std::vector<IValue> results{Tensor(), Tensor(), Tensor()};
  if (isWanted(mask, 0)) {
    std::vector<IValue> args = call.args;
    args[0] = grad;
    if (call.isBatched(5)) {
      args[0] = boxcar::mul(grad, alignedTo(call.physical(5), rank));
      args[5] = IValue();
    }
    args[1] = input;
    args[3] = mean;
    args[4] = rstd;
    args[6] = IValue();
    args[7] = maskOf(true, false, false);
    results[0] = callOperator(call.op, std::move(args))[0];
  }
  if (isWanted(mask, 1) && call.hasTensor(5)) {
    const Tensor normal = boxcar::mul(boxcar::sub(input, mean), rstd);
    results[1] = boxcar::to(overSamples(boxcar::mul(grad, normal)), call.logical(5).scalar_type());
  }
  if (isWanted(mask, 2) && call.hasTensor(6)) {
    results[2] = boxcar::to(overSamples(grad), call.logical(6).scalar_type());
  }
  return results;
}

// A tensor of the sizes of the targets, with a dimension of one class.
Tensor withClassDim(const BatchedCall& call, size_t i, int64_t rank, int64_t dim) {
  const Tensor tensor = call.expanded(i);
  return tensor.dim() == rank + 1 ? tensor : boxcar::unsqueeze(tensor, dim);
}

std::vector<IValue> nllGradients(const BatchedCall& call) {
  if (call.isBatched(3)) return sliceLoop(call);
  const int64_t rank = call.logical(1).dim();
  const int64_t dim = rank == 1 ? 1 : 2;
  const int64_t reduction = call.args[4].toInt();
  const Tensor self = call.expanded(1);
  const Tensor target = withClassDim(call, 2, rank, dim);
  const Tensor counted = boxcar::ne(target, call.args[5].toScalar());
  const Tensor classes = boxcar::where(counted, target, boxcar::zeros_like(target));
  Tensor value = reduction == 0 && call.logical(0).dim() != 0 ? withClassDim(call, 0, rank, dim)
                                                              : alignedTo(call.expanded(0), rank);
  value = boxcar::neg(value);
  if (reduction == 1) value = boxcar::div(value, alignedTo(call.expanded(6), rank));
  if (call.hasTensor(3)) {
    const Tensor chosen = boxcar::index_select(call.logical(3), 0, boxcar::flatten(classes));
    value = boxcar::mul(value, boxcar::reshape(chosen, classes.sizes()));
  }
  value = boxcar::where(counted, boxcar::expand(value, classes.sizes()), boxcar::zeros_like(value));
  return {boxcar::scatter(boxcar::zeros_like(self), dim, classes, boxcar::to(value, self.scalar_type()))};
}

std::vector<IValue> embeddingGradients(const BatchedCall& call) {
  std::vector<IValue> args = call.args;
  const int64_t rows = args[2].toInt();
  const Tensor grad = call.expanded(0);
  if (!call.isBatched(1)) {
    // The slices are further columns.
    args[0] = boxcar::flatten(boxcar::movedim(grad, 0, -2), -2);
    const Tensor found = callOperator(call.op, std::move(args))[0].toTensor();
    return {boxcar::movedim(unfolded(found, call.batch, 1), 1, 0)};
  }
  const Tensor indices = call.physical(1);
  const int64_t padding = args[3].toInt();
  args[0] = grad;
  args[1] = rowsOfSlices(indices, call.batch, rows);
  args[2] = rows * call.batch;
  if (padding >= 0) {
    // A last row takes what no slice counts.
    args[1] = boxcar::masked_fill(args[1].toTensor(), boxcar::eq(indices, padding), rows * call.batch);
    args[2] = rows * call.batch + 1;
    args[3] = int64_t{-1};
  }
  const Tensor found = callOperator(call.op, std::move(args))[0].toTensor();
  return {unfolded(padding >= 0 ? boxcar::narrow(found, 0, 0, rows * call.batch) : found, call.batch)};
}

std::vector<IValue> entropyGradients(const BatchedCall& call) {
  const int64_t rank = call.logical(1).dim();
  std::vector<IValue> args = call.args;
  const Tensor self = call.expanded(1);
  Tensor grad = alignedTo(call.expanded(0), rank);
  if (args[4].toInt() == 1) grad = boxcar::div(grad, call.logical(1).numel());
  args[0] = boxcar::expand(grad, self.sizes());
  args[1] = self;
  args[2] = call.expanded(2);
  if (call.isBatched(3)) args[3] = alignedTo(call.physical(3), rank);
  args[4] = int64_t{0};
  return callOperator(call.op, std::move(args));
}

constexpr NamedRule kGradients[] = {
    {"convolution", &convolutionGradients}, {"layer_norm", &layerNormGradients}, {"nll_loss", &nllGradients},
    {"embedding", &embeddingGradients},     {"entropy", &entropyGradients},
};

}  // namespace

std::vector<IValue> gradientRule(const BatchedCall& call, const std::vector<std::string>& words) {
  return callByName("gradient", kGradients, call, words.at(0));
}

}  // namespace boxcar::transforms
