#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/ops.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/backends/tensor_helpers.h"

namespace boxcar {
namespace {

// Products of small factors, of larger ones, primes and their doubles: each way of computing.
TEST(Fft, TheInverseGivesTheElementsBackForLengthsOfAllKinds) {
  for (const int64_t length : {1, 2, 3, 7, 8, 14, 30, 49, 97, 194, 210, 1001, 1009, 2018, 4096, 10007}) {
    const Tensor x = rand({3, length}, ScalarType::Double);
    const Tensor whole = fft_ifft(fft_fft(x));
    EXPECT_TRUE(allclose(real(whole), x, 1e-12, 1e-13)) << length;
    EXPECT_TRUE(allclose(fft_irfft(fft_rfft(x), length), x, 1e-12, 1e-13)) << length;
    EXPECT_TRUE(allclose(fft_hfft(fft_ihfft(x), length), x, 1e-12, 1e-13)) << length;
  }
}

TEST(Fft, ThreadsDoNotChangeTheResult) {
  const int before = cpu::threadCount();
  for (const int64_t length : {77, 512, 1009}) {
    const Tensor x = rand({2, length, 300});
    cpu::setThreadCount(1);
    const Tensor alone = fft_fft(x, std::nullopt, 1);
    cpu::setThreadCount(4);
    EXPECT_TRUE(equal(fft_fft(x, std::nullopt, 1), alone)) << length;
  }
  cpu::setThreadCount(before);
}

TEST(Fft, ErrorsNameTheArgument) {
  const Tensor x = ones({3, 5});
  EXPECT_EQ(errorOf([&] { fft_fft(x, 0); }), "Invalid number of data points (0) specified");
  EXPECT_EQ(errorOf([&] { fft_fft(x, std::nullopt, -1, "both"); }),
            "Invalid normalization mode: \"both\"; it must be \"backward\", \"ortho\" or \"forward\"");
  EXPECT_EQ(errorOf([&] { fft_fft(to(x, ScalarType::Half)); }),
            "fft does not support dtype float16; convert the tensor with .to(float32) or .to(complex64)");
  EXPECT_EQ(errorOf([&] {
              fft_fftn(x, std::nullopt, std::vector<int64_t>{0, -2});
            }),
            "FFT dims must be unique, but dimension 0 occurs twice");
  EXPECT_EQ(errorOf([&] { fft_rfft(to(x, ScalarType::ComplexFloat)); }),
            "rfft expects a real input tensor, but got complex64");
}

}  // namespace
}  // namespace boxcar
