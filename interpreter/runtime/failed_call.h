#pragma once

#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/interpreter/bytecode/bytecode.h>
#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/stack.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

// What an error message adds about an operator's call beside the kernel's message. All of it is computed after the
// failure, so calls that succeed pay nothing.

namespace boxcar::interp {

// Describes a call with its arguments by name: "aten::mm(self: float32[2, 3], mat2: float32[4, 5])". Arguments that
// were left out are omitted.
std::string describeCall(const OperatorHandle& op, std::span<const IValue> arguments);

// Describes a call of [op] that has just failed, if its arguments are certainly still the last values of [stack], which
// then has [height] values: after a kernel that works on the stack itself they may be anything. Otherwise returns "",
// and also if [message] comes from a handler that names the operator.
BOXCAR_API std::string describeFailedCall(const OperatorHandle& op, const Stack& stack, size_t height,
                                          std::string_view message);

// If the conversion at instruction [at] of [function] converts an argument of an operator or a built-in: the
// instruction of that call, and which argument it is.
struct ConvertedArgument {
  size_t call;
  size_t position;
};
std::optional<ConvertedArgument> argumentConvertedAt(const CodeUnit& unit, const CodeFunction& function,
                                                     std::span<const int64_t> heights, size_t at);

}  // namespace boxcar::interp
