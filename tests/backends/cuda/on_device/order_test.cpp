#include <boxcar/ivalue/cpu_generator.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>
#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <string>
#include <tuple>
#include <vector>

#include "tests/backends/cuda/on_device/device_helpers.h"

// Scans, sorting, selection and searches on a GPU, in sizes for which blocks share work, compared with the CPU.

namespace boxcar::cuda {
namespace {

class CudaOrderTest : public ::testing::Test {
 protected:
  void SetUp() override { manualSeed(7); }
};

Tensor integers(const std::vector<int64_t>& sizes, int64_t most, ScalarType type = ScalarType::Long) {
  return boxcar::randint(most, sizes, type);
}
Tensor floats(const std::vector<int64_t>& sizes, ScalarType type = ScalarType::Float) {
  return boxcar::randn(sizes, type);
}

// Checks that call(tensor) gives the same bits on both devices.
template <class Call>
void expectSame(const Tensor& host, const Call& call) {
  EXPECT_TRUE(boxcar::equal(onHost(call(onCuda(host))), call(host)));
}
// The same for a pair of results.
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

// Shapes and dimensions: one long row that blocks share, also with parts that end within a tile; rows of a few tiles;
// few and many lines that lie side by side; short rows.
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

// One or several rows that one block sorts; one or many longer rows; lines that are not contiguous rows.
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

// With one block per row, the choice among equal elements depends on all digits of their indices.
TEST_F(CudaOrderTest, ChoosesFromManyLongRows) {
  for (const int64_t most : {int64_t{3}, int64_t{100000}}) {
    const Tensor x = integers({32, 66000}, most);
    for (const ScalarType type : {ScalarType::Long, ScalarType::BFloat16}) {
      const Tensor rows = boxcar::to(x, type);
      for (const int64_t k : {int64_t{1}, int64_t{1000}}) {
        expectSamePairs(rows, [&](const Tensor& t) { return boxcar::topk(t, k); });
        expectSamePairs(rows, [&](const Tensor& t) { return boxcar::topk(t, k, 1, /*largest=*/false); });
      }
      expectSamePairs(rows, [](const Tensor& t) { return boxcar::median(t, 1); });
    }
  }
}

// Rows are split into parts, which have equal elements, too, and a remainder.
TEST_F(CudaOrderTest, ChoosesFromFewLongRows) {
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{600011}, {2, 300007}, {300007, 2}}) {
    const int64_t dim = sizes[0] == 2 ? 1 : 0;
    for (const int64_t most : {int64_t{3}, int64_t{1000000}}) {
      const Tensor x = integers(sizes, most, ScalarType::Int);
      for (const int64_t k : {int64_t{1}, int64_t{100}, int64_t{1000}}) {
        expectSamePairs(x, [&](const Tensor& t) { return boxcar::topk(t, k, dim); });
        expectSamePairs(x, [&](const Tensor& t) { return boxcar::topk(t, k, dim, /*largest=*/false); });
      }
    }
  }
}

TEST_F(CudaOrderTest, FindsMedians) {
  for (const auto& [sizes, dim] : kSortedLines) {
    for (const Tensor& x : {integers(sizes, 50), floats(sizes, ScalarType::Double)}) {
      expectSamePairs(x, [&](const Tensor& t) { return boxcar::median(t, dim); });
      expectSame(x, [](const Tensor& t) { return boxcar::median(t); });
    }
    // 0 / 0 is NaN.
    const Tensor some_nan = boxcar::div(integers(sizes, 4), integers(sizes, 3));
    const Tensor all = boxcar::add(boxcar::zeros(sizes), NAN);
    for (const Tensor& x : {some_nan, all}) {
      for (const bool skips : {false, true}) {
        const auto [values, indices] = skips ? boxcar::nanmedian(x, dim) : boxcar::median(x, dim);
        const auto [device_values, device_indices] =
            skips ? boxcar::nanmedian(onCuda(x), dim) : boxcar::median(onCuda(x), dim);
        EXPECT_TRUE(boxcar::equal(onHost(device_indices), indices));
        EXPECT_TRUE(boxcar::allclose(onHost(device_values), values, 0, 0, /*equal_nan=*/true));
      }
    }
  }
}

TEST_F(CudaOrderTest, SearchesRows) {
  const Tensor bounds = std::get<0>(boxcar::sort(integers({30, 777}, 1000), 1));
  const Tensor values = integers({30, 500}, 1100);
  const Tensor order = boxcar::flip(boxcar::argsort(bounds), std::vector<int64_t>{1});
  for (const bool right : {false, true}) {
    EXPECT_TRUE(boxcar::equal(onHost(boxcar::searchsorted(onCuda(bounds), onCuda(values), false, right)),
                              boxcar::searchsorted(bounds, values, false, right)));
    const Tensor row = boxcar::select(bounds, 0, 3);
    EXPECT_TRUE(boxcar::equal(onHost(boxcar::bucketize(onCuda(values), onCuda(row), true, right)),
                              boxcar::bucketize(values, row, true, right)));
    const Tensor mixed = integers({30, 777}, 1000);
    const Tensor sorter = boxcar::argsort(mixed);
    EXPECT_TRUE(boxcar::equal(
        onHost(boxcar::searchsorted(onCuda(mixed), onCuda(values), false, right, std::nullopt, onCuda(sorter))),
        boxcar::searchsorted(mixed, values, false, right, std::nullopt, sorter)));
  }
}

TEST_F(CudaOrderTest, DoesNotWaitForWhatHasAKnownSize) {
  const Tensor x = onCuda(floats({3, 5000}));
  const NoWaiting no_waiting;
  EXPECT_EQ(errorOf([&] {
              const auto [sorted, order] = boxcar::sort(x, 1);
              boxcar::cumsum(boxcar::masked_scatter(x, boxcar::gt(x, 0), sorted), 1);
              boxcar::median(boxcar::searchsorted(sorted, x), 0);
              boxcar::isin(x, sorted);
              boxcar::searchsorted(boxcar::select(sorted, 0, 0), 0.5);
            }),
            "no error");
}

template <class Tuple>
void expectSameThree(const Tuple& device, const Tuple& host) {
  EXPECT_TRUE(boxcar::equal(onHost(std::get<0>(device)), std::get<0>(host)));
  EXPECT_TRUE(boxcar::equal(onHost(std::get<1>(device)), std::get<1>(host)));
  EXPECT_TRUE(boxcar::equal(onHost(std::get<2>(device)), std::get<2>(host)));
}

TEST_F(CudaOrderTest, GroupsEqualElements) {
  for (const int64_t most : {int64_t{2}, int64_t{1000}, int64_t{1000000}}) {
    const Tensor x = integers({9000}, most);
    expectSameThree(boxcar::_unique2(onCuda(x), true, true, true), boxcar::_unique2(x, true, true, true));
    expectSameThree(boxcar::unique_consecutive(onCuda(x), true, true), boxcar::unique_consecutive(x, true, true));
    const Tensor rows = boxcar::fmod(boxcar::reshape(x, std::vector<int64_t>{3000, 3}), 5);
    expectSameThree(boxcar::unique_dim(onCuda(rows), 0), boxcar::unique_dim(rows, 0));
    expectSameThree(boxcar::unique_dim(onCuda(rows), 1), boxcar::unique_dim(rows, 1));
  }
}

TEST_F(CudaOrderTest, CountsNumbersAndRepeatsPlaces) {
  for (const int64_t most : {int64_t{3}, int64_t{5000}, int64_t{20000}}) {
    const Tensor x = integers({40000}, most);
    expectSame(x, [](const Tensor& t) { return boxcar::bincount(t); });
    expectSame(x, [](const Tensor& t) { return boxcar::bincount(t, t, 30000); });
  }
  const Tensor counts = integers({5000}, 7);
  expectSame(counts, [](const Tensor& t) { return boxcar::repeat_interleave(t); });
  expectSame(boxcar::to(counts, ScalarType::Int), [](const Tensor& t) { return boxcar::repeat_interleave(t); });
}

TEST_F(CudaOrderTest, FindsElementsAmongOthers) {
  const Tensor x = integers({5000}, 9000);
  const Tensor tested = integers({3000}, 9000);
  EXPECT_TRUE(boxcar::equal(onHost(boxcar::isin(onCuda(x), onCuda(tested))), boxcar::isin(x, tested)));
  const Tensor ratios = boxcar::div(integers({500}, 3), integers({500}, 3));
  EXPECT_TRUE(boxcar::equal(onHost(boxcar::isin(onCuda(ratios), onCuda(ratios))), boxcar::isin(ratios, ratios)));
}

}  // namespace
}  // namespace boxcar::cuda
