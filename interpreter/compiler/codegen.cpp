#include <boxcar/interpreter/compiler/codegen.h>

namespace boxcar::interp {

Codegen::Codegen(UnitBuilder& unit, const SourcePtr& source, std::span<const FunctionShape> shapes,
                 const typed::Function& function)
    : unit_(unit), shapes_(shapes), function_(function), code_(function.name, source, function.span) {
  for (size_t i = 0; i < function.arguments.size(); ++i) {
    const SlotKind kind = function.arguments[i];
    const uint16_t slot = code_.argument(kind, function.names[i]);
    slots_.emplace(uint64_t{i} * 4 + static_cast<uint64_t>(kind), slot);
  }
}

CodeFunction Codegen::run() {
  emit(function_.body);
  if (is_reachable_) {
    code_.at({function_.span.end, function_.span.end});
    code_.emit(Opcode::ReturnNone);
  }
  return std::move(code_).finish(function_.result);
}

// ---- Slots ----

uint16_t Codegen::slotOf(typed::Target target) {
  const uint64_t key = uint64_t{target.variable} * 4 + static_cast<uint64_t>(target.kind);
  const auto found = slots_.find(key);
  if (found != slots_.end()) return found->second;
  const bool is_named = target.variable < typed::kFirstMadeVariable;
  const uint16_t slot = is_named ? code_.slot(target.kind, function_.names[target.variable]) : code_.slot(target.kind);
  slots_.emplace(key, slot);
  return slot;
}

uint16_t Codegen::takeTemporary(SlotKind kind) {
  std::vector<uint16_t>& free = free_[static_cast<size_t>(kind)];
  if (free.empty()) {
    const uint16_t slot = code_.slot(kind);
    is_temporary_.resize(slot + size_t{1});
    is_temporary_[slot] = true;
    return slot;
  }
  const uint16_t slot = free.back();
  free.pop_back();
  return slot;
}

void Codegen::release(Operand operand) {
  if (operand.is_temporary) free_[static_cast<size_t>(code_.kind(operand.slot))].push_back(operand.slot);
}

Opcode Codegen::moveOf(SlotKind kind) {
  switch (kind) {
    case SlotKind::Int: return Opcode::MoveInt;
    case SlotKind::Float: return Opcode::MoveFloat;
    case SlotKind::Bool: return Opcode::MoveBool;
    case SlotKind::Value: break;
  }
  return Opcode::Copy;
}

void Codegen::move(uint16_t to, uint16_t from, bool is_last_use) {
  if (to == from) return;
  const SlotKind to_kind = code_.kind(to);
  const SlotKind from_kind = code_.kind(from);
  if (to_kind == SlotKind::Value) {
    const bool moves = is_last_use && from_kind == SlotKind::Value;
    code_.emit(moves ? Opcode::Move : Opcode::Copy, to, from);
  } else if (to_kind == from_kind) {
    code_.emit(moveOf(to_kind), to, from);
  } else {
    BOXCAR_INTERNAL_ASSERT(from_kind == SlotKind::Value);
    const Opcode unbox = to_kind == SlotKind::Int     ? Opcode::UnboxInt
                         : to_kind == SlotKind::Float ? Opcode::UnboxFloat
                                                      : Opcode::UnboxBool;
    code_.emit(unbox, to, from);
  }
}

void Codegen::pop(uint16_t to) {
  switch (code_.kind(to)) {
    case SlotKind::Int: code_.emit(Opcode::PopInt, to); break;
    case SlotKind::Float: code_.emit(Opcode::PopFloat, to); break;
    case SlotKind::Bool: code_.emit(Opcode::PopBool, to); break;
    case SlotKind::Value: code_.emit(Opcode::Pop, to); break;
  }
}

// ---- Places ----

void Codegen::bind(Place& place) {
  if (!place.is_used && !is_reachable_) return;
  bindAlways(place);
}

void Codegen::bindAlways(Place& place) {
  code_.bind(place.label);
  is_reachable_ = true;
}

void Codegen::jump(Opcode op, Place& place, uint16_t a, uint16_t b) {
  place.is_used = true;
  code_.emitJump(op, place.label, a, b);
  if (op == Opcode::Jump) is_reachable_ = false;
}

}  // namespace boxcar::interp
