#include <boxcar/interpreter/compiler/codegen.h>

#include <algorithm>

namespace boxcar::interp {

using boost::variant2::get_if;

namespace {

bool mayHoldTensors(TypePtr type) {
  switch (type->kind()) {
    case TypeKind::Int:
    case TypeKind::Float:
    case TypeKind::Bool:
    case TypeKind::String: return false;
    case TypeKind::List:
    case TypeKind::Tuple: return std::ranges::any_of(type->contained(), mayHoldTensors);
    default: return true;
  }
}

}  // namespace

void Codegen::emit(const typed::Block& block) {
  for (const typed::StmtPtr& statement : block) {
    if (!is_reachable_) return;
    emit(*statement);
  }
}

void Codegen::emit(const typed::Stmt& statement) {
  code_.at(statement.span);
  boost::variant2::visit([this](const auto& node) { emit(node); }, statement.node);
}

void Codegen::emit(const typed::Evaluate& node) {
  code_.at(node.value->span);
  const auto drop = [&](const auto& expr) {
    if (const size_t results = call(expr)) {
      code_.at(node.value->span).emit(Opcode::Drop, static_cast<uint16_t>(results));
    }
  };
  if (const auto* op = get_if<typed::CallOperator>(&node.value->node)) {
    drop(*op);
  } else if (const auto* dynamic = get_if<typed::CallDynamic>(&node.value->node)) {
    drop(*dynamic);
  } else if (const auto* builtin = get_if<typed::CallBuiltin>(&node.value->node)) {
    drop(*builtin);
  } else if (get_if<typed::Constant>(&node.value->node) == nullptr) {
    release(evaluate(*node.value));
  }
}

void Codegen::emit(const typed::SetVariable& node) { evaluateTo(*node.value, slotOf(node.target)); }

template <class Statements>
void Codegen::once(Opcode begin, uint32_t index, Statements statements) {
  Place end = newPlace();
  const Operand is_first{takeTemporary(SlotKind::Bool), true};
  code_.emitWide(begin, is_first.slot, index);
  jump(Opcode::JumpIfNot, end, is_first.slot);
  release(is_first);
  statements();
  bind(end);
}

void Codegen::emit(const typed::SetGlobal& node) {
  const Span span = code_.span();
  once(Opcode::BeginGlobal, node.global, [&] {
    const Operand value = evaluate(*node.value);
    code_.at(span).emitWide(Opcode::StoreGlobal, value.slot, node.global);
    release(value);
  });
}

void Codegen::emit(const typed::SetIndex& node) {
  const Span span = code_.span();
  // As in Python: the value is evaluated first, then the place.
  const Operand value = evaluate(*node.value);
  const Operand object = evaluate(*node.object, SlotKind::Value);
  const Operand index = evaluate(*node.index);
  code_.at(span).emit(Opcode::SetIndex, object.slot, index.slot, value.slot);
  release(index);
  release(object);
  release(value);
}

void Codegen::emit(const typed::SetField& node) {
  const Span span = code_.span();
  const Operand value = evaluate(*node.value);
  const Operand object = evaluate(*node.object, SlotKind::Value);
  code_.at(span).emit(Opcode::SetField, object.slot, unit_.field(node.field), value.slot);
  release(object);
  release(value);
}

void Codegen::emit(const typed::Unpack& node) {
  const Span span = code_.span();
  const Operand value = evaluate(*node.value, SlotKind::Value);
  code_.at(span).emit(Opcode::Unpack, value.slot, countOf(node.targets.size()));
  // Otherwise the tuple or list would hold its elements until the function ends: see PushMove.
  const auto* variable = get_if<typed::ReadVariable>(&node.value->node);
  const bool is_over = value.is_temporary || (variable != nullptr && variable->is_last_use);
  if (is_over && mayHoldTensors(node.value->type)) code_.emit(Opcode::LoadNone, value.slot);
  release(value);
  for (auto target = node.targets.rbegin(); target != node.targets.rend(); ++target) pop(slotOf(*target));
}

void Codegen::emit(const typed::If& node) {
  Place end = newPlace();
  for (size_t i = 0; i < node.branches.size() && is_reachable_; ++i) {
    Place next = newPlace();
    branch(*node.branches[i].condition, false, next);
    emit(node.branches[i].body);
    const bool is_last = i + 1 == node.branches.size() && node.otherwise.empty();
    if (is_reachable_ && !is_last && next.is_used) jump(Opcode::Jump, end);
    bind(next);
    if (!next.is_used) {
      // The condition always holds.
      bind(end);
      return;
    }
  }
  emit(node.otherwise);
  bind(end);
}

void Codegen::emitBody(const typed::Block& body, size_t first_statement, Place& on_continue, Place& on_break) {
  loops_.push_back({&on_continue, &on_break, open_scopes_});
  for (size_t i = first_statement; i < body.size() && is_reachable_; ++i) emit(*body[i]);
  loops_.pop_back();
}

// The condition comes after the body, so that an iteration has one jump.
void Codegen::emit(const typed::While& node) {
  const Span span = code_.span();
  Place body = newPlace();
  Place on_continue = newPlace();
  Place on_break = newPlace();
  const auto* constant = get_if<typed::Constant>(&node.condition->node);
  if (constant == nullptr) {
    jump(Opcode::Jump, on_continue);
  } else if (!constant->value.toBool()) {
    emit(node.at_end);
    return;
  }
  bindAlways(body);
  emitBody(node.body, 0, on_continue, on_break);
  bind(on_continue);
  if (is_reachable_) {
    code_.at(span);
    branch(*node.condition, true, body);
    if (is_reachable_) emit(node.at_end);
  }
  bind(on_break);
}

uint16_t Codegen::elementSlot(typed::Target element, const typed::Block& body, size_t& first_statement) {
  first_statement = 0;
  if (!body.empty()) {
    if (const auto* set = get_if<typed::SetVariable>(&body[0]->node)) {
      const auto* read = get_if<typed::ReadVariable>(&set->value->node);
      if (read != nullptr && read->variable == element.variable && set->target.kind == element.kind) {
        first_statement = 1;
        return slotOf(set->target);
      }
    }
  }
  return slotOf(element);
}

void Codegen::emit(const typed::ForRange& node) {
  const Span span = code_.span();
  // Start, stop and step are in adjacent slots.
  const uint16_t state = code_.slot(SlotKind::Int);
  code_.slot(SlotKind::Int);
  code_.slot(SlotKind::Int);
  evaluateTo(*node.start, state);
  evaluateTo(*node.stop, state + 1);
  evaluateTo(*node.step, state + 2);
  Place body = newPlace();
  Place on_continue = newPlace();
  Place end = newPlace();
  Place on_break = newPlace();
  size_t first_statement;
  const uint16_t element = elementSlot({node.variable, SlotKind::Int}, node.body, first_statement);
  code_.at(span);
  jump(Opcode::RangeInit, end, state, element);
  bindAlways(body);
  emitBody(node.body, first_statement, on_continue, on_break);
  bind(on_continue);
  if (is_reachable_) {
    code_.at(span);
    jump(Opcode::RangeNext, body, state, element);
  }
  bind(end);
  emit(node.at_end);
  bind(on_break);
}

void Codegen::emit(const typed::ForEach& node) {
  const Span span = code_.span();
  const uint16_t state = code_.slot(SlotKind::Value);
  code_.slot(SlotKind::Int);
  const Operand iterable = evaluate(*node.iterable, SlotKind::Value);
  code_.at(span).emit(Opcode::EachInit, state, iterable.slot);
  release(iterable);
  Place body = newPlace();
  Place on_continue = newPlace();
  Place on_break = newPlace();
  size_t first_statement;
  const uint16_t element = elementSlot({node.variable, SlotKind::Value}, node.body, first_statement);
  jump(Opcode::Jump, on_continue);
  bindAlways(body);
  emitBody(node.body, first_statement, on_continue, on_break);
  bind(on_continue);
  code_.at(span);
  jump(Opcode::EachNext, body, state, element);
  emit(node.at_end);
  bind(on_break);
}

void Codegen::emit(const typed::RecastAll& node) {
  for (const typed::Recast& recast : node.recasts) {
    move(slotOf({recast.variable, recast.to}), slotOf({recast.variable, recast.from}));
  }
}

void Codegen::emit(const typed::Break&) {
  leaveScopes(loops_.back().open_scopes);
  jump(Opcode::Jump, *loops_.back().on_break);
}

void Codegen::emit(const typed::Continue&) {
  leaveScopes(loops_.back().open_scopes);
  jump(Opcode::Jump, *loops_.back().on_continue);
}

void Codegen::emit(const typed::Return& node) {
  const Span span = code_.span();
  is_reachable_ = true;
  const auto* constant = node.value == nullptr ? nullptr : get_if<typed::Constant>(&node.value->node);
  if (node.value == nullptr || (constant != nullptr && constant->value.isNone())) {
    leaveScopes(0);
    code_.at(span).emit(Opcode::ReturnNone);
  } else {
    const Operand value = evaluate(*node.value, function_.result);
    leaveScopes(0);
    code_.at(span);
    const auto* variable = get_if<typed::ReadVariable>(&node.value->node);
    const bool is_last_use = value.is_temporary || (variable != nullptr && variable->is_last_use);
    switch (function_.result) {
      case SlotKind::Int: code_.emit(Opcode::ReturnInt, value.slot); break;
      case SlotKind::Float: code_.emit(Opcode::ReturnFloat, value.slot); break;
      case SlotKind::Bool: code_.emit(Opcode::ReturnBool, value.slot); break;
      case SlotKind::Value: code_.emit(is_last_use ? Opcode::ReturnMove : Opcode::ReturnValue, value.slot); break;
    }
    release(value);
  }
  is_reachable_ = false;
}

void Codegen::emit(const typed::Fail& node) {
  const Span span = code_.span();
  const Operand message = evaluate(*node.message, SlotKind::Value);
  code_.at(span).emit(Opcode::Fail, message.slot);
  release(message);
  is_reachable_ = false;
}

// ---- Scopes, handlers, modules ----

// Leaves the scopes that are open where control leaves them.
void Codegen::leaveScopes(size_t left_open) {
  for (size_t open = open_scopes_; open > left_open; --open) code_.emit(Opcode::LeaveScope);
}

void Codegen::emit(const typed::With& node) {
  const Span span = code_.span();
  for (const typed::Scope& scope : node.scopes) {
    if (scope.handler == nullptr) {
      code_.emitWide(Opcode::EnterScope, 0, unit_.scope(scope.scope));
    } else {
      const Operand handler = evaluate(*scope.handler, SlotKind::Value);
      code_.at(scope.handler->span).emit(Opcode::EnterHandler, handler.slot);
      release(handler);
    }
    ++open_scopes_;
  }
  emit(node.body);
  open_scopes_ -= node.scopes.size();
  if (!is_reachable_) return;
  code_.at(span);
  for (size_t i = 0; i < node.scopes.size(); ++i) code_.emit(Opcode::LeaveScope);
}

void Codegen::emit(const typed::Register& node) { code_.emitWide(Opcode::Register, 0, node.handler); }

void Codegen::emit(const typed::RunModule& node) {
  const Span span = code_.span();
  once(Opcode::BeginImport, node.module, [&] {
    const CodeImport& statements = unit_.unit().imports[node.import];
    for (size_t i = 0; i < statements.arguments.size(); ++i) {
      // The command line is for the main script only.
      const Operand no_arguments{takeTemporary(SlotKind::Value), true};
      code_.emit(Opcode::MakeList, no_arguments.slot, unit_.type(Type::listOf(Type::string())), 0);
      code_.emit(Opcode::PassMove, static_cast<uint16_t>(i), no_arguments.slot);
      release(no_arguments);
    }
    const Operand nothing{takeTemporary(statements.result), true};
    code_.at(span).emitWide(Opcode::CallImported, nothing.slot, node.import);
    release(nothing);
    code_.emitWide(Opcode::EndImport, 0, node.module);
  });
}

}  // namespace boxcar::interp
