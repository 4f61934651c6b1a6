#pragma once

#include <boxcar/interpreter/bytecode/bytecode.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace boxcar::interp {

// Builds the tables that all functions of a unit share. Equal constants, types and sites are stored once.
class UnitBuilder final {
 public:
  explicit UnitBuilder(SourcePtr source);

  // These return indices for instructions. Constants are equal if kind and text are: 1, 1.0 and True are three
  // constants.
  uint32_t constant(const IValue& value);
  // Throws Error past the 65,536th type.
  uint16_t type(TypePtr type);
  // Throws Error past the 65,536th field.
  uint16_t field(const CodeField& field);
  uint32_t operatorSite(const OperatorName& name, size_t arguments, size_t results);
  uint32_t dynamicSite(DynamicSite site);
  uint32_t global(std::string name, TypePtr type);
  uint32_t scope(CodeScope scope);
  // Reserves an index for a function that is filled in later, so that calls can be emitted before its code.
  uint32_t declareFunction();

  CodeUnit& unit() noexcept { return unit_; }
  CodeUnit finish() && { return std::move(unit_); }

 private:
  CodeUnit unit_;
  std::unordered_map<std::string, uint32_t> constants_;
  std::unordered_map<TypePtr, uint16_t> types_;
  std::unordered_map<std::string, uint32_t> operator_sites_;
};

// The target of a jump; bound to a position in the code before finish().
struct Label {
  uint32_t id;
};

// Emits one function's code. Jumps go to labels; finish() turns them into offsets and inserts a far jump where a short
// one does not reach.
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

  // Arguments come before all other slots. Throws Error past the 65,000th slot.
  uint16_t argument(SlotKind kind, std::string_view name = {});
  uint16_t slot(SlotKind kind, std::string_view name = {});
  void nameSlot(uint16_t slot, std::string_view name);
  SlotKind kind(uint16_t slot) const { return function_.slots[slot]; }

  // Sets the source span of the instructions that follow.
  CodeBuilder& at(Span span) noexcept {
    span_ = span;
    return *this;
  }
  Span span() const noexcept { return span_; }

  void emit(Opcode op, uint16_t a = 0, uint16_t b = 0, uint16_t c = 0);
  // For opcodes with a wide operand that is not a jump target.
  void emitWide(Opcode op, uint16_t a, uint32_t number);
  // Emits any jump, RangeInit, RangeNext and EachNext included; [b] is the second field if the opcode has one.
  void emitJump(Opcode op, Label target, uint16_t a = 0, uint16_t b = 0);

  Label newLabel();
  void bind(Label label);

  // Whether [value] fits into an immediate operand.
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
  std::vector<uint32_t> labels_;  // position of each, or kUnbound
  std::vector<Fixup> fixups_;     // in instruction order
};

}  // namespace boxcar::interp
