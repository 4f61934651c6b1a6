#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace boxcar {

// Copies [from] to [to], which may overlap it when it comes before it.
inline void copyDims(int64_t* to, std::span<const int64_t> from) noexcept {
  // Nearly all are this short, and a call costs more than they do.
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

// The sizes and strides of a tensor: two rows of as many integers as it has dimensions, inside the tensor for up to
// five of them.
class Dims final {
 public:
  static constexpr uint32_t kInline = 5;

  Dims() noexcept {}
  // No dimensions, in a constant expression too.
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

  // Holds [sizes] and [strides], of one length, from now on. They may lie in this object.
  void assign(std::span<const int64_t> sizes, std::span<const int64_t> strides) {
    if (sizes.size() > kInline || rank_ > kInline) [[unlikely]]
      return assignFar(sizes, strides);
    rank_ = static_cast<uint32_t>(sizes.size());
    copyDims(inline_, {sizes.data(), rank_});
    copyDims(inline_ + kInline, {strides.data(), rank_});
  }
  // Holds [sizes], which lie elsewhere, in place of none; gives the strides, to be written.
  std::span<int64_t> assignSizes(std::span<const int64_t> sizes) {
    if (sizes.size() > kInline) heap_ = new int64_t[2 * sizes.size()];
    rank_ = static_cast<uint32_t>(sizes.size());
    copyDims(data(), sizes);
    return strides();
  }
  // Holds all of [sizes] and [strides], which lie elsewhere, but those numbered [dropped], in place of none.
  void assignWithout(size_t dropped, std::span<const int64_t> sizes, std::span<const int64_t> strides) {
    if (sizes.size() > kInline) [[unlikely]]
      return assignFarWithout(dropped, sizes, strides);
    rank_ = static_cast<uint32_t>(sizes.size() - 1);
    // What is dropped is written, too, and what comes next in its place: that is shorter than to ask.
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

  // What assign() does where either of the two is on the heap.
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
