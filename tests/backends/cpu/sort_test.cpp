#include <boxcar/ops.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/backends/tensor_helpers.h"

namespace boxcar {
namespace {

constexpr int64_t kTwo62 = int64_t{1} << 62;
constexpr const char* kRefusal = "out of memory: there is no room to put 4611686018427387904 elements in order";

// An expanded tensor can have more elements than a byte count can express.
TEST(Sort, ALineThatNoMemoryHasRoomForIsRefused) {
  for (const ScalarType dtype : {ScalarType::Short, ScalarType::BFloat16, ScalarType::Int, ScalarType::Double}) {
    const Tensor line = expand(ones({1}, dtype), std::vector<int64_t>{kTwo62});
    EXPECT_EQ(errorOf([&] { median(line, 0); }), kRefusal);
    EXPECT_EQ(errorOf([&] { nanmedian(line, 0); }), kRefusal);
  }
  // topk orders Short elements as another type, which needs a copy of the line.
  const Tensor line = expand(ones({1}, ScalarType::Short), std::vector<int64_t>{kTwo62});
  EXPECT_EQ(errorOf([&] { topk(line, 1); }), kRefusal);
}

}  // namespace
}  // namespace boxcar
