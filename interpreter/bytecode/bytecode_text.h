#pragma once

// The spelling of bytecode, shared by its disassembler, its assembler and opcodes.md.

#include <boxcar/interpreter/bytecode/bytecode.h>  // IWYU pragma: export

#include <string>
#include <string_view>

namespace boxcar::interp {

// The first line of every disassembly.
inline constexpr std::string_view kBytecodeHeader = "boxcar bytecode 1";

// How deep constants may nest.
inline constexpr int kMaxConstantDepth = 100;

// `i0` is slot 0, an Int.
constexpr char slotLetter(SlotKind kind) noexcept { return "ifbv"[static_cast<size_t>(kind)]; }

struct OperandSpelling {
  std::string_view form;      // as in opcodes.md: "i", "constant n"
  std::string_view expected;  // as in error messages: "an int slot, as in `i0`"
};
OperandSpelling spellingOf(Operand operand) noexcept;

// Returns [text] in double quotes. Quotes, backslashes, non-printable characters below U+0080 and bytes that are not
// UTF-8 are escaped, so the same bytes can be read back.
std::string quotedText(std::string_view text);

// Returns [name] unchanged if it is a word of letters, digits and `_`, else quoted.
std::string nameText(std::string_view name);

// Returns the exact text of a constant: `1`, `1.0`, `-nan`, `complex(0.0, -0.0)`, `"text"`, `device("cpu")`,
// `[1, int[1, 2]]`, `(1,)`, `{"key": 1}`. A value that cannot be a constant, such as a tensor, is written as
// `<Tensor>`.
std::string constantText(const IValue& value);

}  // namespace boxcar::interp
