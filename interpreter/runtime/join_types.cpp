#include <boxcar/interpreter/runtime/join_types.h>
#include <boxcar/schema/type.h>

#include <cstddef>
#include <vector>

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

}  // namespace boxcar::interp
