#pragma once

#include <boxcar/ivalue/macros.h>

#include <cstddef>
#include <cstdint>
#include <mutex>

namespace boxcar {

// Large blocks, in huge pages. What is freed is kept as pieces of memory: neighbours join, and a block takes the
// beginning of the smallest piece that has room for it, so results of other sizes use the same memory again. Mapping
// anew costs more than most loops over a block, since the system zeroes each page.
//
// So much is kept that a program that does the same again maps nothing: as many bytes as were lately in use at once,
// less those in use, and some more where pieces turned out to be of the wrong sizes. A program that frees more, such as
// what it made of weights while it loaded them, gives the rest back.
class BOXCAR_API KeptRegions final {
 public:
  constexpr KeptRegions() = default;
  KeptRegions(const KeptRegions&) = delete;
  KeptRegions& operator=(const KeptRegions&) = delete;

  // Returns null if there is no memory.
  void* allocate(size_t bytes);
  // [bytes] is what was asked for.
  void free(void* memory, size_t bytes) noexcept;

 private:
  struct Piece {
    std::byte* begin = nullptr;
    size_t size = 0;
    uint64_t freed = 0;  // when the newest part of it was, counted in frees
  };

  static constexpr size_t kMostPieces = 64;
  static constexpr size_t kLeastSlack = size_t{4} << 20;

  void* allocateFresh(size_t size);
  void keep(Piece piece) noexcept;
  void erase(size_t index) noexcept;
  // Gives the oldest pieces back until no more than [bytes] are kept.
  void keepAtMost(size_t bytes) noexcept;
  void keepAsNeeded() noexcept;

  std::mutex mutex_;
  Piece pieces_[kMostPieces];  // by address; no two are neighbours
  size_t count_ = 0;
  size_t kept_bytes_ = 0;
  size_t used_bytes_ = 0;
  // The most bytes in use at once, in the present period and in the one before.
  size_t peak_ = 0;
  size_t peak_before_ = 0;
  size_t slack_ = kLeastSlack;
  uint64_t frees_ = 0;
};

}  // namespace boxcar
