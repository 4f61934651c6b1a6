#include <boxcar/backends/cuda/kernels/split.h>
#include <boxcar/ops.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "tests/backends/cuda/on_device/device_helpers.h"

// Network layers on a GPU compared with the CPU, in sizes that need several thread blocks.

namespace boxcar::cuda {
namespace {

using Sizes = std::vector<int64_t>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Returns numbers around 3 in which neighbours differ.
Tensor numbers(const Sizes& sizes, ScalarType type = ScalarType::Float) {
  const Tensor angles = boxcar::mul(counting(sizes, ScalarType::Double), 12.9898);
  return boxcar::to(boxcar::add(boxcar::mul(boxcar::sin(angles), 2), 3), type);
}
Tensor integers(const Sizes& sizes) {
  return boxcar::to(boxcar::round(boxcar::mul(numbers(sizes, ScalarType::Double), 5)), ScalarType::Long);
}
Tensor channelsLast(const Tensor& tensor) { return boxcar::contiguous(tensor, MemoryFormat::ChannelsLast); }

void expectClose(const Tensor& there, const Tensor& here, double tolerance = 1e-5) {
  EXPECT_EQ(there.device(), kCuda);
  EXPECT_EQ(shapeText(there), shapeText(here));
  EXPECT_EQ(stridesOf(there), stridesOf(here));
  const auto wide = [](const Tensor& tensor) {
    return tensor.is_floating_point() ? boxcar::to(onHost(tensor), ScalarType::Double) : onHost(tensor);
  };
  EXPECT_TRUE(boxcar::allclose(wide(there), wide(here), tolerance, tolerance, /*equal_nan=*/true));
}

// Calls [op] with [inputs] on both devices.
template <class Op, class... Inputs>
void expectSame(const Op& op, const Inputs&... inputs) {
  const Tensor here = op(inputs...);
  // A device fuses multiplications and additions, so that a result may round to the neighbour.
  expectClose(op(onCuda(inputs)...), here, here.scalar_type() == ScalarType::Half ? 1e-3 : 1e-5);
}

// ---- Batch normalisation ----

struct Normalized {
  Tensor out, mean, scale, running_mean, running_var;
};
Normalized normalize(const Tensor& input, bool training, const Tensor& mean, const Tensor& var) {
  const Device device = input.device();
  const int64_t channels = input.sizes()[1];
  const auto moved = [&](const Tensor& tensor) {
    return boxcar::to(boxcar::clone(tensor), std::nullopt, std::nullopt, device);
  };
  Normalized result;
  result.running_mean = moved(mean);
  result.running_var = moved(var);
  const Tensor weight = moved(numbers({channels}, mean.scalar_type()));
  const Tensor bias = moved(boxcar::neg(numbers({channels}, mean.scalar_type())));
  std::tie(result.out, result.mean, result.scale) =
      boxcar::native_batch_norm(input, weight, bias, result.running_mean, result.running_var, training, 0.3, 1e-3);
  return result;
}

void expectNormalizesAlike(const Tensor& input, ScalarType parameters = ScalarType::Float, double tolerance = 1e-5) {
  const Tensor mean = numbers({input.sizes()[1]}, parameters);
  for (const bool training : {true, false}) {
    SCOPED_TRACE(training ? "training" : "evaluation");
    if (training && input.numel() == 0) {
      EXPECT_THROW(normalize(input, training, mean, mean), Error);
      EXPECT_THROW(normalize(onCuda(input), training, mean, mean), Error);
      continue;
    }
    const Normalized here = normalize(input, training, mean, mean);
    const Normalized there = normalize(onCuda(input), training, mean, mean);
    expectClose(there.out, here.out, tolerance);
    expectClose(there.mean, here.mean);
    expectClose(there.scale, here.scale, 1e-4);
    expectClose(there.running_mean, here.running_mean, tolerance);
    expectClose(there.running_var, here.running_var, tolerance);
  }
}

TEST(CudaBatchNorm, SharesLargeChannelsBetweenBlocks) {
  expectNormalizesAlike(numbers({3, 5, 70, 90}), ScalarType::Float, 1e-4);
  expectNormalizesAlike(numbers({3, 2, 71, 91}, ScalarType::Double), ScalarType::Double);
}
TEST(CudaBatchNorm, ReadsChannelsThatAreInnermost) {
  expectNormalizesAlike(channelsLast(numbers({3, 40, 30, 91})), ScalarType::Float, 1e-4);
  expectNormalizesAlike(channelsLast(numbers({2, 5, 7, 9})), ScalarType::Float, 1e-4);
  expectNormalizesAlike(numbers({5000, 37}), ScalarType::Float, 1e-4);
}
TEST(CudaBatchNorm, TakesSmallFloatsWithParametersOfEitherType) {
  expectNormalizesAlike(numbers({4, 6, 16, 16}, ScalarType::Half), ScalarType::Float, 2e-3);
  expectNormalizesAlike(numbers({4, 6, 5, 5}, ScalarType::Half), ScalarType::Half, 2e-3);
  expectNormalizesAlike(numbers({4, 6, 16, 16}, ScalarType::BFloat16), ScalarType::BFloat16, 2e-2);
}
TEST(CudaBatchNorm, KeepsTheDigitsOfValuesFarFromZero) {
  expectNormalizesAlike(boxcar::add(numbers({2, 3, 50, 50}), 1000), ScalarType::Float, 1e-3);
}
TEST(CudaBatchNorm, MovesRunningStatisticsThatAreNotContiguous) {
  const Tensor input = numbers({4, 3, 10});
  const auto middles = [&](const Tensor& x) {
    const Tensor statistics = boxcar::to(numbers({3, 2}), std::nullopt, std::nullopt, x.device());
    boxcar::native_batch_norm(x, std::nullopt, std::nullopt, boxcar::select(statistics, 1, 0),
                              boxcar::select(statistics, 1, 1), true, 0.5, 1e-5);
    return statistics;
  };
  expectSame(middles, input);
}
TEST(CudaBatchNorm, TakesInputsWithGapsAndInputsWithoutElements) {
  expectNormalizesAlike(boxcar::slice(numbers({4, 3, 20, 6}), 3, 1, 5));
  expectNormalizesAlike(boxcar::slice(channelsLast(numbers({4, 3, 20, 6})), 3, 1, 5));
  expectNormalizesAlike(numbers({0, 3, 5}));
  expectNormalizesAlike(numbers({2, 0, 5}));
}
TEST(CudaBatchNorm, DoesNotWaitForTheDevice) {
  const Tensor input = onCuda(numbers({2, 3, 5}));
  const Tensor ones = boxcar::ones_like(boxcar::select(boxcar::select(input, 2, 0), 0, 0));
  const NoWaiting no_waiting;
  EXPECT_NO_THROW(boxcar::native_batch_norm(input, ones, ones, ones, ones, false, 0.1, 1e-5));
}

// ---- Pools, pads, other sizes ----

TEST(CudaPools, TakeWindowsAsTheCpuDoes) {
  const auto both = [](const auto& op, const Tensor& x) {
    expectSame(op, x);
    expectSame(op, channelsLast(x));
    expectSame(op, boxcar::slice(x, 3, 1, 40));
  };
  const auto greatest = [](size_t which) {
    return [which](const Tensor& x) {
      const auto [values, places] =
          boxcar::max_pool2d_with_indices(x, Sizes{3, 2}, Sizes{2, 1}, Sizes{1, 1}, Sizes{2, 3}, true);
      return which == 0 ? values : places;
    };
  };
  const Tensor images = numbers({3, 5, 33, 47});
  for (const size_t which : {0, 1}) {
    both(greatest(which), images);
    both(greatest(which), integers({2, 3, 33, 47}));
    both(greatest(which), numbers({2, 3, 33, 47}, ScalarType::BFloat16));
  }
  both([](const Tensor& x) { return boxcar::avg_pool2d(x, Sizes{5, 4}, Sizes{3, 2}, Sizes{2, 1}, true); }, images);
  both(
      [](const Tensor& x) {
        return boxcar::avg_pool2d(x, Sizes{5, 4}, Sizes{3, 2}, Sizes{2, 1}, true, false);
      },
      images);
  both(
      [](const Tensor& x) {
        return boxcar::avg_pool2d(x, Sizes{3, 3}, Sizes{}, Sizes{0, 0}, false, true, 7);
      },
      integers({2, 3, 33, 47}));
  both([](const Tensor& x) { return boxcar::_adaptive_avg_pool2d(x, Sizes{7, 50}); }, images);
  both([](const Tensor& x) { return std::get<0>(boxcar::adaptive_max_pool2d(x, Sizes{40, 6})); }, images);
  both([](const Tensor& x) { return std::get<1>(boxcar::adaptive_max_pool2d(x, Sizes{40, 6})); }, images);
}
TEST(CudaPools, TakeTheLastNanAndTheFirstOfEqualElements) {
  const Tensor images = boxcar::zeros(Sizes{2, 3, 20, 20});
  Tensor some = boxcar::slice(boxcar::slice(images, 2, 4, 6), 3, 7, 9);
  boxcar::fill_(some, std::numeric_limits<double>::quiet_NaN());
  const auto places = [](const Tensor& x) { return std::get<1>(boxcar::max_pool2d_with_indices(x, Sizes{3, 3})); };
  expectSame(places, images);
  expectSame(places, boxcar::full_like(images, -kInfinity));
}

TEST(CudaPads, ReadTheTensorsOwnElements) {
  const Sizes padding{3, -2, 0, 5, 4, 1};
  for (const ScalarType type :
       {ScalarType::Byte, ScalarType::Half, ScalarType::Float, ScalarType::Double, ScalarType::ComplexDouble}) {
    const Tensor volumes = numbers({2, 3, 8, 9, 10}, type);
    expectSame(
        [&](const Tensor& x) {
          return boxcar::view_as_real(boxcar::to(boxcar::reflection_pad3d(x, padding), ScalarType::ComplexDouble));
        },
        volumes);
    expectSame(
        [&](const Tensor& x) {
          return boxcar::view_as_real(boxcar::to(boxcar::replication_pad3d(x, padding), ScalarType::ComplexDouble));
        },
        volumes);
  }
  expectSame(
      [](const Tensor& x) {
        return boxcar::reflection_pad2d(x, Sizes{4, 0, 2, 3});
      },
      boxcar::transpose(numbers({3, 40, 30}), 1, 2));
  expectSame([](const Tensor& x) { return boxcar::replication_pad1d(x, Sizes{600, 7}); }, numbers({3, 40}));
}

TEST(CudaUpsample, BringsImagesToOtherSizes) {
  for (const ScalarType type : {ScalarType::Float, ScalarType::Double, ScalarType::Half}) {
    for (const Tensor& images : {numbers({2, 3, 11, 14}, type), channelsLast(numbers({2, 3, 11, 14}, type))}) {
      expectSame([](const Tensor& x) { return boxcar::upsample_nearest2d(x, Sizes{25, 9}); }, images);
      expectSame([](const Tensor& x) { return boxcar::upsample_nearest2d(x, Sizes{25, 9}, 2.3, 0.7); }, images);
      expectSame([](const Tensor& x) { return boxcar::upsample_bilinear2d(x, Sizes{25, 9}, true); }, images);
      expectSame(
          [](const Tensor& x) {
            return boxcar::upsample_bilinear2d(x, Sizes{25, 40}, false, 2.3, 2.9);
          },
          images);
    }
  }
  expectSame([](const Tensor& x) { return boxcar::upsample_linear1d(x, Sizes{700}, false); }, numbers({2, 3, 90}));
  expectSame([](const Tensor& x) { return boxcar::upsample_nearest1d(x, Sizes{17}); }, numbers({2, 3, 90}));
}

// ---- Vectors ----

TEST(CudaCross, TakesLinesOfAnyStrides) {
  const auto along = [](int64_t dim) {
    return [dim](const Tensor& a, const Tensor& b) { return boxcar::linalg_cross(a, b, dim); };
  };
  expectSame(along(-1), numbers({40, 30, 3}), numbers({1, 30, 3}));
  expectSame(along(0), boxcar::transpose(numbers({20, 30, 3}), 0, 2), numbers({3, 30, 20}));
  expectSame(along(1), integers({50, 3, 7}), boxcar::slice(integers({50, 6, 7}), 1, 0, 6, 2));
}

TEST(CudaDistances, TakeAnyNorm) {
  for (const double p : {0.0, 1.0, 2.0, 2.5, kInfinity}) {
    SCOPED_TRACE(p);
    const auto distances = [p](const Tensor& a, const Tensor& b) { return boxcar::cdist(a, b, p, 2); };
    expectSame(distances, numbers({2, 3, 40, 70}), boxcar::add(numbers({3, 37, 70}), 0.5));
    expectSame(distances, numbers({17, 1}, ScalarType::Double), numbers({16, 1}, ScalarType::Double));
    expectSame(distances, numbers({4, 0}), numbers({5, 0}));
  }
}
TEST(CudaDistances, OfManyRowsAreMadeByAProduct) {
  const auto distances = [](const Tensor& a, const Tensor& b) { return boxcar::cdist(a, b, 2, 1); };
  expectSame(distances, numbers({2, 40, 7}, ScalarType::Double), numbers({30, 7}, ScalarType::Double));
  expectSame(distances, numbers({4, 0}), numbers({5, 0}));
}

// ---- Products with a bias ----

TEST(CudaLinear, AddsItsBiasToEachRow) {
  const auto linear = [](const Tensor& x, const Tensor& weight, const Tensor& bias) {
    return boxcar::linear(x, weight, bias);
  };
  expectSame(linear, numbers({7, 40, 33}), numbers({50, 33}), numbers({50}));
  expectSame(linear, numbers({1, 33}), numbers({50, 33}), numbers({50}));
  expectSame(linear, numbers({40, 33}), numbers({1, 33}), numbers({1}));
  expectSame(linear, numbers({40, 0}), numbers({50, 0}), numbers({50}));
  expectSame(linear, integers({40, 33}), integers({50, 33}), integers({50}));
  expectSame(linear, numbers({40, 33}, ScalarType::Double), numbers({50, 33}, ScalarType::Double),
             boxcar::slice(numbers({100}, ScalarType::Double), 0, 0, 100, 2));
}
TEST(CudaLinear, ScalesTheProductOrTheSum) {
  const auto scaled = [](double beta, double alpha) {
    return [=](const Tensor& sum, const Tensor& a, const Tensor& b) { return boxcar::addmm(sum, a, b, beta, alpha); };
  };
  expectSame(scaled(1, 0.5), numbers({50}), numbers({40, 33}), numbers({33, 50}));
  expectSame(scaled(2, 0.5), numbers({50}), numbers({40, 33}), numbers({33, 50}));
  expectSame(scaled(0, 1), numbers({50}), numbers({40, 33}), numbers({33, 50}));
  expectSame(scaled(1, 1), numbers({40, 1}), numbers({40, 33}), numbers({33, 50}));
  expectSame(scaled(1, 1), numbers({1, 50}), numbers({1, 33}), numbers({33, 50}));
  expectSame(
      [](const Tensor& sum, const Tensor& a, const Tensor& b) {
        Tensor row = boxcar::clone(sum);
        return boxcar::addmm_(row, a, b);
      },
      numbers({1, 50}), numbers({1, 33}), numbers({33, 50}));
  expectSame(
      [](const Tensor& row, const Tensor& a, const Tensor& b) {
        Tensor out = boxcar::t(boxcar::empty_like(boxcar::t(boxcar::mm(a, b)), std::nullopt, std::nullopt, std::nullopt,
                                                  std::nullopt, MemoryFormat::Contiguous));
        return boxcar::contiguous(boxcar::addmm_out(out, row, a, b));
      },
      numbers({50}), numbers({40, 33}), numbers({33, 50}));
}

// ---- Convolutions ----

struct Convolution {
  Sizes stride{1, 1};
  Sizes padding{0, 0};
  Sizes dilation{1, 1};
  bool transposed = false;
  Sizes output_padding{0, 0};
  int64_t groups = 1;

  Tensor operator()(const Tensor& input, const Tensor& weight, const Tensor& bias) const {
    return boxcar::convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups);
  }
};

TEST(CudaConvolution, IsMadeOfProductsWhereTheLibraryHasNone) {
  const Convolution plain{.stride = {2, 1}, .padding = {3, 2}, .dilation = {1, 2}, .groups = 2};
  expectSame(plain, integers({3, 4, 19, 23}), integers({6, 2, 3, 4}), integers({6}));
  expectSame(plain, channelsLast(integers({3, 4, 19, 23})), integers({6, 2, 3, 4}), integers({6}));
  const Convolution back{.stride = {3, 2},
                         .padding = {2, 1},
                         .dilation = {2, 1},
                         .transposed = true,
                         .output_padding = {1, 1},
                         .groups = 2};
  expectSame(back, integers({3, 4, 9, 13}), integers({4, 3, 3, 4}), integers({6}));
}
TEST(CudaConvolution, WritesTheColumnsOfLargeImagesInParts) {
  const Convolution plain{.padding = {2, 2}};
  expectSame(plain, integers({1, 4, 301, 299}), integers({2, 4, 5, 5}), integers({2}));
}
TEST(CudaConvolution, RoundsSumsWithTheirBiasOnce) {
  for (const ScalarType type : {ScalarType::Half, ScalarType::BFloat16}) {
    const Tensor input = numbers({2, 4, 12, 10}, type);
    const Tensor weight = numbers({6, 4, 3, 3}, type);
    const Tensor bias = numbers({6}, type);
    const Tensor there = Convolution()(onCuda(input), onCuda(weight), onCuda(bias));
    const auto wide = [](const Tensor& tensor) { return boxcar::to(tensor, ScalarType::Float); };
    const Tensor here = boxcar::to(Convolution()(wide(input), wide(weight), wide(bias)), type);
    expectClose(there, here, type == ScalarType::Half ? 1e-3 : 8e-3);
  }
}
TEST(CudaConvolution, OfNoChannelsIsItsBias) {
  expectSame(Convolution(), boxcar::zeros(Sizes{2, 0, 5, 5}), boxcar::zeros(Sizes{3, 0, 2, 2}), numbers({3}));
}

// ---- Indices ----

TEST(Split, CutsANumberIntoIndicesInEitherType) {
  const int64_t sizes[] = {7, 1, 1000, 3};
  for (const int64_t number : {int64_t{0}, int64_t{6}, int64_t{7}, int64_t{20999}, int64_t{2147483647}}) {
    auto narrow = static_cast<uint32_t>(number);
    int64_t wide = number;
    int64_t rest = number;
    for (const int64_t size : sizes) {
      EXPECT_EQ(Split<uint32_t>(size).take(narrow), rest % size);
      EXPECT_EQ(Split<int64_t>(size).take(wide), rest % size);
      rest /= size;
    }
    EXPECT_EQ(wide, rest);
    EXPECT_EQ(narrow, rest);
  }
}

}  // namespace
}  // namespace boxcar::cuda
