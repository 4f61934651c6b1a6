#pragma once

#include <boxcar/interpreter/bytecode.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace boxcar::interp {

// What all functions of a unit share: equal constants, types and sites are kept once.
class UnitBuilder final {
 public:
  explicit UnitBuilder(SourcePtr source);

  // Indices for instructions. Constants are equal when kind and text are: 1, 1.0 and True are three.
  uint32_t constant(const IValue& value);
  // An Error past the 65,536th type.
  uint16_t type(TypePtr type);
  uint32_t operatorSite(const OperatorName& name, size_t arguments, size_t results);
  uint32_t dynamicSite(DynamicSite site);
  uint32_t global(std::string name, TypePtr type);
  uint32_t scope(CodeScope scope);
  // A place for a function, to be filled later, so that calls can stand before its code.
  uint32_t declareFunction();

  CodeUnit& unit() noexcept { return unit_; }
  CodeUnit finish() && { return std::move(unit_); }

 private:
  CodeUnit unit_;
  std::unordered_map<std::string, uint32_t> constants_;
  std::unordered_map<TypePtr, uint16_t> types_;
  std::unordered_map<std::string, uint32_t> operator_sites_;
};

// Where a jump goes; bound to a place in the code before finish().
struct Label {
  uint32_t id;
};

// Emits one function's code. Jumps go to labels; finish() turns them into offsets and takes a detour where a short one
// does not reach.
//
//   CodeBuilder code("square", source, span);
//   uint16_t x = code.argument(SlotKind::Int);
//   uint16_t y = code.slot(SlotKind::Int);
//   code.at(expression_span).emit(Opcode::MulInt, y, x, x);
//   code.emit(Opcode::ReturnInt, y);
//   unit.functions[index] = std::move(code).finish(SlotKind::Int);
class CodeBuilder final {
 public:
  CodeBuilder(std::string name, SourcePtr source, Span span);

  // Arguments come before all other slots. An Error past the 65,000th slot.
  uint16_t argument(SlotKind kind, std::string_view name = {});
  uint16_t slot(SlotKind kind, std::string_view name = {});
  void nameSlot(uint16_t slot, std::string_view name);
  SlotKind kind(uint16_t slot) const { return function_.slots[slot]; }

  // The text that the following instructions come from.
  CodeBuilder& at(Span span) noexcept {
    span_ = span;
    return *this;
  }
  Span span() const noexcept { return span_; }

  void emit(Opcode op, uint16_t a = 0, uint16_t b = 0, uint16_t c = 0);
  // For opcodes with a wide operand that is no jump.
  void emitWide(Opcode op, uint16_t a, uint32_t number);
  // Any jump, RangeInit, RangeNext and EachNext included; [b] is the second field where the opcode has one.
  void emitJump(Opcode op, Label target, uint16_t a = 0, uint16_t b = 0);

  Label newLabel();
  void bind(Label label);

  // Whether an immediate operand can hold it.
  static bool fitsImmediate(int64_t value) noexcept { return value == static_cast<int16_t>(value); }

  size_t size() const noexcept { return function_.code.size(); }
  CodeFunction finish(SlotKind result) &&;

 private:
  struct Fixup {
    uint32_t instruction;
    Label target;
  };
  void append(Instruction instruction);
  void lengthenJumps();

  CodeFunction function_;
  Span span_;
  std::vector<uint32_t> labels_;  // place of each, or kUnbound
  std::vector<Fixup> fixups_;     // in the order of their instructions
};

}  // namespace boxcar::interp
