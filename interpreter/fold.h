#pragma once

#include <boxcar/interpreter/opcodes.h>
#include <boxcar/ivalue/ivalue.h>

#include <optional>

namespace boxcar::interp {

// What an instruction on scalars would give for constant operands; nothing where it would be an error, or where it
// cannot be known before the program runs. [right] is null where the opcode has one operand.
std::optional<IValue> fold(Opcode op, const IValue& left, const IValue* right);

}  // namespace boxcar::interp
