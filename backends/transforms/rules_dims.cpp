#include <boxcar/backends/transforms/batched_call.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/value_tensors.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <numeric>
#include <utility>

// Operators with arguments that name dimensions or sizes.

namespace boxcar::transforms {
namespace {

std::vector<int64_t> allDims(int64_t rank) {
  std::vector<int64_t> dims(static_cast<size_t>(rank));
  std::iota(dims.begin(), dims.end(), 1);
  return dims;
}

IValue shiftedDims(const IValue& argument, int64_t rank) {
  if (argument.isInt()) return BatchedCall::shifted(argument.toInt(), rank);
  std::vector<int64_t> dims;
  for (const int64_t dim : intsOf(argument)) dims.push_back(BatchedCall::shifted(dim, rank));
  return dims;
}

std::vector<int64_t> withBatch(int64_t batch, const std::vector<int64_t>& sizes) {
  std::vector<int64_t> all{batch};
  all.insert(all.end(), sizes.begin(), sizes.end());
  return all;
}

// The tensors in the results that stand for a logical tensor without dimensions got one.
std::vector<IValue> withoutExtraDim(std::vector<IValue> results, int64_t rank = 2) {
  for (IValue& result : results) {
    result = mapTensors(result, [&](const Tensor& tensor) {
      return tensor.defined() && tensor.dim() == rank ? boxcar::squeeze(tensor, 1) : tensor;
    });
  }
  return results;
}

}  // namespace

// `dims WORD…`: the words name arguments with dimensions of the first one. None and the empty list are all dimensions,
// with `?` after the word; with `-` they stay.
std::vector<IValue> dimsRule(const BatchedCall& call, const std::vector<std::string>& words) {
  std::vector<IValue> args = call.args;
  const bool writes_self = call.op.schema().is_mutable();
  if (writes_self) call.checkWritten(0);
  for (size_t i = 1; i < args.size(); ++i) {
    if (call.hasTensor(i)) args[i] = call.expanded(i);
  }
  const int64_t rank = call.logical(0).dim();
  Tensor self = call.expanded(0);
  // Its shape changes, which the tensor outside of the call must not notice.
  if (call.op.hasTag(Tag::inplace_view)) self = boxcar::alias(self);
  if (rank == 0) self = boxcar::unsqueeze(self, 1);
  const int64_t dims = std::max<int64_t>(rank, 1);
  for (const std::string& word : words) {
    const bool all = word.ends_with('?');
    const size_t i = call.position(std::string_view(word).substr(0, word.size() - (all ? 1 : 0)));
    const bool is_empty = args[i].isNone() || (args[i].isIntList() && intsOf(args[i]).empty());
    if (!is_empty) {
      args[i] = shiftedDims(args[i], rank);
    } else if (all) {
      args[i] = allDims(dims);
    }
  }
  args[0] = self;
  std::vector<IValue> results = callOperator(call.op, std::move(args));
  if (rank > 0) return results;
  const bool unfolds = call.op.schema().name() == "aten::unfold";
  return withoutExtraDim(std::move(results), unfolds ? 3 : 2);
}

// `whole NAME`: reduces all elements, as the operator NAME does along a dimension.
std::vector<IValue> wholeRule(const BatchedCall& call, const std::vector<std::string>& words) {
  const Tensor self = boxcar::flatten(boxcar::unsqueeze(call.physical(0), -1), 1);
  const OperatorHandle& op = call.op;
  if (words.empty()) {  // the operator itself, with a dimension that may be None
    const size_t dim = call.position("dim");
    if (!call.args[dim].isNone()) return dimsRule(call, {"dim"});
    std::vector<IValue> args = call.args;
    args[0] = self;
    args[dim] = int64_t{1};
    const size_t keepdim = call.position("keepdim");
    const bool keeps = args[keepdim].toBool();
    args[keepdim] = false;
    std::vector<IValue> results = callOperator(op, std::move(args));
    if (!keeps) return results;
    for (IValue& result : results) result = alignedTo(result.toTensor(), call.logical(0).dim());
    return results;
  }
  const std::string name = "aten::" + words[0];
  std::vector<IValue> args{self};
  const size_t dot = name.find('.');
  const OperatorHandle other = Dispatcher::singleton().findSchemaOrThrow(
      name.substr(0, dot).c_str(), dot == std::string::npos ? "" : name.substr(dot + 1).c_str());
  const std::vector<Argument>& parameters = other.schema().arguments();
  for (size_t i = 1; i < parameters.size(); ++i) {
    const auto given = std::ranges::find(op.schema().arguments(), parameters[i].name(), &Argument::name);
    if (parameters[i].name() == "dim") {
      args.push_back(parameters[i].type()->kind() == TypeKind::Int ? IValue(int64_t{1})
                                                                   : IValue(std::vector<int64_t>{1}));
    } else if (given != op.schema().arguments().end()) {
      args.push_back(call.args[static_cast<size_t>(given - op.schema().arguments().begin())]);
    } else if (parameters[i].name() == "keepdim") {
      args.emplace_back(false);
    } else {
      args.push_back(*parameters[i].default_value());
    }
  }
  std::vector<IValue> results = callOperator(other, std::move(args));
  results.resize(op.schema().returns().size());
  return results;
}

// view, expand and their like: sizes, of which the batch comes first. `sizes WORD`: the argument's name.
std::vector<IValue> sizesRule(const BatchedCall& call, const std::vector<std::string>& words) {
  const size_t i = call.position(words[0]);
  std::vector<IValue> args = call.args;
  const std::vector<int64_t> sizes = intsOf(args[i]);
  Tensor self = call.physical(0);
  const bool is_expand = words.size() > 1 && words[1] == "expand";
  if (is_expand) self = alignedTo(self, std::max<int64_t>(static_cast<int64_t>(sizes.size()), call.logical(0).dim()));
  int64_t first = call.batch;
  if (is_expand) first = -1;
  if (words.size() > 1 && words[1] == "repeat") {
    self = alignedTo(self, std::max<int64_t>(static_cast<int64_t>(sizes.size()), call.logical(0).dim()));
    first = 1;
  }
  args[0] = self;
  args[i] = withBatch(first, sizes);
  return callOperator(call.op, std::move(args));
}

// `stacked RANK…`: the tensors are stacks of items, which have these ranks; the stacks are broadcast.
std::vector<IValue> stackedRule(const BatchedCall& call, const std::vector<std::string>& words) {
  std::vector<IValue> args = call.args;
  int64_t rank = 0;
  for (size_t i = 0; i < words.size(); ++i) {
    if (call.hasTensor(i)) rank = std::max<int64_t>(rank, call.logical(i).dim() - std::stoll(words[i]));
  }
  for (size_t i = 0; i < words.size(); ++i) {
    if (call.hasTensor(i)) args[i] = alignedTo(call.expanded(i), rank + std::stoll(words[i]));
  }
  return callOperator(call.op, std::move(args));
}

// `new WORD`: a new tensor like the first argument; the word names the argument with its sizes.
std::vector<IValue> newRule(const BatchedCall& call, const std::vector<std::string>& words) {
  const size_t i = call.position(words[0]);
  std::vector<IValue> args = call.args;
  args[0] = call.physical(0);
  args[i] = withBatch(call.batch, intsOf(args[i]));
  return callOperator(call.op, std::move(args));
}

// cat and stack: all tensors of the list get a batch.
std::vector<IValue> joinRule(const BatchedCall& call, const std::vector<std::string>& words) {
  const bool stacks = !words.empty() && words[0] == "stack";
  const List<Tensor> tensors = call.args[0].toTensorList();
  List<Tensor> inner;
  int64_t rank = 0;
  for (const Tensor& tensor : tensors.span()) rank = std::max(rank, tensor.dim());
  for (const Tensor& tensor : tensors.span()) {
    // An empty tensor of one dimension may be joined with any.
    if (!stacks && tensor.dim() == 1 && rank > 1 && tensor.numel() == 0) continue;
    inner.push_back(call.expanded(tensor));
  }
  std::vector<IValue> args = call.args;
  args[0] = inner;
  args[1] = BatchedCall::shifted(args[1].toInt(), rank + (stacks ? 1 : 0));
  return callOperator(call.op, std::move(args));
}

// as_strided and its like: sizes and strides of a slice.
std::vector<IValue> stridedRule(const BatchedCall& call, const std::vector<std::string>&) {
  std::vector<IValue> args = call.args;
  const Tensor self = call.physical(0);
  args[0] = self;
  args[1] = withBatch(call.batch, intsOf(args[1]));
  args[2] = withBatch(self.stride(0), intsOf(args[2]));
  return callOperator(call.op, std::move(args));
}

// `shape KIND`: views and their like whose dimensions need more than a shift.
std::vector<IValue> shapeRule(const BatchedCall& call, const std::vector<std::string>& words) {
  const std::string& kind = words.at(0);
  const int64_t rank = call.logical(0).dim();
  std::vector<IValue> args = call.args;
  Tensor self = call.physical(0);
  if (call.op.hasTag(Tag::inplace_view)) self = boxcar::alias(self);
  args[0] = self;
  if (kind == "permute") {
    std::vector<int64_t> dims{0};
    for (const int64_t dim : intsOf(args[1])) dims.push_back(BatchedCall::shifted(dim, rank));
    args[1] = dims;
  } else if (kind == "unsqueeze") {
    args[1] = BatchedCall::shifted(args[1].toInt(), rank + 1);
  } else if (kind == "diag_embed") {
    for (size_t i = 2; i < 4; ++i) args[i] = BatchedCall::shifted(args[i].toInt(), rank + 1);
  } else if (kind == "squeeze") {
    std::vector<int64_t> dims;
    for (int64_t i = 1; i <= rank; ++i) {
      if (self.size(i) == 1) dims.push_back(i);
    }
    if (!call.op.schema().is_mutable()) return {boxcar::squeeze(self, dims)};
    return {boxcar::squeeze_(self, dims)};
  } else if (kind == "t") {
    BOXCAR_CHECK(rank <= 2, "t() expects a tensor with <= 2 dimensions, but self is {}D", rank);
    if (rank < 2) return {boxcar::alias(self)};
    if (!call.op.schema().is_mutable()) return {boxcar::transpose(self, 1, 2)};
    return {boxcar::transpose_(self, 1, 2)};
  } else if (kind == "roll") {
    std::vector<int64_t> dims = intsOf(args[2]);
    if (dims.empty()) {
      args[0] = boxcar::flatten(boxcar::unsqueeze(self, -1), 1);
      args[2] = std::vector<int64_t>{1};
      return {boxcar::reshape(callOperator(call.op, std::move(args))[0].toTensor(), self.sizes())};
    }
    for (int64_t& dim : dims) dim = BatchedCall::shifted(dim, rank);
    args[2] = dims;
  } else {
    BOXCAR_CHECK(kind == "trace", "aten.batching: no shape '{}'", kind);
    const int64_t dim[] = {-1};
    return {boxcar::sum(boxcar::diagonal(self, 0, 1, 2), dim)};
  }
  return callOperator(call.op, std::move(args));
}

// `undo WORD…`: gradients of views, which put a tensor into zeros of the sizes `input_sizes`.
std::vector<IValue> undoRule(const BatchedCall& call, const std::vector<std::string>& words) {
  std::vector<IValue> args = call.args;
  args[0] = call.physical(0);
  const size_t sizes = call.position("input_sizes");
  const auto rank = static_cast<int64_t>(intsOf(args[sizes]).size());
  args[sizes] = withBatch(call.batch, intsOf(args[sizes]));
  for (const std::string& word : words) {
    const size_t i = call.position(word);
    args[i] = shiftedDims(args[i], rank);
  }
  return callOperator(call.op, std::move(args));
}

// Operators that take tensors along one dimension, gather and scatter: all get a batch.
std::vector<IValue> alignedDimsRule(const BatchedCall& call, const std::vector<std::string>&) {
  std::vector<IValue> args = call.args;
  if (call.op.schema().is_mutable()) call.checkWritten(0);
  const int64_t rank = std::max<int64_t>(call.logical(0).dim(), 1);
  for (size_t i = 0; i < args.size(); ++i) {
    if (!call.hasTensor(i)) continue;
    args[i] = call.logical(i).dim() == 0 ? boxcar::unsqueeze(call.expanded(i), 1) : call.expanded(i);
  }
  args[1] = BatchedCall::shifted(args[1].toInt(), rank);
  std::vector<IValue> results = callOperator(call.op, std::move(args));
  const bool is_scalar =
      call.op.schema().name() == "aten::gather" ? call.logical(2).dim() == 0 : call.logical(0).dim() == 0;
  return is_scalar ? withoutExtraDim(std::move(results)) : results;
}

}  // namespace boxcar::transforms
