#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace boxcar::interp {

// What a frame slot holds throughout its function. Scalars are stored unboxed in the slot's payload, so an opcode is a
// load, an operation and a store. Value is anything, including None and boxed scalars.
enum class SlotKind : uint8_t { Int, Float, Bool, Value };

// The meaning of one of an instruction's fields a, b, c. Wide operands fill b and c together.
enum class Operand : uint8_t {
  None,
  // A slot that is read.
  IntIn,
  FloatIn,
  BoolIn,
  ValueIn,
  ScalarIn,   // Int, Float or Bool
  SlotIn,     // of any kind
  ValueMove,  // a Value that is moved out; the slot is None afterwards
  // A slot that is written.
  IntOut,
  FloatOut,
  BoolOut,
  ValueOut,
  ResultOut,  // of the kind that the called function returns
  // The first of several slots that hold a loop's state.
  RangeState,  // three Int: the current number, the number left, the step
  EachState,   // a Value and an Int: the iterable and the position
  // Numbers.
  Argument,       // position in the called function's arguments
  Immediate,      // int16
  Divisor,        // int16 other than 0
  BoolImmediate,  // 0 or 1
  Count,          // a number of values on the stack
  Type,           // index into the unit's types
  ListType,       // index into the unit's types, of a list type
  Struct,         // index into the unit's structs, of one that is declared or imported
  Field,          // index into the unit's fields
  Builtin,        // index into builtins()
  ArgumentCount,  // the number of values that the built-in in field a takes from the stack
  Target,         // int16, relative to the next instruction
  // Wide.
  WideImmediate,  // int32
  IntConstant,    // index into the unit's constants, of an Int; the next of a Float
  FloatConstant,
  Constant,  // of any kind
  Function,  // index into the unit's functions, except its statements
  OperatorSite,
  DynamicSite,
  Global,
  Module,            // index into the unit's modules, of a script
  ImportedFunction,  // index into the unit's imported functions
  Scope,             // index into the unit's scopes
  Handler,           // index into the unit's handlers, of an impl or a fallback
  FarTarget,         // int32, relative to the next instruction
};

constexpr bool isWide(Operand operand) noexcept { return operand >= Operand::WideImmediate; }

// How many values an instruction takes from the stack or leaves there: a number, or where to find it.
enum StackCount : int8_t { kFieldA = -1, kFieldB = -2, kFieldC = -3, kTwiceFieldB = -4, kSite = -5 };

// Where control goes after an instruction.
enum class Then : uint8_t {
  Next,     // the next instruction or, if a field is a target, possibly the target
  MayFail,  // as Next, or an error
  Jump,     // its target
  Return,   // the caller; field a, if there is one, is the result
  Fail,     // an error
  Halt,     // the machine's caller
};

enum class Opcode : uint16_t {
#define BOXCAR_OPCODE(name, ...) name,
#include <boxcar/interpreter/bytecode/opcode_table.h>
};

struct OpcodeInfo {
  std::string_view name;
  std::array<Operand, 3> operands;  // a, b, c; b is both b and c when it is wide
  int8_t takes;                     // values from the stack: a number or a StackCount
  int8_t leaves;                    // values on the stack
  Then then;
  std::string_view effect;
};

inline constexpr OpcodeInfo kOpcodes[] = {
#define BOXCAR_OPCODE(name, a, b, c, takes, leaves, then, effect) \
  {#name, {Operand::a, Operand::b, Operand::c}, takes, leaves, Then::then, effect},
#include <boxcar/interpreter/bytecode/opcode_table.h>
};
inline constexpr size_t kOpcodeCount = std::size(kOpcodes);

// Code that reads instructions relies on this: wide operands are field b, short targets field c.
static_assert(std::ranges::all_of(kOpcodes, [](const OpcodeInfo& opcode) {
  const auto& [a, b, c] = opcode.operands;
  const auto isTarget = [](Operand field) { return field == Operand::Target; };
  return !isWide(a) && !isWide(c) && !isTarget(a) && !isTarget(b) && !(isWide(b) && c != Operand::None);
}));

constexpr const OpcodeInfo& info(Opcode op) noexcept { return kOpcodes[static_cast<size_t>(op)]; }

// Returns the opcode called [name].
constexpr std::optional<Opcode> opcodeNamed(std::string_view name) noexcept {
  for (size_t i = 0; i < kOpcodeCount; ++i) {
    if (kOpcodes[i].name == name) return static_cast<Opcode>(i);
  }
  return std::nullopt;
}

constexpr std::string_view toString(Opcode op) noexcept { return info(op).name; }

constexpr std::string_view toString(SlotKind kind) noexcept {
  constexpr std::string_view names[] = {"Int", "Float", "Bool", "Value"};
  return names[static_cast<size_t>(kind)];
}

}  // namespace boxcar::interp
