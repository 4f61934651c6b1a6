#include <boxcar/dispatcher/call/mode.h>
#include <boxcar/dispatcher/call/record_function.h>
#include <boxcar/ivalue/from_blob.h>
#include <boxcar/ivalue/list.h>
#include <boxcar/ivalue/weak_ivalue.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/backends/tensor_helpers.h"

// Results are written over an argument that nobody else can see, and over no other.

namespace boxcar {
namespace {

constexpr const char* kProduct = "a * sigmoid(a) * 0.5";

Tensor called(const char* name, Stack& stack) {
  Dispatcher::singleton().findSchemaOrThrow(name, "").callBoxed(stack);
  return std::move(stack.back()).toTensor();
}

// Calls fused::pointwise with a list that the call gets.
Tensor pointwiseOf(const char* expression, std::vector<Tensor> inputs) {
  Stack stack;
  stack.emplace_back(std::string(expression));
  stack.emplace_back(List<Tensor>(inputs));
  inputs.clear();
  return called("fused::pointwise", stack);
}

Tensor numbers(IntArrayRef sizes) { return sub(mul(counting(sizes), 0.25), 3.0); }

// Whether the result of the call lies where [input] did, with the elements of a call that was lent it.
bool isOver(const char* expression, Tensor input, std::vector<Tensor> others = {}) {
  std::vector<Tensor> inputs = {clone(input)};
  inputs.insert(inputs.end(), others.begin(), others.end());
  const Tensor expected = fused::pointwise(expression, inputs);
  const void* const memory = input.data_ptr();
  inputs[0] = std::move(input);
  const Tensor result = pointwiseOf(expression, std::move(inputs));
  EXPECT_EQ(shapeText(result), shapeText(expected));
  EXPECT_EQ(stridesOf(result), stridesOf(expected));
  EXPECT_TRUE(equal(result, expected));
  return result.data_ptr() == memory;
}

TEST(HandedOver, PointwiseWritesOverAnInputThatNobodyElseSees) {
  EXPECT_TRUE(isOver(kProduct, numbers({3, 1000})));
  EXPECT_TRUE(isOver(kProduct, numbers({7})));
  EXPECT_TRUE(isOver(kProduct, to(numbers({3, 100}), ScalarType::BFloat16)));
  EXPECT_TRUE(isOver("b * sigmoid(a) * 0.5 + a", numbers({40, 100}), {numbers({100})}));
  const Tensor images = contiguous(numbers({2, 3, 40, 50}), MemoryFormat::ChannelsLast);
  EXPECT_TRUE(isOver("b * sigmoid(a) * 0.5 + a", clone(images), {numbers({2, 3, 1, 1})}));
}

TEST(HandedOver, PointwiseTakesTheFirstInputOfTheResultsShape) {
  Tensor wide = numbers({40, 100});
  const void* const memory = wide.data_ptr();
  const Tensor expected = add(sigmoid(numbers({100})), wide);
  EXPECT_TRUE(equal(pointwiseOf("sigmoid(a) + b", {numbers({100}), std::move(wide)}), expected));
  wide = numbers({40, 100});
  EXPECT_NE(wide.data_ptr(), nullptr);
  EXPECT_NE(memory, nullptr);
}

TEST(HandedOver, PointwiseLeavesWhatOthersSee) {
  const Tensor kept = numbers({3, 100});
  const Tensor before = clone(kept);
  EXPECT_FALSE(isOver(kProduct, kept));
  EXPECT_FALSE(isOver("a * b + 1.0", kept, {kept}));
  const Tensor of_view = numbers({3, 100});
  const Tensor seen = view(of_view, {300});
  EXPECT_FALSE(isOver(kProduct, view(of_view, {3, 100})));
  EXPECT_FALSE(isOver(kProduct, detach(kept)));
  EXPECT_TRUE(equal(kept, before));
  EXPECT_TRUE(equal(view(seen, {3, 100}), before));
}

TEST(HandedOver, PointwiseLeavesPartsOfALargerTensor) {
  EXPECT_FALSE(isOver(kProduct, slice(numbers({8, 100}), 0, 2, 4)));
  EXPECT_FALSE(isOver(kProduct, detach(slice(numbers({8, 100}), 0, 0, 4))));
}

TEST(HandedOver, PointwiseLeavesMemoryOfAnotherOwner) {
  std::vector<float> own(300, 2.0f);
  EXPECT_FALSE(isOver(kProduct, from_blob(own.data(), {3, 100})));
  EXPECT_EQ(own, std::vector<float>(300, 2.0f));
}

TEST(HandedOver, PointwiseLeavesWhatAWeakReferenceFinds) {
  Tensor input = numbers({3, 100});
  const WeakIValue weak{IValue(input)};
  EXPECT_FALSE(isOver(kProduct, std::move(input)));
}

TEST(HandedOver, PointwiseLeavesAListOfTheCaller) {
  List<Tensor> list;
  list.push_back(numbers({3, 100}));
  const Tensor expected = clone(list.get(0));
  Stack stack;
  stack.emplace_back(std::string(kProduct));
  stack.emplace_back(list);
  const Tensor result = called("fused::pointwise", stack);
  EXPECT_TRUE(equal(list.get(0), expected));
  EXPECT_FALSE(equal(result, expected));
}

TEST(HandedOver, PointwiseLeavesInputsOfOtherDtypesOrShapes) {
  EXPECT_FALSE(isOver("masked_fill(b, a, 1.5) * 2.0", gt(numbers({3, 100}), 0.0), {numbers({3, 100})}));
  EXPECT_FALSE(isOver("a + b * 2.0", numbers({100}), {numbers({3, 100})}));
  EXPECT_FALSE(isOver("(a + b) * 2.0", t(numbers({100, 3})), {numbers({3, 100})}));
}

TEST(HandedOver, TypedCallsOnlyLendTheirArguments) {
  const std::vector<Tensor> inputs = {numbers({3, 100})};
  const Tensor before = clone(inputs[0]);
  EXPECT_NE(fused::pointwise(kProduct, inputs).data_ptr(), inputs[0].data_ptr());
  EXPECT_TRUE(equal(inputs[0], before));
  const Tensor add = numbers({4, 6});
  const Tensor same = clone(add);
  EXPECT_NE(fused::linear(numbers({4, 5}), numbers({6, 5}), {}, add).data_ptr(), add.data_ptr());
  EXPECT_TRUE(equal(add, same));
}

// The stack of fused::linear.
Stack linearStack(Tensor input, Tensor weight, IValue bias, Tensor add, const char* activation) {
  Stack stack;
  stack.emplace_back(std::move(input));
  stack.emplace_back(std::move(weight));
  stack.emplace_back(std::move(bias));
  stack.emplace_back(std::move(add));
  stack.emplace_back(std::string(activation));
  stack.emplace_back(List<double>());
  return stack;
}

TEST(HandedOver, WatchedCallsLeaveTheirArguments) {
  const auto areLeft = [] {
    EXPECT_FALSE(isOver(kProduct, numbers({3, 100})));
    Tensor added = numbers({16, 48});
    const void* const memory = added.data_ptr();
    Stack stack = linearStack(numbers({16, 32}), numbers({48, 32}), {}, std::move(added), "none");
    EXPECT_NE(called("fused::linear", stack).data_ptr(), memory);
  };
  {
    const ModeGuard mode(
        [](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) { op.redispatchBoxed(keys, stack); });
    areLeft();
  }
  const auto observer = addThreadLocalCallback(RecordFunctionCallback([](const RecordFunction&) { return nullptr; }));
  areLeft();
  removeCallback(observer);
}

TEST(HandedOver, LinearWritesOverWhatIsAdded) {
  for (const int64_t rows : {1, 3, 16, 200}) {
    const Tensor input = numbers({rows, 32});
    const Tensor weight = numbers({48, 32});
    const Tensor bias = numbers({48});
    Tensor added = numbers({rows, 48});
    const void* const memory = added.data_ptr();
    for (const char* activation : {"none", "relu"}) {
      const Tensor expected = fused::linear(input, weight, bias, added, activation);
      Stack kept = linearStack(input, weight, bias, added, activation);
      EXPECT_NE(called("fused::linear", kept).data_ptr(), memory);
      Tensor own = clone(added);
      const void* const own_memory = own.data_ptr();
      Stack given = linearStack(input, weight, bias, std::move(own), activation);
      const Tensor result = called("fused::linear", given);
      EXPECT_TRUE(rows == 1 || result.data_ptr() == own_memory) << rows;
      EXPECT_TRUE(equal(result, expected)) << rows << activation;
    }
    EXPECT_TRUE(equal(added, numbers({rows, 48})));
  }
}

// The stack of fused::convolution.
Stack convolutionStack(Tensor input, Tensor weight, int64_t padding, Tensor add) {
  Stack stack;
  stack.emplace_back(std::move(input));
  stack.emplace_back(std::move(weight));
  for (int i = 0; i < 5; ++i) stack.emplace_back();
  stack.emplace_back(1e-5);
  for (const int64_t value : {int64_t{1}, padding, int64_t{1}}) stack.emplace_back(List<int64_t>({value, value}));
  stack.emplace_back(int64_t{1});
  stack.emplace_back(std::move(add));
  stack.emplace_back(std::string("relu"));
  stack.emplace_back(List<double>());
  return stack;
}

TEST(HandedOver, ConvolutionWritesOverWhatIsAdded) {
  for (const MemoryFormat format : {MemoryFormat::Contiguous, MemoryFormat::ChannelsLast}) {
    for (const int64_t kernel : {1, 3}) {
      for (const int64_t channels : {16, 64}) {
        const Tensor input = contiguous(div(numbers({2, channels, 30, 28}), 1e4), format);
        const Tensor weight = div(numbers({channels, channels, kernel, kernel}), 1e4);
        const Tensor added = contiguous(div(numbers({2, channels, 30, 28}), 1e4), format);
        const auto stackWith = [&](Tensor add) { return convolutionStack(input, weight, kernel / 2, std::move(add)); };
        const void* const memory = added.data_ptr();
        Stack lent = stackWith(added);
        const Tensor expected = called("fused::convolution", lent);
        EXPECT_NE(expected.data_ptr(), memory);
        Tensor own = clone(added);
        const void* const own_memory = own.data_ptr();
        Stack given = stackWith(std::move(own));
        const Tensor result = called("fused::convolution", given);
        EXPECT_EQ(result.data_ptr(), own_memory);
        EXPECT_EQ(stridesOf(result), stridesOf(expected));
        EXPECT_TRUE(allclose(result, expected, 1e-5, 1e-5));
        EXPECT_TRUE(equal(added, div(numbers({2, channels, 30, 28}), 1e4)));
      }
    }
  }
}

}  // namespace
}  // namespace boxcar
