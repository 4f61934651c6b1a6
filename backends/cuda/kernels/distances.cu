#include <boxcar/backends/cuda/kernels/launch.h>
#include <boxcar/backends/cuda/vector_kernels.h>
#include <boxcar/backends/functors/distances.h>

namespace boxcar::cuda {
namespace {

using functors::abs;

// A block computes the distances between kTile rows of x and kTile rows of y, one per thread, and keeps kDepth elements
// of those rows in shared memory at a time. Each row is padded by one element to avoid bank conflicts.
constexpr int kTile = 16;
constexpr int kDepth = 32;
constexpr int kHeaviside = kDepth + 1;
constexpr int kThreads = kTile * kTile;

template <class T, class Distance>
struct Distances {
  const T* x;
  const T* y;
  T* out;
  int64_t m;
  int64_t n;
  int64_t depth;
  int64_t row_tiles;
  int64_t column_tiles;
  Distance distance;

  BOXCAR_HOST_DEVICE static void keep(T* room, const T* rows, int64_t count, int64_t depth, int64_t part, int thread) {
    for (int i = thread; i < kTile * kDepth; i += kThreads) {
      const int row = i / kDepth;
      const int k = i % kDepth;
      room[row * kHeaviside + k] = row < count && k < part ? rows[row * depth + k] : T(0);
    }
  }

  BOXCAR_HOST_DEVICE void operator()(const Block& block) const {
    const int64_t batch = block.index() / (row_tiles * column_tiles);
    const int64_t i = block.index() / column_tiles % row_tiles * kTile;
    const int64_t j = block.index() % column_tiles * kTile;
    const T* const left = x + (batch * m + i) * depth;
    const T* const right = y + (batch * n + j) * depth;
    T* const kept_left = block.shared<T>();
    T* const kept_right = kept_left + kTile * kHeaviside;
    T* const sums = kept_right + kTile * kHeaviside;
    block.each([&](int thread) { sums[thread] = 0; });
    for (int64_t start = 0; start < depth; start += kDepth) {
      const int64_t part = depth - start < kDepth ? depth - start : int64_t{kDepth};
      block.each([&](int thread) {
        keep(kept_left, left + start, m - i, depth, part, thread);
        keep(kept_right, right + start, n - j, depth, part, thread);
      });
      block.each([&](int thread) {
        const T* const a = kept_left + thread / kTile * kHeaviside;
        const T* const b = kept_right + thread % kTile * kHeaviside;
        T sum = 0;
        for (int k = 0; k < part; ++k) sum = distance.merge(sum, distance.term(abs(a[k] - b[k])));
        sums[thread] = distance.merge(sums[thread], sum);
      });
    }
    block.each([&](int thread) {
      const int64_t row = i + thread / kTile;
      const int64_t column = j + thread % kTile;
      if (row < m && column < n) out[(batch * m + row) * n + column] = distance.finish(sums[thread]);
    });
  }
};

}  // namespace

void launchDistances(const DistancesLaunch& call) {
  const int64_t row_tiles = blocksFor(call.m, kTile);
  const int64_t column_tiles = blocksFor(call.n, kTile);
  visitScalarType(kFullFloatTypes, call.type, "cdist", [&]<class T>(std::type_identity<T>) {
    functors::visitDistance(static_cast<T>(call.p), [&]<class Distance>(const Distance& distance) {
      constexpr size_t kRoom = (2 * kTile * kHeaviside + kThreads) * sizeof(T);
      launchBlocks<kThreads>(call.batch * row_tiles * column_tiles, kRoom,
                             Distances<T, Distance>{static_cast<const T*>(call.x), static_cast<const T*>(call.y),
                                                    static_cast<T*>(call.out), call.m, call.n, call.depth, row_tiles,
                                                    column_tiles, distance});
    });
  });
}

}  // namespace boxcar::cuda
