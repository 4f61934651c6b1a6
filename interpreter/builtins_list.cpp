// The methods of lists.

#include <boxcar/interpreter/builtin_table.h>
#include <boxcar/interpreter/container_operations.h>
#include <boxcar/interpreter/conversion.h>
#include <boxcar/interpreter/sequence_index.h>
#include <boxcar/interpreter/value_operations.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <utility>

namespace boxcar::interp {
namespace {

// Whether values of type [type] may become elements of a list of type [list].
bool holds(TypePtr list, TypePtr type) {
  return list->kind() == TypeKind::Any || (list->isList() && conversionCost(type, {list->element()}, {}));
}

TypePtr noneIf(bool fits) { return fits ? Type::none() : nullptr; }

template <size_t item>
TypePtr addsItem(std::span<const TypePtr> arguments) {
  return noneIf(holds(arguments[0], arguments[item]));
}

TypePtr extends(std::span<const TypePtr> arguments) {
  const TypePtr element = iteratedType(arguments[1]);
  return noneIf(element != nullptr && holds(arguments[0], element));
}

IValue append(std::span<IValue> arguments) {
  insertElement(arguments[0], arguments[0].length(), arguments[1]);
  return {};
}

IValue extend(std::span<IValue> arguments) {
  for (const IValue& element : elementsOf(arguments[1])) insertElement(arguments[0], arguments[0].length(), element);
  return {};
}

IValue insert(std::span<IValue> arguments) {
  const auto size = static_cast<int64_t>(arguments[0].length());
  int64_t place = arguments[1].toInt();
  if (place < 0) place = place < -size ? 0 : place + size;
  insertElement(arguments[0], static_cast<size_t>(std::min(place, size)), arguments[2]);
  return {};
}

IValue popElement(std::span<IValue> arguments) {
  const IValue& list = arguments[0];
  BOXCAR_CHECK(list.length() != 0, "pop() from an empty list");
  const size_t place = wrapIndex(arguments[1].toInt(), list.length(), "list");
  IValue element = list.elementAt(place);
  eraseElement(list, place);
  return element;
}

TypePtr elementOf(std::span<const TypePtr> arguments) {
  if (arguments[0]->kind() == TypeKind::Any) return Type::any();
  return arguments[0]->isList() ? arguments[0]->element() : nullptr;
}

IValue index(std::span<IValue> arguments) {
  for (size_t i = 0; i < arguments[0].length(); ++i) {
    if (arguments[0].elementAt(i) == arguments[1]) return static_cast<int64_t>(i);
  }
  BOXCAR_FAIL("{} is not in the list", repr(arguments[1]));
}

IValue count(std::span<IValue> arguments) {
  int64_t found = 0;
  for (size_t i = 0; i < arguments[0].length(); ++i) found += arguments[0].elementAt(i) == arguments[1];
  return found;
}

IValue sort(std::span<IValue> arguments) {
  std::vector<IValue> elements = elementsOf(arguments[0]);
  sortValues(elements, arguments[1].toBool());
  assignElements(arguments[0], elements);
  return {};
}

IValue reverse(std::span<IValue> arguments) {
  std::vector<IValue> elements = elementsOf(arguments[0]);
  std::ranges::reverse(elements);
  assignElements(arguments[0], elements);
  return {};
}

}  // namespace

void addListBuiltins(BuiltinTable& table) {
  addBuiltin(table, "list.append(Any[] self, Any item) -> ()", append, addsItem<1>);
  addBuiltin(table, "list.extend(Any[] self, Any items) -> ()", extend, extends);
  addBuiltin(table, "list.insert(Any[] self, int index, Any item) -> ()", insert, addsItem<2>);
  addBuiltin(table, "list.pop(Any[] self, int index=-1) -> Any", popElement, elementOf);
  addBuiltin(table, "list.index(Any[] self, Any item) -> int", index);
  addBuiltin(table, "list.count(Any[] self, Any item) -> int", count);
  addBuiltin(table, "list.sort(Any[] self, *, bool reverse=False) -> ()", sort);
  addBuiltin(table, "list.reverse(Any[] self) -> ()", reverse);
  addBuiltin(
      table, "list.copy(Any[] self) -> Any[]",
      [](std::span<IValue> arguments) -> IValue { return copyOfList(arguments[0]); },
      [](std::span<const TypePtr> arguments) { return arguments[0]; });
}

}  // namespace boxcar::interp
