// The methods of dicts.

#include <boxcar/interpreter/runtime/builtin_table.h>
#include <boxcar/interpreter/runtime/container_operations.h>
#include <boxcar/interpreter/runtime/join_types.h>
#include <boxcar/ivalue/error.h>

#include <utility>

namespace boxcar::interp {
namespace {

DictObject& entriesOf(const IValue& dict) { return *dict.toGenericDict().object(); }

TypePtr keyType(TypePtr dict) { return dict->contained()[0]; }
TypePtr valueType(TypePtr dict) { return dict->contained()[1]; }

// A value of the dict, or the default after the key if one is given.
TypePtr gottenType(std::span<const TypePtr> arguments) {
  const TypePtr value = valueType(arguments[0]);
  return arguments.size() > 2 ? joinTypes(value, arguments[2]) : value;
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

IValue popItem(std::span<IValue> arguments) {
  DictObject& entries = entriesOf(arguments[0]);
  BOXCAR_CHECK(entries.size() != 0, "popitem() from an empty dict");
  const IValue key = entries.keyAt(entries.size() - 1);
  Tuple item(std::vector<IValue>{key, entries.valueAt(entries.size() - 1)});
  entries.erase(key);
  return item;
}

TypePtr itemType(std::span<const TypePtr> arguments) {
  const TypePtr pair[] = {keyType(arguments[0]), valueType(arguments[0])};
  return Type::tupleOf(pair);
}

IValue setDefault(std::span<IValue> arguments) {
  DictObject& entries = entriesOf(arguments[0]);
  if (const IValue* const value = entries.find(arguments[1]); value != nullptr) return *value;
  entries.insertOrAssign(arguments[1], arguments[2]);
  return arguments[2];
}

IValue clearEntries(std::span<IValue> arguments) {
  DictObject& entries = entriesOf(arguments[0]);
  while (entries.size() != 0) entries.erase(IValue(entries.keyAt(entries.size() - 1)));
  return {};
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
  return makeGenericList(std::move(values));
}

}  // namespace

void addDictBuiltins(BuiltinTable& table) {
  addBuiltin(
      table, "dict.keys(Dict(k, v) self) -> Any[]",
      [](std::span<IValue> arguments) -> IValue {
        return collect(arguments[0], [](const DictObject& entries, size_t i) { return entries.keyAt(i); });
      },
      [](std::span<const TypePtr> arguments) { return Type::listOf(keyType(arguments[0])); });
  addBuiltin(
      table, "dict.values(Dict(k, v) self) -> Any[]",
      [](std::span<IValue> arguments) -> IValue {
        return collect(arguments[0], [](const DictObject& entries, size_t i) { return entries.valueAt(i); });
      },
      [](std::span<const TypePtr> arguments) { return Type::listOf(valueType(arguments[0])); });
  addBuiltin(
      table, "dict.items(Dict(k, v) self) -> Any[]",
      [](std::span<IValue> arguments) -> IValue {
        return collect(arguments[0], [](const DictObject& entries, size_t i) -> IValue {
          return Tuple(std::vector<IValue>{entries.keyAt(i), entries.valueAt(i)});
        });
      },
      [](std::span<const TypePtr> arguments) {
        const TypePtr pair[] = {keyType(arguments[0]), valueType(arguments[0])};
        return Type::listOf(Type::tupleOf(pair));
      });
  addBuiltin(table, "dict.get(Dict(k, v) self, Any key, Any? default=None) -> Any", get, gottenType);
  addVariadic(table, "dict.pop(Dict(k, v) self, Any key, Any[] default) -> Any", 0, 1, popValue, gottenType);
  addBuiltin(table, "dict.popitem(Dict(k, v) self) -> Any", popItem, itemType);
  addBuiltin(table, "dict.setdefault(Dict(k, v) self, k key, v default) -> v", setDefault);
  addBuiltin(table, "dict.clear(Dict(k, v) self) -> ()", clearEntries);
  addBuiltin(table, "dict.update(Dict(k, v) self, Dict(k, v) other) -> ()", update);
  addBuiltin(table, "dict.copy(Dict(k, v) self) -> Dict(k, v)",
             [](std::span<IValue> arguments) -> IValue { return GenericDict(entriesOf(arguments[0]).copy()); });
}

}  // namespace boxcar::interp
