#include <boxcar/interpreter/bytecode/builtins.h>
#include <boxcar/interpreter/compiler/typed_builder.h>
#include <boxcar/interpreter/compiler/update_checker.h>
#include <boxcar/interpreter/syntax/wording.h>
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace boxcar::interp {

using boost::variant2::get_if;
using syntax::BinaryOp;
using typed::ExprPtr;

namespace {

// Whether `x += …` and similar change the value of x in place.
bool changesInPlace(BinaryOp op, TypePtr type) {
  if (type->kind() == TypeKind::Tensor) return op != BinaryOp::MatrixMultiply;
  return type->isList() && op == BinaryOp::Add;
}

}  // namespace

void UpdateChecker::infer(const syntax::AugmentedAssign& assign, Span span, typed::Block& out) {
  if (const auto* index = get_if<syntax::Index>(&assign.target->node)) {
    updateIndex(*index, assign, span, out);
    return;
  }
  const auto* attribute = get_if<syntax::Attribute>(&assign.target->node);
  ExprPtr object;
  if (attribute != nullptr) object = context_.keep(expressions_.infer(*attribute->object), out);
  ExprPtr old = attribute == nullptr ? expressions_.infer(*assign.target)
                                     : attributes_.value(typed::copyOf(*object), attribute->name, assign.target->span);
  ExprPtr value = expressions_.infer(*assign.value);
  if (typed::isPoison(*old) || typed::isPoison(*value)) return;
  const bool is_in_place = changesInPlace(assign.op, old->type);
  ExprPtr result = updated(assign.op, std::move(old), std::move(value), span);
  if (is_in_place) {
    typed::append(out, span, typed::Evaluate{std::move(result)});
    return;
  }
  if (attribute != nullptr) {
    attributes_.set(std::move(object), attribute->name, std::move(result), span, out);
    return;
  }
  const auto& name = boost::variant2::get<syntax::NameRef>(assign.target->node).name.name;
  assignments_.assignVariable(name, std::move(result), span, out);
}

void UpdateChecker::updateIndex(const syntax::Index& target, const syntax::AugmentedAssign& assign, Span span,
                                typed::Block& out) {
  const Span place_span = assign.target->span;
  ExprPtr object = context_.keep(expressions_.infer(*target.object), out);
  if (typed::isPoison(*object)) return;
  if (object->type->kind() == TypeKind::Tensor) {
    updateTensor(std::move(object), target, assign, span, out);
    return;
  }
  if (get_if<syntax::Slice>(&target.index->node) != nullptr) {
    context_.error(target.index->span, fmt::format("a slice of {} cannot be assigned to", withArticle(object->type)));
    return;
  }
  ExprPtr index = context_.keep(expressions_.infer(*target.index), out);
  if (typed::isPoison(*index)) return;
  ExprPtr old = indexing_.element(typed::copyOf(*object), typed::copyOf(*index), place_span);
  ExprPtr value = expressions_.infer(*assign.value);
  if (typed::isPoison(*old) || typed::isPoison(*value)) return;
  const TypePtr old_type = old->type;
  ExprPtr result = updated(assign.op, std::move(old), std::move(value), span);
  if (changesInPlace(assign.op, old_type)) {
    typed::append(out, span, typed::Evaluate{std::move(result)});
    return;
  }
  const TypePtr type = object->type;
  if (type->isList() || type->kind() == TypeKind::Dict) {
    const TypePtr wanted = type->isList() ? type->element() : type->contained()[1];
    result = converter_.convertOrReport(std::move(result), wanted, fmt::format("what lies in {}", withArticle(type)));
  } else if (type->kind() != TypeKind::Any) {
    context_.error(place_span, fmt::format("nothing can be assigned to an element of {}", withArticle(type)));
    return;
  }
  typed::append(out, span, typed::SetIndex{std::move(object), std::move(index), std::move(result)});
}

void UpdateChecker::updateTensor(ExprPtr object, const syntax::Index& target, const syntax::AugmentedAssign& assign,
                                 Span span, typed::Block& out) {
  const Span place_span = assign.target->span;
  TensorIndex place = indexing_.tensorIndex(std::move(object), *target.index, place_span);
  place.view = context_.keep(std::move(place.view), out);
  if (place.indices == nullptr && place.parts.empty()) {
    ExprPtr value = expressions_.infer(*assign.value);
    if (typed::isPoison(*place.view) || typed::isPoison(*value)) return;
    ExprPtr result = updated(assign.op, typed::copyOf(*place.view), std::move(value), span);
    if (changesInPlace(assign.op, Type::tensor())) {
      typed::append(out, span, typed::Evaluate{std::move(result)});
    } else {
      assignments_.setTensorIndex(std::move(place), std::move(result), span, out);
    }
    return;
  }
  ExprPtr old;
  if (!place.parts.empty()) {
    std::vector<ExprPtr> copies;
    for (ExprPtr& part : place.parts) {
      part = context_.keep(std::move(part), out);
      copies.push_back(typed::copyOf(*part));
    }
    old = IndexChecker::partsElement(typed::copyOf(*place.view), std::move(copies), place_span);
  } else {
    place.indices = context_.keep(std::move(place.indices), out);
    ExprPtr view = typed::copyOf(*place.view);
    ExprPtr indices = typed::copyOf(*place.indices);
    old = resolver_.callAten("index", {&view, &indices}, place_span);
  }
  ExprPtr value = expressions_.infer(*assign.value);
  if (typed::isPoison(*old) || typed::isPoison(*value)) return;
  assignments_.setTensorIndex(std::move(place), updated(assign.op, std::move(old), std::move(value), span), span, out);
}

ExprPtr UpdateChecker::updated(BinaryOp op, ExprPtr old, ExprPtr value, Span span) {
  static constexpr std::string_view names[] = {"bitwise_or_", "bitwise_xor_",  "bitwise_and_", "__ilshift__",
                                               "__irshift__", "add_",          "sub_",         "mul_",
                                               "div_",        "floor_divide_", "remainder_",   "",
                                               "pow_"};
  const std::string_view in_place = names[static_cast<size_t>(op)];
  if (old->type->kind() == TypeKind::Tensor && changesInPlace(op, old->type)) {
    return resolver_.callAten(in_place, {&old, &value}, span);
  }
  if (old->type->isList() && changesInPlace(op, old->type)) {
    const TypePtr element = iteratedType(value->type);
    if (element == nullptr || !conversionCost(element, {old->type->element()}, {})) {
      context_.error(span, fmt::format("`{}=` does not work on {} and {}", op, *old->type, *value->type));
      return typed::poison(span);
    }
    std::vector<TypedArgument> arguments;
    const Span value_span = value->span;
    arguments.push_back({std::move(old), {}, span});
    arguments.push_back({std::move(value), {}, value_span});
    return builtins_.callBuiltin("list.extend", std::move(arguments), span);
  }
  if (old->type->kind() == TypeKind::Any) {
    std::vector<ExprPtr> arguments;
    arguments.push_back(std::move(old));
    arguments.push_back(std::move(value));
    arguments.push_back(typed::constant(static_cast<int64_t>(op), Type::integer(), span));
    arguments.push_back(typed::constant(std::string(in_place), Type::string(), span));
    return typed::make(Type::any(), span, typed::CallBuiltin{*findBuiltin("updated"), std::move(arguments)});
  }
  return operators_.binary(op, std::move(old), std::move(value), span);
}

}  // namespace boxcar::interp
