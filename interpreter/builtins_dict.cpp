// The methods of dicts.

#include <boxcar/interpreter/builtin_table.h>
#include <boxcar/interpreter/container_operations.h>
#include <boxcar/ivalue/error.h>

#include <utility>

namespace boxcar::interp {
namespace {

DictObject& entriesOf(const IValue& dict) { return *dict.toGenericDict().object(); }

TypePtr keyType(TypePtr dict) { return dict->kind() == TypeKind::Dict ? dict->contained()[0] : Type::any(); }
TypePtr valueType(TypePtr dict) { return dict->kind() == TypeKind::Dict ? dict->contained()[1] : Type::any(); }

// What is a [value] or a [fallback].
TypePtr eitherType(TypePtr value, TypePtr fallback) {
  if (value == fallback || fallback == nullptr) return value;
  if (fallback->kind() == TypeKind::None && value->kind() != TypeKind::Any) return Type::optionalOf(value);
  return Type::any();
}

TypePtr gottenType(std::span<const TypePtr> arguments) {
  return eitherType(valueType(arguments[0]), arguments.size() > 2 ? arguments[2] : Type::none());
}

TypePtr poppedType(std::span<const TypePtr> arguments) {
  return eitherType(valueType(arguments[0]), arguments.size() > 2 ? arguments[2] : nullptr);
}

IValue get(std::span<IValue> arguments) {
  const IValue* value = entriesOf(arguments[0]).find(arguments[1]);
  return value != nullptr ? *value : arguments[2];
}

IValue popValue(std::span<IValue> arguments) {
  DictObject& entries = entriesOf(arguments[0]);
  if (arguments.size() == 3 && entries.find(arguments[1]) == nullptr) return arguments[2];
  IValue value = indexValue(arguments[0], arguments[1]);
  entries.erase(arguments[1]);
  return value;
}

IValue update(std::span<IValue> arguments) {
  const IntrusivePtr<DictObject> other = entriesOf(arguments[1]).copy();
  for (size_t i = 0; i < other->size(); ++i) {
    entriesOf(arguments[0]).insertOrAssign(other->keyAt(i), other->valueAt(i));
  }
  return {};
}

template <class Pick>
IValue collect(const IValue& dict, Pick pick) {
  const DictObject& entries = entriesOf(dict);
  std::vector<IValue> values;
  values.reserve(entries.size());
  for (size_t i = 0; i < entries.size(); ++i) values.push_back(pick(entries, i));
  return makeListOf(values);
}

}  // namespace

void addDictBuiltins(BuiltinTable& table) {
  addBuiltin(
      table, "dict.keys(Dict(Any, Any) self) -> Any[]",
      [](std::span<IValue> arguments) -> IValue {
        return collect(arguments[0], [](const DictObject& entries, size_t i) { return entries.keyAt(i); });
      },
      [](std::span<const TypePtr> arguments) { return Type::listOf(keyType(arguments[0])); });
  addBuiltin(
      table, "dict.values(Dict(Any, Any) self) -> Any[]",
      [](std::span<IValue> arguments) -> IValue {
        return collect(arguments[0], [](const DictObject& entries, size_t i) { return entries.valueAt(i); });
      },
      [](std::span<const TypePtr> arguments) { return Type::listOf(valueType(arguments[0])); });
  addBuiltin(
      table, "dict.items(Dict(Any, Any) self) -> Any[]",
      [](std::span<IValue> arguments) -> IValue {
        return collect(arguments[0], [](const DictObject& entries, size_t i) -> IValue {
          return Tuple(std::vector<IValue>{entries.keyAt(i), entries.valueAt(i)});
        });
      },
      [](std::span<const TypePtr> arguments) {
        const TypePtr pair[] = {keyType(arguments[0]), valueType(arguments[0])};
        return Type::listOf(Type::tupleOf(pair));
      });
  addBuiltin(table, "dict.get(Dict(Any, Any) self, Any key, Any? default=None) -> Any", get, gottenType);
  addVariadic(table, "dict.pop(Dict(Any, Any) self, Any key, Any[] default) -> Any", 0, 1, popValue, poppedType);
  addBuiltin(table, "dict.update(Dict(Any, Any) self, Dict(Any, Any) other) -> ()", update);
  addBuiltin(
      table, "dict.copy(Dict(Any, Any) self) -> Dict(Any, Any)",
      [](std::span<IValue> arguments) -> IValue { return GenericDict(entriesOf(arguments[0]).copy()); },
      [](std::span<const TypePtr> arguments) { return arguments[0]; });
}

}  // namespace boxcar::interp
