#include <boxcar/ivalue/from_blob.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <thread>
#include <vector>

#include "tests/backends/tensor_helpers.h"

namespace boxcar {
namespace {

TEST(FromBlob, SharesTheMemory) {
  std::vector<float> numbers = {1, 2, 3, 4, 5, 6};
  Tensor x = from_blob(numbers.data(), {2, 3});
  EXPECT_EQ(x.data_ptr(), numbers.data());
  EXPECT_EQ(toString(x), "tensor([[1., 2., 3.],\n        [4., 5., 6.]])");
  mul_(x, 10);
  EXPECT_EQ(numbers[5], 60);
  numbers[0] = -1;
  EXPECT_EQ(item(select(select(x, 0, 0), 0, 0)).toDouble(), -1);
}

TEST(FromBlob, TakesTypesAndStrides) {
  std::vector<int64_t> numbers = {1, 2, 3, 4, 5, 6};
  const Tensor columns = from_blob(numbers.data(), {3, 2}, {1, 3}, {.dtype = ScalarType::Long});
  EXPECT_EQ(toString(columns), "tensor([[1, 4],\n        [2, 5],\n        [3, 6]])");
  const Tensor repeated = from_blob(numbers.data() + 4, {3}, IntArrayRef{0}, {.dtype = ScalarType::Long});
  EXPECT_EQ(toString(repeated), "tensor([5, 5, 5])");
  EXPECT_EQ(repeated.storage()->nbytes(), sizeof(int64_t));
  EXPECT_EQ(from_blob(numbers.data(), IntArrayRef{}, {.dtype = ScalarType::Long}).dim(), 0);
  EXPECT_EQ(from_blob(nullptr, {0, 3}).numel(), 0);
  EXPECT_EQ(from_blob(numbers.data(), {2}, {.dtype = ScalarType::Long}).device(), Device("cpu"));
}

TEST(FromBlob, CallsTheDeleterOnceWithTheLastTensor) {
  std::vector<float> numbers = {1, 2, 3, 4};
  std::vector<void*> freed;
  const auto deleter = [&](void* data) { freed.push_back(data); };
  {
    std::optional<Tensor> x = from_blob(numbers.data(), {4}, deleter);
    std::optional<Tensor> view = select(*x, 0, 1);
    x.reset();
    EXPECT_TRUE(freed.empty());
    std::thread([last = std::move(view)]() mutable { last.reset(); }).join();
    view.reset();
    EXPECT_EQ(freed, std::vector<void*>{numbers.data()});
  }
  EXPECT_EQ(freed.size(), 1u);
  { const Tensor x = from_blob(numbers.data(), {2, 2}, {1, 2}, deleter); }
  EXPECT_EQ(freed.size(), 2u);
  // The deleter is called even if no memory is lent.
  { const Tensor x = from_blob(nullptr, {0}, deleter); }
  EXPECT_EQ(freed.size(), 3u);
}

TEST(FromBlob, RefusesWithASentenceAndDeletesNothing) {
  alignas(16) std::byte bytes[32] = {};
  int deleted = 0;
  const auto deleter = [&](void*) { ++deleted; };
  EXPECT_EQ(errorOf([&] { from_blob(bytes, {-1}, deleter); }),
            "from_blob: sizes must not be negative, but they are [-1]");
  EXPECT_EQ(errorOf([&] { from_blob(bytes, {2}, {-1}, deleter); }),
            "from_blob: strides must not be negative, but they are [-1]");
  EXPECT_EQ(errorOf([&] {
              from_blob(bytes, {2, 2}, {1}, deleter);
            }),
            "from_blob: there must be a stride for each size, but sizes are [2, 2] and strides [1]");
  EXPECT_EQ(errorOf([&] { from_blob(nullptr, {2}, deleter); }),
            "from_blob: sizes [2] have elements, but the pointer to them is null");
  const int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(errorOf([&] {
              from_blob(bytes, {most, 2}, deleter);
            }),
            "from_blob: sizes [9223372036854775807, 2] with strides [2, 1] are or reach more than 63 bits can count");
  const std::string unaligned = errorOf([&] { from_blob(bytes + 1, {2}, deleter); });
  EXPECT_TRUE(unaligned.starts_with("from_blob: elements of float32 must be aligned to 4 bytes, and those at 0x"))
      << unaligned;
  EXPECT_TRUE(unaligned.ends_with(" are not; copy them")) << unaligned;
  EXPECT_EQ(deleted, 0);
}

TEST(FromBlob, CannotBeResized) {
  std::vector<float> numbers = {1, 2};
  Tensor x = from_blob(numbers.data(), {2});
  EXPECT_NE(errorOf([&] { add_out(x, ones({3}), ones({3})); }), "no error");
}

}  // namespace
}  // namespace boxcar
