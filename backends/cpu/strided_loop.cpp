#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/cpu/strided_loop.h>
#include <boxcar/backends/functors/words.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

namespace boxcar::cpu {
namespace {

// Shorter dimensions are not worth transposing through a square block.
constexpr int64_t kLeastTurned = 16;
constexpr int64_t kLeastTurnedByCopy = 8;
// If each thread gets at least this many rows, one more or less does not matter.
constexpr int64_t kEvenShares = 8;
constexpr int64_t kLeastSide = 8;
constexpr int64_t kMostSide = 32;
constexpr size_t kMostSquareBytes = 2048;

// Copies turn so many squares that are adjacent in the input before they go on in the output: each touches other pages.
constexpr int64_t kAdjacentSquares = 4;

// A row of a square block is one cache line, within limits.
constexpr int64_t squareSide(int64_t itemsize) { return std::clamp<int64_t>(64 / itemsize, kLeastSide, kMostSide); }

// Writes a block of vectors, transposed: rows of [from] are [from_step] bytes apart, those of [to] [to_step] words.
inline void turnVectors(const char* from, int64_t from_step, uint32_t* to, int64_t to_step) {
  typedef uint32_t Four __attribute__((vector_size(16), aligned(4), may_alias));
  const auto row = [&](int64_t i) { return *reinterpret_cast<const Four*>(from + i * from_step); };
  const Four low_01 = __builtin_shufflevector(row(0), row(1), 0, 4, 1, 5);
  const Four low_23 = __builtin_shufflevector(row(2), row(3), 0, 4, 1, 5);
  const Four high_01 = __builtin_shufflevector(row(0), row(1), 2, 6, 3, 7);
  const Four high_23 = __builtin_shufflevector(row(2), row(3), 2, 6, 3, 7);
  *reinterpret_cast<Four*>(to) = __builtin_shufflevector(low_01, low_23, 0, 1, 4, 5);
  *reinterpret_cast<Four*>(to + to_step) = __builtin_shufflevector(low_01, low_23, 2, 3, 6, 7);
  *reinterpret_cast<Four*>(to + 2 * to_step) = __builtin_shufflevector(high_01, high_23, 0, 1, 4, 5);
  *reinterpret_cast<Four*>(to + 3 * to_step) = __builtin_shufflevector(high_01, high_23, 2, 3, 6, 7);
}
inline void turnVectors(const char* from, int64_t from_step, uint64_t* to, int64_t to_step) {
  typedef uint64_t Two __attribute__((vector_size(16), aligned(8), may_alias));
  const Two first = *reinterpret_cast<const Two*>(from);
  const Two second = *reinterpret_cast<const Two*>(from + from_step);
  *reinterpret_cast<Two*>(to) = __builtin_shufflevector(first, second, 0, 2);
  *reinterpret_cast<Two*>(to + to_step) = __builtin_shufflevector(first, second, 1, 3);
}

// Writes [height] rows of [width] elements to [to] from as many columns at [from]. A whole block meets in a square
// whose rows do not map to the same cache sets as those of a matrix do: each line of a matrix is read and written at
// once.
template <class Word>
void turnSquareOf(char* to, int64_t to_step, const char* from, int64_t from_step, int64_t width, int64_t height) {
  constexpr int64_t kSide = squareSide(sizeof(Word));
  static_assert(kSide * kSide * sizeof(Word) <= kMostSquareBytes);
  constexpr auto kSize = static_cast<int64_t>(sizeof(Word));
  constexpr bool kHasVectors = sizeof(Word) == 4 || sizeof(Word) == 8;
  const bool is_whole = width == kSide && height == kSide;
  if constexpr (kHasVectors) {
    constexpr int64_t kVector = 16 / kSize;
    const auto turn = [=](int64_t w, int64_t h, Word* turned, int64_t step) {
      for (int64_t i = 0; i < w; i += kVector) {
        for (int64_t j = 0; j < h; j += kVector) {
          turnVectors(from + i * from_step + j * kSize, from_step, turned + j * step + i, step);
        }
      }
    };
    if (is_whole) {
      alignas(64) Word square[kSide][kSide];
      turn(kSide, kSide, square[0], kSide);
      for (int64_t j = 0; j < kSide; ++j) std::memcpy(to + j * to_step, square[j], kSide * sizeof(Word));
      return;
    }
    const int64_t whole_width = width - width % kVector;
    const int64_t whole_height = height - height % kVector;
    turn(whole_width, whole_height, reinterpret_cast<Word*>(to), to_step / kSize);
    const auto moveRest = [&](int64_t j, int64_t begin) {
      for (int64_t i = begin; i < width; ++i) {
        reinterpret_cast<Word*>(to + j * to_step)[i] = *reinterpret_cast<const Word*>(from + i * from_step + j * kSize);
      }
    };
    for (int64_t j = 0; j < whole_height; ++j) moveRest(j, whole_width);
    for (int64_t j = whole_height; j < height; ++j) moveRest(j, 0);
  } else if (is_whole) {
    Word square[kSide][kSide + 1];
    for (int64_t i = 0; i < kSide; ++i) std::memcpy(square[i], from + i * from_step, kSide * sizeof(Word));
    for (int64_t j = 0; j < kSide; ++j, to += to_step) {
      for (int64_t i = 0; i < kSide; ++i) reinterpret_cast<Word*>(to)[i] = square[i][j];
    }
  } else {
    for (int64_t j = 0; j < height; ++j, to += to_step, from += kSize) {
      for (int64_t i = 0; i < width; ++i) {
        reinterpret_cast<Word*>(to)[i] = *reinterpret_cast<const Word*>(from + i * from_step);
      }
    }
  }
}

void turnSquare(int64_t itemsize, char* to, int64_t to_step, const char* from, int64_t from_step, int64_t width,
                int64_t height) {
  functors::visitWord(static_cast<size_t>(itemsize), [&]<class Word>(std::type_identity<Word>) {
    turnSquareOf<Word>(to, to_step, from, from_step, width, height);
  });
}

}  // namespace

StridedLoop::StridedLoop(std::span<const int64_t> sizes) : rank_(static_cast<int>(sizes.size())) {
  checkDims(sizes.size());
  // Innermost first.
  for (int i = 0; i < rank_; ++i) {
    sizes_[i] = sizes[static_cast<size_t>(rank_ - 1 - i)];
    std::fill_n(strides_[i], kMaxOperands, 0);
  }
}

void StridedLoop::add(void* data, std::span<const int64_t> sizes, std::span<const int64_t> strides, size_t itemsize) {
  data_[operands_] = static_cast<char*>(data);
  itemsizes_[operands_] = static_cast<int64_t>(itemsize);
  for (size_t i = 0; i < sizes.size(); ++i) {
    const size_t from_end = sizes.size() - 1 - i;
    if (sizes[from_end] != 1) strides_[i][operands_] = strides[from_end] * static_cast<int64_t>(itemsize);
  }
  ++operands_;
}

void StridedLoop::addBytes(void* data, std::span<const int64_t> strides) {
  data_[operands_] = static_cast<char*>(data);
  for (size_t i = 0; i < strides.size(); ++i) strides_[i][operands_] = strides[strides.size() - 1 - i];
  ++operands_;
}

// Returns whether dimension [a] has smaller steps than [b]; the first operand in which they differ decides.
bool StridedLoop::liesInside(int a, int b) const {
  for (int i = 0; i < operands_; ++i) {
    const int64_t step_a = strides_[a][i];
    const int64_t step_b = strides_[b][i];
    if (step_a != 0 && step_b != 0 && step_a != step_b) return step_a < step_b;
  }
  return false;
}

void StridedLoop::order() {
  for (int i = 1; i < rank_; ++i) {
    for (int j = i; j > 0 && liesInside(j, j - 1); --j) {
      std::swap(sizes_[j], sizes_[j - 1]);
      std::swap(strides_[j], strides_[j - 1]);
    }
  }
}

void StridedLoop::join() {
  int last = 0;
  for (int i = 1; i < rank_; ++i) {
    bool follows = true;
    for (int k = 0; k < operands_; ++k) follows &= strides_[i][k] == sizes_[last] * strides_[last][k];
    if (follows) {
      sizes_[last] *= sizes_[i];
      continue;
    }
    ++last;
    sizes_[last] = sizes_[i];
    std::copy_n(strides_[i], kMaxOperands, strides_[last]);
  }
  rank_ = last + 1;
}

bool StridedLoop::prepare() {
  if (prepared_) return true;
  int kept = 0;
  for (int i = 0; i < rank_; ++i) {
    if (sizes_[i] == 0) return false;
    if (sizes_[i] == 1) continue;
    sizes_[kept] = sizes_[i];
    std::copy_n(strides_[i], kMaxOperands, strides_[kept]);
    ++kept;
  }
  rank_ = kept;
  if (rank_ > 1) {
    order();
    join();
  }
  for (; rank_ < 2; ++rank_) {
    sizes_[rank_] = 1;
    std::fill_n(strides_[rank_], kMaxOperands, 0);
  }
  prepared_ = true;
  return true;
}

int64_t StridedLoop::elementCount() const {
  int64_t count = 1;
  for (int i = 0; i < rank_; ++i) count *= sizes_[i];
  return count;
}

bool StridedLoop::hasRows() const {
  for (int k = 0; k < operands_; ++k) {
    if (strides_[0][k] != 0 && strides_[0][k] != itemsizes_[k]) return false;
  }
  return true;
}

void StridedLoop::inParts(int64_t elements, CallableRef<void(StridedLoop&, int64_t)> run) {
  if (!prepare()) return;
  if (!runsInParallel(elements)) return run(*this, elements);
  // Splits the outermost dimension that gives all threads about as much, else the longest one.
  const int64_t threads = threadCount();
  const auto isEven = [&](int dim) {
    return sizes_[dim] >= kEvenShares * threads || (sizes_[dim] >= threads && sizes_[dim] % threads == 0);
  };
  int cut = rank_ - 1;
  while (cut > 0 && !isEven(cut)) --cut;
  if (!isEven(cut)) cut = static_cast<int>(std::max_element(sizes_, sizes_ + rank_) - sizes_);
  const int64_t inside = std::max<int64_t>(1, elements / sizes_[cut]);
  // The work of an index may be less than a step.
  const int64_t grain = std::max<int64_t>(
      1, elements < sizes_[cut] ? sizes_[cut] / (elements / kParallelGrain) : kParallelGrain / inside);
  parallelFor(0, sizes_[cut], grain, [&](int64_t begin, int64_t end) {
    StridedLoop part = *this;
    part.sizes_[cut] = end - begin;
    for (int k = 0; k < operands_; ++k) part.data_[k] += begin * strides_[cut][k];
    run(part, (end - begin) * inside);
  });
}

void StridedLoop::runParallel(int64_t elements, Body body) {
  if (elements < kParallelGrain) return run(body);
  inParts(elements, [&](StridedLoop& part, int64_t share) { part.runInOrder(share, body); });
}

void StridedLoop::runParallel(Loop loop, const Scalar* params, int64_t grain) {
  int64_t elements = elementCount();
  if (elements < kParallelGrain) return run(loop, params);
  if (grain > kParallelGrain && prepare() && hasRows()) elements = elements / grain * kParallelGrain;
  inParts(elements, [&](StridedLoop& part, int64_t share) {
    if (share < kStopInterval) return part.run(loop, params);
    const Operands turned = part.findTurned();
    part.runInOrder(share, [&](char* const* data, const int64_t* strides, int64_t n0, int64_t n1) {
      if (turned == 0) {
        loop(data, strides, n0, n1, params);
      } else {
        part.runSquares(turned, data, n0, n1, loop, params);
      }
    });
  });
}

void StridedLoop::run(Body body) {
  if (!prepare()) return;
  char* data[kMaxOperands];
  int64_t index[kMaxDims];
  start(data, index);
  do {
    body(data, strides_[0], sizes_[0], sizes_[1]);
  } while (advance(data, index));
}

void StridedLoop::run(Loop loop, const Scalar* params) {
  if (!prepare()) return;
  const Operands turned = findTurned();
  run([&](char* const* data, const int64_t* strides, int64_t n0, int64_t n1) {
    if (turned == 0) {
      loop(data, strides, n0, n1, params);
    } else {
      runSquares(turned, data, n0, n1, loop, params);
    }
  });
}

void StridedLoop::runPieces(int64_t elements, Body body) const {
  // The maximum work of one call of the body.
  const int64_t most = std::max<int64_t>(1, kStopInterval / std::max<int64_t>(1, elements / elementCount()));
  const int64_t width = std::min(sizes_[0], most);
  const int64_t height = std::clamp<int64_t>(most / width, 1, sizes_[1]);
  const int64_t steps_of_one = kStopInterval / most;
  StopCounter steps;
  char* data[kMaxOperands];
  int64_t index[kMaxDims];
  start(data, index);
  do {
    for (int64_t j = 0; j < sizes_[1]; j += height) {
      for (int64_t i = 0; i < sizes_[0]; i += width) {
        char* piece[kMaxOperands] = {};
        for (int k = 0; k < operands_; ++k) piece[k] = data[k] + i * strides_[0][k] + j * strides_[1][k];
        const int64_t n0 = std::min(width, sizes_[0] - i);
        const int64_t n1 = std::min(height, sizes_[1] - j);
        body(piece, strides_[0], n0, n1);
        steps.add(n0 * n1 * steps_of_one);
      }
    }
  } while (advance(data, index));
}

StridedLoop::Operands StridedLoop::findTurned() {
  const int64_t least = copies_ ? kLeastTurnedByCopy : kLeastTurned;
  if (sizes_[0] < least) {
    if (copies_) lengthenRows();
    return 0;
  }
  Operands turned = 0;
  for (int k = 1; k < operands_; ++k) {
    const int64_t itemsize = itemsizes_[k];
    if (itemsize == 0 || strides_[0][k] <= itemsize) continue;
    for (int dim = 1; turned == 0 && dim < rank_; ++dim) {
      if (strides_[dim][k] != itemsize || sizes_[dim] < least) continue;
      std::swap(sizes_[1], sizes_[dim]);
      std::swap(strides_[1], strides_[dim]);
      turned = Operands{1} << k;
    }
    if (turned != 0 && strides_[1][k] == itemsize) turned |= Operands{1} << k;
  }
  return turned;
}

void StridedLoop::copyParallel(Loop copy) {
  copies_ = true;
  runParallel(copy, nullptr);
}

void StridedLoop::lengthenRows() {
  if (sizes_[1] < 2 * kLeastTurnedByCopy || strides_[1][1] != itemsizes_[1]) return;
  std::swap(sizes_[0], sizes_[1]);
  std::swap(strides_[0], strides_[1]);
}

void StridedLoop::copySquares(char* const* data, int64_t n0, int64_t n1) const {
  const int64_t itemsize = itemsizes_[1];
  const int64_t side = squareSide(itemsize);
  const int64_t band = kAdjacentSquares * side;
  for (int64_t begin = 0; begin < n1; begin += band) {
    const int64_t end = std::min(begin + band, n1);
    for (int64_t i = 0; i < n0; i += side) {
      const int64_t width = std::min(side, n0 - i);
      for (int64_t j = begin; j < end; j += side) {
        const char* const from = data[1] + i * strides_[0][1] + j * itemsize;
        turnSquare(itemsize, data[0] + i * itemsize + j * strides_[1][0], strides_[1][0], from, strides_[0][1], width,
                   std::min(side, end - j));
      }
    }
  }
}

void StridedLoop::runSquares(Operands turned, char* const* data, int64_t n0, int64_t n1, Loop loop,
                             const Scalar* params) const {
  if (copies_ && strides_[0][0] == itemsizes_[0]) return copySquares(data, n0, n1);
  int64_t largest = 1;
  for (int k = 1; k < operands_; ++k) {
    if ((turned >> k & 1) != 0) largest = std::max(largest, itemsizes_[k]);
  }
  const int64_t side = squareSide(largest);
  alignas(64) std::byte squares[kMaxOperands][kMostSquareBytes];
  char* square[kMaxOperands];
  int64_t steps[2 * kMaxOperands];
  std::copy_n(strides_[0], kMaxOperands, steps);
  std::copy_n(strides_[1], kMaxOperands, steps + kMaxOperands);
  for (int k = 1; k < operands_; ++k) {
    if ((turned >> k & 1) == 0) continue;
    steps[k] = itemsizes_[k];
    steps[kMaxOperands + k] = side * itemsizes_[k];
  }
  for (int64_t j = 0; j < n1; j += side) {
    for (int64_t i = 0; i < n0; i += side) {
      const int64_t width = std::min(side, n0 - i);
      const int64_t height = std::min(side, n1 - j);
      for (int k = 0; k < operands_; ++k) {
        square[k] = data[k] + i * strides_[0][k] + j * strides_[1][k];
        if ((turned >> k & 1) == 0) continue;
        char* const to = reinterpret_cast<char*>(squares[k]);
        turnSquare(itemsizes_[k], to, steps[kMaxOperands + k], square[k], strides_[0][k], width, height);
        square[k] = to;
      }
      loop(square, steps, width, height, params);
    }
  }
}

void StridedLoop::start(char** data, int64_t* index) const {
  std::copy_n(data_, kMaxOperands, data);
  std::fill_n(index, rank_, 0);
}

bool StridedLoop::advance(char** data, int64_t* index) const {
  for (int i = 2; i < rank_; ++i) {
    for (int k = 0; k < operands_; ++k) data[k] += strides_[i][k];
    if (++index[i] < sizes_[i]) return true;
    for (int k = 0; k < operands_; ++k) data[k] -= strides_[i][k] * sizes_[i];
    index[i] = 0;
  }
  return false;
}

}  // namespace boxcar::cpu
