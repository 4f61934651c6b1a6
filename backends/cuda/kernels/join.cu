#include <boxcar/backends/cuda/join_kernels.h>
#include <boxcar/backends/cuda/kernels/launch.h>
#include <boxcar/backends/cuda/kernels/pack.h>
#include <boxcar/backends/cuda/kernels/split.h>

namespace boxcar::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kPerThread = 4;
constexpr int64_t kPerBlock = int64_t{kThreads} * kPerThread;

// Counts in words, which are as large as addresses and sizes of rows allow.
template <class Word, class Index>
struct JoinKernel {
  Split<Index> by_row;  // of all parts
  Word* out;
  int64_t row_step;
  int64_t n;
  int count;
  const Word* data[JoinLaunch::kMostParts];
  int64_t begins[JoinLaunch::kMostParts + 1];

  BOXCAR_HOST_DEVICE void operator()(int64_t block, int thread) const {
    Word words[kPerThread];
    int64_t to[kPerThread];
    for (int p = 0; p < kPerThread; ++p) {
      const int64_t i = block * kPerBlock + int64_t{p} * kThreads + thread;
      if (i >= n) break;
      auto row = static_cast<Index>(i);
      const int64_t at = by_row.take(row);
      int part = 0;
      while (at >= begins[part + 1]) ++part;
      const int64_t width = begins[part + 1] - begins[part];
      words[p] = data[part][static_cast<int64_t>(row) * width + at - begins[part]];
      to[p] = static_cast<int64_t>(row) * row_step + at;
    }
    for (int p = 0; p < kPerThread; ++p) {
      if (block * kPerBlock + int64_t{p} * kThreads + thread >= n) break;
      out[to[p]] = words[p];
    }
  }
};

template <class Word>
void join(const JoinLaunch& launch) {
  constexpr auto kSize = static_cast<int64_t>(sizeof(Word));
  int64_t row = 0;
  for (size_t k = 0; k < launch.count; ++k) row += launch.parts[k].bytes / kSize;
  visitIndex(row * launch.rows, [&]<class Index>(std::type_identity<Index>) {
    JoinKernel<Word, Index> kernel{Split<Index>(row),
                                   reinterpret_cast<Word*>(launch.out + launch.begin),
                                   launch.row_bytes / kSize,
                                   row * launch.rows,
                                   static_cast<int>(launch.count),
                                   {},
                                   {}};
    for (size_t k = 0; k < launch.count; ++k) {
      kernel.data[k] = reinterpret_cast<const Word*>(launch.parts[k].data);
      kernel.begins[k + 1] = kernel.begins[k] + launch.parts[k].bytes / kSize;
    }
    launchGrid<kThreads>(blocksFor(kernel.n, kPerBlock), kernel);
  });
}

}  // namespace

void launchJoin(const JoinLaunch& launch) {
  // The bits of all addresses and sizes: words have to divide each of them.
  uintptr_t bits = reinterpret_cast<uintptr_t>(launch.out + launch.begin) | static_cast<uintptr_t>(launch.row_bytes);
  for (size_t k = 0; k < launch.count; ++k) {
    bits |= reinterpret_cast<uintptr_t>(launch.parts[k].data) | static_cast<uintptr_t>(launch.parts[k].bytes);
  }
  if (bits % 16 == 0) return join<Pack<uint32_t, 4>>(launch);
  if (bits % 8 == 0) return join<uint64_t>(launch);
  if (bits % 4 == 0) return join<uint32_t>(launch);
  bits % 2 == 0 ? join<uint16_t>(launch) : join<uint8_t>(launch);
}

}  // namespace boxcar::cuda
