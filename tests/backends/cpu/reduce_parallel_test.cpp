#include <boxcar/backends/cpu/parallel.h>
#include <gtest/gtest.h>

#include "tests/backends/tensor_helpers.h"

namespace boxcar {
namespace {

// Sets the number of threads until the end of the scope.
class ThreadsGuard {
 public:
  explicit ThreadsGuard(int count) : before_(cpu::threadCount()) { cpu::setThreadCount(count); }
  ~ThreadsGuard() { cpu::setThreadCount(before_); }

 private:
  int before_;
};

template <class Make>
void expectSameForAnyThreads(Make make) {
  Tensor alone;
  {
    const ThreadsGuard one(1);
    alone = make();
  }
  for (const int threads : {2, 3, 7}) {
    const ThreadsGuard several(threads);
    EXPECT_TRUE(equal(make(), alone)) << threads << " threads";
  }
}

TEST(ReduceInThreads, GivesTheSameBits) {
  const Tensor x = randn({1000003});
  expectSameForAnyThreads([&] { return sum(x); });
  expectSameForAnyThreads([&] { return var(x); });
  expectSameForAnyThreads([&] { return argmax(x); });
  expectSameForAnyThreads([&] { return linalg_vector_norm(x); });
  const Tensor rows = randn({50021, 7});
  for (const int64_t dim : {0, 1}) {
    expectSameForAnyThreads([&] { return sum(rows, IntArrayRef{dim}); });
    expectSameForAnyThreads([&] { return sum(transpose(rows, 0, 1), IntArrayRef{dim}); });
    expectSameForAnyThreads([&] { return std::get<1>(max(rows, dim)); });
  }
  const Tensor columns = randn({9, 20011});
  expectSameForAnyThreads([&] { return linalg_vector_norm(columns, 2, IntArrayRef{0}); });
}

TEST(ScanInThreads, GivesTheSameBits) {
  const Tensor lines = rand({5003, 65}, ScalarType::Double);
  expectSameForAnyThreads([&] { return cumsum(lines, 0); });
  expectSameForAnyThreads([&] { return cumsum(lines, 1); });
  expectSameForAnyThreads([&] { return cumprod(lines, 0); });
}

TEST(ScanInThreads, EqualLinesHaveEqualSumsWhereverTheyLie) {
  const Tensor lines = contiguous(expand(rand({5003, 1}), {5003, 65}));
  const Tensor sums = cumsum(lines, 0);
  for (const int64_t column : {1, 31, 63, 64}) EXPECT_TRUE(equal(select(sums, 1, column), select(sums, 1, 0)));
}

TEST(ProductInThreads, GivesTheSameBits) {
  // Sizes that no number of threads divides into parts that are multiples of four.
  const Tensor matrix = randn({1026, 512});
  const Tensor row = randn({1, 512});
  expectSameForAnyThreads([&] { return mv(matrix, select(row, 0, 0)); });
  expectSameForAnyThreads([&] { return mm(row, t(matrix)); });
  expectSameForAnyThreads([&] { return mm(matrix, t(row)); });
}

TEST(ReduceInThreads, AnyAndAllOfManyElements) {
  const ThreadsGuard several(3);
  const Tensor x = zeros({300000}, ScalarType::Bool);
  EXPECT_FALSE(item(any(x)).toBool());
  select(x, 0, 299999).data_ptr<bool>()[0] = true;
  EXPECT_TRUE(item(any(x)).toBool());
  EXPECT_FALSE(item(all(x)).toBool());
}

}  // namespace
}  // namespace boxcar
