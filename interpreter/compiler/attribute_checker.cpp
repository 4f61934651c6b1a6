#include <boxcar/interpreter/compiler/attribute_checker.h>
#include <boxcar/interpreter/compiler/builtin_names.h>
#include <boxcar/interpreter/compiler/expression_checker.h>
#include <boxcar/interpreter/compiler/typed_builder.h>
#include <boxcar/interpreter/syntax/wording.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace boxcar::interp {

using typed::ExprPtr;

namespace {

bool isTensorOrAny(TypePtr type) { return type->kind() == TypeKind::Tensor || type->kind() == TypeKind::Any; }

bool isOptionalTensor(TypePtr type) { return type->isOptional() && type->element()->kind() == TypeKind::Tensor; }

// A Tensor, checked at run time if it may be something else.
ExprPtr asTensor(ExprPtr object) {
  if (object->type->kind() != TypeKind::Any) return object;
  return typed::convertAtRunTime(std::move(object), Type::tensor());
}

}  // namespace

const OverloadSet* AttributeChecker::operatorsOf(TypePtr type, std::string_view name) {
  if (!isTensorOrAny(type) && !isOptionalTensor(type)) return nullptr;
  return context_.declarations.findQualified(fmt::format("prim::{}", name));
}

ExprPtr AttributeChecker::value(ExprPtr object, const syntax::Name& name, Span span) {
  if (typed::isPoison(*object)) return object;
  if (object->fields != nullptr) {
    const auto found = std::ranges::find(*object->fields, name.text);
    if (found != object->fields->end()) {
      const auto index = found - object->fields->begin();
      const TypePtr type = object->type->contained()[static_cast<size_t>(index)];
      ExprPtr position = typed::constant(static_cast<int64_t>(index), Type::integer(), name.span);
      return typed::unboxed(typed::operate(Opcode::Index, Type::any(), span, std::move(object), std::move(position)),
                            type);
    }
  }
  const TypePtr type = object->type;
  const bool is_tensor_attribute = isTensorAttribute(name.text);
  std::vector<TypedArgument> arguments;
  if (isOperatorAttribute(name.text) && (type->kind() == TypeKind::Function || type->kind() == TypeKind::Any)) {
    arguments.push_back({std::move(object), {}, span});
    return builtins_.callBuiltin(fmt::format("operator.{}", name.text), std::move(arguments), span);
  }
  const OverloadSet* operators = nullptr;
  if (isTensorOrAny(type)) {
    if (is_tensor_attribute) {
      arguments.push_back({asTensor(std::move(object)), {}, span});
      return builtins_.callBuiltin(fmt::format("tensor.{}", name.text), std::move(arguments), span);
    }
    operators = operatorsOf(type, name.text);
    if (operators != nullptr) {
      arguments.push_back({asTensor(std::move(object)), {}, span});
      return resolver_.callOperators(*operators, std::move(arguments), span, name.span);
    }
  }

  std::vector<std::string_view> candidates;
  if (type->kind() == TypeKind::Tensor) {
    candidates = {"shape", "dtype", "device", "ndim", "T", "layout", "keys", "grad", "requires_grad"};
  }
  if (type->kind() == TypeKind::Function) candidates = {"name", "overload", "schema", "arg_names", "tags"};
  if (object->fields != nullptr) candidates.assign(object->fields->begin(), object->fields->end());
  Diagnostic& diagnostic = context_.error(
      name.span,
      withSuggestion(fmt::format("{} has no attribute `{}`", withArticle(type), name.text), name.text, candidates));
  if (isOptionalTensor(type) && (is_tensor_attribute || operatorsOf(type, name.text) != nullptr)) {
    diagnostic.note("check `is None` first");
  } else if (type->kind() == TypeKind::Tensor &&
             context_.declarations.findOperators(name.text, span.begin) != nullptr) {
    diagnostic.note(fmt::format("it is an operator; call it, `.{}()`", name.text));
  }
  return typed::poison(span);
}

void AttributeChecker::assign(const syntax::Attribute& target, ExprPtr value, Span span, typed::Block& out) {
  ExprPtr object = expressions_.infer(*target.object);
  // The value is evaluated before the place.
  if (!typed::isSimple(*object)) value = context_.keep(std::move(value), out);
  set(std::move(object), target.name, std::move(value), span, out);
}

void AttributeChecker::set(ExprPtr object, const syntax::Name& name, ExprPtr value, Span span, typed::Block& out) {
  if (typed::isPoison(*object) || typed::isPoison(*value)) return;
  const TypePtr type = object->type;
  const OverloadSet* const operators = isTensorOrAny(type) ? operatorsOf(type, name.text) : nullptr;
  const bool is_settable = operators != nullptr && std::ranges::any_of(operators->operators, [](const auto& each) {
                             return each.overload_name == "set";
                           });
  if (!is_settable) {
    Diagnostic& diagnostic = context_.error(
        name.span, fmt::format("attribute `{}` of {} cannot be assigned to", name.text, withArticle(type)));
    if (isOptionalTensor(type)) diagnostic.note("check `is None` first");
    return;
  }
  std::vector<TypedArgument> arguments;
  arguments.push_back({asTensor(std::move(object)), {}, span});
  arguments.push_back({std::move(value), {}, span});
  ExprPtr call = resolver_.callOverload(*operators, {"set", name.span}, std::move(arguments), span, name.span);
  if (!typed::isPoison(*call)) typed::append(out, span, typed::Evaluate{std::move(call)});
}

}  // namespace boxcar::interp
