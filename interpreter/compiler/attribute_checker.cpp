#include <boxcar/interpreter/bytecode/builtins.h>
#include <boxcar/interpreter/bytecode/struct_layout.h>
#include <boxcar/interpreter/compiler/attribute_checker.h>
#include <boxcar/interpreter/compiler/builtin_names.h>
#include <boxcar/interpreter/compiler/expression_checker.h>
#include <boxcar/interpreter/compiler/typed_builder.h>
#include <boxcar/interpreter/syntax/named_dimensions.h>
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

Diagnostic& AttributeChecker::reportNoField(TypePtr type, const syntax::Name& name) {
  const StructLayout& layout = *layoutOf(type);
  std::vector<std::string_view> candidates;
  for (const StructField& field : layout.fields) candidates.push_back(field.name);
  const ScriptStruct* const declared = context_.declarations.structOf(type);
  const bool is_method = declared != nullptr && declared->methods.contains(name.text);
  std::string message = fmt::format("{} has no field `{}`", layout.name, name.text);
  if (!is_method) message = withSuggestion(std::move(message), name.text, candidates);
  Diagnostic& diagnostic = context_.error(name.span, std::move(message));
  if (is_method) diagnostic.note(fmt::format("it is a method; call it, `.{}(...)`", name.text));
  return diagnostic;
}

ExprPtr AttributeChecker::fieldOf(ExprPtr object, const syntax::Name& name, Span span) {
  if (const auto index = layoutOf(object->type)->indexOf(name.text)) {
    return typed::field(std::move(object), *index, span);
  }
  reportNoField(object->type, name);
  return typed::poison(span);
}

void AttributeChecker::setField(ExprPtr object, const syntax::Name& name, ExprPtr value, Span span, typed::Block& out) {
  const StructLayout& layout = *layoutOf(object->type);
  const auto index = layout.indexOf(name.text);
  if (!index) {
    reportNoField(object->type, name);
    return;
  }
  const CodeField field{object->type, *index};
  value = converter_.convertOrReport(std::move(value), layout.fields[*index].type,
                                     fmt::format("field `{}` of {}", name.text, layout.name));
  typed::append(out, span, typed::SetField{std::move(object), field, std::move(value)});
}

ExprPtr AttributeChecker::value(ExprPtr object, const syntax::Name& name, Span span) {
  if (typed::isPoison(*object)) return object;
  if (layoutOf(object->type) != nullptr) return fieldOf(std::move(object), name, span);
  if (object->type->kind() != TypeKind::Any || !context_.declarations.isMember(name.text)) {
    ExprPtr value = attributeOf(object, name, span);
    return value != nullptr ? std::move(value) : typed::fieldNamed(std::move(object), name.text, span);
  }
  typed::Block before;
  object = context_.keep(std::move(object), before);
  ExprPtr copy = typed::copyOf(*object);
  ExprPtr otherwise = attributeOf(copy, name, span);
  if (otherwise != nullptr && typed::isPoison(*otherwise)) return otherwise;
  // The fields of structs take precedence.
  ExprPtr is_member = typed::hasMember(typed::copyOf(*object), name.text, span);
  ExprPtr value = typed::fieldNamed(std::move(object), name.text, span);
  if (otherwise != nullptr) {
    value = typed::make(Type::any(), span,
                        typed::Conditional{std::move(is_member), std::move(value), std::move(otherwise)});
  }
  return typed::withStatements(std::move(before), std::move(value));
}

ExprPtr AttributeChecker::attributeOf(ExprPtr& object, const syntax::Name& name, Span span) {
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

  if (type->kind() == TypeKind::Any) return nullptr;
  std::vector<std::string_view> candidates;
  if (type->kind() == TypeKind::Tensor) {
    candidates = {"shape", "dtype", "device", "ndim", "T", "layout", "is_mkldnn", "keys", "grad", "requires_grad"};
  }
  if (type->kind() == TypeKind::Function) candidates = {"name", "overload", "schema", "arg_names", "tags"};
  if (object->fields != nullptr) candidates.assign(object->fields->begin(), object->fields->end());
  Diagnostic& diagnostic = context_.error(
      name.span,
      withSuggestion(fmt::format("{} has no attribute `{}`", withArticle(type), name.text), name.text, candidates));
  if (type->isOptional() && layoutOf(type->element()) != nullptr) {
    diagnostic.note("check `is None` first");
  } else if (isOptionalTensor(type) && (is_tensor_attribute || operatorsOf(type, name.text) != nullptr)) {
    diagnostic.note("check `is None` first");
  } else if (type->kind() == TypeKind::Tensor &&
             context_.declarations.findOperators(name.text, span.begin) != nullptr) {
    diagnostic.note(fmt::format("it is an operator; call it, `.{}()`", name.text));
  } else if (type->kind() == TypeKind::Tensor && isAboutNames(name.text)) {
    diagnostic.note(std::string(kNoNames));
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
  if (layoutOf(type) != nullptr) return setField(std::move(object), name, std::move(value), span, out);
  const OverloadSet* const operators = settersOf(type, name.text);
  if (type->kind() == TypeKind::Any && (operators == nullptr || context_.declarations.isMember(name.text))) {
    object = context_.keep(std::move(object), out);
    value = context_.keep(std::move(value), out);
    std::vector<ExprPtr> values;
    values.push_back(typed::copyOf(*object));
    values.push_back(typed::constant(std::string(name.text), Type::string(), span));
    values.push_back(typed::copyOf(*value));
    typed::Block set;
    typed::append(set, span,
                  typed::Evaluate{typed::make(Type::none(), span,
                                              typed::CallBuiltin{*findBuiltin("set_field"), std::move(values)})});
    if (operators == nullptr) {
      for (typed::StmtPtr& statement : set) out.push_back(std::move(statement));
      return;
    }
    // The fields of structs take precedence.
    typed::If either;
    either.branches.push_back({typed::hasMember(typed::copyOf(*object), name.text, span), std::move(set)});
    setByOperator(*operators, std::move(object), name, std::move(value), span, either.otherwise);
    typed::append(out, span, std::move(either));
    return;
  }
  if (operators == nullptr) {
    Diagnostic& diagnostic = context_.error(
        name.span, fmt::format("attribute `{}` of {} cannot be assigned to", name.text, withArticle(type)));
    if (type->isOptional()) diagnostic.note("check `is None` first");
    return;
  }
  setByOperator(*operators, std::move(object), name, std::move(value), span, out);
}

const OverloadSet* AttributeChecker::settersOf(TypePtr type, std::string_view name) {
  const OverloadSet* const operators = isTensorOrAny(type) ? operatorsOf(type, name) : nullptr;
  if (operators == nullptr) return nullptr;
  const bool is_settable =
      std::ranges::any_of(operators->operators, [](const auto& each) { return each.overload_name == "set"; });
  return is_settable ? operators : nullptr;
}

void AttributeChecker::setByOperator(const OverloadSet& operators, ExprPtr object, const syntax::Name& name,
                                     ExprPtr value, Span span, typed::Block& out) {
  std::vector<TypedArgument> arguments;
  arguments.push_back({asTensor(std::move(object)), {}, span});
  arguments.push_back({std::move(value), {}, span});
  ExprPtr call = resolver_.callOverload(operators, {"set", name.span}, std::move(arguments), span, name.span);
  if (!typed::isPoison(*call)) typed::append(out, span, typed::Evaluate{std::move(call)});
}

}  // namespace boxcar::interp
