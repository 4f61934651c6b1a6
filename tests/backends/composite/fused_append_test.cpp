#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/ivalue/from_blob.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/backends/tensor_helpers.h"

namespace boxcar {
namespace {

// Calls fused::append with references that the call uses up.
Tensor appended(Tensor self, Tensor other, int64_t dim) {
  static const OperatorHandle op = Dispatcher::singleton().findSchemaOrThrow("fused::append", "");
  Stack stack;
  push(stack, std::move(self), std::move(other), dim);
  op.callBoxed(stack);
  return pop(stack).toTensor();
}

Tensor joined(const Tensor& self, const Tensor& other, int64_t dim) {
  const Tensor parts[] = {self, other};
  return cat(parts, dim);
}

// Keys or values of [length] tokens.
Tensor cacheOf(int64_t length) { return randn({2, 3, length, 16}); }

TEST(FusedAppend, GrowsInPlaceWhereNothingElseRefersToTheTensor) {
  Tensor cache = cacheOf(128);
  Tensor expected = clone(cache);
  const void* last = cache.data_ptr();
  int moves = 0;
  for (int i = 0; i < 40; ++i) {
    const Tensor next = cacheOf(1);
    expected = joined(expected, next, 2);
    cache = appended(std::move(cache), next, 2);
    moves += cache.data_ptr() != last ? 1 : 0;
    last = cache.data_ptr();
    EXPECT_TRUE(equal(cache, expected)) << i;
  }
  EXPECT_EQ(moves, 1);  // the first call leaves room for all others
}

TEST(FusedAppend, CopiesWhereSomethingElseRefersToTheTensor) {
  Tensor cache = appended(cacheOf(128), cacheOf(1), 2);
  const Tensor before = cache;
  const Tensor copy = clone(before);
  const Tensor first = appended(cache, cacheOf(1), 2);
  const Tensor second = appended(cache, cacheOf(1), 2);
  EXPECT_NE(first.data_ptr(), before.data_ptr());
  EXPECT_NE(first.data_ptr(), second.data_ptr());
  EXPECT_TRUE(equal(before, copy));
}

TEST(FusedAppend, ToNothingCopiesMemoryOfAnotherOwnerAndPartsOfALargerTensor) {
  std::vector<float> own(2 * 3 * 4 * 16, 2.0f);
  const Tensor of_other = appended(zeros({0}), from_blob(own.data(), {2, 3, 4, 16}), 2);
  EXPECT_NE(of_other.data_ptr(), own.data());
  EXPECT_TRUE(equal(of_other, full({2, 3, 4, 16}, 2.0)));
  const Tensor part = appended(zeros({0}), select(cacheOf(128), 0, 0), 2);
  EXPECT_EQ(part.storage()->nbytes(), static_cast<size_t>(part.numel()) * part.itemsize());
}

TEST(FusedAppend, CopiesWhereAViewRefersToTheMemory) {
  Tensor cache = appended(cacheOf(128), cacheOf(1), 2);
  const Tensor view = select(cache, 0, 0);
  const void* const memory = cache.data_ptr();
  EXPECT_NE(appended(std::move(cache), cacheOf(1), 2).data_ptr(), memory);
}

TEST(FusedAppend, CopiesWhereCalledByType) {
  const Tensor cache = appended(cacheOf(128), cacheOf(1), 2);
  const Tensor next = cacheOf(1);
  const Tensor result = fused::append(cache, next, 2);
  EXPECT_NE(result.data_ptr(), cache.data_ptr());
  EXPECT_TRUE(equal(result, joined(cache, next, 2)));
}

TEST(FusedAppend, OfAShortTensorIsContiguous) {
  EXPECT_TRUE(appended(cacheOf(2), cacheOf(1), 2).is_contiguous());
  EXPECT_TRUE(appended(cacheOf(128), cacheOf(128), 2).is_contiguous());
  EXPECT_TRUE(appended(zeros({3}), zeros({1}), 0).is_contiguous());
}

TEST(FusedAppend, NeverWritesBetweenTheElementsOfForeignMemory) {
  std::vector<float> memory(size_t{2} * 200 * 64, 7.0f);
  Tensor window = narrow(from_blob(memory.data(), {2, 200, 64}), 1, 0, 128).shallowCopy();
  const Tensor result = appended(std::move(window), zeros({2, 1, 64}), 1);
  EXPECT_EQ(result.size(1), 129);
  EXPECT_EQ(memory[size_t{128} * 64], 7.0f);
}

TEST(FusedAppend, ToNothingIsTheOtherTensor) {
  Tensor cache = appended(cacheOf(128), cacheOf(1), 2);
  const void* const memory = cache.data_ptr();
  cache = appended(zeros({0}), std::move(cache), 2);
  EXPECT_EQ(cache.data_ptr(), memory);
  const Tensor copy = appended(zeros({0}), cache, 2);
  EXPECT_NE(copy.data_ptr(), memory);
  EXPECT_TRUE(equal(copy, cache));
}

TEST(FusedAppend, PromotesAndFailsAsCatDoes) {
  const Tensor wide = appended(ones({4, 1000}), ones({1, 1000}, ScalarType::Double), 0);
  EXPECT_EQ(wide.scalar_type(), ScalarType::Double);
  EXPECT_THROW(appended(cacheOf(128), zeros({2, 4, 1, 16}), 2), Error);
}

TEST(FusedAppend, IsCatWhereGradientsAreRecorded) {
  Tensor cache = cacheOf(128);
  const Tensor next = cacheOf(1);
  next.set_requires_grad(true);
  const Tensor result = appended(std::move(cache), next, 2);
  EXPECT_TRUE(result.requires_grad());
  EXPECT_TRUE(result.is_contiguous());
}

TEST(FusedAppend, CountsAWrite) {
  Tensor cache = appended(cacheOf(128), cacheOf(1), 2);
  const uint32_t version = cache.version();
  cache = appended(std::move(cache), cacheOf(1), 2);
  EXPECT_GT(cache.version(), version);
}

}  // namespace
}  // namespace boxcar
