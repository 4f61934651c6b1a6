#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "tests/backends/tensor_helpers.h"

// Covers what the cases of tests/numerics do not: huge numbers of steps.

namespace boxcar {
namespace {

using Ints = std::vector<int64_t>;

constexpr int64_t kHuge = int64_t{1} << 40;

Tensor onMeta(const Ints& sizes) { return empty(sizes, ScalarType::Float, std::nullopt, Device(DeviceType::Meta)); }

TEST(Recurrent, MetaTensorsOfManyStepsTakeNoLongerThanOne) {
  const std::vector<Tensor> states = {onMeta({1, 2, 4}), onMeta({1, 2, 4})};
  const std::vector<Tensor> params = {onMeta({16, 3}), onMeta({16, 4})};
  const auto [output, hidden, cells] = lstm(onMeta({kHuge, 2, 3}), states, params, /*has_biases=*/false, 1, 0,
                                            /*train=*/false, /*bidirectional=*/false, /*batch_first=*/false);
  EXPECT_EQ(sizesOf(output), (Ints{kHuge, 2, 4}));
  EXPECT_EQ(stridesOf(output), (Ints{8, 4, 1}));
  EXPECT_EQ(sizesOf(hidden), (Ints{1, 2, 4}));
  EXPECT_EQ(sizesOf(cells), (Ints{1, 2, 4}));
}

TEST(Recurrent, ManyStepsOfNoSequenceTakeNoLongerThanOne) {
  const std::vector<Tensor> params = {ones({4, 3}), ones({4, 4})};
  const auto [output, hidden] = rnn_tanh(zeros({kHuge, 0, 3}), zeros({1, 0, 4}), params, /*has_biases=*/false, 1, 0,
                                         /*train=*/false, /*bidirectional=*/false, /*batch_first=*/false);
  EXPECT_EQ(sizesOf(output), (Ints{kHuge, 0, 4}));
  EXPECT_EQ(sizesOf(hidden), (Ints{1, 0, 4}));
}

}  // namespace
}  // namespace boxcar
