#pragma once

#include <boxcar/interpreter/compiler/code_builder.h>
#include <boxcar/interpreter/compiler/typed_program.h>

#include <array>
#include <span>
#include <unordered_map>
#include <vector>

namespace boxcar::interp {

// The calling convention of a function of the unit.
struct FunctionShape {
  std::vector<SlotKind> arguments;
  SlotKind result = SlotKind::Value;
};

// Generates the bytecode of one function.
class Codegen {
 public:
  // [shapes]: of all functions of the unit, by index; the unit already has its imports. Throws Error if a function is
  // too large.
  Codegen(UnitBuilder& unit, const SourcePtr& source, std::span<const FunctionShape> shapes,
          const typed::Function& function);

  CodeFunction run();

 private:
  struct Place {
    Label label;
    bool is_used = false;
  };
  struct Loop {
    Place* on_continue;
    Place* on_break;
    size_t open_scopes;  // the number of open scopes around it
  };
  // A slot to read from; release() frees a temporary one.
  struct Operand {
    uint16_t slot;
    bool is_temporary;
  };

  // ---- codegen.cpp: slots and places ----
  uint16_t slotOf(typed::Target target);
  uint16_t takeTemporary(SlotKind kind);
  void release(Operand operand);
  Place newPlace() { return {code_.newLabel()}; }
  void bind(Place& place);
  void bindAlways(Place& place);
  void jump(Opcode op, Place& place, uint16_t a = 0, uint16_t b = 0);
  // Moves the content of [from] to [to], which may be of another kind.
  void move(uint16_t to, uint16_t from, bool is_last_use = false);
  static Opcode moveOf(SlotKind kind);
  void pop(uint16_t to);

  // ---- codegen_statement.cpp ----
  void emit(const typed::Block& block);
  void emit(const typed::Stmt& statement);
  void emit(const typed::Evaluate& node);
  void emit(const typed::SetVariable& node);
  void emit(const typed::SetGlobal& node);
  void emit(const typed::SetIndex& node);
  void emit(const typed::SetField& node);
  void emit(const typed::Unpack& node);
  void emit(const typed::If& node);
  void emit(const typed::While& node);
  void emit(const typed::ForRange& node);
  void emit(const typed::ForEach& node);
  void emit(const typed::RecastAll& node);
  void emit(const typed::Break&);
  void emit(const typed::Continue&);
  void emit(const typed::Return& node);
  void emit(const typed::Fail& node);
  void emit(const typed::With& node);
  void emit(const typed::Register& node);
  void emit(const typed::RunModule& node);
  void leaveScopes(size_t left_open);
  // Emits [statements] so that they run once for all runs; [begin] tests whether they must run now.
  template <class Statements>
  void once(Opcode begin, uint32_t index, Statements statements);
  // Returns the slot for a loop's element. If the body begins by assigning the element to a variable, that variable's
  // slot is used and [first_statement] skips the assignment.
  uint16_t elementSlot(typed::Target element, const typed::Block& body, size_t& first_statement);
  void emitBody(const typed::Block& body, size_t first_statement, Place& on_continue, Place& on_break);

  // ---- codegen_expression.cpp ----
  // Evaluates into [to], converted to the kind of [to].
  void evaluateTo(const typed::Expr& expr, uint16_t to);
  // Evaluates into a slot that can be read as [kind]; a variable's own slot if that is possible.
  Operand evaluate(const typed::Expr& expr, SlotKind kind);
  // Evaluates into a slot of whatever kind the value has.
  Operand evaluate(const typed::Expr& expr);
  void push(const typed::Expr& expr);
  void load(const IValue& value, uint16_t to);
  void operate(const typed::Operate& node, uint16_t to);
  bool operateImmediate(const typed::Operate& node, uint16_t to);
  Operand operandFor(const typed::Expr& expr, interp::Operand kind);
  // Evaluates the left operand of an operation whose result goes to [to]. Uses [to] itself if nothing else is read from
  // it.
  Operand leftOperand(const typed::Expr& expr, interp::Operand kind, uint16_t to);
  // Leaves the results of a call on the stack and returns how many there are.
  size_t call(const typed::CallOperator& node);
  size_t call(const typed::CallDynamic& node);
  size_t call(const typed::CallBuiltin& node);
  void callFunction(const typed::CallFunction& node, uint16_t to);
  void getField(const typed::GetField& node, uint16_t to);
  void pushAll(const std::vector<typed::ExprPtr>& items);
  uint16_t countOf(size_t count) const;
  static SlotKind resultKind(const typed::Expr& expr);

  // ---- codegen_condition.cpp ----
  // Jumps to [place] if the condition equals [sense], else falls through.
  void branch(const typed::Expr& condition, bool sense, Place& place);
  bool branchOnComparison(const typed::Operate& node, bool sense, Place& place);
  void materialize(const typed::Expr& condition, uint16_t to);

  UnitBuilder& unit_;
  std::span<const FunctionShape> shapes_;
  const typed::Function& function_;
  CodeBuilder code_;
  bool is_reachable_ = true;
  std::unordered_map<uint64_t, uint16_t> slots_;  // by variable and kind
  std::array<std::vector<uint16_t>, 4> free_;     // temporaries, by kind
  std::vector<bool> is_temporary_;                // by slot, up to the last temporary
  std::vector<Loop> loops_;
  size_t open_scopes_ = 0;
};

}  // namespace boxcar::interp
