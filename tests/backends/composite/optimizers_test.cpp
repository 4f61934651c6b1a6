#include <boxcar/backends/cpu/parallel.h>
#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "tests/backends/tensor_helpers.h"

// tests/numerics compares the numbers with PyTorch's.

namespace boxcar {
namespace {

// A weight and what an optimiser remembers of it.
struct Trained {
  explicit Trained(const Tensor& like)
      : weight(sin(like)),
        gradient(cos(like)),
        mean(mul(weight, gradient)),
        square(abs(cos(weight))),
        largest(abs(sin(gradient))) {}

  std::vector<Tensor> all() const { return {weight, gradient, mean, square, largest}; }

  void adam(const std::optional<Tensor>& scale = {}, bool amsgrad = true) {
    const Tensor largest_list[] = {largest};
    _fused_adam_({{weight}}, {{gradient}}, {{mean}}, {{square}},
                 amsgrad ? std::span<const Tensor>(largest_list) : std::span<const Tensor>(), {{full({}, 3.0)}}, 0.1,
                 0.9, 0.99, 0.2, 1e-3, amsgrad, true, scale);
  }
  void sgd() {
    _fused_sgd_({{weight}}, {{gradient}}, {{mean}}, 0.2, 0.9, 0.1, 0.3, true, false, false, full({1}, 4.0));
  }

  Tensor weight;
  Tensor gradient;
  Tensor mean;
  Tensor square;
  Tensor largest;
};

void expectSame(const Trained& a, const Trained& b, double tolerance) {
  const std::vector<Tensor> of_a = a.all();
  const std::vector<Tensor> of_b = b.all();
  for (size_t i = 0; i < of_a.size(); ++i) EXPECT_TRUE(allclose(of_a[i], of_b[i], tolerance, tolerance)) << i;
}

TEST(Optimizers, TakeTensorsOfAnyLayout) {
  for (const ScalarType dtype : {ScalarType::Float, ScalarType::Double}) {
    const double tolerance = dtype == ScalarType::Float ? 1e-6 : 1e-14;
    Trained plain(counting({37, 41}, dtype));
    Trained turned(counting({37, 41}, dtype));
    turned.gradient = t(contiguous(t(turned.gradient)));  // has no one order with the others
    plain.adam(full({}, 4.0));
    turned.adam(full({}, 4.0));
    expectSame(plain, turned, tolerance);
    plain.sgd();
    turned.sgd();
    expectSame(plain, turned, tolerance);
    EXPECT_GT(item(max(abs(plain.weight))).to<double>(), 0.1);
  }
}

TEST(Optimizers, GiveTheSameBitsForAnyThreads) {
  const int before = cpu::threadCount();
  const Tensor like = counting({300'007});
  cpu::setThreadCount(1);
  Trained alone(like);
  alone.adam();
  alone.sgd();
  for (const int threads : {2, 5}) {
    cpu::setThreadCount(threads);
    Trained together(like);
    together.adam();
    together.sgd();
    expectSame(alone, together, 0);
  }
  cpu::setThreadCount(before);
}

TEST(Optimizers, WriteNothingThatIsNotTheirs) {
  Trained trained(counting({19}));
  const Tensor gradient = clone(trained.gradient);
  const Tensor largest = clone(trained.largest);
  trained.adam({}, /*amsgrad=*/false);
  EXPECT_TRUE(equal(trained.gradient, gradient));
  EXPECT_TRUE(equal(trained.largest, largest));
}

TEST(Optimizers, InfiniteWeightsStayInfinite) {
  Trained trained(counting({5}));
  fill_(trained.weight, std::numeric_limits<double>::infinity());
  _fused_adam_({{trained.weight}}, {{trained.gradient}}, {{trained.mean}}, {{trained.square}}, {}, {{full({}, 1.0)}},
               0.1, 0.9, 0.99, 0.0, 1e-8, false, false);
  EXPECT_TRUE(item(all(isinf(trained.weight))).to<bool>());
  EXPECT_TRUE(item(all(isfinite(trained.mean))).to<bool>());
}

}  // namespace
}  // namespace boxcar
