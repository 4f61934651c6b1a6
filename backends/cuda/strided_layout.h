#pragma once

#include <boxcar/backends/cuda/kernels/offsets.h>
#include <boxcar/ivalue/macros.h>

#include <cstdint>
#include <span>
#include <vector>

namespace boxcar::cuda {

// The dimensions of the operands that a kernel iterates over together: sorted into memory order, and merged where they
// are contiguous in all operands, so that few are left.
class BOXCAR_API StridedLayout final {
 public:
  explicit StridedLayout(std::span<const int64_t> sizes);

  // Adds an operand whose [sizes] broadcast to the layout's. [strides] are in elements of [itemsize] bytes.
  void add(std::span<const int64_t> sizes, std::span<const int64_t> strides, int64_t itemsize);
  // Call after the last add(): sorts dimensions by the strides of the first operand, then of the others, and merges
  // them.
  void prepare();
  // Merges dimensions like prepare(), but keeps them in the tensor's order.
  void joinOnly();

  int64_t numel() const;
  int rank() const { return static_cast<int>(sizes_.size()); }
  std::span<const int64_t> sizes() const { return sizes_; }
  // Stride of operand [operand] along dimension [dim], counted from the innermost; in bytes.
  int64_t stride(int dim, int operand) const {
    return strides_[static_cast<size_t>(dim)][static_cast<size_t>(operand)];
  }

  // Calls run(offsets, n, starts) for parts of at most Offsets' rank and 2^31 - 1 elements. starts[k] is to be added to
  // operand k's address.
  template <int operands, class Run>
  void forParts(const Run& run) const {
    std::vector<int64_t> starts(operands, 0);
    const int inner = innerRank(Offsets<operands>::kMaxRank);
    forOuter(rank() - 1, inner, starts, [&](std::span<const int64_t> at, int64_t size) {
      Offsets<operands> offsets;
      offsets.rank = inner;
      int64_t n = 1;
      for (int dim = 0; dim < inner; ++dim) {
        const bool cut = dim == inner - 1 && size > 0;
        const int64_t length = cut ? size : sizes_[static_cast<size_t>(dim)];
        n *= length;
        offsets.sizes[dim] = Divider(static_cast<uint32_t>(length));
        for (int k = 0; k < operands; ++k) offsets.strides[dim][k] = stride(dim, k);
      }
      run(offsets, n, at);
    });
  }

 private:
  bool liesInside(size_t a, size_t b) const;
  // Returns how many dimensions, from the innermost, one kernel covers.
  int innerRank(int most) const;

  // Iterates over the dimensions from [dim] down to [inner]. If the inner ones together have too many elements, also
  // splits the outermost of them into pieces.
  template <class Body>
  void forOuter(int dim, int inner, std::vector<int64_t>& starts, const Body& body) const {
    if (dim >= inner) {
      for (int64_t i = 0; i < sizes_[static_cast<size_t>(dim)]; ++i) {
        forOuter(dim - 1, inner, starts, body);
        move(dim, 1, starts);
      }
      move(dim, -sizes_[static_cast<size_t>(dim)], starts);
      return;
    }
    forPieces(inner, starts, body);
  }

  template <class Body>
  void forPieces(int inner, std::vector<int64_t>& starts, const Body& body) const {
    constexpr int64_t kMost = INT32_MAX;
    int64_t others = 1;
    for (int dim = 0; dim + 1 < inner; ++dim) others *= sizes_[static_cast<size_t>(dim)];
    const int64_t whole = inner == 0 ? 1 : sizes_[static_cast<size_t>(inner - 1)];
    if (others * whole <= kMost) return body(std::span<const int64_t>(starts), int64_t{0});
    const int64_t piece = kMost / others;
    int64_t done = 0;
    for (; done < whole; done += piece) {
      body(std::span<const int64_t>(starts), whole - done < piece ? whole - done : piece);
      move(inner - 1, piece, starts);
    }
    move(inner - 1, -done, starts);
  }

  void move(int dim, int64_t count, std::vector<int64_t>& starts) const {
    for (size_t k = 0; k < starts.size(); ++k) starts[k] += count * stride(dim, static_cast<int>(k));
  }

  std::vector<int64_t> sizes_;                 // innermost first once prepared
  std::vector<std::vector<int64_t>> strides_;  // of each dimension, one per operand
};

}  // namespace boxcar::cuda
