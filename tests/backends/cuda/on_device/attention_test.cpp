#include <boxcar/backends/cuda/graph.h>
#include <boxcar/ops.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "tests/backends/cuda/on_device/device_helpers.h"

// Compares attention in float16 and bfloat16 on a GPU with float32 on the CPU for the same numbers.

namespace boxcar::cuda {
namespace {

using Sizes = std::vector<int64_t>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Returns numbers from -1.5 to 1.5 in which neighbours differ; each [seed] gives other numbers.
Tensor numbers(const Sizes& sizes, ScalarType type, double seed = 1) {
  const Tensor angles = boxcar::mul(counting(sizes, ScalarType::Double), 12.9898 + seed);
  return boxcar::to(boxcar::mul(boxcar::sin(angles), 1.5), type);
}
// Returns bools, of which about 60 % are true.
Tensor flags(const Sizes& sizes) { return boxcar::gt(numbers(sizes, ScalarType::Float, 3), -0.5); }

struct Options {
  Tensor mask;
  bool is_causal = false;
  std::optional<double> scale;
  bool enable_gqa = false;
};

Tensor attend(const Tensor& query, const Tensor& key, const Tensor& value, const Options& options, const Tensor& mask) {
  return boxcar::scaled_dot_product_attention(query, key, value, mask.defined() ? std::optional(mask) : std::nullopt,
                                              0.0, options.is_causal, options.scale, options.enable_gqa);
}

void expectClose(const Tensor& there, const Tensor& wide, ScalarType type) {
  EXPECT_EQ(there.device(), kCuda);
  EXPECT_EQ(there.scalar_type(), type);
  EXPECT_EQ(sizesOf(there), sizesOf(wide));
  // Weights are rounded before the multiplication with values, and the result is rounded, too.
  const double tolerance = type == ScalarType::Half ? 4e-3 : 3e-2;
  EXPECT_TRUE(boxcar::allclose(boxcar::to(onHost(there), ScalarType::Float), wide, tolerance, tolerance));
}

void expectAttends(const Tensor& query, const Tensor& key, const Tensor& value, const Options& options = {}) {
  const auto wide = [](const Tensor& tensor) {
    return tensor.defined() && tensor.is_floating_point() ? boxcar::to(tensor, ScalarType::Float) : tensor;
  };
  const Tensor here = attend(wide(query), wide(key), wide(value), options, wide(options.mask));
  const Tensor mask = options.mask.defined() ? onCuda(options.mask) : Tensor();
  expectClose(attend(onCuda(query), onCuda(key), onCuda(value), options, mask), here, query.scalar_type());
}

void expectAttends(const Sizes& query, const Sizes& key, const Sizes& value, const Options& options = {}) {
  for (const ScalarType type : {ScalarType::Half, ScalarType::BFloat16}) {
    SCOPED_TRACE(dtypeName(type));
    Options typed = options;
    if (options.mask.defined() && options.mask.is_floating_point()) typed.mask = boxcar::to(options.mask, type);
    expectAttends(numbers(query, type, 1), numbers(key, type, 2), numbers(value, type, 5), typed);
  }
}

TEST(CudaAttentionOf, ManyShapes) {
  expectAttends({2, 4, 128, 64}, {2, 4, 128, 64}, {2, 4, 128, 64});
  expectAttends({2, 3, 77, 64}, {2, 3, 131, 64}, {2, 3, 131, 64});
  expectAttends({3, 77, 64}, {3, 131, 64}, {3, 131, 64});
  expectAttends({77, 64}, {131, 64}, {131, 64});
  expectAttends({1, 1, 5, 8}, {1, 1, 6, 8}, {1, 1, 6, 8});
}

TEST(CudaAttentionOf, ManyWidths) {
  for (const int64_t width : {8, 16, 32, 40, 72, 80, 96, 128, 192, 256}) {
    SCOPED_TRACE(width);
    expectAttends({1, 2, 100, width}, {1, 2, 100, width}, {1, 2, 100, width});
  }
  expectAttends({2, 2, 100, 64}, {2, 2, 100, 64}, {2, 2, 100, 32});
  expectAttends({2, 2, 100, 32}, {2, 2, 100, 32}, {2, 2, 100, 64});
}

TEST(CudaAttentionOf, WhatLiesBeforeAQuery) {
  const Options causal{.mask = {}, .is_causal = true, .scale = {}, .enable_gqa = false};
  expectAttends({2, 2, 128, 64}, {2, 2, 128, 64}, {2, 2, 128, 64}, causal);
  expectAttends({2, 2, 77, 64}, {2, 2, 131, 64}, {2, 2, 131, 64}, causal);
  expectAttends({2, 2, 131, 64}, {2, 2, 77, 64}, {2, 2, 77, 64}, causal);
  expectAttends({2, 2, 1, 64}, {2, 2, 77, 64}, {2, 2, 77, 64}, causal);
}

TEST(CudaAttentionOf, OneQueryOrOneKey) {
  expectAttends({2, 4, 1, 128}, {2, 4, 300, 128}, {2, 4, 300, 128});
  expectAttends({2, 4, 16, 128}, {2, 4, 1, 128}, {2, 4, 1, 128});
  expectAttends({2, 4, 1, 128}, {2, 4, 1, 128}, {2, 4, 1, 128});
}

TEST(CudaAttentionOf, Masks) {
  for (const Sizes& sizes : {Sizes{77, 131}, Sizes{131}, Sizes{77, 1}, Sizes{3, 77, 131}, Sizes{2, 1, 1, 131},
                             Sizes{2, 1, 77, 131}, Sizes{2, 3, 77, 131}}) {
    SCOPED_TRACE(fmt::format("{}", fmt::join(sizes, ", ")));
    for (const Tensor& mask : {flags(sizes), numbers(sizes, ScalarType::Float, 4)}) {
      expectAttends({2, 3, 77, 64}, {2, 3, 131, 64}, {2, 3, 131, 64}, {mask, false, {}, false});
    }
  }
}

TEST(CudaAttentionOf, NothingIsZero) {
  const Tensor allowed = flags({128, 256});
  Tensor hidden = boxcar::narrow(allowed, 0, 3, 2);
  boxcar::fill_(hidden, false);
  Tensor begin = boxcar::narrow(boxcar::narrow(allowed, 0, 64, 64), 1, 0, 200);  // more keys than one kernel step takes
  boxcar::fill_(begin, false);
  const Tensor added = boxcar::where(allowed, 0.5, -kInfinity);
  for (const Tensor& mask : {allowed, added}) {
    expectAttends({2, 3, 128, 64}, {2, 3, 256, 64}, {2, 3, 256, 64}, {mask, false, {}, false});
  }
}

TEST(CudaAttentionOf, HeadsThatShareKeys) {
  for (const bool is_causal : {false, true}) {
    expectAttends({2, 8, 100, 64}, {2, 2, 100, 64}, {2, 2, 100, 64}, {{}, is_causal, {}, true});
    expectAttends({2, 8, 100, 64}, {2, 1, 100, 64}, {2, 1, 100, 64}, {{}, is_causal, {}, true});
  }
  expectAttends({2, 8, 1, 128}, {2, 2, 300, 128}, {2, 2, 300, 128}, {{}, false, {}, true});
  expectAttends({2, 8, 77, 64}, {2, 2, 131, 64}, {2, 2, 131, 64}, {flags({77, 131}), false, {}, true});
}

TEST(CudaAttentionOf, AScale) {
  for (const double scale : {0.01, 1.0, -0.25}) {
    expectAttends({2, 2, 100, 64}, {2, 2, 100, 64}, {2, 2, 100, 64}, {{}, false, scale, false});
  }
}

TEST(CudaAttentionOf, TransposedHeads) {
  const Tensor packed = numbers({2, 100, 3, 4, 64}, ScalarType::BFloat16);
  const auto part = [&](const Tensor& whole, int64_t index) {
    return boxcar::transpose(boxcar::select(whole, 2, index), 1, 2);
  };
  const Options causal{.mask = {}, .is_causal = true, .scale = {}, .enable_gqa = false};
  const Tensor wide = boxcar::to(packed, ScalarType::Float);
  const Tensor there = onCuda(packed);
  const Tensor result = attend(part(there, 0), part(there, 1), part(there, 2), causal, {});
  EXPECT_TRUE(boxcar::transpose(result, 1, 2).is_contiguous());  // so that a model joins the heads without a copy
  expectClose(result, attend(part(wide, 0), part(wide, 1), part(wide, 2), causal, {}), ScalarType::BFloat16);
}

TEST(CudaAttentionOf, TensorsThatLieAnywhere) {
  const Tensor wide = numbers({2, 3, 100, 65}, ScalarType::Half);
  const Tensor there = onCuda(wide);
  const auto columns = [](const Tensor& tensor) { return boxcar::narrow(tensor, 3, 1, 64); };
  const Tensor here = columns(boxcar::to(wide, ScalarType::Float));
  expectClose(attend(columns(there), columns(there), columns(there), {}, {}), attend(here, here, here, {}, {}),
              ScalarType::Half);
}

// Simulates text generation word by word. From some length on, general kernels are used.
TEST(CudaAttentionOf, GrowingLengths) {
  for (int64_t length = 60; length < 72; ++length) {
    SCOPED_TRACE(length);
    expectAttends({1, 4, length, 64}, {1, 4, length, 64}, {1, 4, length, 64}, {{}, true, {}, false});
    expectAttends({1, 4, 1, 64}, {1, 4, length, 64}, {1, 4, length, 64});
  }
}

TEST(CudaAttentionOf, AGraphThatWasRehearsed) {
  const Tensor x = onCuda(numbers({2, 2, 96, 64}, ScalarType::BFloat16));
  const auto run = [&] { return boxcar::scaled_dot_product_attention(x, x, x); };
  const Tensor before = run();
  Tensor result;
  Graph graph;
  graph.capture([&] { result = run(); });
  graph.launch();
  EXPECT_EQ(hostFloats(boxcar::to(result, ScalarType::Float)), hostFloats(boxcar::to(before, ScalarType::Float)));
}

}  // namespace
}  // namespace boxcar::cuda
