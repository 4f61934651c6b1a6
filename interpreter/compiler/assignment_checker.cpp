#include <boxcar/interpreter/bytecode/builtins.h>
#include <boxcar/interpreter/compiler/assignment_checker.h>
#include <boxcar/interpreter/compiler/typed_builder.h>
#include <boxcar/interpreter/syntax/wording.h>

namespace boxcar::interp {

using boost::variant2::get_if;
using typed::ExprPtr;

void AssignmentChecker::assignAll(const syntax::Targets& targets, ExprPtr value, Span span, typed::Block& out) {
  if (targets.unpacks) {
    unpack(targets, std::move(value), span, out);
  } else {
    assign(*targets.items[0], std::move(value), span, out);
  }
}

void AssignmentChecker::assign(const syntax::Expr& target, ExprPtr value, Span span, typed::Block& out) {
  if (const auto* ref = get_if<syntax::NameRef>(&target.node)) {
    assignVariable(ref->name.name, std::move(value), span, out);
  } else if (const auto* attribute = get_if<syntax::Attribute>(&target.node)) {
    attributes_.assign(*attribute, std::move(value), span, out);
  } else {
    assignIndex(boost::variant2::get<syntax::Index>(target.node), std::move(value), span, out);
  }
}

void AssignmentChecker::assignVariable(const syntax::Name& name, ExprPtr value, Span span, typed::Block& out) {
  const auto variable = context_.findVariable(name.text);
  if (!variable) {
    const ScriptConstant* known = context_.declarations.findConstant(name.text);
    Diagnostic& diagnostic =
        context_.error(name.span, fmt::format("`{}` is a constant, and a constant is set only once", name.text));
    if (known->is_earlier) {
      diagnostic.note(fmt::format("an earlier input set it; `const {} = ...` makes another of that name", name.text));
    } else {
      diagnostic.note("it is set here", context_.source, known->span);
    }
    return;
  }
  typed::FieldNames fields = value->fields;
  TypePtr bound = nullptr;
  const auto declared = context_.declared_types.find(*variable);
  if (declared != context_.declared_types.end() && declared->second.first != nullptr && !typed::isPoison(*value)) {
    bound = declared->second.first;
    value = converter_.convertOrReport(std::move(value), bound, fmt::format("`{}`", name.text));
    // A value that is not None when assigned stays so until the next assignment.
    if (bound->isOptional() && value->type == bound->element()) bound = value->type;
  }
  const TypePtr type = bound == nullptr ? value->type : bound;
  if (context_.findings != nullptr) context_.findings->assignments.push_back({name.text, name.span, type});
  const SlotKind kind = context_.kindOf(type);
  typed::append(out, span, typed::SetVariable{{*variable, kind}, std::move(value)});
  context_.environment[*variable] = {type, std::move(fields), kind, false};
  context_.assigned.push_back(*variable);
}

void AssignmentChecker::assignIndex(const syntax::Index& target, ExprPtr value, Span span, typed::Block& out) {
  const Span place_span = join(target.object->span, target.index->span);
  ExprPtr object = expressions_.infer(*target.object);
  if (typed::isPoison(*object)) return;
  const TypePtr type = object->type;
  // The value is evaluated before the place.
  const bool is_tensor = type->kind() == TypeKind::Tensor;
  if (!typed::isSimple(*object)) value = context_.keep(std::move(value), out);
  if (is_tensor) {
    setTensorIndex(indexing_.tensorIndex(std::move(object), *target.index, place_span), std::move(value), span, out);
    return;
  }
  if (get_if<syntax::Slice>(&target.index->node) != nullptr) {
    context_.error(target.index->span, fmt::format("a slice of {} cannot be assigned to", withArticle(type)));
    return;
  }
  ExprPtr index = expressions_.infer(*target.index);
  if (typed::isPoison(*index) || typed::isPoison(*value)) return;
  switch (type->kind()) {
    case TypeKind::List:
      index = converter_.convertOrReport(std::move(index), Type::integer(),
                                         fmt::format("an index of {}", withArticle(type)));
      value = converter_.convertOrReport(std::move(value), type->element(),
                                         fmt::format("an element of {}", withArticle(type)));
      break;
    case TypeKind::Dict:
      index = converter_.convertOrReport(std::move(index), type->contained()[0],
                                         fmt::format("a key of {}", withArticle(type)));
      value = converter_.convertOrReport(std::move(value), type->contained()[1],
                                         fmt::format("a value of {}", withArticle(type)));
      break;
    case TypeKind::Any: break;
    default: {
      Diagnostic& diagnostic =
          context_.error(place_span, fmt::format("nothing can be assigned to an element of {}", withArticle(type)));
      if (type->isOptional()) diagnostic.note("check `is None` first");
      return;
    }
  }
  typed::append(out, span, typed::SetIndex{std::move(object), std::move(index), std::move(value)});
}

void AssignmentChecker::setTensorIndex(TensorIndex place, ExprPtr value, Span span, typed::Block& out) {
  if (typed::isPoison(*place.view) || typed::isPoison(*value)) return;
  const TypeKind kind = value->type->kind();
  if (kind == TypeKind::String || kind == TypeKind::List || kind == TypeKind::Dict || kind == TypeKind::Tuple ||
      kind == TypeKind::None) {
    Diagnostic& diagnostic = context_.error(
        span, fmt::format("elements of a Tensor are set to a number or a Tensor, not to {}", withArticle(value->type)));
    if (kind == TypeKind::List) diagnostic.note("`tensor(values)` makes a Tensor of a list");
    return;
  }
  if (!place.parts.empty()) {
    std::vector<ExprPtr> arguments;
    arguments.push_back(std::move(place.view));
    arguments.push_back(std::move(value));
    for (ExprPtr& part : place.parts) arguments.push_back(std::move(part));
    const uint16_t builtin = *findBuiltin("set_tensor_element");
    typed::append(out, span,
                  typed::Evaluate{typed::make(Type::none(), span, typed::CallBuiltin{builtin, std::move(arguments)})});
    return;
  }
  ExprPtr call;
  if (place.indices != nullptr) {
    if (value->type->kind() != TypeKind::Tensor) {
      // A number gets the tensor's dtype.
      place.view = context_.keep(std::move(place.view), out);
      ExprPtr like = typed::copyOf(*place.view);
      value = resolver_.callAten("type_as", {&value, &like}, span);
    }
    call = resolver_.callAten("index_put_", {&place.view, &place.indices, &value}, span);
  } else if (value->type->kind() == TypeKind::Tensor || value->type->kind() == TypeKind::Any) {
    call = resolver_.callAten("copy_", {&place.view, &value}, span);
  } else {
    call = resolver_.callAten("fill_", {&place.view, &value}, span);
  }
  typed::append(out, span, typed::Evaluate{std::move(call)});
}

void AssignmentChecker::unpack(const syntax::Targets& targets, ExprPtr value, Span span, typed::Block& out) {
  const TypePtr type = value->type;
  const size_t count = targets.items.size();
  std::vector<TypePtr> types(count, Type::any());
  if (type->kind() == TypeKind::Tuple) {
    if (type->contained().size() != count) {
      context_.error(targets.span, fmt::format("{} name{} cannot take the {} values of {}", count,
                                               count == 1 ? "" : "s", type->contained().size(), withArticle(type)));
      for (const syntax::ExprPtr& target : targets.items) assign(*target, typed::poison(span), span, out);
      return;
    }
    types.assign(type->contained().begin(), type->contained().end());
  } else if (const TypePtr element = typed::isPoison(*value) ? Type::any() : iteratedType(type)) {
    types.assign(count, element);
  } else {
    context_.error(value->span, fmt::format("{} cannot be unpacked", withArticle(type)));
  }

  // A tuple literal on the right side is never built.
  std::vector<ExprPtr> elements;
  if (auto* tuple = get_if<typed::MakeTuple>(&value->node)) {
    for (ExprPtr& item : tuple->items) {
      elements.push_back(context_.keepValue(std::move(item), out));
    }
  } else {
    typed::Unpack node;
    node.value = std::move(value);
    for (const TypePtr element : types) {
      const typed::Target target{context_.makeVariable(), slotKindOf(element)};
      node.targets.push_back(target);
      elements.push_back(typed::read(target, element, span));
    }
    typed::append(out, span, std::move(node));
  }
  for (size_t i = 0; i < count; ++i) assign(*targets.items[i], std::move(elements[i]), span, out);
}

}  // namespace boxcar::interp
