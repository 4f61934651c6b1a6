#pragma once

#include <boxcar/ivalue/device.h>

#include <optional>
#include <string>
#include <string_view>

#include "tests/numerics/case_reader.h"

namespace boxcar::numerics {

// How a call is made.
enum class Way {
  kBoxed,   // callBoxed
  kTyped,   // the function in <boxcar/ops.h>
  kScript,  // from a script's function
  kSchema,  // callBoxed under the SchemaChecker
  kMeta,    // callBoxed under the MetaChecker
};
inline constexpr Way kAllWays[] = {Way::kBoxed, Way::kTyped, Way::kScript, Way::kSchema, Way::kMeta};

// "boxed".
std::string_view toString(Way way);

// Where calls are made from now on: the CPU, unless it is said otherwise.
void setCaseDevice(Device device);
// Takes its first memory, from which on its kernels may be there. Not before a fork, which CUDA does not outlive.
void openCaseDevice();
Device caseDevice();

// Makes the call of [expected] in one way and compares what comes of it. In words, what is wrong; nothing where all is
// as expected.
std::optional<std::string> runCase(const Case& expected, Way way);

// What the call is, for messages: "aten::add.Tensor(self=float32[2, 3], other=float32[3])".
std::string describeCall(const Case& expected);

// Whether the operator of a case is defined and has a kernel that a tensor on the device of cases reaches.
bool hasKernel(const std::string& op);

}  // namespace boxcar::numerics
