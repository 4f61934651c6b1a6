#include <boxcar/dispatcher/values/value_copy.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "tests/backends/tensor_helpers.h"
#include "tests/sample_arguments.h"

namespace boxcar {
namespace {

// Returns copies of [value], each with another one of its tensors replaced by an undefined one.
std::vector<IValue> withUndefined(const IValue& value) {
  if (value.isTensor()) return {IValue(Tensor())};
  std::vector<IValue> result;
  if (value.isTensorList()) {
    const List<Tensor> tensors = value.toTensorList();
    for (size_t i = 0; i < tensors.size(); ++i) {
      List<Tensor> changed;
      for (size_t j = 0; j < tensors.size(); ++j) changed.push_back(i == j ? Tensor() : tensors.get(j));
      result.emplace_back(changed);
    }
  }
  return result;
}

// Returns whether a call with [arguments] throws Error; a crash ends the test by itself.
bool isRefused(const OperatorHandle& op, const Stack& arguments) {
  Stack stack = copyValues(last(arguments, arguments.size()));
  try {
    op.callBoxed(stack);
  } catch (const Error&) {
    return true;
  }
  return false;
}

TEST(UndefinedTensors, AreRefusedInEachPlaceOfEachOperator) {
  int64_t calls = 0;
  const std::vector<std::string> namespaces = {"aten", "io", "cuda", "fused"};  // not operators of other tests
  for (const OperatorName& name : Dispatcher::singleton().getAllOpNames()) {
    if (std::ranges::find(namespaces, name.getNamespace()) == namespaces.end()) continue;
    const OperatorHandle op = *Dispatcher::singleton().findSchema(name);
    std::vector<Stack> samples = sampleArguments(op);
    samples.resize(std::min<size_t>(samples.size(), 2));
    for (const Stack& sample : samples) {
      for (size_t i = 0; i < sample.size(); ++i) {
        const Argument& argument = op.schema().arguments()[i];
        for (const IValue& undefined : withUndefined(sample[i])) {
          Stack arguments = sample;
          arguments[i] = undefined;
          ++calls;
          const bool refused = isRefused(op, arguments);
          // An optional tensor may be undefined.
          EXPECT_TRUE(refused || argument.type()->isOptional()) << toString(op) << ", argument " << argument.name();
        }
      }
    }
  }
  EXPECT_GT(calls, 3000);
}

TEST(UndefinedTensors, AreRefusedByWhatAsksForTheirMemory) {
  EXPECT_EQ(errorOf([] { is_pinned(Tensor()); }), "expected a tensor, but it is undefined");
  EXPECT_EQ(errorOf([] { pin_memory(Tensor()); }), "expected a tensor, but it is undefined");
}

}  // namespace
}  // namespace boxcar
