#pragma once

#include <boxcar/ivalue/device.h>

#include <optional>
#include <string>
#include <string_view>

#include "tests/numerics/case_reader.h"

namespace boxcar::numerics {

// How to make a call.
enum class Way {
  kBoxed,          // callBoxed
  kTyped,          // the function in <boxcar/ops.h>
  kScript,         // from a function of a script
  kSchema,         // callBoxed under the SchemaChecker
  kMeta,           // callBoxed under the MetaChecker
  kFake,           // callBoxed on fake tensors; see case_fake.h
  kGradients,      // callBoxed with tensors that require grad; see case_gradients.h
  kBatches,        // callBoxed with batched tensors; see case_batches.h
  kFunctionalize,  // callBoxed inside functionalize(); see case_functional.h
  kBits,           // callBoxed with lazy conjugates and negatives; see case_bits.h
};
inline constexpr Way kAllWays[] = {Way::kBoxed, Way::kTyped,     Way::kScript,  Way::kSchema,        Way::kMeta,
                                   Way::kFake,  Way::kGradients, Way::kBatches, Way::kFunctionalize, Way::kBits};

// "boxed".
std::string_view toString(Way way);

// Sets the device for calls from now on; the default is the CPU.
void setCaseDevice(Device device);
// Allocates on the device once; from then on it can provide kernels. Never call this before a fork, which CUDA does not
// survive.
void openCaseDevice();
Device caseDevice();

// Makes the call of [expected] in one way and compares the outcome. Returns what is wrong in words; nullopt if all is
// as expected.
std::optional<std::string> runCase(const Case& expected, Way way);

// Describes the call for messages: "aten::add.Tensor(self=float32[2, 3], other=float32[3])".
std::string describeCall(const Case& expected);

// Returns whether operator [op] is defined and has a kernel for tensors on the device of the cases.
bool hasKernel(const std::string& op);

}  // namespace boxcar::numerics
