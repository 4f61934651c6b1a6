#include <boxcar/interpreter/bytecode/builtins.h>
#include <boxcar/interpreter/bytecode/struct_layout.h>
#include <boxcar/interpreter/compiler/converter.h>
#include <boxcar/interpreter/compiler/typed_builder.h>
#include <boxcar/interpreter/syntax/wording.h>
#include <boxcar/schema/value_type.h>
#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <utility>

namespace boxcar::interp {

using boost::variant2::get_if;
using typed::ExprPtr;

namespace {

bool isTensorOrNone(TypePtr type) {
  return type->kind() == TypeKind::Tensor || (type->isOptional() && type->element()->kind() == TypeKind::Tensor);
}

// Returns the value of a list literal of constants.
std::optional<IValue> constantList(const typed::Expr& expr) {
  const auto* list = get_if<typed::MakeList>(&expr.node);
  if (list == nullptr) return std::nullopt;
  std::vector<IValue> items;
  for (const ExprPtr& item : list->items) {
    const auto* constant = get_if<typed::Constant>(&item->node);
    if (constant == nullptr) return std::nullopt;
    items.push_back(constant->value);
  }
  return convertValue(IValue(std::move(items)), {expr.type});
}

}  // namespace

ExprPtr Converter::convert(ExprPtr value, ConversionTarget target) {
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

ExprPtr Converter::convertToList(ExprPtr value, ConversionTarget target) {
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

ExprPtr Converter::convertOrReport(ExprPtr value, TypePtr type, std::string_view what) {
  if (!conversionCost(value->type, {type}, {})) {
    Diagnostic& diagnostic = context_.error(value->span, fmt::format("{} must be {}, not {}{}", what, *type,
                                                                     *value->type, namesakeNote(type, value->type)));
    if (value->type->isOptional() && conversionCost(value->type->element(), {type}, {})) {
      diagnostic.note("check `is None` first");
    }
    return typed::noneOf(type, value->span);
  }
  return convert(std::move(value), {type});
}

std::vector<ExprPtr> Converter::arrange(const FunctionSchema& schema, const Fit& fit,
                                        std::vector<TypedArgument> arguments, typed::Block& before, Span span,
                                        bool shares_constants) {
  // Arguments are evaluated in the order in which they are written.
  size_t furthest = 0;
  bool in_order = true;
  for (const ParameterPlan& plan : fit.parameters) {
    if (plan.from == ParameterPlan::From::Default || typed::isSimple(*arguments[plan.first].value)) continue;
    in_order = in_order && plan.first >= furthest;
    furthest = plan.first;
  }
  if (!in_order) {
    for (TypedArgument& argument : arguments) argument.value = context_.keep(std::move(argument.value), before);
  }

  std::vector<ExprPtr> arranged;
  for (size_t i = 0; i < fit.parameters.size(); ++i) {
    const ParameterPlan& plan = fit.parameters[i];
    const Argument& parameter = schema.arguments()[i];
    ExprPtr value;
    switch (plan.from) {
      case ParameterPlan::From::Default: {
        const IValue& initial = *parameter.default_value();
        if (initial.isList() && !shares_constants) {
          std::vector<ExprPtr> items;
          for (size_t k = 0; k < initial.length(); ++k) {
            const IValue item = initial.elementAt(k);
            items.push_back(typed::constant(item, typeOf(item), span));
          }
          value = typed::make(scriptType(parameter.type()), span, typed::MakeList{std::move(items)});
        } else {
          value = typed::constant(initial, initial.isNone() ? Type::none() : scriptType(parameter.type()), span);
        }
        break;
      }
      case ParameterPlan::From::Argument: value = convert(std::move(arguments[plan.first].value), plan.target); break;
      case ParameterPlan::From::Rest: {
        std::vector<ExprPtr> items;
        Span items_span = arguments[plan.first].span;
        for (uint32_t k = plan.first; k < plan.first + plan.count; ++k) {
          items_span = join(items_span, arguments[k].span);
          items.push_back(convert(std::move(arguments[k].value), {plan.target.type->element()}));
        }
        value = typed::make(scriptType(plan.target.type), items_span, typed::MakeList{std::move(items)});
        break;
      }
    }
    if (shares_constants && !parameter.is_write()) {
      if (auto list = constantList(*value)) value = typed::constant(*std::move(list), value->type, value->span);
    }
    arranged.push_back(std::move(value));
  }
  return arranged;
}

}  // namespace boxcar::interp
