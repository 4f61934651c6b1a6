#include <boxcar/interpreter/bytecode/builtins.h>
#include <boxcar/interpreter/compiler/index_checker.h>
#include <boxcar/interpreter/compiler/typed_builder.h>
#include <boxcar/interpreter/runtime/join_types.h>
#include <boxcar/interpreter/syntax/wording.h>

#include <algorithm>
#include <utility>

namespace boxcar::interp {

using boost::variant2::get_if;
using typed::ExprPtr;

namespace {

bool isInt(TypePtr type) { return type->kind() == TypeKind::Int || type->kind() == TypeKind::Bool; }

// Whether an index has a form that only tensors take: `...`, or a tuple that contains it or a slice.
bool isForTensors(const syntax::Expr& index) {
  if (get_if<syntax::Ellipsis>(&index.node) != nullptr) return true;
  const auto* tuple = get_if<syntax::TupleLiteral>(&index.node);
  return tuple != nullptr && std::ranges::any_of(tuple->items, [](const syntax::ExprPtr& item) {
           return get_if<syntax::Slice>(&item->node) != nullptr || get_if<syntax::Ellipsis>(&item->node) != nullptr;
         });
}

std::optional<int64_t> constantInt(const typed::Expr& expr) {
  const auto* constant = get_if<typed::Constant>(&expr.node);
  if (constant == nullptr || !constant->value.isInt()) return std::nullopt;
  return constant->value.toInt();
}

// Returns the type of a tuple's slice: a tuple type if the bounds are constants and the step is one.
TypePtr sliceOfTuple(TypePtr tuple, const typed::Expr& start, const typed::Expr& stop, const typed::Expr& step) {
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

}  // namespace

ExprPtr IndexChecker::infer(const syntax::Index& index, Span span) {
  ExprPtr object = expressions_.infer(*index.object);
  if (typed::isPoison(*object)) {
    return typed::poison(span);
  }
  if (object->type->kind() == TypeKind::Tensor) return tensorElement(std::move(object), *index.index, span);
  if (const auto* slice = get_if<syntax::Slice>(&index.index->node)) {
    return this->slice(std::move(object), *slice, span);
  }
  if (object->type->kind() == TypeKind::Any && isForTensors(*index.index)) {
    return tensorElement(typed::convertAtRunTime(std::move(object), Type::tensor()), *index.index, span);
  }
  ExprPtr position = expressions_.infer(*index.index);
  if (typed::isPoison(*position)) return typed::poison(span);
  return element(std::move(object), std::move(position), span);
}

ExprPtr IndexChecker::element(ExprPtr object, ExprPtr index, Span span) {
  const TypePtr type = object->type;
  switch (type->kind()) {
    case TypeKind::List:
    case TypeKind::Tuple:
    case TypeKind::String: {
      index = converter_.convertOrReport(std::move(index), Type::integer(),
                                         fmt::format("an index of {}", withArticle(type)));
      if (type->kind() == TypeKind::String)
        return typed::operate(Opcode::Index, type, span, std::move(object), std::move(index));
      if (type->kind() == TypeKind::Tuple) return tupleElement(std::move(object), std::move(index), span);
      const TypePtr item = type->element();
      if (item->kind() == TypeKind::Int)
        return typed::operate(Opcode::IndexInt, item, span, std::move(object), std::move(index));
      if (item->kind() == TypeKind::Float) {
        return typed::operate(Opcode::IndexFloat, item, span, std::move(object), std::move(index));
      }
      return typed::unboxed(typed::operate(Opcode::Index, Type::any(), span, std::move(object), std::move(index)),
                            item);
    }
    case TypeKind::Dict: {
      index = converter_.convertOrReport(std::move(index), type->contained()[0],
                                         fmt::format("a key of {}", withArticle(type)));
      return typed::unboxed(typed::operate(Opcode::Index, Type::any(), span, std::move(object), std::move(index)),
                            type->contained()[1]);
    }
    case TypeKind::Any: return typed::operate(Opcode::Index, Type::any(), span, std::move(object), std::move(index));
    default: break;
  }
  Diagnostic& diagnostic = context_.error(span, fmt::format("{} cannot be indexed", withArticle(type)));
  if (type->isOptional()) diagnostic.note("check `is None` first");
  return typed::poison(span);
}

ExprPtr IndexChecker::tupleElement(ExprPtr object, ExprPtr index, Span span) {
  const auto elements = object->type->contained();
  TypePtr type = nullptr;
  if (const auto position = constantInt(*index)) {
    const auto size = static_cast<int64_t>(elements.size());
    if (*position < -size || *position >= size) {
      context_.error(index->span, fmt::format("index {} is out of range for {}", *position, withArticle(object->type)));
      return typed::poison(span);
    }
    type = elements[static_cast<size_t>(*position < 0 ? *position + size : *position)];
  } else {
    for (const TypePtr element : elements) type = type == nullptr ? element : joinTypes(type, element);
    if (type == nullptr) type = Type::any();
  }
  return typed::unboxed(typed::operate(Opcode::Index, Type::any(), span, std::move(object), std::move(index)), type);
}

ExprPtr IndexChecker::sliceBound(const syntax::ExprPtr& bound, Span span, std::string_view what) {
  if (bound == nullptr) return typed::none(span);
  ExprPtr value = expressions_.infer(*bound);
  if (value->type->kind() == TypeKind::None || typed::isPoison(*value)) return value;
  const TypePtr type = value->type->isOptional() || value->type->kind() == TypeKind::Any
                           ? Type::optionalOf(Type::integer())
                           : Type::integer();
  return converter_.convertOrReport(std::move(value), type, fmt::format("the {} of a slice", what));
}

ExprPtr IndexChecker::slice(ExprPtr object, const syntax::Slice& slice, Span span) {
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
      Diagnostic& diagnostic = context_.error(span, fmt::format("{} cannot be sliced", withArticle(type)));
      if (type->isOptional()) diagnostic.note("check `is None` first");
      return typed::poison(span);
    }
  }
  return typed::make(type, span,
                     typed::MakeSlice{std::move(object), std::move(start), std::move(stop), std::move(step)});
}

// ---- Tensors ----

// Returns the parts of a tensor's index, in order, with their values inferred; nothing if one is wrong.
std::optional<std::vector<IndexChecker::Part>> IndexChecker::indexParts(const syntax::Expr& index) {
  std::vector<const syntax::Expr*> items = {&index};
  if (const auto* tuple = get_if<syntax::TupleLiteral>(&index.node)) {
    items.clear();
    for (const syntax::ExprPtr& item : tuple->items) items.push_back(item.get());
  }
  std::vector<Part> parts;
  bool has_ellipsis = false;
  for (const syntax::Expr* item : items) {
    Part& part = parts.emplace_back();
    part.span = item->span;
    if (const auto* slice = get_if<syntax::Slice>(&item->node)) {
      part.letter = ':';
      part.values.push_back(sliceBound(slice->start, item->span, "start"));
      part.values.push_back(sliceBound(slice->stop, item->span, "stop"));
      part.values.push_back(sliceBound(slice->step, item->span, "step"));
    } else if (get_if<syntax::Ellipsis>(&item->node) != nullptr) {
      part.letter = '.';
      if (std::exchange(has_ellipsis, true)) {
        context_.error(index.span, "an index has at most one `...`");
        return std::nullopt;
      }
    } else {
      part.values.push_back(expressions_.infer(*item));
      const TypePtr type = part.values[0]->type;
      const bool is_index = isInt(type) || type->kind() == TypeKind::None || type->kind() == TypeKind::Tensor ||
                            type->kind() == TypeKind::Any || type->kind() == TypeKind::Tuple || type->isList();
      if (!is_index) {
        Diagnostic& diagnostic = context_.error(item->span, fmt::format("{} cannot index a Tensor", withArticle(type)));
        if (type->isOptional()) diagnostic.note("check `is None` first");
        return std::nullopt;
      }
    }
    if (std::ranges::any_of(part.values, [](const ExprPtr& value) { return typed::isPoison(*value); }))
      return std::nullopt;
  }
  return parts;
}

namespace {

bool isWholeSlice(const auto& part) {
  return part.letter == ':' &&
         std::ranges::all_of(part.values, [](const ExprPtr& value) { return value->type->kind() == TypeKind::None; });
}

// Whether only the run knows which dimensions the parts apply to. A bool tensor takes as many dimensions as it has, and
// a value of type Any may be one, or a tuple.
bool dependOnValues(const auto& parts) {
  bool has_ellipsis = false;
  bool has_tensor = false;
  for (const auto& part : parts) {
    has_ellipsis = has_ellipsis || part.letter == '.';
    if (has_tensor && !isWholeSlice(part)) return true;
    if (part.letter != 'v') continue;
    const TypePtr type = part.values[0]->type;
    const TypeKind kind = type->kind();
    if (kind == TypeKind::Any || kind == TypeKind::Tuple || kind == TypeKind::Bool) return true;
    has_tensor = has_tensor || kind == TypeKind::Tensor || type->isList();
    if (has_tensor && has_ellipsis) return true;
  }
  return false;
}

}  // namespace

TensorIndex IndexChecker::tensorIndex(ExprPtr object, const syntax::Expr& index, Span span) {
  auto parts = indexParts(index);
  TensorIndex place;
  if (!parts) {
    place.view = typed::poison(span);
    return place;
  }
  place.view = std::move(object);
  if (dependOnValues(*parts)) {
    std::string form;
    for (const Part& part : *parts) form += part.letter;
    place.parts.push_back(typed::constant(std::move(form), Type::string(), index.span));
    for (Part& part : *parts) {
      for (ExprPtr& value : part.values) place.parts.push_back(std::move(value));
    }
    return place;
  }

  // Parts before `...` in order, from the first dimension on; then the parts after it, from the last dimension back.
  const auto ellipsis = std::ranges::find(*parts, '.', &Part::letter);
  std::vector<ExprPtr> indices;
  int64_t passed = 0;  // dimensions that the parts keep
  for (auto part = parts->begin(); part != ellipsis; ++part) {
    const bool is_index =
        part->letter == 'v' && (part->values[0]->type->kind() == TypeKind::Tensor || part->values[0]->type->isList());
    if (is_index) {
      while (static_cast<int64_t>(indices.size()) < passed) indices.push_back(typed::none(part->span));
      indices.push_back(asTensor(std::move(part->values[0])));
      ++passed;
    } else {
      place.view = viewOf(std::move(place.view), *part, passed, false, span);
    }
  }
  passed = 0;
  if (ellipsis != parts->end()) {
    for (auto part = parts->end(); --part != ellipsis;) {
      place.view = viewOf(std::move(place.view), *part, passed, true, span);
    }
  }
  if (!indices.empty()) {
    const TypePtr list = Type::listOf(Type::optionalOf(Type::tensor()));
    place.indices = typed::make(list, index.span, typed::MakeList{std::move(indices)});
  }
  return place;
}

ExprPtr IndexChecker::asTensor(ExprPtr index) {
  if (!index->type->isList()) return index;
  const Span span = index->span;
  std::vector<TypedArgument> arguments;
  arguments.push_back({std::move(index), {}, span});
  return builtins_.callBuiltin("tensor", std::move(arguments), span);
}

// Returns what a slice, None or int leaves of [view]; [passed] dimensions are done, counted from the first or the last.
ExprPtr IndexChecker::viewOf(ExprPtr view, Part& part, int64_t& passed, bool is_from_end, Span span) {
  if (typed::isPoison(*view)) return view;
  ExprPtr dim = typed::constant(is_from_end ? -passed - 1 : passed, Type::integer(), part.span);
  if (part.letter == 'v' && isInt(part.values[0]->type))
    return resolver_.callAten("select", {&view, &dim, &part.values[0]}, span);
  ++passed;
  if (part.letter == 'v') return resolver_.callAten("unsqueeze", {&view, &dim}, span);
  if (isWholeSlice(part)) return view;
  ExprPtr step = std::move(part.values[2]);
  if (step->type->kind() == TypeKind::None) step = typed::constant(1, Type::integer(), part.span);
  return resolver_.callAten("slice", {&view, &dim, &part.values[0], &part.values[1], &step}, span);
}

ExprPtr IndexChecker::tensorElement(ExprPtr object, const syntax::Expr& index, Span span) {
  TensorIndex place = tensorIndex(std::move(object), index, span);
  if (typed::isPoison(*place.view)) return std::move(place.view);
  if (!place.parts.empty()) return partsElement(std::move(place.view), std::move(place.parts), span);
  if (place.indices == nullptr) return std::move(place.view);
  return resolver_.callAten("index", {&place.view, &place.indices}, span);
}

ExprPtr IndexChecker::partsElement(ExprPtr view, std::vector<ExprPtr> parts, Span span) {
  parts.insert(parts.begin(), std::move(view));
  return typed::make(Type::tensor(), span, typed::CallBuiltin{*findBuiltin("tensor_element"), std::move(parts)});
}

}  // namespace boxcar::interp
