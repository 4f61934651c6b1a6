#include <boxcar/interpreter/compiler/codegen.h>

namespace boxcar::interp {

using boost::variant2::get_if;

namespace {

constexpr SlotKind kindOf(Operand operand) {
  switch (operand) {
    case Operand::IntIn:
    case Operand::IntOut: return SlotKind::Int;
    case Operand::FloatIn:
    case Operand::FloatOut: return SlotKind::Float;
    case Operand::BoolIn:
    case Operand::BoolOut: return SlotKind::Bool;
    default: return SlotKind::Value;
  }
}

}  // namespace

// The kind of slot that an expression's value has.
SlotKind Codegen::resultKind(const typed::Expr& expr) {
  if (const auto* variable = get_if<typed::ReadVariable>(&expr.node)) return variable->kind;
  if (const auto* operate = get_if<typed::Operate>(&expr.node)) return kindOf(info(operate->op).operands[0]);
  if (get_if<typed::ReadGlobal>(&expr.node) != nullptr) return SlotKind::Value;
  if (const auto* field = get_if<typed::GetField>(&expr.node)) return field->kind;
  return slotKindOf(expr.type);
}

uint16_t Codegen::countOf(size_t count) const {
  BOXCAR_CHECK(count <= UINT16_MAX, "there are too many values here: {}; at most {} are allowed in one place", count,
               UINT16_MAX);
  return static_cast<uint16_t>(count);
}

void Codegen::load(const IValue& value, uint16_t to) {
  switch (code_.kind(to)) {
    case SlotKind::Int: {
      const int64_t number = value.toInt();
      if (number == static_cast<int32_t>(number)) {
        code_.emitWide(Opcode::LoadInt, to, static_cast<uint32_t>(number));
      } else {
        code_.emitWide(Opcode::LoadIntConstant, to, unit_.constant(value));
      }
      break;
    }
    case SlotKind::Float: code_.emitWide(Opcode::LoadFloat, to, unit_.constant(value)); break;
    case SlotKind::Bool: code_.emit(Opcode::LoadBool, to, value.toBool() ? 1 : 0); break;
    case SlotKind::Value:
      if (value.isNone()) {
        code_.emit(Opcode::LoadNone, to);
      } else {
        code_.emitWide(Opcode::LoadConstant, to, unit_.constant(value));
      }
      break;
  }
}

Codegen::Operand Codegen::evaluate(const typed::Expr& expr) { return evaluate(expr, resultKind(expr)); }

Codegen::Operand Codegen::evaluate(const typed::Expr& expr, SlotKind kind) {
  if (const auto* variable = get_if<typed::ReadVariable>(&expr.node); variable != nullptr && variable->kind == kind) {
    return {slotOf({variable->variable, variable->kind}), false};
  }
  const uint16_t slot = takeTemporary(kind);
  evaluateTo(expr, slot);
  return {slot, true};
}

void Codegen::evaluateTo(const typed::Expr& expr, uint16_t to) {
  code_.at(expr.span);
  const SlotKind kind = code_.kind(to);
  const SlotKind comes_as = resultKind(expr);
  const auto* constant = get_if<typed::Constant>(&expr.node);
  // Moving a scalar to a Value slot, or the reverse, takes an extra step; constants and calls do not need it.
  const bool is_call = get_if<typed::CallOperator>(&expr.node) != nullptr ||
                       get_if<typed::CallDynamic>(&expr.node) != nullptr ||
                       get_if<typed::CallBuiltin>(&expr.node) != nullptr;
  if (comes_as != kind && constant == nullptr && !is_call && get_if<typed::Conditional>(&expr.node) == nullptr &&
      get_if<typed::Sequence>(&expr.node) == nullptr) {
    const Operand value = evaluate(expr, comes_as);
    code_.at(expr.span);
    move(to, value.slot, value.is_temporary);
    release(value);
    return;
  }

  boost::variant2::visit(
      [&]<class T>(const T& node) {
        if constexpr (std::is_same_v<T, typed::Constant>) {
          load(node.value, to);
        } else if constexpr (std::is_same_v<T, typed::ReadVariable>) {
          move(to, slotOf({node.variable, node.kind}), node.is_last_use);
        } else if constexpr (std::is_same_v<T, typed::ReadGlobal>) {
          code_.emitWide(Opcode::LoadGlobal, to, node.global);
        } else if constexpr (std::is_same_v<T, typed::Operate>) {
          operate(node, to);
        } else if constexpr (std::is_same_v<T, typed::Logical>) {
          materialize(expr, to);
        } else if constexpr (std::is_same_v<T, typed::Conditional>) {
          Place otherwise = newPlace();
          Place end = newPlace();
          branch(*node.condition, false, otherwise);
          if (is_reachable_) {
            evaluateTo(*node.value, to);
            jump(Opcode::Jump, end);
          }
          bind(otherwise);
          if (is_reachable_) evaluateTo(*node.otherwise, to);
          bind(end);
        } else if constexpr (std::is_same_v<T, typed::CallOperator> || std::is_same_v<T, typed::CallDynamic> ||
                             std::is_same_v<T, typed::CallBuiltin>) {
          const size_t results = call(node);
          code_.at(expr.span);
          if (results == 0) {
            code_.emit(Opcode::LoadNone, to);
          } else if (results == 1) {
            pop(to);
          } else {
            code_.emit(Opcode::MakeTuple, to, countOf(results));
          }
        } else if constexpr (std::is_same_v<T, typed::CallFunction>) {
          callFunction(node, to);
        } else if constexpr (std::is_same_v<T, typed::FunctionValue>) {
          code_.emitWide(node.is_imported ? Opcode::LoadImported : Opcode::LoadFunction, to, node.function);
        } else if constexpr (std::is_same_v<T, typed::MakeList>) {
          pushAll(node.items);
          code_.at(expr.span).emit(Opcode::MakeList, to, unit_.type(expr.type), countOf(node.items.size()));
        } else if constexpr (std::is_same_v<T, typed::MakeTuple>) {
          pushAll(node.items);
          code_.at(expr.span).emit(Opcode::MakeTuple, to, countOf(node.items.size()));
        } else if constexpr (std::is_same_v<T, typed::MakeDict>) {
          pushAll(node.items);
          code_.at(expr.span).emit(Opcode::MakeDict, to, countOf(node.items.size() / 2));
        } else if constexpr (std::is_same_v<T, typed::MakeStruct>) {
          pushAll(node.fields);
          code_.at(expr.span).emit(Opcode::MakeStruct, to, node.structure, countOf(node.fields.size()));
        } else if constexpr (std::is_same_v<T, typed::GetField>) {
          getField(node, to);
        } else if constexpr (std::is_same_v<T, typed::MakeSlice>) {
          const Operand object = evaluate(*node.object, SlotKind::Value);
          push(*node.start);
          push(*node.stop);
          push(*node.step);
          code_.at(expr.span).emit(Opcode::Slice, to, object.slot);
          release(object);
        } else {
          static_assert(std::is_same_v<T, typed::Sequence>);
          emit(node.statements);
          evaluateTo(*node.value, to);
        }
      },
      expr.node);
  code_.at(expr.span);
}

void Codegen::push(const typed::Expr& expr) {
  code_.at(expr.span);
  const auto pushSlot = [this](Operand value, bool is_last_use) {
    if (code_.kind(value.slot) != SlotKind::Value) {
      code_.emit(Opcode::PushScalar, value.slot);
    } else {
      code_.emit(is_last_use || value.is_temporary ? Opcode::PushMove : Opcode::Push, value.slot);
    }
    release(value);
  };
  boost::variant2::visit(
      [&]<class T>(const T& node) {
        if constexpr (std::is_same_v<T, typed::Constant>) {
          code_.emitWide(Opcode::PushConstant, 0, unit_.constant(node.value));
        } else if constexpr (std::is_same_v<T, typed::ReadVariable>) {
          pushSlot({slotOf({node.variable, node.kind}), false}, node.is_last_use);
        } else if constexpr (std::is_same_v<T, typed::CallOperator> || std::is_same_v<T, typed::CallDynamic> ||
                             std::is_same_v<T, typed::CallBuiltin>) {
          const size_t results = call(node);
          if (results == 1) return;
          code_.at(expr.span);
          const Operand value{takeTemporary(SlotKind::Value), true};
          if (results == 0) {
            code_.emit(Opcode::LoadNone, value.slot);
          } else {
            code_.emit(Opcode::MakeTuple, value.slot, countOf(results));
          }
          pushSlot(value, true);
        } else if constexpr (std::is_same_v<T, typed::Conditional>) {
          Place otherwise = newPlace();
          Place end = newPlace();
          branch(*node.condition, false, otherwise);
          if (is_reachable_) {
            push(*node.value);
            jump(Opcode::Jump, end);
          }
          bind(otherwise);
          if (is_reachable_) push(*node.otherwise);
          bind(end);
        } else if constexpr (std::is_same_v<T, typed::Sequence>) {
          emit(node.statements);
          push(*node.value);
        } else {
          const Operand value = evaluate(expr);
          code_.at(expr.span);
          pushSlot(value, true);
        }
      },
      expr.node);
}

void Codegen::pushAll(const std::vector<typed::ExprPtr>& items) {
  for (const typed::ExprPtr& item : items) push(*item);
}

// ---- Instructions on operands ----

Codegen::Operand Codegen::operandFor(const typed::Expr& expr, interp::Operand kind) {
  if (kind == interp::Operand::SlotIn || kind == interp::Operand::ScalarIn) return evaluate(expr);
  return evaluate(expr, kindOf(kind));
}

Codegen::Operand Codegen::leftOperand(const typed::Expr& expr, interp::Operand kind, uint16_t to) {
  const bool is_any_kind = kind == interp::Operand::SlotIn || kind == interp::Operand::ScalarIn;
  const SlotKind wanted = is_any_kind ? resultKind(expr) : kindOf(kind);
  const bool is_free = to < is_temporary_.size() && is_temporary_[to];
  if (!is_free || wanted != code_.kind(to) || get_if<typed::ReadVariable>(&expr.node) != nullptr) {
    return operandFor(expr, kind);
  }
  evaluateTo(expr, to);
  return {to, false};
}

void Codegen::operate(const typed::Operate& node, uint16_t to) {
  const Span span = code_.span();
  if (operateImmediate(node, to)) return;
  const OpcodeInfo& opcode = info(node.op);
  const Operand left = leftOperand(*node.left, opcode.operands[1], to);
  if (node.right != nullptr) {
    const Operand right = operandFor(*node.right, opcode.operands[2]);
    code_.at(span).emit(node.op, to, left.slot, right.slot);
    release(right);
  } else {
    const uint16_t parameter = opcode.operands[2] == interp::Operand::Type ? unit_.type(node.parameter) : uint16_t{0};
    code_.at(span).emit(node.op, to, left.slot, parameter);
  }
  release(left);
}

// An int operation with a small constant keeps it in the instruction.
bool Codegen::operateImmediate(const typed::Operate& node, uint16_t to) {
  const auto smallConstant = [](const typed::Expr& expr) -> std::optional<int64_t> {
    const auto* constant = get_if<typed::Constant>(&expr.node);
    if (constant == nullptr || !constant->value.isInt()) return std::nullopt;
    const int64_t number = constant->value.toInt();
    // The negated number must fit, too.
    if (!CodeBuilder::fitsImmediate(number) || !CodeBuilder::fitsImmediate(-number)) return std::nullopt;
    return number;
  };
  if (node.right == nullptr) return false;
  const typed::Expr* operand = node.left.get();
  auto number = smallConstant(*node.right);
  if (!number && (node.op == Opcode::AddInt || node.op == Opcode::MulInt || node.op == Opcode::AndInt)) {
    operand = node.right.get();
    number = smallConstant(*node.left);
  }
  if (!number) return false;
  Opcode op = node.op;
  switch (node.op) {
    case Opcode::AddInt: op = Opcode::AddIntImm; break;
    case Opcode::SubInt:
      op = Opcode::AddIntImm;
      number = -*number;
      break;
    case Opcode::MulInt: op = Opcode::MulIntImm; break;
    case Opcode::AndInt: op = Opcode::AndIntImm; break;
    case Opcode::FloorDivInt:
    case Opcode::ModInt:
      if (*number == 0) return false;
      op = node.op == Opcode::ModInt ? Opcode::ModIntImm : Opcode::FloorDivIntImm;
      break;
    default: return false;
  }
  const Span span = code_.span();
  const Operand value = evaluate(*operand, SlotKind::Int);
  code_.at(span).emit(op, to, value.slot, static_cast<uint16_t>(*number));
  release(value);
  return true;
}

void Codegen::getField(const typed::GetField& node, uint16_t to) {
  const Span span = code_.span();
  const Opcode op = node.kind == SlotKind::Int     ? Opcode::GetFieldInt
                    : node.kind == SlotKind::Float ? Opcode::GetFieldFloat
                    : node.kind == SlotKind::Bool  ? Opcode::GetFieldBool
                                                   : Opcode::GetField;
  const Operand object = leftOperand(*node.object, interp::Operand::ValueIn, to);
  code_.at(span).emit(op, to, object.slot, unit_.field(node.field));
  release(object);
}

// ---- Calls ----

size_t Codegen::call(const typed::CallOperator& node) {
  const Span span = code_.span();
  pushAll(node.arguments);
  code_.at(span).emitWide(Opcode::CallOperator, 0, unit_.operatorSite(node.name, node.arguments.size(), node.results));
  return node.results;
}

size_t Codegen::call(const typed::CallDynamic& node) {
  const Span span = code_.span();
  pushAll(node.arguments);
  DynamicSite site;
  site.name = node.name;
  site.overload = node.overload;
  site.positional = countOf(node.arguments.size() - node.keywords.size());
  site.keywords = node.keywords;
  code_.at(span).emitWide(Opcode::CallDynamic, 0, unit_.dynamicSite(std::move(site)));
  return 1;
}

size_t Codegen::call(const typed::CallBuiltin& node) {
  const Span span = code_.span();
  pushAll(node.arguments);
  code_.at(span).emit(Opcode::CallBuiltin, node.builtin, countOf(node.arguments.size()));
  return 1;
}

void Codegen::callFunction(const typed::CallFunction& node, uint16_t to) {
  const Span span = code_.span();
  const Opcode op = node.is_imported ? Opcode::CallImported : Opcode::CallFunction;
  const CodeImport* import = node.is_imported ? &unit_.unit().imports[node.function] : nullptr;
  const std::span<const SlotKind> kinds = import != nullptr ? import->arguments : shapes_[node.function].arguments;
  const SlotKind result_kind = import != nullptr ? import->result : shapes_[node.function].result;
  std::vector<Operand> values;
  for (size_t i = 0; i < node.arguments.size(); ++i) values.push_back(evaluate(*node.arguments[i], kinds[i]));
  for (size_t i = 0; i < values.size(); ++i) {
    const auto* variable = get_if<typed::ReadVariable>(&node.arguments[i]->node);
    const bool is_last_use = values[i].is_temporary || (variable != nullptr && variable->is_last_use);
    code_.at(node.arguments[i]->span);
    const Opcode pass = kinds[i] != SlotKind::Value ? Opcode::PassScalar
                        : is_last_use               ? Opcode::PassMove
                                                    : Opcode::PassValue;
    code_.emit(pass, static_cast<uint16_t>(i), values[i].slot);
    release(values[i]);
  }
  code_.at(span);
  if (result_kind == code_.kind(to)) {
    code_.emitWide(op, to, node.function);
    return;
  }
  const Operand result{takeTemporary(result_kind), true};
  code_.emitWide(op, result.slot, node.function);
  move(to, result.slot, true);
  release(result);
}

}  // namespace boxcar::interp
