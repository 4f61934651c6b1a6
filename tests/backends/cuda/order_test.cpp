#include <boxcar/ivalue/cpu_generator.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <tuple>
#include <vector>

#include "tests/backends/cuda/simulated_device.h"

// Scans, sorting and selection on a make-believe GPU: sizes at which blocks share work, compared with the CPU.

namespace boxcar::cuda {
namespace {

constexpr Device kCuda(DeviceType::CUDA, 0);

class CudaOrderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    simulated::device() = {};
    manualSeed(7);
  }
};

Tensor onCuda(const Tensor& tensor) { return boxcar::to(tensor, std::nullopt, std::nullopt, kCuda); }
Tensor onHost(const Tensor& tensor) { return boxcar::to(tensor, std::nullopt, std::nullopt, Device(DeviceType::CPU)); }

Tensor integers(std::vector<int64_t> sizes, int64_t most, ScalarType type = ScalarType::Long) {
  return boxcar::randint(most, sizes, type);
}
Tensor floats(std::vector<int64_t> sizes, ScalarType type = ScalarType::Float) { return boxcar::randn(sizes, type); }

// call(tensor) on both devices gives the same bits.
template <class Call>
void expectSame(const Tensor& host, const Call& call) {
  EXPECT_TRUE(boxcar::equal(onHost(call(onCuda(host))), call(host)));
}
// The same for both of two results.
template <class Call>
void expectSamePairs(const Tensor& host, const Call& call) {
  const auto [first, second] = call(host);
  const auto [device_first, device_second] = call(onCuda(host));
  EXPECT_TRUE(boxcar::equal(onHost(device_first), first));
  EXPECT_TRUE(boxcar::equal(onHost(device_second), second));
}
template <class Call>
void expectClose(const Tensor& host, const Call& call) {
  EXPECT_TRUE(boxcar::allclose(onHost(call(onCuda(host))), call(host), 1e-5, 1e-5));
}

// Shapes and dimensions: one long row, which blocks share, also where its parts end within a tile; rows of some tiles;
// lines side by side, few and many; short rows.
const std::initializer_list<std::tuple<std::vector<int64_t>, int64_t>> kLongLines = {
    {{100000}, 0},  {{32768}, 0}, {{3, 40961}, 1},  {{5, 2048}, 1},   {{2, 2049}, 1}, {{300, 33}, 1},
    {{5000, 3}, 0}, {{40, 3}, 0}, {{70, 20000}, 0}, {{3, 500, 2}, 1}, {{1000, 7}, 1}};

TEST_F(CudaOrderTest, ScansLinesOfEachLength) {
  for (const auto& [sizes, dim] : kLongLines) {
    expectSame(integers(sizes, 1000), [&](const Tensor& x) { return boxcar::cumsum(x, dim); });
    expectSame(boxcar::add(integers(sizes, 2), 1), [&](const Tensor& x) { return boxcar::cumprod(x, dim); });
    expectClose(floats(sizes), [&](const Tensor& x) { return boxcar::cumsum(x, dim); });
    expectClose(floats(sizes), [&](const Tensor& x) { return boxcar::logcumsumexp(x, dim); });
    expectSame(integers(sizes, 2, ScalarType::Bool), [&](const Tensor& x) { return boxcar::cumsum(x, dim); });
    expectSame(integers(sizes, 100, ScalarType::Byte),
               [&](const Tensor& x) { return boxcar::cumsum(x, dim, ScalarType::Byte); });
    expectClose(boxcar::complex(floats(sizes, ScalarType::Double), floats(sizes, ScalarType::Double)),
                [&](const Tensor& x) { return boxcar::cumsum(x, dim); });
  }
}

TEST_F(CudaOrderTest, FollowsExtremesAlongLinesOfEachLength) {
  for (const auto& [sizes, dim] : kLongLines) {
    const Tensor repeated = integers(sizes, 50, ScalarType::Int);
    expectSamePairs(repeated, [&](const Tensor& x) { return boxcar::cummax(x, dim); });
    expectSamePairs(repeated, [&](const Tensor& x) { return boxcar::cummin(x, dim); });
    expectSamePairs(floats(sizes), [&](const Tensor& x) { return boxcar::cummax(x, dim); });
    expectSamePairs(floats(sizes, ScalarType::Double), [&](const Tensor& x) { return boxcar::cummin(x, dim); });
  }
}

TEST_F(CudaOrderTest, ScansViews) {
  const Tensor wide = integers({40, 3000}, 9);
  expectSame(wide, [](const Tensor& x) { return boxcar::cumsum(boxcar::t(x), 0); });
  expectSame(wide, [](const Tensor& x) { return boxcar::cumsum(boxcar::t(x), 1); });
  expectSame(wide, [](const Tensor& x) {
    return boxcar::cumsum(boxcar::expand(boxcar::select(x, 0, 1), std::vector<int64_t>{2, 3000}), 1);
  });
}

// Rows that a block sorts by itself, several of them or one; longer ones, one or many; lines that are no rows.
const std::initializer_list<std::tuple<std::vector<int64_t>, int64_t>> kSortedLines = {
    {{1}, 0},     {{2048}, 0},    {{1000, 3}, 1},  {{77, 100}, 1}, {{5, 1025}, 1},   {{2049}, 0},
    {{20000}, 0}, {{3, 9001}, 1}, {{40, 2100}, 1}, {{3000, 5}, 0}, {{2, 700, 3}, 1}, {{4, 1}, 1}};

void expectSortedAlike(const Tensor& host, int64_t dim) {
  for (const bool descending : {false, true}) {
    expectSamePairs(host, [&](const Tensor& x) { return boxcar::sort(x, dim, descending); });
    const int64_t length = host.size(dim);
    for (const int64_t k : {int64_t{1}, length / 3}) {
      expectSamePairs(host, [&](const Tensor& x) { return boxcar::topk(x, k, dim, descending, true); });
    }
  }
}

TEST_F(CudaOrderTest, SortsLinesOfEachLength) {
  for (const auto& [sizes, dim] : kSortedLines) {
    expectSortedAlike(integers(sizes, 1000), dim);
    expectSortedAlike(boxcar::sub(integers(sizes, 200, ScalarType::Int), 100), dim);
    expectSortedAlike(floats(sizes), dim);
    expectSortedAlike(floats(sizes, ScalarType::Double), dim);
    expectSortedAlike(boxcar::to(floats(sizes), ScalarType::Half), dim);
    expectSortedAlike(boxcar::to(floats(sizes), ScalarType::BFloat16), dim);
    expectSortedAlike(integers(sizes, 2, ScalarType::Bool), dim);
    expectSortedAlike(boxcar::to(boxcar::sub(integers(sizes, 200), 100), ScalarType::Char), dim);
  }
}

TEST_F(CudaOrderTest, SortsNanLastAndKeepsTheOrderOfZeros) {
  for (const ScalarType type : {ScalarType::Float, ScalarType::Double, ScalarType::Half, ScalarType::BFloat16}) {
    for (const int64_t count : {int64_t{100}, int64_t{5000}}) {
      // 0 / 0, x / 0, 0 / x, -0 / x …
      const Tensor x =
          boxcar::to(boxcar::div(boxcar::sub(integers({count}, 3), 1), boxcar::sub(integers({count}, 5), 2)), type);
      for (const bool descending : {false, true}) {
        const auto [values, indices] = boxcar::sort(x, 0, descending);
        const auto [device_values, device_indices] = boxcar::sort(onCuda(x), 0, descending);
        EXPECT_TRUE(boxcar::equal(onHost(device_indices), indices));
        EXPECT_TRUE(boxcar::equal(boxcar::signbit(onHost(device_values)), boxcar::signbit(values)));
      }
    }
  }
}

TEST_F(CudaOrderTest, SelectsWhatIsTrue) {
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{70001}, {300, 41}, {7, 1, 900}, {1}, {0, 4}, {}}) {
    const Tensor mask = integers(sizes, 2, ScalarType::Bool);
    expectSame(mask, [](const Tensor& x) { return boxcar::nonzero(x); });
    const Tensor numbers = integers(sizes, 1000);
    EXPECT_TRUE(boxcar::equal(onHost(boxcar::masked_select(onCuda(numbers), onCuda(mask))),
                              boxcar::masked_select(numbers, mask)));
    const Tensor source = integers({70001}, 1000);
    EXPECT_TRUE(boxcar::equal(onHost(boxcar::masked_scatter(onCuda(numbers), onCuda(mask), onCuda(source))),
                              boxcar::masked_scatter(numbers, mask, source)));
  }
}

TEST_F(CudaOrderTest, SelectsNothing) {
  const Tensor none = boxcar::zeros(std::vector<int64_t>{40, 5});
  expectSame(none, [](const Tensor& x) { return boxcar::nonzero(x); });
  expectSame(none, [](const Tensor& x) { return boxcar::masked_select(x, boxcar::ne(x, 0)); });
}

TEST_F(CudaOrderTest, ReportsASourceThatIsTooShort) {
  const Tensor ones = onCuda(boxcar::ones(std::vector<int64_t>{5}));
  const Tensor written = boxcar::masked_scatter(ones, boxcar::eq(ones, 1), boxcar::narrow(ones, 0, 0, 3));
  try {
    onHost(written);
    ADD_FAILURE() << "nothing was reported";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("is out of bounds for a dimension of size 3"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace boxcar::cuda
