#pragma once

// How bytecode is spelled: what its disassembly, its assembler and opcodes.md share.

#include <boxcar/interpreter/bytecode.h>  // IWYU pragma: export

#include <string>
#include <string_view>

namespace boxcar::interp {

// The first line of every disassembly.
inline constexpr std::string_view kBytecodeHeader = "boxcar bytecode 1";

// Constants lie in one another no deeper than this.
inline constexpr int kMaxConstantDepth = 100;

// `i0` is slot 0, an Int.
constexpr char slotLetter(SlotKind kind) noexcept { return "ifbv"[static_cast<size_t>(kind)]; }

struct OperandSpelling {
  std::string_view form;      // as opcodes.md names it: "i", "constant n"
  std::string_view expected;  // as an error tells it: "an int slot, as in `i0`"
};
OperandSpelling spellingOf(Operand operand) noexcept;

// In double quotes; a quote, a backslash, what is no printable ASCII character below U+0080 and bytes that are no UTF-8
// are escaped, so that the same bytes can be read back.
std::string quotedText(std::string_view text);

// [name] as it is where it is a word of letters, digits and `_`, else quoted.
std::string nameText(std::string_view name);

// A constant, exactly: `1`, `1.0`, `-nan`, `complex(0.0, -0.0)`, `"text"`, `device("cpu")`, `[1, int[1, 2]]`, `(1,)`,
// `{"key": 1}`. What can be no constant, such as a tensor, is `<Tensor>`.
std::string constantText(const IValue& value);

}  // namespace boxcar::interp
