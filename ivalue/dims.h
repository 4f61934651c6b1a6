#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace boxcar {

// Copies [from] to [to], which may overlap it when it comes before it.
inline void copyDims(int64_t* to, std::span<const int64_t> from) noexcept {
  // Nearly all tensors have at most five dimensions, and a call to copy them costs more than the copy.
  const size_t count = from.size();
  if (count > 5) [[unlikely]] {
    std::memmove(to, from.data(), from.size_bytes());
    return;
  }
  if (count > 0) to[0] = from[0];
  if (count > 1) to[1] = from[1];
  if (count > 2) to[2] = from[2];
  if (count > 3) to[3] = from[3];
  if (count > 4) to[4] = from[4];
}

// The sizes and strides of a tensor: two rows with one integer per dimension, stored inside the tensor for up to five
// dimensions.
class Dims final {
 public:
  static constexpr uint32_t kInline = 5;

  Dims() noexcept {}
  // No dimensions; usable in a constant expression.
  struct Empty {};
  constexpr explicit Dims(Empty) noexcept : inline_{} {}
  Dims(const Dims&) = delete;
  Dims& operator=(const Dims&) = delete;
  ~Dims() {
    if (rank_ > kInline) delete[] heap_;
  }

  uint32_t rank() const noexcept { return rank_; }
  std::span<const int64_t> sizes() const noexcept { return {data(), rank_}; }
  std::span<const int64_t> strides() const noexcept { return {data() + width(), rank_}; }
  std::span<int64_t> sizes() noexcept { return {data(), rank_}; }
  std::span<int64_t> strides() noexcept { return {data() + width(), rank_}; }

  // Stores [sizes] and [strides], which have one length and may lie in this object.
  void assign(std::span<const int64_t> sizes, std::span<const int64_t> strides) {
    if (sizes.size() > kInline || rank_ > kInline) [[unlikely]]
      return assignFar(sizes, strides);
    rank_ = static_cast<uint32_t>(sizes.size());
    copyDims(inline_, {sizes.data(), rank_});
    copyDims(inline_ + kInline, {strides.data(), rank_});
  }
  // Stores [sizes], which lie elsewhere; this object must be empty. Returns the strides, for the caller to write.
  std::span<int64_t> assignSizes(std::span<const int64_t> sizes) {
    if (sizes.size() > kInline) heap_ = new int64_t[2 * sizes.size()];
    rank_ = static_cast<uint32_t>(sizes.size());
    copyDims(data(), sizes);
    return strides();
  }
  // Stores [sizes] and [strides], which lie elsewhere, without entry [dropped]; this object must be empty.
  void assignWithout(size_t dropped, std::span<const int64_t> sizes, std::span<const int64_t> strides) {
    if (sizes.size() > kInline) [[unlikely]]
      return assignFarWithout(dropped, sizes, strides);
    rank_ = static_cast<uint32_t>(sizes.size() - 1);
    // The dropped entry is written too, and the next one overwrites it: that is shorter than a test.
    size_t to = 0;
    for (size_t i = 0; i < sizes.size(); ++i) {
      inline_[to] = sizes[i];
      inline_[kInline + to] = strides[i];
      to += i != dropped ? 1 : 0;
    }
  }

 private:
  const int64_t* data() const noexcept { return rank_ > kInline ? heap_ : inline_; }
  int64_t* data() noexcept { return rank_ > kInline ? heap_ : inline_; }
  size_t width() const noexcept { return rank_ > kInline ? rank_ : kInline; }

  // assign() for the case that the old or the new dimensions are on the heap.
  [[gnu::noinline]] void assignFar(std::span<const int64_t> sizes, std::span<const int64_t> strides) {
    const size_t rank = sizes.size();
    int64_t* const old = rank_ > kInline ? heap_ : nullptr;
    int64_t* const held = rank > kInline ? new int64_t[2 * rank] : inline_;
    copyDims(held, sizes);
    copyDims(held + std::max<size_t>(rank, kInline), strides);
    delete[] old;
    if (rank > kInline) heap_ = held;
    rank_ = static_cast<uint32_t>(rank);
  }

  [[gnu::noinline]] void assignFarWithout(size_t dropped, std::span<const int64_t> sizes,
                                          std::span<const int64_t> strides) {
    assignFar(sizes.first(sizes.size() - 1), strides.first(sizes.size() - 1));
    copyDims(this->sizes().data() + dropped, sizes.subspan(dropped + 1));
    copyDims(this->strides().data() + dropped, strides.subspan(dropped + 1));
  }

  union {
    int64_t inline_[2 * kInline];
    int64_t* heap_;
  };
  uint32_t rank_ = 0;
};

}  // namespace boxcar
