#pragma once

#include <boxcar/backends/shape/dims.h>
#include <boxcar/backends/shape/overlap.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

// What may be written to the out= arguments of operators: asked before any of them is resized or written.

namespace boxcar::shape {

using TensorPointers = std::initializer_list<const Tensor*>;

// The Error of a call with tensors on both devices.
[[noreturn]] inline void failOnTwoDevices(Device one, Device other) {
  BOXCAR_FAIL(
      "Expected all tensors to be on the same device, but found at least two devices, {} and {}! Move one with "
      ".to('{}')",
      one, other, one.is_cpu() ? other : one);
}

// An Error when [found], the device of another tensor of the call, is not [device].
inline void checkSameDevice(Device device, Device found) {
  if (device != found) failOnTwoDevices(device, found);
}

// An Error when the out= argument is not on [device], where the result is.
inline void checkOutputDevice(const Tensor& out, Device device) {
  BOXCAR_CHECK(out.device() == device,
               "Expected out tensor to be on the same device as the result, but found at least two devices, {} and {}!",
               out.device(), device);
}

// For operators whose out= argument must have the result's own dtype: an Error when it has another.
inline void checkOutputType(const Tensor& out, ScalarType dtype) {
  BOXCAR_CHECK(out.scalar_type() == dtype, "Expected out tensor to have dtype {}, but got {} instead", dtypeName(dtype),
               dtypeName(out.scalar_type()));
}

// For the others: an Error when the type of [out] cannot hold the result's.
inline void checkOutputHolds(const Tensor& out, ScalarType dtype) {
  BOXCAR_CHECK(canCast(dtype, out.scalar_type()), "result type {} can't be cast to the desired output type {}", dtype,
               out.scalar_type());
}

// An Error when two elements of [tensor] share memory, so that it cannot be written to.
void checkNoInternalOverlap(const Tensor& tensor);

enum class OutputType { kExact, kCastable };

// An out= argument and what is written to it.
struct Output {
  const Tensor& tensor;
  std::span<const int64_t> sizes;
  DimVector strides;  // what it takes with other sizes than its own
  ScalarType dtype;
  Device device;
  OutputType type = OutputType::kExact;

  bool resizes() const;
};
// Where it will lie.
Region regionOf(const Output& output);

inline constexpr const char* kSharesWithInput =
    "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
    "location. Please clone() the tensor before performing the operation.";

// How what is written may lie to what is read.
enum class Overlap {
  kAllowed,  // results are worked out before the first is written
  kSame,     // the same elements in the same order, or none; elements are read where they are written
  kRefused,
};

// [result] written to [out]: with other sizes, its elements lie as those of the result, without gaps.
Output outputOf(const Tensor& out, const Tensor& result, OutputType type);

// An Error when [output] is undefined, is on another device, has a dtype that it must not have, or has elements that
// share memory and keeps its sizes.
void checkOutput(const Output& output);
// What [output], with the sizes that it will have, shares with [input]; an input that is the same tensor takes them,
// too.
Shared sharedWith(const Output& output, const Tensor& input);
// An Error when it lies to [input] as it may not.
void checkRead(const Output& output, const Tensor& input, Overlap overlap);
// All of this, and an Error when two outputs will share memory.
void checkOutputs(std::span<const Output> outputs, TensorPointers inputs, Overlap overlap);

// Gives the storages of all [outputs], which were checked, the memory that their new sizes need. Where one cannot grow,
// or would have more than kMaxDims dimensions: an Error, and no tensor has other sizes.
void growStorages(std::span<const Output> outputs);

// A result that has been worked out, and where it goes.
struct Written {
  Tensor& out;
  const Tensor& result;
  OutputType type = OutputType::kExact;
};
// checkOutputs() for all of [written].
std::vector<Output> checkWritten(std::initializer_list<Written> written, TensorPointers inputs, Overlap overlap);

// An Error when [written], whose sizes do not change, shares memory with [input].
void checkNoOverlap(const Tensor& written, const Tensor& input);

}  // namespace boxcar::shape
