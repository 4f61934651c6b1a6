#include <gtest/gtest.h>

#include <complex>
#include <limits>

#include "tests/backends/tensor_helpers.h"

namespace boxcar {
namespace {

// As in PyTorch, an infinite part does not make the other part NaN.
template <class T>
void expectLimits() {
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  using C = std::complex<T>;
  for (const bool binary : {true, false}) {
    const Tensor x = tensorOf<C>({{0, 0}, {kInfinity, 1}, {-kInfinity, 1}, {0, kInfinity}, {-T(0), 0}, {0, -T(0)}});
    const std::vector<C> found = elements<C>(binary ? log2(x) : log10(x));
    const T scale = binary ? std::log2(std::exp(T(1))) : std::log10(std::exp(T(1)));
    const T turn = std::acos(T(-1)) * scale;
    const std::vector<C> expected = {{-kInfinity, 0},       {kInfinity, 0},     {kInfinity, turn},
                                     {kInfinity, turn / 2}, {-kInfinity, turn}, {-kInfinity, -T(0)}};
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(found[i].real(), expected[i].real()) << i;
      EXPECT_NEAR(found[i].imag(), expected[i].imag(), 1e-5) << i;
    }
  }
}

TEST(ComplexLogarithms, OfZeroAndInfinityAreTheirLimits) {
  expectLimits<float>();
  expectLimits<double>();
}

}  // namespace
}  // namespace boxcar
