#include <boxcar/schema/function_schema.h>

#include <algorithm>

namespace boxcar {
namespace {

using TypeSet = std::optional<AliasTypeSet>;

bool haveSetInCommon(const Argument& lhs, const Argument& rhs) {
  if (lhs.alias_info() == nullptr || rhs.alias_info() == nullptr) return false;
  return std::ranges::any_of(lhs.alias_info()->afterSets(), [&](const std::string& set) {
    return std::ranges::find(rhs.alias_info()->afterSets(), set) != rhs.alias_info()->afterSets().end();
  });
}

bool isWildcard(const Argument& argument) {
  return argument.alias_info() != nullptr && argument.alias_info()->isWildcardAfter();
}

AliasTypeSet setsOf(std::span<const TypePtr> types) {
  AliasTypeSet all;
  for (const TypePtr type : types) {
    if (const TypeSet of_type = FunctionSchema::mapTypeToAliasTypeSet(type)) {
      all.insert(all.end(), of_type->begin(), of_type->end());
    }
  }
  return all;
}

void addContained(TypePtr type, AliasTypeSet& found) {
  for (const TypePtr inside : type->contained()) {
    if (std::ranges::find(found, inside) != found.end()) continue;
    found.push_back(inside);
    addContained(inside, found);
  }
}

}  // namespace

TypeSet FunctionSchema::mapTypeToAliasTypeSet(TypePtr type) {
  switch (type->kind()) {
    case TypeKind::Tensor:
    case TypeKind::List:
    case TypeKind::Dict:
    case TypeKind::Class:
    case TypeKind::Any: return AliasTypeSet{type};
    case TypeKind::Optional: return mapTypeToAliasTypeSet(type->element());
    case TypeKind::Union:
    case TypeKind::Tuple: {
      AliasTypeSet inside = setsOf(type->contained());
      if (inside.empty()) return std::nullopt;
      if (type->kind() == TypeKind::Union) return inside;
      return AliasTypeSet{Type::tupleOf(inside)};
    }
    default: return std::nullopt;
  }
}

TypeSet FunctionSchema::getAliasTypeSetContainedTypes(const TypeSet& types) {
  if (!types.has_value()) return std::nullopt;
  AliasTypeSet found;
  for (const TypePtr type : *types) addContained(type, found);
  return found;
}

bool FunctionSchema::canAliasTypeSetsAlias(const TypeSet& lhs, const TypeSet& rhs) {
  if (!lhs.has_value() || !rhs.has_value()) return false;
  return std::ranges::any_of(*lhs, [&](TypePtr type) { return std::ranges::find(*rhs, type) != rhs->end(); });
}

bool FunctionSchema::is_aliasing(const SchemaArgument& argument) const {
  return argumentAt(argument).alias_info() != nullptr;
}

bool FunctionSchema::may_alias(const SchemaArgument& lhs, const SchemaArgument& rhs) const {
  const Argument& left = argumentAt(lhs);
  const Argument& right = argumentAt(rhs);
  return canAliasTypeSetsAlias(mapTypeToAliasTypeSet(left.type()), mapTypeToAliasTypeSet(right.type())) &&
         haveSetInCommon(left, right);
}

bool FunctionSchema::may_contain_alias(const SchemaArgument& lhs, const SchemaArgument& rhs, bool bidirectional) const {
  if (may_alias(lhs, rhs)) return true;
  const Argument& left = argumentAt(lhs);
  const Argument& right = argumentAt(rhs);
  const TypeSet left_types = mapTypeToAliasTypeSet(left.type());
  const TypeSet right_types = mapTypeToAliasTypeSet(right.type());
  const TypeSet inside_left = getAliasTypeSetContainedTypes(left_types);
  const TypeSet inside_right = getAliasTypeSetContainedTypes(right_types);
  // A wildcard may be in any container that has elements of its type.
  return canAliasTypeSetsAlias(inside_left, inside_right) ||
         (isWildcard(right) && canAliasTypeSetsAlias(right_types, inside_left)) ||
         (bidirectional && isWildcard(left) && canAliasTypeSetsAlias(left_types, inside_right));
}

}  // namespace boxcar
