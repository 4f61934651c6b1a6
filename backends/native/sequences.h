#pragma once

#include <boxcar/backends/native/device_stub.h>
#include <boxcar/ivalue/scalar.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>

namespace boxcar::native {

// A sequence of numbers, computed by functors/sequence.h.
struct Sequence {
  enum Kind : uint8_t {
    kSteps,   // from [first] in steps of [second]
    kClamp,   // [count] numbers at equal distances from [first] to [second]
    kPowers,  // [base] to the power of the kBetween numbers
  };
  Kind kind;
  Scalar first;
  Scalar second;
  int64_t count;
  double base;
};

// Writes the sequence to [out], which is contiguous and has elements.
using FillSequence = void(const Tensor& out, const Sequence& sequence);
extern DeviceStub<FillSequence> fillSequence;

}  // namespace boxcar::native
