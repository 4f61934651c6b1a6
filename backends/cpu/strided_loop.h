#pragma once

#include <boxcar/backends/cpu/callable_ref.h>
#include <boxcar/backends/shape/dims.h>
#include <boxcar/ivalue/scalar.h>
#include <boxcar/ivalue/stop_request.h>

#include <cstdint>
#include <span>

namespace boxcar::cpu {

inline constexpr int kMaxOperands = 4;

// An inner loop over n0 by n1 elements. [data] has each operand's address; [strides] its steps in bytes, those within a
// row at [operand], those from row to row at [kMaxOperands + operand]. [params] is what the operator was called with
// besides.
using Loop = void (*)(char* const* data, const int64_t* strides, int64_t n0, int64_t n1, const Scalar* params);

// The nest of loops around an inner loop: operands of one shape, each with its own strides. Dimensions are put in the
// order of memory, and those that follow each other in all operands become one.
//
//   StridedLoop loop(result.sizes());
//   loop.add(result.data_ptr(), result.sizes(), result.strides(), result.itemsize());
//   loop.add(input.data_ptr(), input.sizes(), input.strides(), input.itemsize());
//   loop.run([](char* const* data, const int64_t* strides, int64_t n0, int64_t n1) { … });
class StridedLoop final {
 public:
  using Body = CallableRef<void(char* const* data, const int64_t* strides, int64_t n0, int64_t n1)>;

  // An Error when there are more dimensions than kMaxDims.
  explicit StridedLoop(std::span<const int64_t> sizes);

  // An operand of [sizes] that broadcast to the loop's; [strides] in elements of [itemsize] bytes.
  void add(void* data, std::span<const int64_t> sizes, std::span<const int64_t> strides, size_t itemsize);
  // An operand of the loop's own sizes whose [strides] count bytes.
  void addBytes(void* data, std::span<const int64_t> strides);

  void run(Body body);
  // The same for [elements], a measure of all the work: where that is long, the body is called for pieces, in their
  // order, between which checkStop() is asked.
  void runInOrder(int64_t elements, Body body) {
    if (elements < kStopInterval) return run(body);
    if (prepare()) runPieces(elements, body);
  }

  // The first operand is written, the others are only read: those whose neighbouring elements belong to different rows,
  // as those of a transposed matrix do, are read in squares that are turned on the way.
  void run(Loop loop, const Scalar* params);

  // The same in several threads at once, when [elements], a measure of all the work, are enough for that and the loop
  // can be cut; in pieces where it is long. No part of the loop may depend on another one.
  void runParallel(int64_t elements, Body body);
  void runParallel(Loop loop, const Scalar* params);

 private:
  using Operands = uint32_t;  // a bit for each

  int64_t elementCount() const;
  // Calls run(part, elements) for parts of the loop, each in a thread.
  void inParts(int64_t elements, CallableRef<void(StridedLoop&, int64_t)> run);
  void runPieces(int64_t elements, Body body) const;
  // The operands that are to be read in squares; the dimension in which their elements follow each other becomes the
  // second.
  Operands findTurned();
  void runSquares(Operands turned, char* const* data, int64_t n0, int64_t n1, Loop loop, const Scalar* params) const;
  // Orders and joins the dimensions and brings their number to two at least; false when there is no element.
  bool prepare();
  void order();
  void join();
  bool liesInside(int a, int b) const;
  void start(char** data, int64_t* index) const;
  // Moves on to the next rows; false after the last.
  bool advance(char** data, int64_t* index) const;

  int rank_;
  int operands_ = 0;
  bool prepared_ = false;
  char* data_[kMaxOperands] = {};
  int64_t itemsizes_[kMaxOperands] = {};  // 0 where it is not known
  int64_t sizes_[kMaxDims + 2];
  // Of each dimension, innermost first once prepared: one row of strides for all operands.
  int64_t strides_[kMaxDims + 2][kMaxOperands];
};

}  // namespace boxcar::cpu
