#pragma once

#include <boxcar/interpreter/bytecode/opcodes.h>
#include <boxcar/ivalue/ivalue.h>

#include <optional>

namespace boxcar::interp {

// Returns the result of a scalar instruction on constant operands; nothing if it would be an error, or if it cannot be
// known before the program runs. [right] is null if the opcode has one operand.
std::optional<IValue> fold(Opcode op, const IValue& left, const IValue* right);

}  // namespace boxcar::interp
