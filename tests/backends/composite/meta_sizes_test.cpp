#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "tests/backends/tensor_helpers.h"

// Where only sizes matter, because tensors have no values, huge sizes take no longer than small ones.

namespace boxcar {
namespace {

using Ints = std::vector<int64_t>;

constexpr int64_t kHuge = int64_t{1} << 40;

Tensor onMeta(const Ints& sizes) { return empty(sizes, ScalarType::Float, std::nullopt, Device(DeviceType::Meta)); }

TEST(SizesWithoutValues, NetworksOfManyStepsTakeNoLongerThanOne) {
  const std::vector<Tensor> states = {onMeta({1, 2, 4}), onMeta({1, 2, 4})};
  const std::vector<Tensor> params = {onMeta({16, 3}), onMeta({16, 4})};
  const auto [output, hidden, cells] = lstm(onMeta({kHuge, 2, 3}), states, params, /*has_biases=*/false, 1, 0,
                                            /*train=*/false, /*bidirectional=*/false, /*batch_first=*/false);
  EXPECT_EQ(sizesOf(output), (Ints{kHuge, 2, 4}));
  EXPECT_EQ(stridesOf(output), (Ints{8, 4, 1}));
  EXPECT_EQ(sizesOf(hidden), (Ints{1, 2, 4}));
  EXPECT_EQ(sizesOf(cells), (Ints{1, 2, 4}));
}

TEST(SizesWithoutValues, ManyStepsOfNoSequenceTakeNoLongerThanOne) {
  const std::vector<Tensor> params = {ones({4, 3}), ones({4, 4})};
  const auto [output, hidden] = rnn_tanh(zeros({kHuge, 0, 3}), zeros({1, 0, 4}), params, /*has_biases=*/false, 1, 0,
                                         /*train=*/false, /*bidirectional=*/false, /*batch_first=*/false);
  EXPECT_EQ(sizesOf(output), (Ints{kHuge, 0, 4}));
  EXPECT_EQ(sizesOf(hidden), (Ints{1, 0, 4}));
}

TEST(SizesWithoutValues, CtcLossOfManyStepsTakesNoLongerThanOne) {
  const Tensor targets = empty({1, 1}, ScalarType::Long, std::nullopt, Device(DeviceType::Meta));
  const auto [losses, log_alpha] = _ctc_loss(onMeta({kHuge, 1, 2}), targets, {5}, {1});
  EXPECT_EQ(sizesOf(losses), (Ints{1}));
  EXPECT_EQ(sizesOf(log_alpha), (Ints{1, kHuge, 3}));
}

TEST(SizesWithoutValues, ResizingToManyElementsTakesNoLongerThanToOne) {
  constexpr int64_t kMost = (int64_t{1} << 31) - 1;
  EXPECT_EQ(sizesOf(upsample_nearest3d(onMeta({1, 1, 1, 1, 1}), {kMost, 1, 1})), (Ints{1, 1, kMost, 1, 1}));
  EXPECT_EQ(sizesOf(upsample_trilinear3d(onMeta({1, 1, 1, 1, 1}), {1, 1, kMost}, false)), (Ints{1, 1, 1, 1, kMost}));
  EXPECT_EQ(sizesOf(upsample_bicubic2d(onMeta({1, 1, 1, 1}), {kMost, 1}, false)), (Ints{1, 1, kMost, 1}));
}

}  // namespace
}  // namespace boxcar
