#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace boxcar::interp {

// What a frame slot holds for the whole of its function. Scalars lie in the slot's payload as they are, so that an
// opcode is a load, an operation and a store; Value is anything, None and boxed scalars included.
enum class SlotKind : uint8_t { Int, Float, Bool, Value };

// What one of the fields a, b, c of an instruction means. The wide ones fill b and c together.
enum class Operand : uint8_t {
  None,
  // A slot that is read.
  IntIn,
  FloatIn,
  BoolIn,
  ValueIn,
  ScalarIn,   // Int, Float or Bool
  SlotIn,     // of any kind
  ValueMove,  // a Value that is taken; the slot is None afterwards
  // A slot that is written.
  IntOut,
  FloatOut,
  BoolOut,
  ValueOut,
  ResultOut,  // of the kind that the called function returns
  // The first of several slots that a loop keeps its state in.
  RangeState,  // three Int: the current number, how many are left, the step
  EachState,   // a Value and an Int: what is iterated and how far
  // Numbers.
  Argument,   // position in the called function's arguments
  Immediate,  // int16
  Count,      // how many values on the stack
  Type,       // index into the unit's types
  Builtin,    // index into builtins()
  Target,     // int16, counted from the next instruction
  // Wide.
  WideImmediate,  // int32
  IntConstant,    // index into the unit's constants, one of that kind
  FloatConstant,
  Constant,  // of any kind
  Function,  // index into the unit's functions
  OperatorSite,
  DynamicSite,
  Global,
  Module,            // index into the unit's modules
  ImportedFunction,  // index into the unit's imported functions
  Scope,             // index into the unit's scopes
  Handler,           // index into the unit's handlers
  FarTarget,  // int32, counted from the next instruction
};

constexpr bool isWide(Operand operand) noexcept { return operand >= Operand::WideImmediate; }

// Every instruction, once: name, fields a, b and c, and how many values it takes from the stack and puts there (-1:
// what Count, the site or the built-in says). Enum, verifier and disassembler come from here; the machine has one case
// per line, in this order.
//
//   X(AddInt, IntOut, IntIn, IntIn, 0, 0)    a = b + c, all three int slots
#define BOXCAR_OPCODES(X)                                                                                         \
  /* Copies and constants */                                                                                      \
  X(MoveInt, IntOut, IntIn, None, 0, 0)                                                                           \
  X(MoveFloat, FloatOut, FloatIn, None, 0, 0)                                                                     \
  X(MoveBool, BoolOut, BoolIn, None, 0, 0)                                                                        \
  X(Copy, ValueOut, SlotIn, None, 0, 0)                                                                           \
  X(Move, ValueOut, ValueMove, None, 0, 0)                                                                        \
  X(LoadInt, IntOut, WideImmediate, None, 0, 0)                                                                   \
  X(LoadIntConstant, IntOut, IntConstant, None, 0, 0)                                                             \
  X(LoadFloat, FloatOut, FloatConstant, None, 0, 0)                                                               \
  X(LoadBool, BoolOut, Immediate, None, 0, 0)                                                                     \
  X(LoadNone, ValueOut, None, None, 0, 0)                                                                         \
  X(LoadConstant, ValueOut, Constant, None, 0, 0)                                                                 \
  X(LoadGlobal, ValueOut, Global, None, 0, 0)                                                                     \
  X(BeginGlobal, BoolOut, Global, None, 0, 0)                                                                     \
  X(StoreGlobal, SlotIn, Global, None, 0, 0)                                                                      \
  /* Conversions; Unbox and Convert are errors when the value is of another kind */                               \
  X(IntToFloat, FloatOut, IntIn, None, 0, 0)                                                                      \
  X(FloatToInt, IntOut, FloatIn, None, 0, 0)                                                                      \
  X(IntToBool, BoolOut, IntIn, None, 0, 0)                                                                        \
  X(FloatToBool, BoolOut, FloatIn, None, 0, 0)                                                                    \
  X(BoolToInt, IntOut, BoolIn, None, 0, 0)                                                                        \
  X(BoolToFloat, FloatOut, BoolIn, None, 0, 0)                                                                    \
  X(UnboxInt, IntOut, ValueIn, None, 0, 0)                                                                        \
  X(UnboxFloat, FloatOut, ValueIn, None, 0, 0)                                                                    \
  X(UnboxBool, BoolOut, ValueIn, None, 0, 0)                                                                      \
  X(Convert, ValueOut, SlotIn, Type, 0, 0)                                                                        \
  X(TestType, BoolOut, SlotIn, Type, 0, 0)                                                                        \
  X(Truth, BoolOut, ValueIn, None, 0, 0)                                                                          \
  /* int arithmetic, which wraps; division by zero is an error */                                                 \
  X(AddInt, IntOut, IntIn, IntIn, 0, 0)                                                                           \
  X(SubInt, IntOut, IntIn, IntIn, 0, 0)                                                                           \
  X(MulInt, IntOut, IntIn, IntIn, 0, 0)                                                                           \
  X(DivInt, FloatOut, IntIn, IntIn, 0, 0)                                                                         \
  X(FloorDivInt, IntOut, IntIn, IntIn, 0, 0)                                                                      \
  X(ModInt, IntOut, IntIn, IntIn, 0, 0)                                                                           \
  X(PowInt, IntOut, IntIn, IntIn, 0, 0)                                                                           \
  X(AndInt, IntOut, IntIn, IntIn, 0, 0)                                                                           \
  X(OrInt, IntOut, IntIn, IntIn, 0, 0)                                                                            \
  X(XorInt, IntOut, IntIn, IntIn, 0, 0)                                                                           \
  X(ShlInt, IntOut, IntIn, IntIn, 0, 0)                                                                           \
  X(ShrInt, IntOut, IntIn, IntIn, 0, 0)                                                                           \
  X(NegInt, IntOut, IntIn, None, 0, 0)                                                                            \
  X(InvertInt, IntOut, IntIn, None, 0, 0)                                                                         \
  X(AddIntImm, IntOut, IntIn, Immediate, 0, 0)                                                                    \
  X(MulIntImm, IntOut, IntIn, Immediate, 0, 0)                                                                    \
  X(FloorDivIntImm, IntOut, IntIn, Immediate, 0, 0)                                                               \
  X(ModIntImm, IntOut, IntIn, Immediate, 0, 0)                                                                    \
  X(AndIntImm, IntOut, IntIn, Immediate, 0, 0)                                                                    \
  /* float and bool arithmetic */                                                                                 \
  X(AddFloat, FloatOut, FloatIn, FloatIn, 0, 0)                                                                   \
  X(SubFloat, FloatOut, FloatIn, FloatIn, 0, 0)                                                                   \
  X(MulFloat, FloatOut, FloatIn, FloatIn, 0, 0)                                                                   \
  X(DivFloat, FloatOut, FloatIn, FloatIn, 0, 0)                                                                   \
  X(FloorDivFloat, FloatOut, FloatIn, FloatIn, 0, 0)                                                              \
  X(ModFloat, FloatOut, FloatIn, FloatIn, 0, 0)                                                                   \
  X(PowFloat, FloatOut, FloatIn, FloatIn, 0, 0)                                                                   \
  X(NegFloat, FloatOut, FloatIn, None, 0, 0)                                                                      \
  X(NotBool, BoolOut, BoolIn, None, 0, 0)                                                                         \
  X(AndBool, BoolOut, BoolIn, BoolIn, 0, 0)                                                                       \
  X(OrBool, BoolOut, BoolIn, BoolIn, 0, 0)                                                                        \
  X(XorBool, BoolOut, BoolIn, BoolIn, 0, 0)                                                                       \
  /* Comparisons; greater is less with the operands swapped */                                                    \
  X(EqInt, BoolOut, IntIn, IntIn, 0, 0)                                                                           \
  X(NeInt, BoolOut, IntIn, IntIn, 0, 0)                                                                           \
  X(LtInt, BoolOut, IntIn, IntIn, 0, 0)                                                                           \
  X(LeInt, BoolOut, IntIn, IntIn, 0, 0)                                                                           \
  X(EqFloat, BoolOut, FloatIn, FloatIn, 0, 0)                                                                     \
  X(NeFloat, BoolOut, FloatIn, FloatIn, 0, 0)                                                                     \
  X(LtFloat, BoolOut, FloatIn, FloatIn, 0, 0)                                                                     \
  X(LeFloat, BoolOut, FloatIn, FloatIn, 0, 0)                                                                     \
  /* Jumps; with the comparison in them where a loop would make two */                                            \
  X(Jump, None, FarTarget, None, 0, 0)                                                                            \
  X(JumpIf, BoolIn, FarTarget, None, 0, 0)                                                                        \
  X(JumpIfNot, BoolIn, FarTarget, None, 0, 0)                                                                     \
  X(JumpIfNone, ValueIn, FarTarget, None, 0, 0)                                                                   \
  X(JumpIfNotNone, ValueIn, FarTarget, None, 0, 0)                                                                \
  X(JumpIfEqInt, IntIn, IntIn, Target, 0, 0)                                                                      \
  X(JumpIfNeInt, IntIn, IntIn, Target, 0, 0)                                                                      \
  X(JumpIfLtInt, IntIn, IntIn, Target, 0, 0)                                                                      \
  X(JumpIfLeInt, IntIn, IntIn, Target, 0, 0)                                                                      \
  X(JumpIfEqIntImm, IntIn, Immediate, Target, 0, 0)                                                               \
  X(JumpIfNeIntImm, IntIn, Immediate, Target, 0, 0)                                                               \
  X(JumpIfLtIntImm, IntIn, Immediate, Target, 0, 0)                                                               \
  X(JumpIfLeIntImm, IntIn, Immediate, Target, 0, 0)                                                               \
  X(JumpIfGtIntImm, IntIn, Immediate, Target, 0, 0)                                                               \
  X(JumpIfGeIntImm, IntIn, Immediate, Target, 0, 0)                                                               \
  X(JumpIfEqFloat, FloatIn, FloatIn, Target, 0, 0)                                                                \
  X(JumpIfNeFloat, FloatIn, FloatIn, Target, 0, 0)                                                                \
  X(JumpIfLtFloat, FloatIn, FloatIn, Target, 0, 0)                                                                \
  X(JumpIfLeFloat, FloatIn, FloatIn, Target, 0, 0)                                                                \
  X(JumpIfNotLtFloat, FloatIn, FloatIn, Target, 0, 0)                                                             \
  X(JumpIfNotLeFloat, FloatIn, FloatIn, Target, 0, 0)                                                             \
  /* Loops. RangeInit finds start, stop and step in its state, sets b to the first number or jumps where there is \
     none; RangeNext sets b to the next one and jumps back, or goes on. EachInit takes what to iterate from b;    \
     EachNext sets b to the next element and jumps back, or goes on. */                                           \
  X(RangeInit, RangeState, IntOut, Target, 0, 0)                                                                  \
  X(RangeNext, RangeState, IntOut, Target, 0, 0)                                                                  \
  X(EachInit, EachState, ValueIn, None, 0, 0)                                                                     \
  X(EachNext, EachState, ValueOut, Target, 0, 0)                                                                  \
  /* The stack, which operators and built-ins work on */                                                          \
  X(Push, ValueIn, None, None, 0, 1)                                                                              \
  X(PushMove, ValueMove, None, None, 0, 1)                                                                        \
  X(PushScalar, ScalarIn, None, None, 0, 1)                                                                       \
  X(PushConstant, None, Constant, None, 0, 1)                                                                     \
  X(Pop, ValueOut, None, None, 1, 0)                                                                              \
  X(PopInt, IntOut, None, None, 1, 0)                                                                             \
  X(PopFloat, FloatOut, None, None, 1, 0)                                                                         \
  X(PopBool, BoolOut, None, None, 1, 0)                                                                           \
  X(Drop, Count, None, None, -1, 0)                                                                               \
  /* Calls. A call of a function stands right behind its arguments, first argument first. */                      \
  X(CallOperator, None, OperatorSite, None, -1, -1)                                                               \
  X(CallDynamic, None, DynamicSite, None, -1, -1)                                                                 \
  X(CallBuiltin, Builtin, Count, None, -1, 1)                                                                     \
  X(PassScalar, Argument, ScalarIn, None, 0, 0)                                                                   \
  X(PassValue, Argument, ValueIn, None, 0, 0)                                                                     \
  X(PassMove, Argument, ValueMove, None, 0, 0)                                                                    \
  X(CallFunction, ResultOut, Function, None, 0, 0)                                                                \
  X(CallImported, ResultOut, ImportedFunction, None, 0, 0)                                                        \
  X(ReturnInt, IntIn, None, None, 0, 0)                                                                           \
  X(ReturnFloat, FloatIn, None, None, 0, 0)                                                                       \
  X(ReturnBool, BoolIn, None, None, 0, 0)                                                                         \
  X(ReturnValue, ValueIn, None, None, 0, 0)                                                                       \
  X(ReturnMove, ValueMove, None, None, 0, 0)                                                                      \
  X(ReturnNone, None, None, None, 0, 0)                                                                           \
  X(Fail, ValueIn, None, None, 0, 0)                                                                              \
  /* What a file imports runs once, between Begin, which tells whether it is to run now, and End. Scopes end in the \
     reverse order of their beginning. */                                                                         \
  X(BeginImport, BoolOut, Module, None, 0, 0)                                                                     \
  X(EndImport, None, Module, None, 0, 0)                                                                          \
  X(EnterScope, None, Scope, None, 0, 0)                                                                          \
  X(LeaveScope, None, None, None, 0, 0)                                                                           \
  X(Register, None, Handler, None, 0, 0)                                                                          \
  /* Containers: Make takes the elements from the stack, dicts key by key with its value; Unpack puts them there, \
     the first one first; Slice takes start, stop and step. */                                                    \
  X(MakeList, ValueOut, Type, Count, -1, 0)                                                                       \
  X(MakeTuple, ValueOut, Count, None, -1, 0)                                                                      \
  X(MakeDict, ValueOut, Count, None, -1, 0)                                                                       \
  X(Unpack, ValueIn, Count, None, 0, -1)                                                                          \
  X(Length, IntOut, ValueIn, None, 0, 0)                                                                          \
  X(Index, ValueOut, ValueIn, SlotIn, 0, 0)                                                                       \
  X(IndexInt, IntOut, ValueIn, IntIn, 0, 0)                                                                       \
  X(IndexFloat, FloatOut, ValueIn, IntIn, 0, 0)                                                                   \
  X(SetIndex, ValueIn, SlotIn, SlotIn, 0, 0)                                                                      \
  X(Slice, ValueOut, ValueIn, None, 3, 0)                                                                         \
  X(Contains, BoolOut, SlotIn, ValueIn, 0, 0)                                                                     \
  X(Is, BoolOut, SlotIn, SlotIn, 0, 0)                                                                            \
  X(Same, BoolOut, SlotIn, SlotIn, 0, 0)                                                                          \
  /* Operators on values of kinds that are only known at run time; tensors go through the dispatcher */           \
  X(AddValue, ValueOut, SlotIn, SlotIn, 0, 0)                                                                     \
  X(SubValue, ValueOut, SlotIn, SlotIn, 0, 0)                                                                     \
  X(MulValue, ValueOut, SlotIn, SlotIn, 0, 0)                                                                     \
  X(DivValue, ValueOut, SlotIn, SlotIn, 0, 0)                                                                     \
  X(FloorDivValue, ValueOut, SlotIn, SlotIn, 0, 0)                                                                \
  X(ModValue, ValueOut, SlotIn, SlotIn, 0, 0)                                                                     \
  X(PowValue, ValueOut, SlotIn, SlotIn, 0, 0)                                                                     \
  X(MatMulValue, ValueOut, SlotIn, SlotIn, 0, 0)                                                                  \
  X(AndValue, ValueOut, SlotIn, SlotIn, 0, 0)                                                                     \
  X(OrValue, ValueOut, SlotIn, SlotIn, 0, 0)                                                                      \
  X(XorValue, ValueOut, SlotIn, SlotIn, 0, 0)                                                                     \
  X(ShlValue, ValueOut, SlotIn, SlotIn, 0, 0)                                                                     \
  X(ShrValue, ValueOut, SlotIn, SlotIn, 0, 0)                                                                     \
  X(EqValue, ValueOut, SlotIn, SlotIn, 0, 0)                                                                      \
  X(NeValue, ValueOut, SlotIn, SlotIn, 0, 0)                                                                      \
  X(LtValue, ValueOut, SlotIn, SlotIn, 0, 0)                                                                      \
  X(LeValue, ValueOut, SlotIn, SlotIn, 0, 0)                                                                      \
  X(GtValue, ValueOut, SlotIn, SlotIn, 0, 0)                                                                      \
  X(GeValue, ValueOut, SlotIn, SlotIn, 0, 0)                                                                      \
  X(NegValue, ValueOut, SlotIn, None, 0, 0)                                                                       \
  X(PlusValue, ValueOut, SlotIn, None, 0, 0)                                                                      \
  X(InvertValue, ValueOut, SlotIn, None, 0, 0)                                                                    \
  /* Ends a run; the machine's own, no program holds it */                                                        \
  X(Halt, None, None, None, 0, 0)

enum class Opcode : uint16_t {
#define BOXCAR_OPCODE_NAME(name, ...) name,
  BOXCAR_OPCODES(BOXCAR_OPCODE_NAME)
#undef BOXCAR_OPCODE_NAME
};

struct OpcodeInfo {
  std::string_view name;
  std::array<Operand, 3> operands;  // a, b, c; b is both b and c when it is wide
  int pops;
  int pushes;
};

inline constexpr OpcodeInfo kOpcodes[] = {
#define BOXCAR_OPCODE_INFO(name, a, b, c, pops, pushes) {#name, {Operand::a, Operand::b, Operand::c}, pops, pushes},
    BOXCAR_OPCODES(BOXCAR_OPCODE_INFO)
#undef BOXCAR_OPCODE_INFO
};
inline constexpr size_t kOpcodeCount = std::size(kOpcodes);

constexpr const OpcodeInfo& info(Opcode op) noexcept { return kOpcodes[static_cast<size_t>(op)]; }

// The opcode called [name].
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
