#pragma once

#include <boxcar/interpreter/bytecode.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/macros.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace boxcar::interp {

// What the proof finds out about a function and the machine needs.
struct FunctionBounds {
  uint32_t max_stack = 0;   // values that it has on the stack at most
  uint16_t max_passed = 0;  // arguments that it passes to functions at most
};

// What a unit consists of.
enum class UnitPart : uint8_t { Unit, Function, Operator, Export, Handler, Scope, Module, Import };

// Why a unit is refused, and what of it.
class BOXCAR_API BytecodeError : public RuntimeError {
 public:
  struct Place {
    UnitPart part = UnitPart::Unit;  // Unit where it is the unit as a whole
    size_t index = 0;
    std::optional<size_t> instruction;  // of a function
  };
  BytecodeError(std::string message, Place place) : RuntimeError(std::move(message)), place_(place) {}

  const Place& place() const noexcept { return place_; }

 private:
  Place place_;
};

// Proves what the machine does not check: that every index is one of a thing that is there and of the right kind, that
// slots hold what the opcodes expect, that jumps stay in their function, that the stack has the same height on all
// paths to a place and never less than an instruction takes, that arguments are passed right before their call, that
// functions end with a return of the right kind and no scope open, that bodies fit what they are bodies of, that spans
// lie in their source. Throws a BytecodeError that names the function and the instruction.
std::vector<FunctionBounds> verify(const CodeUnit& unit);

// How many values an instruction takes from the stack and puts there.
struct StackEffect {
  size_t takes = 0;
  size_t leaves = 0;
};
StackEffect stackEffect(const CodeUnit& unit, const Instruction& instruction);

// How many values [function], which was verified, has on the stack before each instruction; -1 where it never comes.
std::vector<int64_t> stackHeights(const CodeUnit& unit, const CodeFunction& function);

}  // namespace boxcar::interp
