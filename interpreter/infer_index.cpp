#include <boxcar/interpreter/builtins.h>
#include <boxcar/interpreter/inference.h>
#include <boxcar/interpreter/wording.h>

#include <algorithm>

// Indexing: of lists, tuples, strs and dicts by instructions, of tensors by operators.

namespace boxcar::interp {

using boost::variant2::get_if;
using typed::ExprPtr;

namespace {

bool isInt(TypePtr type) { return type->kind() == TypeKind::Int || type->kind() == TypeKind::Bool; }

std::optional<int64_t> constantInt(const typed::Expr& expr) {
  const auto* constant = get_if<typed::Constant>(&expr.node);
  if (constant == nullptr || !constant->value.isInt()) return std::nullopt;
  return constant->value.toInt();
}

}  // namespace

ExprPtr Inference::infer(const syntax::Index& index, Span span) {
  ExprPtr object = infer(*index.object);
  if (isPoison(*object)) {
    return poison(span);
  }
  if (object->type->kind() == TypeKind::Tensor) return tensorElement(std::move(object), *index.index, span);
  if (const auto* slice = get_if<syntax::Slice>(&index.index->node)) {
    return this->slice(std::move(object), *slice, span);
  }
  ExprPtr position = infer(*index.index);
  if (isPoison(*position)) return poison(span);
  return element(std::move(object), std::move(position), span);
}

ExprPtr Inference::element(ExprPtr object, ExprPtr index, Span span) {
  const TypePtr type = object->type;
  switch (type->kind()) {
    case TypeKind::List:
    case TypeKind::Tuple:
    case TypeKind::String: {
      index = convertOrReport(std::move(index), Type::integer(), fmt::format("an index of {}", withArticle(type)));
      if (type->kind() == TypeKind::String)
        return operate(Opcode::Index, type, span, std::move(object), std::move(index));
      if (type->kind() == TypeKind::Tuple) return tupleElement(std::move(object), std::move(index), span);
      const TypePtr item = type->element();
      if (item->kind() == TypeKind::Int)
        return operate(Opcode::IndexInt, item, span, std::move(object), std::move(index));
      if (item->kind() == TypeKind::Float) {
        return operate(Opcode::IndexFloat, item, span, std::move(object), std::move(index));
      }
      return unboxed(operate(Opcode::Index, Type::any(), span, std::move(object), std::move(index)), item);
    }
    case TypeKind::Dict: {
      index = convertOrReport(std::move(index), type->contained()[0], fmt::format("a key of {}", withArticle(type)));
      return unboxed(operate(Opcode::Index, Type::any(), span, std::move(object), std::move(index)),
                     type->contained()[1]);
    }
    case TypeKind::Any: return operate(Opcode::Index, Type::any(), span, std::move(object), std::move(index));
    default: break;
  }
  Diagnostic& diagnostic = error(span, fmt::format("{} cannot be indexed", withArticle(type)));
  if (type->isOptional()) diagnostic.note("test it with `is None` first");
  return poison(span);
}

ExprPtr Inference::tupleElement(ExprPtr object, ExprPtr index, Span span) {
  const auto elements = object->type->contained();
  TypePtr type = nullptr;
  if (const auto position = constantInt(*index)) {
    const auto size = static_cast<int64_t>(elements.size());
    if (*position < -size || *position >= size) {
      error(index->span, fmt::format("index {} is out of range for {}", *position, withArticle(object->type)));
      return poison(span);
    }
    type = elements[static_cast<size_t>(*position < 0 ? *position + size : *position)];
  } else {
    for (const TypePtr element : elements) type = type == nullptr ? element : joinTypes(type, element);
    if (type == nullptr) type = Type::any();
  }
  return unboxed(operate(Opcode::Index, Type::any(), span, std::move(object), std::move(index)), type);
}

ExprPtr Inference::sliceBound(const syntax::ExprPtr& bound, Span span, std::string_view what) {
  if (bound == nullptr) return none(span);
  ExprPtr value = infer(*bound);
  if (value->type->kind() == TypeKind::None || isPoison(*value)) return value;
  const TypePtr type = value->type->isOptional() || value->type->kind() == TypeKind::Any
                           ? Type::optionalOf(Type::integer())
                           : Type::integer();
  return convertOrReport(std::move(value), type, fmt::format("the {} of a slice", what));
}

ExprPtr Inference::slice(ExprPtr object, const syntax::Slice& slice, Span span) {
  TypePtr type = object->type;
  ExprPtr start = sliceBound(slice.start, span, "start");
  ExprPtr stop = sliceBound(slice.stop, span, "stop");
  ExprPtr step = sliceBound(slice.step, span, "step");
  switch (type->kind()) {
    case TypeKind::List:
    case TypeKind::String:
    case TypeKind::Any: break;
    case TypeKind::Tuple: type = sliceOfTuple(type, *start, *stop, *step); break;
    default: {
      Diagnostic& diagnostic = error(span, fmt::format("{} cannot be sliced", withArticle(type)));
      if (type->isOptional()) diagnostic.note("test it with `is None` first");
      return poison(span);
    }
  }
  return make(type, span, typed::MakeSlice{std::move(object), std::move(start), std::move(stop), std::move(step)});
}

// The type of a tuple's slice: a tuple where the bounds are constants in steps of one.
TypePtr Inference::sliceOfTuple(TypePtr tuple, const typed::Expr& start, const typed::Expr& stop,
                                const typed::Expr& step) const {
  const auto size = static_cast<int64_t>(tuple->contained().size());
  const auto bound = [size](const typed::Expr& expr, int64_t otherwise) -> std::optional<int64_t> {
    if (expr.type->kind() == TypeKind::None) return otherwise;
    const auto value = constantInt(expr);
    if (!value) return std::nullopt;
    return std::clamp<int64_t>(*value < 0 ? *value + size : *value, 0, size);
  };
  const auto first = bound(start, 0);
  const auto last = bound(stop, size);
  if (!first || !last || step.type->kind() != TypeKind::None) return Type::any();
  const auto begin = static_cast<size_t>(*first);
  return Type::tupleOf(tuple->contained().subspan(begin, static_cast<size_t>(std::max(*last, *first)) - begin));
}

// ---- Tensors ----

namespace {

// Where in a tensor the next part of an index applies: counted from the first dimension, or, behind `...`, from the
// last.
struct IndexPart {
  const syntax::Expr* expr;
  bool is_from_end;
};

// The parts of an index, those before `...` in order, then those behind it from the last one on. Nothing where there
// are two `...`.
std::optional<std::vector<IndexPart>> partsOf(const syntax::Expr& index) {
  std::vector<const syntax::Expr*> items;
  if (const auto* tuple = get_if<syntax::TupleLiteral>(&index.node)) {
    for (const syntax::ExprPtr& item : tuple->items) items.push_back(item.get());
  } else {
    items.push_back(&index);
  }
  const auto is_ellipsis = [](const syntax::Expr* item) { return get_if<syntax::Ellipsis>(&item->node) != nullptr; };
  const auto ellipsis = std::ranges::find_if(items, is_ellipsis);
  std::vector<IndexPart> parts;
  for (auto item = items.begin(); item != ellipsis; ++item) parts.push_back({*item, false});
  if (ellipsis == items.end()) return parts;
  if (std::find_if(ellipsis + 1, items.end(), is_ellipsis) != items.end()) return std::nullopt;
  for (auto item = items.end(); --item != ellipsis;) parts.push_back({*item, true});
  return parts;
}

}  // namespace

Inference::TensorIndex Inference::tensorIndex(ExprPtr object, const syntax::Expr& index, Span span) {
  const auto parts = partsOf(index);
  if (!parts) {
    error(index.span, "an index has at most one `...`");
    return {poison(span)};
  }
  ExprPtr view = std::move(object);
  std::vector<ExprPtr> indices;  // by the dimension of [view], None for those that no tensor indexes
  int64_t from_start = 0;        // dimensions that parts before `...` have left
  int64_t from_end = 0;
  bool has_tensors = false;
  for (const IndexPart& part : *parts) {
    int64_t& passed = part.is_from_end ? from_end : from_start;
    ExprPtr dim = constant(part.is_from_end ? -passed - 1 : passed, Type::integer(), part.expr->span);
    if (const auto* slice = get_if<syntax::Slice>(&part.expr->node)) {
      ++passed;
      if (slice->start == nullptr && slice->stop == nullptr && slice->step == nullptr) continue;
      ExprPtr start = sliceBound(slice->start, part.expr->span, "start");
      ExprPtr stop = sliceBound(slice->stop, part.expr->span, "stop");
      ExprPtr step = sliceBound(slice->step, part.expr->span, "step");
      if (step->type->kind() == TypeKind::None) step = constant(1, Type::integer(), part.expr->span);
      if (isPoison(*start) || isPoison(*stop) || isPoison(*step)) return {poison(span)};
      view = callAten("slice", {&view, &dim, &start, &stop, &step}, span);
      continue;
    }
    ExprPtr value = infer(*part.expr);
    if (isPoison(*value)) return {std::move(value)};
    if (value->type->kind() == TypeKind::None) {
      ++passed;
      view = callAten("unsqueeze", {&view, &dim}, span);
    } else if (isInt(value->type) && value->type->kind() != TypeKind::Bool) {
      view = callAten("select", {&view, &dim, &value}, span);
    } else if (value->type->kind() == TypeKind::Any && parts->size() == 1) {
      return {std::move(view), nullptr, std::move(value)};
    } else if (value->type->kind() == TypeKind::Any) {
      value = convertAtRunTime(std::move(value), Type::integer());
      view = callAten("select", {&view, &dim, &value}, span);
    } else if (value->type->kind() == TypeKind::Tensor || value->type->isList()) {
      if (part.is_from_end) {
        error(part.expr->span, "a tensor cannot stand behind `...` in an index");
        return {poison(span)};
      }
      if (value->type->isList()) {
        std::vector<TypedArgument> arguments;
        arguments.push_back({std::move(value), {}, part.expr->span});
        value = callBuiltin("tensor", std::move(arguments), part.expr->span);
      }
      while (static_cast<int64_t>(indices.size()) < passed) indices.push_back(none(part.expr->span));
      indices.push_back(std::move(value));
      ++passed;
      has_tensors = true;
    } else {
      error(part.expr->span, fmt::format("{} cannot index a Tensor", withArticle(value->type)));
      return {poison(span)};
    }
    if (isPoison(*view)) return {std::move(view)};
  }
  if (!has_tensors) return {std::move(view)};
  const TypePtr list = Type::listOf(Type::optionalOf(Type::tensor()));
  return {std::move(view), make(list, index.span, typed::MakeList{std::move(indices)})};
}

ExprPtr Inference::tensorElement(ExprPtr object, const syntax::Expr& index, Span span) {
  TensorIndex place = tensorIndex(std::move(object), index, span);
  if (place.unknown != nullptr) {
    return operate(Opcode::Index, Type::tensor(), span, std::move(place.view), std::move(place.unknown));
  }
  if (place.indices == nullptr) return std::move(place.view);
  return callAten("index", {&place.view, &place.indices}, span);
}

}  // namespace boxcar::interp
