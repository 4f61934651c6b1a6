#include <boxcar/backends/transforms/batched_call.h>
#include <boxcar/ivalue/value_tensors.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <optional>
#include <utility>

// Operators of networks, which have a batch of their own: the other one is folded into it.

namespace boxcar::transforms {
namespace {

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
  const Tensor weight = call.physical(0);
  const Tensor indices = call.expanded(1);
  std::vector<IValue> args = call.args;
  const int64_t padding = args[2].toInt();
  args[1] = rowsOfSlices(indices, call.batch, weight.size(1));
  args[2] = int64_t{-1};
  const auto rows = [&](const Tensor& of) {
    args[0] = folded(of);
    return callOperator(call.op, args)[0].toTensor();
  };
  const Tensor found = rows(weight);
  if (padding < 0 || !weight.requires_grad()) return {found};
  // The row for padding has no gradient, in each slice.
  return {boxcar::where(boxcar::unsqueeze(boxcar::eq(indices, padding), -1), rows(boxcar::detach(weight)), found)};
}

// [B, N, heads, …]: attention of B * N samples, and its gradient.
std::vector<IValue> attention(const BatchedCall& call) {
  const size_t mask = call.position("attn_mask");
  const size_t tensors = call.position("dropout_p");
  std::vector<IValue> args = call.args;
  for (size_t i = 0; i < tensors; ++i) args[i] = folded(call.expanded(i));
  if (call.hasTensor(mask) && (call.isBatched(mask) || call.logical(mask).dim() > 2)) {
    const Tensor masks = alignedTo(call.expanded(mask), 4);  // [B, 1 or N, 1 or heads, …]
    const int64_t samples = call.logical(0).size(0);
    const int64_t sizes[] = {call.batch, samples, masks.size(2), masks.size(3), masks.size(4)};
    args[mask] = folded(boxcar::expand(masks, sizes));
  }
  std::vector<IValue> results = callOperator(call.op, std::move(args));
  for (IValue& result : results) result = unfolded(result.toTensor(), call.batch);
  return results;
}

// Whether the operator writes new running statistics into its arguments.
bool updatesStatistics(const BatchedCall& call) {
  const std::string& name = call.op.schema().name();
  if (name.ends_with("_functional") || name.ends_with("_backward")) return false;
  if (name.ends_with("_with_update")) return true;
  const std::vector<Argument>& parameters = call.op.schema().arguments();
  const auto training = std::ranges::find(parameters, "training", &Argument::name);
  return training != parameters.end() && call.args[static_cast<size_t>(training - parameters.begin())].toBool();
}

// Batch norms and their gradient: the channels of each slice are channels of their own, [N, B * C, …]. What has one
// dimension has a value for each channel.
std::vector<IValue> channels(const BatchedCall& call) {
  const bool updates = updatesStatistics(call);
  std::vector<IValue> args = call.args;
  std::vector<std::pair<Tensor, Tensor>> written;  // inside, and as the operator gets it
  for (size_t i = 0; i < args.size(); ++i) {
    if (!call.hasTensor(i)) continue;
    if (call.logical(i).dim() > 1) {
      args[i] = folded(boxcar::movedim(call.expanded(i), 0, 1), 1);
      continue;
    }
    const Tensor values = boxcar::flatten(call.expanded(i));
    args[i] = values;
    if (!updates || !call.op.schema().arguments()[i].name().starts_with("running_")) continue;
    call.checkWritten(i);
    written.emplace_back(call.physical(i), values);
  }
  std::vector<IValue> results = callOperator(call.op, std::move(args));
  for (auto& [inside, values] : written) {
    if (values.storage() != inside.storage()) boxcar::copy_(inside, boxcar::reshape(values, inside.sizes()));
  }
  for (IValue& result : results) {
    const Tensor& tensor = result.toTensor();
    if (!tensor.defined()) continue;
    result = tensor.dim() > 1 ? boxcar::movedim(unfolded(tensor, call.batch, 1), 1, 0) : unfolded(tensor, call.batch);
  }
  return results;
}

// Losses of samples with a number for each class.
std::vector<IValue> marginLoss(const BatchedCall& call) {
  const size_t reduction = call.position("reduction");
  const int64_t wanted = call.args[reduction].toInt();
  const bool has_weight = call.args.size() > 4;
  if (call.logical(0).dim() == 0 || (has_weight && call.isBatched(4))) return sliceLoop(call);
  const bool folds = call.logical(0).dim() > 1;
  std::vector<IValue> args = call.args;
  for (size_t i = 0; i < 2; ++i) args[i] = folds ? folded(call.expanded(i)) : call.expanded(i);
  args[reduction] = int64_t{0};
  std::vector<IValue> results = callOperator(call.op, std::move(args));
  if (!folds) return results;
  for (IValue& result : results) result = unfolded(result.toTensor(), call.batch);
  const int64_t dim[] = {1};
  if (wanted == 1) results[0] = boxcar::mean(results[0].toTensor(), dim);
  if (wanted == 2) results[0] = boxcar::sum(results[0].toTensor(), dim);
  return results;
}

constexpr NamedRule kNetworks[] = {
    {"convolution", &convolution},
    {"layer_norm", &layerNorm},
    {"group_norm", &groupNorm},
    {"channels", &channels},
    {"margin_loss", &marginLoss},
    {"nll_loss", [](const BatchedCall& call) { return nllLoss(call, false); }},
    {"nll_loss2d", [](const BatchedCall& call) { return nllLoss(call, true); }},
    {"embedding", &embeddingRows},
    {"attention", &attention},
};

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
  return callByName("network", kNetworks, call, words.at(0));
}

}  // namespace boxcar::transforms
