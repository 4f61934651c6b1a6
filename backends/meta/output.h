#pragma once

#include <boxcar/backends/meta/dims.h>
#include <boxcar/backends/meta/overlap.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

// Checks of the out= arguments of operators, done before any of them is resized or written.

namespace boxcar::meta {

using TensorPointers = std::initializer_list<const Tensor*>;

// Throws the Error of a call with tensors on two devices.
[[noreturn]] inline void failOnTwoDevices(Device one, Device other) {
  BOXCAR_FAIL(
      "Expected all tensors to be on the same device, but found at least two devices, {} and {}! Move one with "
      ".to('{}')",
      one, other, one.is_cpu() ? other : one);
}

// Throws Error if [found], the device of another tensor of the call, is not [device].
inline void checkSameDevice(Device device, Device found) {
  if (device != found) failOnTwoDevices(device, found);
}

// Throws Error if the out= argument is not on [device], where the result is.
inline void checkOutputDevice(const Tensor& out, Device device) {
  BOXCAR_CHECK(out.device() == device,
               "Expected out tensor to be on the same device as the result, but found at least two devices, {} and {}!",
               out.device(), device);
}

// For operators whose out= argument must have the dtype of the result: throws Error if it has another.
inline void checkOutputType(const Tensor& out, ScalarType dtype) {
  BOXCAR_CHECK(out.scalar_type() == dtype, "Expected out tensor to have dtype {}, but got {} instead", dtypeName(dtype),
               dtypeName(out.scalar_type()));
}

// For the other operators: throws Error if the dtype of the result cannot be cast to that of [out].
inline void checkOutputHolds(const Tensor& out, ScalarType dtype) {
  BOXCAR_CHECK(canCast(dtype, out.scalar_type()), "result type {} can't be cast to the desired output type {}", dtype,
               out.scalar_type());
}

// Whether a stride of 0 makes elements of [tensor] share memory.
bool overlapsItself(const Tensor& tensor);
// Throws Error if it does, because [tensor] is to be written to.
void checkNoInternalOverlap(const Tensor& tensor);

enum class OutputType { kExact, kCastable };

// An out= argument and the result that is written to it.
struct Output {
  const Tensor& tensor;
  std::span<const int64_t> sizes;
  DimVector strides;  // the new strides if it is resized
  ScalarType dtype;
  Device device;
  OutputType type = OutputType::kExact;

  bool resizes() const;
};
// Returns the memory of the output after resizing.
Region regionOf(const Output& output);

inline constexpr const char* kSharesWithInput =
    "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
    "location. Please clone() the tensor before performing the operation.";

// How outputs may overlap inputs.
enum class Overlap {
  kAllowed,  // results are computed before the first one is written
  kSame,     // the same elements in the same order, or none: each element is read where it is written
  kRefused,
};

// Describes writing [result] to [out]. If [out] is resized, its elements are dense and in the memory order of the
// result.
Output outputOf(const Tensor& out, const Tensor& result, OutputType type);

// Throws Error if [output] is undefined, is on another device, has a dtype that is not allowed, or keeps its sizes and
// has elements that share memory.
void checkOutput(const Output& output);
// Returns what [output], after resizing, shares with [input]. If [input] is the same tensor, it is resized too.
Shared sharedWith(const Output& output, const Tensor& input);
// Throws Error if [output] overlaps [input] in a way that [overlap] forbids.
void checkRead(const Output& output, const Tensor& input, Overlap overlap);
// Does all these checks, and throws Error if two outputs will share memory.
void checkOutputs(std::span<const Output> outputs, TensorPointers inputs, Overlap overlap);

// Grows the storages of all [outputs], already checked, to the memory that their new sizes need. Throws Error if one
// cannot grow or would have more than kMaxDims dimensions; all tensors keep their sizes then.
void growStorages(std::span<const Output> outputs);

// A computed result and its destination.
struct Written {
  Tensor& out;
  const Tensor& result;
  OutputType type = OutputType::kExact;
};
// Calls checkOutputs() for all of [written] and returns the outputs.
std::vector<Output> checkWritten(std::span<const Written> written, TensorPointers inputs, Overlap overlap);

// Throws Error if [written], whose sizes do not change, shares memory with [input].
void checkNoOverlap(const Tensor& written, const Tensor& input);

}  // namespace boxcar::meta
