#pragma once

#include <boxcar/dispatcher/operator_handle.h>
#include <boxcar/interpreter/bytecode.h>
#include <boxcar/ivalue/stack.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

// What is told of an operator's call that failed beside the kernel's message. All of it is found out when it is too
// late, so that calls that succeed pay nothing.

namespace boxcar::interp {

// A call with its arguments by name and what they were: "aten::mm(self: float32[2, 3], mat2: float32[4, 5])". Without
// those that were left out.
std::string describeCall(const OperatorHandle& op, std::span<const IValue> arguments);

// The same for a call of [op] that has just failed, where its arguments are for certain the last values of [stack]
// still, of which there are [height] then: after a kernel that works on the stack itself they may be anything. Empty
// elsewhere, and where [message] is a handler's that names the operator.
std::string describeFailedCall(const OperatorHandle& op, const Stack& stack, size_t height, std::string_view message);

// The conversion at instruction [at] of [function] is that of an argument of a call of an operator or a built-in: the
// call's instruction, and which argument.
struct ConvertedArgument {
  size_t call;
  size_t position;
};
std::optional<ConvertedArgument> argumentConvertedAt(const CodeUnit& unit, const CodeFunction& function,
                                                     std::span<const int64_t> heights, size_t at);

}  // namespace boxcar::interp
