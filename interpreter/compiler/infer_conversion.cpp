#include <boxcar/interpreter/bytecode/builtins.h>
#include <boxcar/interpreter/compiler/fold.h>
#include <boxcar/interpreter/compiler/inference.h>
#include <boxcar/interpreter/syntax/wording.h>

// Conversions of typed expressions.

namespace boxcar::interp {

using boost::variant2::get_if;
using typed::ExprPtr;

namespace {

bool isTensorOrNone(TypePtr type) {
  return type->kind() == TypeKind::Tensor || (type->isOptional() && type->element()->kind() == TypeKind::Tensor);
}

}  // namespace

ExprPtr Inference::operate(Opcode op, TypePtr type, Span span, ExprPtr left, ExprPtr right, TypePtr parameter) {
  const auto* a = get_if<typed::Constant>(&left->node);
  const auto* b = right == nullptr ? nullptr : get_if<typed::Constant>(&right->node);
  if (a != nullptr && (right == nullptr || b != nullptr)) {
    if (auto value = fold(op, a->value, b == nullptr ? nullptr : &b->value)) return constant(*value, type, span);
  }
  return make(type, span, typed::Operate{op, std::move(left), std::move(right), parameter});
}

// Returns [value], a Value, as a scalar if [type] is one; a run-time error if the value is not.
ExprPtr Inference::unboxed(ExprPtr value, TypePtr type) {
  const Span span = value->span;
  switch (slotKindOf(type)) {
    case SlotKind::Int: return operate(Opcode::UnboxInt, type, span, std::move(value));
    case SlotKind::Float: return operate(Opcode::UnboxFloat, type, span, std::move(value));
    case SlotKind::Bool: return operate(Opcode::UnboxBool, type, span, std::move(value));
    case SlotKind::Value: break;
  }
  value->type = type;
  return value;
}

ExprPtr Inference::convertAtRunTime(ExprPtr value, TypePtr type) {
  const Span span = value->span;
  return unboxed(operate(Opcode::Convert, Type::any(), span, std::move(value), nullptr, type), type);
}

ExprPtr Inference::convert(ExprPtr value, ConversionTarget target) {
  const TypePtr from = value->type;
  const TypePtr to = target.type;
  const Span span = value->span;
  if (from == to) return value;
  if (to->kind() == TypeKind::Any || to->kind() == TypeKind::Variable || to->kind() == TypeKind::Scalar) {
    if (to->kind() == TypeKind::Scalar && from->kind() == TypeKind::Any) return convertAtRunTime(std::move(value), to);
    return value;
  }
  const bool may_be_number = target.beside_tensor && from->kind() != TypeKind::Tensor && !from->isOptional();
  if (may_be_number && isTensorOrNone(to) && from->kind() != TypeKind::None) {
    std::vector<ExprPtr> arguments;
    arguments.push_back(std::move(value));
    value = make(Type::any(), span, typed::CallBuiltin{*findBuiltin("wrapped_number"), std::move(arguments)});
    return convertAtRunTime(std::move(value), to);
  }
  if (to->isOptional()) {
    if (from->kind() == TypeKind::None) return value;
    if (from->isOptional() || from->kind() == TypeKind::Any) {
      if (isSameRepresentation(from, to) && from->kind() != TypeKind::Any) return value;
      return convertAtRunTime(std::move(value), to);
    }
    return convert(std::move(value), {to->element(), target.list_size, target.beside_tensor});
  }

  switch (slotKindOf(to)) {
    case SlotKind::Int:
      if (slotKindOf(from) == SlotKind::Int) {
        value->type = scriptType(to);
        return value;
      }
      if (from->kind() == TypeKind::Bool) return operate(Opcode::BoolToInt, to, span, std::move(value));
      return convertAtRunTime(std::move(value), to);
    case SlotKind::Float:
      if (slotKindOf(from) == SlotKind::Int) return operate(Opcode::IntToFloat, to, span, std::move(value));
      if (from->kind() == TypeKind::Bool) return operate(Opcode::BoolToFloat, to, span, std::move(value));
      return convertAtRunTime(std::move(value), to);
    case SlotKind::Bool: return convertAtRunTime(std::move(value), to);
    case SlotKind::Value: break;
  }

  if (to->isList()) return convertToList(std::move(value), target);
  if (isSameRepresentation(from, to)) return value;
  return convertAtRunTime(std::move(value), to);
}

ExprPtr Inference::convertToList(ExprPtr value, ConversionTarget target) {
  const TypePtr to = target.type;
  const TypePtr element = to->element();
  const Span span = value->span;
  // A literal is built with elements of the right type from the start.
  std::vector<ExprPtr>* items = nullptr;
  if (auto* list = get_if<typed::MakeList>(&value->node)) items = &list->items;
  if (auto* tuple = get_if<typed::MakeTuple>(&value->node)) items = &tuple->items;
  if (items != nullptr) {
    std::vector<ExprPtr> converted;
    for (ExprPtr& item : *items) {
      converted.push_back(
          convertOrReport(std::move(item), element, fmt::format("an element of {}", withArticle(scriptType(to)))));
    }
    return make(scriptType(to), span, typed::MakeList{std::move(converted)});
  }
  if (slotKindOf(value->type) == SlotKind::Int || value->type->kind() == TypeKind::Bool) {
    typed::Block before;
    value = keep(convert(std::move(value), {Type::integer()}), before);
    std::vector<ExprPtr> copies;
    for (int32_t i = 0; i < target.list_size; ++i) copies.push_back(copyOf(*value));
    return withStatements(std::move(before), make(scriptType(to), span, typed::MakeList{std::move(copies)}));
  }
  if (value->type->isList() && isSameRepresentation(value->type, to)) return value;
  return convertAtRunTime(std::move(value), scriptType(to));
}

ExprPtr Inference::convertOrReport(ExprPtr value, TypePtr type, std::string_view what) {
  if (!conversionCost(value->type, {type}, {})) {
    Diagnostic& diagnostic = error(value->span, fmt::format("{} must be {}, not {}", what, *type, *value->type));
    if (value->type->isOptional() && conversionCost(value->type->element(), {type}, {})) {
      diagnostic.note("check `is None` first");
    }
    return noneOf(type, value->span);
  }
  return convert(std::move(value), {type});
}

ExprPtr Inference::truth(ExprPtr value) {
  const Span span = value->span;
  if (value->type->kind() == TypeKind::Bool) return value;
  switch (slotKindOf(value->type)) {
    case SlotKind::Int:
      return operate(Opcode::NeInt, Type::boolean(), span, std::move(value), constant(0, Type::integer(), span));
    case SlotKind::Float:
      return operate(Opcode::NeFloat, Type::boolean(), span, std::move(value), constant(0.0, Type::floating(), span));
    default: break;
  }
  return operate(Opcode::Truth, Type::boolean(), span, std::move(value));
}

}  // namespace boxcar::interp
