#include <boxcar/interpreter/compiler/codegen.h>

namespace boxcar::interp {

using boost::variant2::get_if;

void Codegen::branch(const typed::Expr& condition, bool sense, Place& place) {
  code_.at(condition.span);
  if (const auto* constant = get_if<typed::Constant>(&condition.node)) {
    if (constant->value.toBool() == sense) jump(Opcode::Jump, place);
    return;
  }
  if (const auto* sequence = get_if<typed::Sequence>(&condition.node)) {
    emit(sequence->statements);
    branch(*sequence->value, sense, place);
    return;
  }
  if (const auto* logical = get_if<typed::Logical>(&condition.node)) {
    // The value that decides early: false for `and`, true for `or`.
    const bool deciding = !logical->is_and;
    Place decided = newPlace();
    for (size_t i = 0; i < logical->operands.size() && is_reachable_; ++i) {
      const bool is_last = i + 1 == logical->operands.size();
      if (deciding == sense) {
        branch(*logical->operands[i], sense, place);
      } else if (is_last) {
        branch(*logical->operands[i], sense, place);
      } else {
        branch(*logical->operands[i], deciding, decided);
      }
    }
    bind(decided);
    return;
  }
  if (const auto* operate = get_if<typed::Operate>(&condition.node)) {
    if (operate->op == Opcode::NotBool) {
      branch(*operate->left, !sense, place);
      return;
    }
    if (branchOnComparison(*operate, sense, place)) return;
  }
  const Operand value = evaluate(condition, SlotKind::Bool);
  code_.at(condition.span);
  jump(sense ? Opcode::JumpIf : Opcode::JumpIfNot, place, value.slot);
  release(value);
}

namespace {

struct IntJump {
  Opcode op;
  bool swaps;
};

// Returns the jump that is taken if `a op b` equals [sense].
IntJump intJump(Opcode op, bool sense) {
  switch (op) {
    case Opcode::EqInt: return {sense ? Opcode::JumpIfEqInt : Opcode::JumpIfNeInt, false};
    case Opcode::NeInt: return {sense ? Opcode::JumpIfNeInt : Opcode::JumpIfEqInt, false};
    case Opcode::LtInt: return sense ? IntJump{Opcode::JumpIfLtInt, false} : IntJump{Opcode::JumpIfLeInt, true};
    default: return sense ? IntJump{Opcode::JumpIfLeInt, false} : IntJump{Opcode::JumpIfLtInt, true};
  }
}

// Like intJump, with the right operand in the instruction or, if [swapped], the left one.
Opcode immediateJump(Opcode op, bool sense, bool swapped) {
  switch (op) {
    case Opcode::EqInt: return sense ? Opcode::JumpIfEqIntImm : Opcode::JumpIfNeIntImm;
    case Opcode::NeInt: return sense ? Opcode::JumpIfNeIntImm : Opcode::JumpIfEqIntImm;
    case Opcode::LtInt:
      if (swapped) return sense ? Opcode::JumpIfGtIntImm : Opcode::JumpIfLeIntImm;
      return sense ? Opcode::JumpIfLtIntImm : Opcode::JumpIfGeIntImm;
    default:
      if (swapped) return sense ? Opcode::JumpIfGeIntImm : Opcode::JumpIfLtIntImm;
      return sense ? Opcode::JumpIfLeIntImm : Opcode::JumpIfGtIntImm;
  }
}

Opcode floatJump(Opcode op, bool sense) {
  switch (op) {
    case Opcode::EqFloat: return sense ? Opcode::JumpIfEqFloat : Opcode::JumpIfNeFloat;
    case Opcode::NeFloat: return sense ? Opcode::JumpIfNeFloat : Opcode::JumpIfEqFloat;
    case Opcode::LtFloat: return sense ? Opcode::JumpIfLtFloat : Opcode::JumpIfNotLtFloat;
    default: return sense ? Opcode::JumpIfLeFloat : Opcode::JumpIfNotLeFloat;
  }
}

bool isNone(const typed::Expr& expr) {
  const auto* constant = get_if<typed::Constant>(&expr.node);
  return constant != nullptr && constant->value.isNone();
}

}  // namespace

bool Codegen::branchOnComparison(const typed::Operate& node, bool sense, Place& place) {
  const Span span = code_.span();
  switch (node.op) {
    case Opcode::EqInt:
    case Opcode::NeInt:
    case Opcode::LtInt:
    case Opcode::LeInt: {
      const auto number = [](const typed::Expr& expr) -> std::optional<int64_t> {
        const auto* constant = get_if<typed::Constant>(&expr.node);
        if (constant == nullptr || !constant->value.isInt()) return std::nullopt;
        if (!CodeBuilder::fitsImmediate(constant->value.toInt())) return std::nullopt;
        return constant->value.toInt();
      };
      for (const bool swapped : {false, true}) {
        const auto immediate = number(swapped ? *node.left : *node.right);
        if (!immediate) continue;
        const Operand value = evaluate(swapped ? *node.right : *node.left, SlotKind::Int);
        code_.at(span);
        jump(immediateJump(node.op, sense, swapped), place, value.slot, static_cast<uint16_t>(*immediate));
        release(value);
        return true;
      }
      const Operand left = evaluate(*node.left, SlotKind::Int);
      const Operand right = evaluate(*node.right, SlotKind::Int);
      const IntJump fused = intJump(node.op, sense);
      code_.at(span);
      jump(fused.op, place, fused.swaps ? right.slot : left.slot, fused.swaps ? left.slot : right.slot);
      release(right);
      release(left);
      return true;
    }
    case Opcode::EqFloat:
    case Opcode::NeFloat:
    case Opcode::LtFloat:
    case Opcode::LeFloat: {
      const Operand left = evaluate(*node.left, SlotKind::Float);
      const Operand right = evaluate(*node.right, SlotKind::Float);
      code_.at(span);
      jump(floatJump(node.op, sense), place, left.slot, right.slot);
      release(right);
      release(left);
      return true;
    }
    case Opcode::Is: {
      if (!isNone(*node.right) || resultKind(*node.left) != SlotKind::Value) return false;
      const Operand value = evaluate(*node.left, SlotKind::Value);
      code_.at(span);
      jump(sense ? Opcode::JumpIfNone : Opcode::JumpIfNotNone, place, value.slot);
      release(value);
      return true;
    }
    default: return false;
  }
}

void Codegen::materialize(const typed::Expr& condition, uint16_t to) {
  Place is_false = newPlace();
  Place end = newPlace();
  branch(condition, false, is_false);
  if (is_reachable_) {
    code_.at(condition.span).emit(Opcode::LoadBool, to, 1);
    jump(Opcode::Jump, end);
  }
  bind(is_false);
  if (is_reachable_ && is_false.is_used) code_.at(condition.span).emit(Opcode::LoadBool, to, 0);
  bind(end);
}

}  // namespace boxcar::interp
