#pragma once

#include <boxcar/backends/cpu/callable_ref.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/meta/dims.h>
#include <boxcar/ivalue/scalar.h>
#include <boxcar/ivalue/stop_request.h>

#include <cstdint>
#include <span>

namespace boxcar::cpu {

inline constexpr int kMaxOperands = 4;

// An inner loop over n0 by n1 elements. [data] has the address of each operand. [strides] has the operands' steps in
// bytes: within a row at [operand], from row to row at [kMaxOperands + operand]. [params] holds the operator's extra
// arguments.
using Loop = void (*)(char* const* data, const int64_t* strides, int64_t n0, int64_t n1, const Scalar* params);

// The loop nest around an inner loop: operands of one shape, each with its own strides. Dimensions are sorted by memory
// order, and dimensions that are contiguous with each other in all operands are merged.
//
//   StridedLoop loop(result.sizes());
//   loop.add(result.data_ptr(), result.sizes(), result.strides(), result.itemsize());
//   loop.add(input.data_ptr(), input.sizes(), input.strides(), input.itemsize());
//   loop.run([](char* const* data, const int64_t* strides, int64_t n0, int64_t n1) { … });
class StridedLoop final {
 public:
  using Body = CallableRef<void(char* const* data, const int64_t* strides, int64_t n0, int64_t n1)>;

  // Throws Error if there are more than kMaxDims dimensions.
  explicit StridedLoop(std::span<const int64_t> sizes);

  // Adds an operand of [sizes] that broadcast to the loop's; [strides] are in elements of [itemsize] bytes.
  void add(void* data, std::span<const int64_t> sizes, std::span<const int64_t> strides, size_t itemsize);
  // Adds an operand of the loop's own sizes with [strides] in bytes.
  void addBytes(void* data, std::span<const int64_t> strides);

  void run(Body body);
  // Like run(). If [elements], a measure of all the work, is large, the body is called for pieces in order, with a call
  // of checkStop() between them.
  void runInOrder(int64_t elements, Body body) {
    if (elements < kStopInterval) return run(body);
    if (prepare()) runPieces(elements, body);
  }

  // The first operand is written, the others are only read. Inputs whose adjacent elements belong to different rows,
  // such as a transposed matrix, are read in square blocks that are transposed on the fly.
  void run(Loop loop, const Scalar* params);

  // Like run(), but in several threads if [elements], a measure of all the work, is large enough and the loop can be
  // split; long loops run in pieces. Parts of the loop must not depend on each other. If elements that are next to each
  // other are computed one after another, [grain] of them are as much work as kParallelGrain others.
  void runParallel(int64_t elements, Body body);
  void runParallel(Loop loop, const Scalar* params, int64_t grain = kParallelGrain);
  // As above, for a loop that copies elements from the second operand to the first, of the same type.
  void copyParallel(Loop copy);

 private:
  using Operands = uint32_t;  // one bit per operand

  int64_t elementCount() const;
  // Whether the rows of all operands, once prepared, are contiguous or one repeated element.
  bool hasRows() const;
  // Calls run(part, elements) for parts of the loop, each in a thread.
  void inParts(int64_t elements, CallableRef<void(StridedLoop&, int64_t)> run);
  void runPieces(int64_t elements, Body body) const;
  // Returns the operands to read in square blocks, and makes the dimension in which their elements are contiguous the
  // second one.
  Operands findTurned();
  // Makes the second dimension the first one, if a copy's rows are short and the input's columns are contiguous.
  void lengthenRows();
  void copySquares(char* const* data, int64_t n0, int64_t n1) const;
  void runSquares(Operands turned, char* const* data, int64_t n0, int64_t n1, Loop loop, const Scalar* params) const;
  // Sorts and merges the dimensions and pads them to at least two. Returns false if there are no elements.
  bool prepare();
  void order();
  void join();
  bool liesInside(int a, int b) const;
  void start(char** data, int64_t* index) const;
  // Advances to the next rows; returns false after the last.
  bool advance(char** data, int64_t* index) const;

  int rank_;
  int operands_ = 0;
  bool prepared_ = false;
  bool copies_ = false;
  char* data_[kMaxOperands] = {};
  int64_t itemsizes_[kMaxOperands] = {};  // 0 if unknown
  int64_t sizes_[kMaxDims + 2];
  // For each dimension, innermost first once prepared, the strides of all operands.
  int64_t strides_[kMaxDims + 2][kMaxOperands];
};

}  // namespace boxcar::cpu
