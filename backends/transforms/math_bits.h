#pragma once

#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/resolved_tensor.h>

#include <cstdint>

// Lazy conjugates and negatives: views of other tensors' memory whose keys Conjugate and Negative say that their
// elements are the conjugates, or the negatives, of what is there. Views of them have the keys, too. At these keys one
// kernel serves all operators: it gives operators that read elements a copy that has them, and writes what operators
// have written to such a copy back.

namespace boxcar::transforms {

// How the kernel calls an operator on tensors with the keys.
enum class BitsWay : uint8_t {
  kResolve,  // on copies, or as it is if it is made of others
  kPass,     // as it is: it reads no elements, or gives a view
  kCopy,
  kClone,
  kProduct,     // on CPUs, its kernel takes conjugates
  kTakeMemory,  // set_()
};
BitsWay bitsWayOf(const OperatorHandle& op);

// Registers the kernel, once: withOtherBit() does it (ivalue/resolved_tensor.h).
BOXCAR_API void registerMathBits();

}  // namespace boxcar::transforms
