#pragma once

#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/cpu/strided_loop.h>
#include <boxcar/backends/meta/dims.h>
#include <boxcar/backends/native/indexed_loop.h>
#include <boxcar/ivalue/tensor.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace boxcar::cpu {

// Runs an IndexedLoop on the CPU:
//
//   IndexedRun(loop).run(MoveOut<uint32_t>());
struct IndexedRun : native::IndexedLoop {
  explicit IndexedRun(const native::IndexedLoop& loop) : native::IndexedLoop(loop) {}

  // Calls op.one(beside, chosen) for pairs of elements, or op.row(beside, beside_step, chosen, chosen_step, n) for [n]
  // pairs that share an index. Throws Error if an index is out of range; pairs before it have been processed.
  template <class Op>
  void run(const Op& op) const {
    walk([&](char* const* data, const int64_t* steps, int64_t n0, int64_t n1) {
      if (steps[2] == 0) return runRows(op, data, steps, n0, n1);
      const bool dense = steps[0] == Op::kItemsize && steps[1] == 0 && steps[2] == kIndexSize && step == Op::kItemsize;
      for (int64_t j = 0; j < n1; ++j) {
        char* const row[] = {data[0] + j * steps[kMaxOperands], data[1] + j * steps[kMaxOperands + 1],
                             data[2] + j * steps[kMaxOperands + 2]};
        if (dense) {
          runElements(op, row, Op::kItemsize, 0, kIndexSize, Op::kItemsize, n0);
        } else {
          runElements(op, row, steps[0], steps[1], steps[2], step, n0);
        }
      }
    });
  }

  // Throws Error if an index is out of range.
  void checkIndices() const;

 private:
  static constexpr int64_t kIndexSize = sizeof(int64_t);
  // Rows are prefetched this many iterations ahead, because the CPU cannot predict indexed addresses.
  static constexpr int64_t kAhead = 8;
  static constexpr int64_t kLine = 64;
  static constexpr int64_t kPrefetched = 4 * kLine;

  static int64_t placeAt(const char* at) { return *reinterpret_cast<const int64_t*>(at); }

  // Returns the position in a dimension of [length] that [place] refers to.
  [[gnu::always_inline]] int64_t resolve(int64_t place, int64_t length) const {
    if (static_cast<uint64_t>(place) >= static_cast<uint64_t>(length)) [[unlikely]] {
      if (!wraps || place >= 0 || place < -length) fail(place);
      place += length;
    }
    return place;
  }

  // Handles one index per element. The steps are passed by value, and as constants where possible: otherwise the
  // compiler would have to assume that writes may change them.
  template <class Op>
  [[gnu::always_inline]] void runElements(const Op& op, char* const* row, int64_t beside_step, int64_t chosen_step,
                                          int64_t index_step, int64_t distance, int64_t n) const {
    char* other = row[0];
    char* base = row[1];
    const char* at = row[2];
    const int64_t length = size;
    for (int64_t i = 0; i < n; ++i) {
      op.one(other + i * beside_step,
             base + i * chosen_step + resolve(placeAt(at + i * index_step), length) * distance);
    }
  }

  // Handles one index per row.
  template <class Op>
  void runRows(const Op& op, char* const* data, const int64_t* steps, int64_t n0, int64_t n1) const {
    const int64_t prefetched = steps[1] == Op::kItemsize ? std::min(n0 * Op::kItemsize, kPrefetched) : 1;
    for (int64_t j = 0; j < n1; ++j) {
      const char* at = data[2] + j * steps[kMaxOperands + 2];
      if (j + kAhead < n1) {
        const int64_t next = placeAt(at + kAhead * steps[kMaxOperands + 2]);
        const auto address = reinterpret_cast<uintptr_t>(data[1]) +
                             static_cast<uintptr_t>((j + kAhead) * steps[kMaxOperands + 1]) +
                             static_cast<uintptr_t>(next) * static_cast<uintptr_t>(step);
        for (int64_t ahead = 0; ahead < prefetched; ahead += kLine) {
          // NOLINTNEXTLINE(performance-no-int-to-ptr): an index that is wrong may lead anywhere
          __builtin_prefetch(reinterpret_cast<const void*>(address + static_cast<uintptr_t>(ahead)));
        }
      }
      op.row(data[0] + j * steps[kMaxOperands], steps[0],
             data[1] + j * steps[kMaxOperands + 1] + resolve(placeAt(at), size) * step, steps[1], n0);
    }
  }

  [[noreturn]] void fail(int64_t place) const;
  // Calls [body] with rows of the elements at [beside], the elements that index 0 would choose, and the indices.
  void walk(StridedLoop::Body body) const;
  // Calls [body] with the loop, or with parts of it in several threads, and with the number of elements.
  void cut(CallableRef<void(const IndexedRun&, int64_t)> body) const;
};

namespace detail {
template <class Word>
void moveRow(char* to, int64_t to_step, const char* from, int64_t from_step, int64_t n) {
  if (to_step == sizeof(Word) && from_step == sizeof(Word)) {
    std::memcpy(to, from, static_cast<size_t>(n) * sizeof(Word));
    return;
  }
  for (int64_t i = 0; i < n; ++i) std::memcpy(to + i * to_step, from + i * from_step, sizeof(Word));
}
}  // namespace detail

// Reads the chosen elements.
template <class Word>
struct MoveOut {
  static constexpr int64_t kItemsize = sizeof(Word);
  void one(char* to, const char* from) const { std::memcpy(to, from, sizeof(Word)); }
  void row(char* to, int64_t to_step, const char* from, int64_t from_step, int64_t n) const {
    detail::moveRow<Word>(to, to_step, from, from_step, n);
  }
};

// Writes the chosen elements.
template <class Word>
struct MoveIn {
  static constexpr int64_t kItemsize = sizeof(Word);
  void one(const char* from, char* to) const { std::memcpy(to, from, sizeof(Word)); }
  void row(const char* from, int64_t from_step, char* to, int64_t to_step, int64_t n) const {
    detail::moveRow<Word>(to, to_step, from, from_step, n);
  }
};

// Combines the chosen elements with those beside: chosen = f(chosen, beside).
template <class T, class F>
struct CombineIn {
  static constexpr int64_t kItemsize = sizeof(T);
  F f;
  void one(const char* from, char* to) const {
    T& element = *reinterpret_cast<T*>(to);
    element = f(element, *reinterpret_cast<const T*>(from));
  }
  void row(const char* from, int64_t from_step, char* to, int64_t to_step, int64_t n) const {
    if (from_step == sizeof(T) && to_step == sizeof(T)) {
      T* out = reinterpret_cast<T*>(to);
      const T* in = reinterpret_cast<const T*>(from);
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) out[i] = f(out[i], in[i]);
      return;
    }
    for (int64_t i = 0; i < n; ++i) one(from + i * from_step, to + i * to_step);
  }
};

}  // namespace boxcar::cpu
