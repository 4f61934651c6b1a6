#include <boxcar/ivalue/stack.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace boxcar {
namespace {

TEST(Stack, PushTakesValuesOfAnyKind) {
  Stack stack;
  push(stack, 1, 2.5, "text", Tensor(), true, std::nullopt);
  ASSERT_EQ(stack.size(), 6u);
  EXPECT_EQ(stack[0].toInt(), 1);
  EXPECT_EQ(stack[1].toDouble(), 2.5);
  EXPECT_EQ(stack[2].toStringRef(), "text");
  EXPECT_TRUE(stack[3].isTensor());
  EXPECT_TRUE(stack[4].toBool());
  EXPECT_TRUE(stack[5].isNone());
}

TEST(Stack, PeekCountsWithinTheLast) {
  Stack stack;
  push(stack, 1, 2, 3, 4);
  EXPECT_EQ(peek(stack, 0, 3).toInt(), 2);
  EXPECT_EQ(peek(stack, 2, 3).toInt(), 4);
  peek(stack, 0, 1) = IValue(40);
  EXPECT_EQ(stack.back().toInt(), 40);
  const Stack& constant = stack;
  EXPECT_EQ(peek(constant, 0, 4).toInt(), 1);
  EXPECT_EQ(last(constant, 2)[0].toInt(), 3);
  EXPECT_EQ(last(stack, 2)[1].toInt(), 40);
}

TEST(Stack, PopTakesTheLastValuesInOrder) {
  Stack stack;
  push(stack, 1, 2, 3, 4);
  EXPECT_EQ(pop(stack).toInt(), 4);
  const std::vector<IValue> two = pop(stack, 2);
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two[0].toInt(), 2);
  EXPECT_EQ(two[1].toInt(), 3);
  EXPECT_EQ(stack.size(), 1u);
  EXPECT_TRUE(pop(stack, 0).empty());
}

TEST(Stack, DropReleasesReferences) {
  const Tensor tensor = Tensor::allocate(std::vector<int64_t>{1}, ScalarType::Float);
  Stack stack;
  push(stack, tensor, 1, tensor);
  EXPECT_EQ(tensor.unsafeGetTensorImpl()->useCount(), 3u);
  drop(stack, 2);
  EXPECT_EQ(stack.size(), 1u);
  EXPECT_EQ(tensor.unsafeGetTensorImpl()->useCount(), 2u);
  const IValue popped = pop(stack);
  EXPECT_EQ(tensor.unsafeGetTensorImpl()->useCount(), 2u);
}

TEST(Stack, FunctionsTakeItByPointerToo) {
  Stack stack;
  push(&stack, 1, 2, 3, 4, 5);
  EXPECT_EQ(peek(&stack, 0, 2).toInt(), 4);
  EXPECT_EQ(pop(&stack).toInt(), 5);
  EXPECT_EQ(pop(&stack, 2)[0].toInt(), 3);
  drop(&stack, 1);
  EXPECT_TRUE(stack == Stack{IValue(1)});
}

TEST(Stack, PushTakesItsOwnValuesAlsoWhereItGrows) {
  for (size_t size = 1; size <= 40; ++size) {
    Stack stack;
    for (size_t i = 0; i < size; ++i)
      push(stack, std::string("a text that lies on the heap, number ") + std::to_string(i));
    stack.emplace(stack[0], stack[size - 1], 7);
    push(stack, stack[0]);
    ASSERT_EQ(stack.size(), size + 4);
    EXPECT_TRUE(stack[size].is(stack[0]));
    EXPECT_TRUE(stack[size + 1].is(stack[size - 1]));
    EXPECT_EQ(stack[size + 2].toInt(), 7);
    EXPECT_TRUE(stack[size + 3].is(stack[0]));
  }
}

TEST(Stack, PushMovesWhatIsGivenAway) {
  Tensor tensor = Tensor::allocate(std::vector<int64_t>{1}, ScalarType::Float);
  Stack stack;
  push(stack, std::move(tensor));
  EXPECT_FALSE(tensor.defined());
  EXPECT_EQ(stack[0].toTensor().unsafeGetTensorImpl()->useCount(), 1u);
}

}  // namespace
}  // namespace boxcar
