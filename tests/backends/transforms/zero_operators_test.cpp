#include <boxcar/dispatcher/values/value_copy.h>
#include <boxcar/ivalue/value_tensors.h>
#include <boxcar/ivalue/zero_tensor.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "tests/backends/tensor_helpers.h"
#include "tests/sample_arguments.h"

// Every operator takes a zero tensor in each place, as if its zeros were there.

namespace boxcar {
namespace {

// Returns copies of [value], each with another one of its tensors replaced by zeros of its sizes.
std::vector<IValue> withZeros(const IValue& value, bool with_memory) {
  std::vector<IValue> result;
  size_t count = 0;
  visitTensors(value, [&](const Tensor&) { ++count; });
  for (size_t k = 0; k < count; ++k) {
    size_t next = 0;
    result.push_back(mapTensors(value, [&](const Tensor& tensor) {
      if (!tensor.defined() || next++ != k) return tensor;
      if (with_memory) return zeros(tensor.sizes(), tensor.scalar_type());
      return makeZeroTensor(tensor.sizes(), tensor.scalar_type(), tensor.device());
    }));
  }
  return result;
}

struct Outcome {
  std::string error;
  std::vector<Tensor> tensors;
};

Outcome outcomeOf(const OperatorHandle& op, const Stack& arguments) {
  Stack stack = copyValues(last(arguments, arguments.size()));
  Outcome outcome;
  try {
    op.callBoxed(stack);
    for (const IValue& value : last(stack, stack.size())) {
      visitTensors(value, [&](const Tensor& tensor) {
        const bool is_strided = tensor.layout() == Layout::Strided;
        outcome.tensors.push_back(!is_strided ? to_dense(tensor) : isZeroTensor(tensor) ? clone(tensor) : tensor);
      });
    }
  } catch (const Error& error) {
    outcome.error = error.message();
  }
  return outcome;
}

bool hasNumbers(const Tensor& tensor) {
  return tensor.is_floating_point() || tensor.is_complex() ? item(all(isfinite(tensor))).toBool() : true;
}

// How [found] differs from [expected]; empty if it does not. What is not finite may: zero tensors do not know of NaN.
std::string difference(const Outcome& expected, const Outcome& found) {
  if (expected.error != found.error) return "the error is '" + found.error + "', and not '" + expected.error + "'";
  if (expected.tensors.size() != found.tensors.size()) return "the number of tensors";
  for (size_t i = 0; i < expected.tensors.size(); ++i) {
    const Tensor& a = expected.tensors[i];
    const Tensor& b = found.tensors[i];
    if (shapeText(a) != shapeText(b)) return shapeText(b) + ", and not " + shapeText(a);
    if (hasNumbers(a) && !boxcar::equal(a, b)) return toString(b) + ", and not " + toString(a);
  }
  return {};
}

TEST(ZeroOperators, TakeAZeroTensorInEachPlace) {
  int64_t calls = 0;
  const std::vector<std::string> namespaces = {"aten", "fused"};
  for (const OperatorName& name : Dispatcher::singleton().getAllOpNames()) {
    if (std::ranges::find(namespaces, name.getNamespace()) == namespaces.end()) continue;
    const OperatorHandle op = *Dispatcher::singleton().findSchema(name);
    if (op.hasTag(Tag::nondeterministic_seeded) || op.hasTag(Tag::nondeterministic_bitwise) || needsHistory(op))
      continue;
    std::vector<Stack> samples = sampleArguments(op);
    samples.resize(std::min<size_t>(samples.size(), 2));
    for (const Stack& sample : samples) {
      for (size_t i = 0; i < sample.size(); ++i) {
        const Argument& argument = op.schema().arguments()[i];
        if (argument.is_write()) continue;
        const std::vector<IValue> real = withZeros(sample[i], true);
        const std::vector<IValue> zero = withZeros(sample[i], false);
        for (size_t k = 0; k < real.size(); ++k) {
          Stack arguments = sample;
          arguments[i] = real[k];
          const Outcome expected = outcomeOf(op, arguments);
          arguments[i] = zero[k];
          ++calls;
          EXPECT_EQ(difference(expected, outcomeOf(op, arguments)), "") << toString(op) << ", " << argument.name();
        }
      }
    }
  }
  EXPECT_GT(calls, 3000);
}

}  // namespace
}  // namespace boxcar
