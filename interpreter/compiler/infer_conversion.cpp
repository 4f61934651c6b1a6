#include <boxcar/interpreter/bytecode/builtins.h>
#include <boxcar/interpreter/compiler/inference.h>
#include <boxcar/interpreter/compiler/typed_builder.h>
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

ExprPtr Inference::convert(ExprPtr value, ConversionTarget target) {
  const TypePtr from = value->type;
  const TypePtr to = target.type;
  const Span span = value->span;
  if (from == to) return value;
  if (to->kind() == TypeKind::Any || to->kind() == TypeKind::Variable || to->kind() == TypeKind::Scalar) {
    if (to->kind() == TypeKind::Scalar && from->kind() == TypeKind::Any)
      return typed::convertAtRunTime(std::move(value), to);
    return value;
  }
  const bool may_be_number = target.beside_tensor && from->kind() != TypeKind::Tensor && !from->isOptional();
  if (may_be_number && isTensorOrNone(to) && from->kind() != TypeKind::None) {
    std::vector<ExprPtr> arguments;
    arguments.push_back(std::move(value));
    value = typed::make(Type::any(), span, typed::CallBuiltin{*findBuiltin("wrapped_number"), std::move(arguments)});
    return typed::convertAtRunTime(std::move(value), to);
  }
  if (to->isOptional()) {
    if (from->kind() == TypeKind::None) return value;
    if (from->isOptional() || from->kind() == TypeKind::Any) {
      if (isSameRepresentation(from, to) && from->kind() != TypeKind::Any) return value;
      return typed::convertAtRunTime(std::move(value), to);
    }
    return convert(std::move(value), {to->element(), target.list_size, target.beside_tensor});
  }

  switch (slotKindOf(to)) {
    case SlotKind::Int:
      if (slotKindOf(from) == SlotKind::Int) {
        value->type = scriptType(to);
        return value;
      }
      if (from->kind() == TypeKind::Bool) return typed::operate(Opcode::BoolToInt, to, span, std::move(value));
      return typed::convertAtRunTime(std::move(value), to);
    case SlotKind::Float:
      if (slotKindOf(from) == SlotKind::Int) return typed::operate(Opcode::IntToFloat, to, span, std::move(value));
      if (from->kind() == TypeKind::Bool) return typed::operate(Opcode::BoolToFloat, to, span, std::move(value));
      return typed::convertAtRunTime(std::move(value), to);
    case SlotKind::Bool: return typed::convertAtRunTime(std::move(value), to);
    case SlotKind::Value: break;
  }

  if (to->isList()) return convertToList(std::move(value), target);
  if (isSameRepresentation(from, to)) return value;
  return typed::convertAtRunTime(std::move(value), to);
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
    return typed::make(scriptType(to), span, typed::MakeList{std::move(converted)});
  }
  if (slotKindOf(value->type) == SlotKind::Int || value->type->kind() == TypeKind::Bool) {
    typed::Block before;
    value = context_.keep(convert(std::move(value), {Type::integer()}), before);
    std::vector<ExprPtr> copies;
    for (int32_t i = 0; i < target.list_size; ++i) copies.push_back(typed::copyOf(*value));
    return typed::withStatements(std::move(before),
                                 typed::make(scriptType(to), span, typed::MakeList{std::move(copies)}));
  }
  if (value->type->isList() && isSameRepresentation(value->type, to)) return value;
  return typed::convertAtRunTime(std::move(value), scriptType(to));
}

ExprPtr Inference::convertOrReport(ExprPtr value, TypePtr type, std::string_view what) {
  if (!conversionCost(value->type, {type}, {})) {
    Diagnostic& diagnostic =
        context_.error(value->span, fmt::format("{} must be {}, not {}", what, *type, *value->type));
    if (value->type->isOptional() && conversionCost(value->type->element(), {type}, {})) {
      diagnostic.note("check `is None` first");
    }
    return typed::noneOf(type, value->span);
  }
  return convert(std::move(value), {type});
}

}  // namespace boxcar::interp
