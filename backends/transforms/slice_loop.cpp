#include <boxcar/backends/transforms/batched_call.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/value_tensors.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <utility>

// What serves operators without a rule: a call for each slice.

namespace boxcar::transforms {
namespace {

Tensor stacked(const BatchedCall& call, const std::vector<Tensor>& slices) {
  if (!slices[0].defined()) return {};
  for (const Tensor& slice : slices) {
    BOXCAR_CHECK(slice.defined() && std::ranges::equal(slice.sizes(), slices[0].sizes()),
                 "{}: its results for the slices have different sizes", call.refusal());
  }
  return boxcar::stack(slices);
}

// The results of all slices at one place.
IValue joined(const BatchedCall& call, const std::vector<IValue>& each) {
  if (each[0].isTensor()) {
    std::vector<Tensor> slices;
    for (const IValue& value : each) slices.push_back(value.toTensor());
    return stacked(call, slices);
  }
  if (each[0].isTensorList()) {
    List<Tensor> all;
    const size_t count = each[0].length();
    for (size_t k = 0; k < count; ++k) {
      std::vector<Tensor> slices;
      for (const IValue& value : each) {
        BOXCAR_CHECK(value.length() == count, "{}: it returns lists of different lengths for the slices",
                     call.refusal());
        slices.push_back(value.toTensorList().get(k));
      }
      all.push_back(stacked(call, slices));
    }
    return all;
  }
  BOXCAR_CHECK(!each[0].isScalar(), "{}: it returns a number for each slice", call.refusal());
  return each[0];
}

}  // namespace

std::vector<IValue> sliceLoop(const BatchedCall& call) {
  const FunctionSchema& schema = call.op.schema();
  BOXCAR_CHECK(call.batch > 0,
               "{} without slices: what it returns for one says the sizes of its "
               "results, and the size along in_dims is 0",
               call.refusal());
  for (size_t i = 0; i < call.args.size(); ++i) {
    const Argument& argument = schema.arguments()[i];
    if (argument.alias_info() == nullptr || !argument.alias_info()->isWrite()) continue;
    visitTensors(call.args[i], [&](const Tensor& tensor) {
      if (!call.isBatched(tensor)) call.checkWritten(i);
    });
  }
  const size_t count = schema.returns().size();
  std::vector<std::vector<IValue>> results(count);
  for (int64_t slice = 0; slice < call.batch; ++slice) {
    std::vector<IValue> args = call.args;
    for (IValue& argument : args) {
      argument = mapTensors(argument, [&](const Tensor& tensor) {
        return call.isBatched(tensor) ? boxcar::select(innerOf(tensor), 0, slice) : tensor;
      });
    }
    std::vector<IValue> found = callOperator(call.op, std::move(args));
    for (size_t i = 0; i < count; ++i) results[i].push_back(std::move(found[i]));
  }
  std::vector<IValue> all;
  for (size_t i = 0; i < count; ++i) {
    const AliasInfoPtr alias = schema.returns()[i].alias_info();
    if (i == 0 && alias != nullptr && alias->isWrite() && call.isBatched(size_t{0})) {
      all.emplace_back(call.physical(0));  // its slices were written
    } else {
      all.push_back(joined(call, results[i]));
    }
  }
  return all;
}

}  // namespace boxcar::transforms
