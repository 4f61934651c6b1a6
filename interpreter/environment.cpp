#include <boxcar/interpreter/environment.h>

#include <algorithm>

namespace boxcar::interp {

TypePtr joinTypes(TypePtr a, TypePtr b) {
  if (a == b) return a;
  if (a->kind() == TypeKind::None) return b->kind() == TypeKind::Any ? b : Type::optionalOf(b);
  if (b->kind() == TypeKind::None) return joinTypes(b, a);
  if (a->isOptional() || b->isOptional()) {
    const TypePtr inner = joinTypes(a->isOptional() ? a->element() : a, b->isOptional() ? b->element() : b);
    return inner->kind() == TypeKind::Any ? inner : Type::optionalOf(inner);
  }
  if (a->kind() == TypeKind::Tuple && b->kind() == TypeKind::Tuple && a->contained().size() == b->contained().size()) {
    std::vector<TypePtr> elements;
    for (size_t i = 0; i < a->contained().size(); ++i) {
      elements.push_back(joinTypes(a->contained()[i], b->contained()[i]));
    }
    return Type::tupleOf(elements);
  }
  if (isSubtypeOf(a, b)) return b;
  if (isSubtypeOf(b, a)) return a;
  return Type::any();
}

TypePtr scriptType(TypePtr type) {
  switch (type->kind()) {
    case TypeKind::SymInt: return Type::integer();
    case TypeKind::List: return Type::listOf(scriptType(type->element()));
    case TypeKind::Optional: return Type::optionalOf(scriptType(type->element()));
    case TypeKind::Dict: return Type::dictOf(scriptType(type->contained()[0]), scriptType(type->contained()[1]));
    case TypeKind::Tuple: {
      std::vector<TypePtr> elements;
      for (const TypePtr element : type->contained()) elements.push_back(scriptType(element));
      return Type::tupleOf(elements);
    }
    default: return type;
  }
}

namespace {

Binding joined(const Binding& a, const Binding& b) {
  if (a.type == nullptr || b.type == nullptr) {
    Binding one = a.type == nullptr ? b : a;
    one.maybe_unset = true;
    return one;
  }
  Binding result;
  result.type = joinTypes(a.type, b.type);
  if (a.fields == b.fields) result.fields = a.fields;
  const SlotKind natural = slotKindOf(result.type);
  result.kind = a.kind == b.kind && a.kind == SlotKind::Value ? SlotKind::Value : natural;
  result.maybe_unset = a.maybe_unset || b.maybe_unset;
  return result;
}

}  // namespace

void Environment::join(const Environment& other) {
  if (!other.is_reachable_) return;
  if (!is_reachable_) {
    *this = other;
    return;
  }
  bindings_.resize(std::max(bindings_.size(), other.bindings_.size()));
  for (size_t i = 0; i < bindings_.size(); ++i) {
    const Binding& theirs = other.at(static_cast<typed::VariableId>(i));
    if (!(bindings_[i] == theirs)) bindings_[i] = joined(bindings_[i], theirs);
  }
}

typed::Recasts Environment::recastsTo(const Environment& target) const {
  typed::Recasts recasts;
  if (!is_reachable_) return recasts;
  for (typed::VariableId i = 0; i < bindings_.size(); ++i) {
    const Binding& here = bindings_[i];
    const Binding& there = target.at(i);
    if (here.type != nullptr && there.type != nullptr && here.kind != there.kind) {
      recasts.push_back({i, here.kind, there.kind});
    }
  }
  return recasts;
}

}  // namespace boxcar::interp
