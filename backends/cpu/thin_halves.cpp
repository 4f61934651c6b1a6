#include <boxcar/backends/cpu/gemm_kernels.h>
#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/cpu/thin_halves.h>
#include <boxcar/backends/cpu/vector_small_floats.h>
#include <boxcar/backends/native/copy.h>

#include <algorithm>
#include <cstdint>

// Such a product takes the time to read [b] from memory. Pieces of it are widened to float32 in the first cache, where
// the loops of float32 products read them: the processor has time for that while it waits for memory.

namespace boxcar::cpu {
namespace {

// Of columns up to this length, some are widened at a time. With longer ones, oneDNN was as fast or faster.
constexpr int64_t kDepth = 1024;
constexpr int64_t kMostThinRows = 3;
constexpr int64_t kPiece = kDepth * GemmKernels<float>::kDots;
constexpr int64_t kShare = int64_t{1} << 16;  // elements of [b], some 5 microseconds

struct ThinProduct {
  const GemmKernels<float>& kernels;
  const SmallFloatRows& halves;
  int64_t rows, depth;
  float alpha;
  const float* a;  // [rows, depth]
  const uint16_t* b;
  int64_t b_step;  // of rows or columns
  float* out;
  int64_t out_step;

  // Columns [begin, end) of the result.
  void add(int64_t begin, int64_t end) const {
    constexpr int64_t kDots = GemmKernels<float>::kDots;
    alignas(64) float piece[kPiece];
    int64_t j = begin;
    for (; j + kDots <= end; j += kDots) {
      for (int64_t i = 0; i < kDots; ++i) {
        halves.widen(b + (j + i) * b_step, piece + i * kDepth, static_cast<size_t>(depth));
      }
      kernels.dots[rows - 1](depth, alpha, a, depth, piece, kDepth, kDots, out + j, out_step);
    }
    for (; j < end; ++j) {
      halves.widen(b + j * b_step, piece, static_cast<size_t>(depth));
      for (int64_t r = 0; r < rows; ++r) out[r * out_step + j] += alpha * kernels.dot(depth, a + r * depth, piece);
    }
  }
};

}  // namespace

bool suitsThinHalves(int64_t rows, const Tensor& b) {
  const int64_t depth = b.sizes()[0];
  return rows >= 1 && rows <= kMostThinRows && depth <= kDepth && (b.strides()[0] == 1 || depth <= 1);
}

void addThinHalves(const Tensor& out, const Tensor& a, const Tensor& b, float alpha) {
  const int64_t depth = b.sizes()[0];
  const int64_t columns = b.sizes()[1];
  const Tensor wide = toContiguous(a, ScalarType::Float);
  const ThinProduct product{gemmKernels<float>(columns),
                            smallFloatRows(b.scalar_type()),
                            out.sizes()[0],
                            depth,
                            alpha,
                            wide.const_data_ptr<float>(),
                            static_cast<const uint16_t*>(b.data_ptr()),
                            b.strides()[1],
                            out.mutable_data_ptr<float>(),
                            columns};
  constexpr int64_t kUnit = GemmKernels<float>::kDots;
  const int64_t grain = std::max<int64_t>(1, kShare / std::max<int64_t>(1, depth * kUnit));
  parallelFor(0, (columns + kUnit - 1) / kUnit, grain,
              [&](int64_t begin, int64_t end) { product.add(begin * kUnit, std::min(end * kUnit, columns)); });
}

}  // namespace boxcar::cpu
