#include <boxcar/backends/transforms/batched_call.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/value_tensors.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <optional>
#include <utility>

// Operators of networks, which have a batch of their own: the other one is folded into it.

namespace boxcar::transforms {
namespace {

Tensor folded(const Tensor& tensor, int64_t at = 0) { return boxcar::flatten(tensor, at, at + 1); }

Tensor unfolded(const Tensor& tensor, int64_t batch, int64_t at = 0) {
  std::vector<int64_t> sizes(tensor.sizes().begin(), tensor.sizes().end());
  sizes[static_cast<size_t>(at)] /= batch;
  sizes.insert(sizes.begin() + at, batch);
  return boxcar::reshape(tensor, sizes);
}

// One value for each channel, of a result [B, N, C, …]: [C] or, with a batch, [B, C].
Tensor perChannel(const BatchedCall& call, size_t i, int64_t rank) {
  const bool is_batched = call.isBatched(i);
  const Tensor tensor = call.physical(i);
  std::vector<int64_t> sizes(static_cast<size_t>(rank), 1);
  sizes[2] = tensor.sizes().back();
  if (is_batched) sizes[0] = tensor.size(0);
  return boxcar::reshape(tensor, sizes);
}

std::vector<IValue> convolution(const BatchedCall& call) {
  std::vector<IValue> args = call.args;
  const bool has_bias = call.hasTensor(2);
  const bool weight_is_batched = call.isBatched(1);
  const bool input_is_batched = call.isBatched(size_t{0});
  const bool is_transposed = args[6].toBool();
  const int64_t groups = args[8].toInt();
  Tensor result;
  if (!weight_is_batched) {
    const bool keeps_bias = has_bias && !call.isBatched(2);
    if (!input_is_batched) {
      args[2] = IValue();
      result = boxcar::unsqueeze(callOperator(call.op, args)[0].toTensor(), 0);
    } else {
      args[0] = folded(call.physical(0));
      if (!keeps_bias) args[2] = IValue();
      result = unfolded(callOperator(call.op, args)[0].toTensor(), call.batch);
      if (keeps_bias) return {result};
    }
  } else if (!input_is_batched && groups == 1 && !is_transposed) {
    // One input with the filters of all slices: [B * O, C, …].
    args[1] = folded(call.physical(1));
    args[2] = IValue();
    result = boxcar::movedim(unfolded(callOperator(call.op, args)[0].toTensor(), call.batch, 1), 1, 0);
  } else {
    // Each slice is a group: [N, B * C, …].
    args[0] = folded(boxcar::movedim(call.expanded(0), 0, 1), 1);
    args[1] = folded(call.physical(1));
    args[2] = IValue();
    args[8] = groups * call.batch;
    result = boxcar::movedim(unfolded(callOperator(call.op, args)[0].toTensor(), call.batch, 1), 1, 0);
  }
  if (!has_bias) return {result};
  return {boxcar::add(result, perChannel(call, 2, result.dim()))};
}

std::vector<IValue> layerNorm(const BatchedCall& call) {
  std::vector<IValue> args = call.args;
  args[0] = call.expanded(0);
  if (!call.isBatched(2) && !call.isBatched(3)) return callOperator(call.op, std::move(args));
  args[2] = IValue();
  args[3] = IValue();
  std::vector<IValue> results = callOperator(call.op, std::move(args));
  Tensor result = results[0].toTensor();
  const auto aligned = [&](size_t i) {
    return call.isBatched(i) ? alignedTo(call.physical(i), result.dim() - 1) : call.logical(i);
  };
  if (call.hasTensor(2)) result = boxcar::mul(result, aligned(2));
  if (call.hasTensor(3)) result = boxcar::add(result, aligned(3));
  results[0] = result;
  return results;
}

std::vector<IValue> groupNorm(const BatchedCall& call) {
  std::vector<IValue> args = call.args;
  args[0] = folded(call.expanded(0));
  args[3] = args[3].toInt() * call.batch;
  const bool is_affine = call.isBatched(1) || call.isBatched(2);
  if (is_affine) {
    args[1] = IValue();
    args[2] = IValue();
  }
  std::vector<IValue> results = callOperator(call.op, std::move(args));
  for (IValue& result : results) result = unfolded(result.toTensor(), call.batch);
  if (!is_affine) return results;
  Tensor result = results[0].toTensor();
  if (call.hasTensor(1)) result = boxcar::mul(result, perChannel(call, 1, result.dim()));
  if (call.hasTensor(2)) result = boxcar::add(result, perChannel(call, 2, result.dim()));
  results[0] = result;
  return results;
}

// Classes are the second dimension, or the first one of a single sample: losses of [B * N] samples.
std::vector<IValue> nllLoss(const BatchedCall& call, bool is_2d) {
  const bool is_single = !is_2d && call.logical(0).dim() == 1;
  if (call.isBatched(2)) return sliceLoop(call);
  std::vector<IValue> args = call.args;
  const int64_t reduction = args[3].toInt();
  const Tensor target = is_single ? call.expanded(1) : folded(call.expanded(1));
  args[0] = is_single ? call.expanded(0) : folded(call.expanded(0));
  args[1] = target;
  args[3] = int64_t{0};
  Tensor losses = callOperator(call.op, args)[0].toTensor();
  if (!is_single) losses = unfolded(losses, call.batch);
  const Tensor counted = boxcar::ne(target, args[4].toScalar());
  Tensor weights = boxcar::to(counted, losses.scalar_type());
  if (call.hasTensor(2)) {
    const Tensor classes = boxcar::where(counted, target, boxcar::zeros_like(target));
    const Tensor chosen =
        boxcar::reshape(boxcar::index_select(call.logical(2), 0, boxcar::flatten(classes)), classes.sizes());
    weights = boxcar::mul(weights, chosen);
  }
  weights = boxcar::flatten(boxcar::unsqueeze(is_single ? weights : unfolded(weights, call.batch), -1), 1);
  const int64_t dim[] = {1};
  const Tensor total = boxcar::sum(weights, dim);
  if (reduction == 0) return {losses, is_single ? total : boxcar::zeros_like(total)};
  Tensor loss = boxcar::sum(boxcar::flatten(boxcar::unsqueeze(losses, -1), 1), dim);
  if (reduction == 1) loss = boxcar::div(loss, total);
  return {loss, total};
}

// The rows of all slices' weights, one below the other.
std::vector<IValue> embeddingRows(const BatchedCall& call) {
  if (!call.isBatched(size_t{0})) {
    std::vector<IValue> args = call.args;
    args[1] = call.physical(1);
    return callOperator(call.op, std::move(args));
  }
  if (call.args[2].toInt() >= 0) return sliceLoop(call);
  const Tensor weight = call.physical(0);
  const Tensor indices = call.expanded(1);
  const Tensor first =
      boxcar::mul(boxcar::arange(call.batch, indices.scalar_type(), std::nullopt, weight.device()), weight.size(1));
  std::vector<int64_t> sizes(static_cast<size_t>(indices.dim()), 1);
  sizes[0] = call.batch;
  std::vector<IValue> args = call.args;
  args[0] = folded(weight);
  args[1] = boxcar::add(indices, boxcar::reshape(first, sizes));
  return callOperator(call.op, std::move(args));
}

// [B, N, heads, …]: attention of B * N samples.
std::vector<IValue> attention(const BatchedCall& call) {
  const size_t mask = call.position("attn_mask");
  if (call.isBatched(mask)) return sliceLoop(call);
  std::vector<IValue> args = call.args;
  if (call.hasTensor(mask) && call.logical(mask).dim() > 2 && call.logical(mask).size(0) > 1) return sliceLoop(call);
  for (size_t i = 0; i < 3; ++i) args[i] = folded(call.expanded(i));
  std::vector<IValue> results = callOperator(call.op, std::move(args));
  for (IValue& result : results) result = unfolded(result.toTensor(), call.batch);
  return results;
}

// In training without running statistics, the channels of each slice are channels of their own: [N, B * C, …].
std::vector<IValue> batchNorm(const BatchedCall& call) {
  const std::string& name = call.op.schema().name();
  if (name != "aten::native_batch_norm" || call.hasTensor(3) || call.hasTensor(4) || !call.args[5].toBool()) {
    return sliceLoop(call);
  }
  std::vector<IValue> args = call.args;
  args[0] = folded(boxcar::movedim(call.expanded(0), 0, 1), 1);
  for (size_t i = 1; i < 3; ++i) {
    if (call.hasTensor(i)) args[i] = boxcar::flatten(call.expanded(i));
  }
  std::vector<IValue> results = callOperator(call.op, std::move(args));
  results[0] = boxcar::movedim(unfolded(results[0].toTensor(), call.batch, 1), 1, 0);
  for (size_t i = 1; i < results.size(); ++i) results[i] = unfolded(results[i].toTensor(), call.batch);
  return results;
}

}  // namespace

// `fold RANK [WORD]`: one sample has RANK dimensions, and several have one more. The word names an argument with the
// sizes of all samples.
std::vector<IValue> foldRule(const BatchedCall& call, const std::vector<std::string>& words) {
  const int64_t rank = std::stoll(words.at(0));
  std::vector<IValue> args = call.args;
  const size_t first = call.hasTensor(0) ? 0 : 1;
  const bool folds = call.logical(first).dim() > rank;
  for (size_t i = 0; i < args.size(); ++i) {
    if (!call.hasTensor(i)) continue;
    args[i] = folds ? folded(call.expanded(i)) : call.expanded(i);
  }
  if (words.size() > 1) {
    const size_t i = call.position(words[1]);
    std::vector<int64_t> sizes = intsOf(args[i]);
    sizes[0] *= call.batch;
    args[i] = sizes;
  }
  std::vector<IValue> results = callOperator(call.op, std::move(args));
  if (!folds) return results;
  for (IValue& result : results) result = unfolded(result.toTensor(), call.batch);
  return results;
}

std::vector<IValue> networkRule(const BatchedCall& call, const std::vector<std::string>& words) {
  const std::string& kind = words.at(0);
  if (kind == "convolution") return convolution(call);
  if (kind == "layer_norm") return layerNorm(call);
  if (kind == "group_norm") return groupNorm(call);
  if (kind == "batch_norm") return batchNorm(call);
  if (kind == "nll_loss") return nllLoss(call, false);
  if (kind == "nll_loss2d") return nllLoss(call, true);
  if (kind == "embedding") return embeddingRows(call);
  BOXCAR_CHECK(kind == "attention", "aten.batching: no network '{}'", kind);
  return attention(call);
}

}  // namespace boxcar::transforms
