#pragma once

#include <boxcar/interpreter/bytecode/bytecode.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/macros.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace boxcar::interp {

// What verification finds out about a function for the machine.
struct FunctionBounds {
  uint32_t max_stack = 0;   // the maximum number of its values on the stack
  uint16_t max_passed = 0;  // the maximum number of arguments that it passes to functions
};

// The parts of a unit.
enum class UnitPart : uint8_t { Unit, Function, Operator, Export, Handler, Scope, Module, Import, Struct };

// Why a unit is rejected, and which part is at fault.
class BOXCAR_API BytecodeError : public RuntimeError {
 public:
  struct Place {
    UnitPart part = UnitPart::Unit;  // Unit if it is the unit as a whole
    size_t index = 0;
    std::optional<size_t> instruction;  // of a function
  };
  BytecodeError(std::string message, Place place) : RuntimeError(std::move(message)), place_(place) {}

  const Place& place() const noexcept { return place_; }

 private:
  Place place_;
};

// Verifies what the machine does not check: every index refers to an existing thing of the right kind; slots hold what
// the opcodes expect; jumps stay in their function; the stack has the same height on all paths to a place and never too
// few values for an instruction; arguments are passed right before their call; functions end with a return of the right
// kind and no scope open; bodies fit what they are bodies of; spans lie in their source. Throws BytecodeError that
// names the function and the instruction.
std::vector<FunctionBounds> verify(const CodeUnit& unit);

// How many values an instruction takes from the stack and puts there.
struct StackEffect {
  size_t takes = 0;
  size_t leaves = 0;
};
StackEffect stackEffect(const CodeUnit& unit, const Instruction& instruction);

// Returns the number of values on the stack before each instruction of [function], which must be verified; -1 for
// unreachable instructions.
std::vector<int64_t> stackHeights(const CodeUnit& unit, const CodeFunction& function);

}  // namespace boxcar::interp
