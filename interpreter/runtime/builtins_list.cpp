// The methods of lists.

#include <boxcar/interpreter/runtime/builtin_table.h>
#include <boxcar/interpreter/runtime/container_operations.h>
#include <boxcar/interpreter/runtime/conversion.h>
#include <boxcar/interpreter/runtime/dynamic_call.h>
#include <boxcar/interpreter/runtime/sequence_index.h>
#include <boxcar/interpreter/runtime/value_operations.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <algorithm>

namespace boxcar::interp {
namespace {

TypePtr extends(std::span<const TypePtr> arguments) {
  const TypePtr element = iteratedType(arguments[1]);
  const bool fits = element != nullptr && conversionCost(element, {arguments[0]->element()}, {});
  return fits ? Type::none() : nullptr;
}

IValue append(std::span<IValue> arguments) {
  insertElement(arguments[0], arguments[0].length(), arguments[1]);
  return {};
}

IValue extend(std::span<IValue> arguments) {
  if (arguments[1].tag() == arguments[0].tag()) {
    appendList(arguments[0], arguments[1]);
    return {};
  }
  for (const IValue& element : elementsOf(arguments[1])) insertElement(arguments[0], arguments[0].length(), element);
  return {};
}

// `old op= value` for a value that may be a list or a Tensor, which change in place; returns the variable's new value.
IValue updated(std::span<IValue> arguments) {
  const IValue& old = arguments[0];
  // Handwritten bytecode may pass any number.
  BOXCAR_CHECK(arguments[2].toInt() >= 0 && arguments[2].toInt() <= static_cast<int64_t>(syntax::BinaryOp::Power),
               "there is no operation number {}", arguments[2]);
  const auto op = static_cast<syntax::BinaryOp>(arguments[2].toInt());
  const std::string& in_place = arguments[3].toStringRef();
  if (old.isList() && op == syntax::BinaryOp::Add) {
    extend(arguments);
    return old;
  }
  if (!old.isTensor() || in_place.empty()) return binaryValue(op, old, arguments[1]);
  callOperator(fmt::format("aten::{}", in_place).c_str(), arguments.first(2));
  return old;
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

IValue index(std::span<IValue> arguments) {
  for (size_t i = 0; i < arguments[0].length(); ++i) {
    if (arguments[0].elementAt(i) == arguments[1]) return static_cast<int64_t>(i);
  }
  BOXCAR_FAIL("{} is not in the list", repr(arguments[1]));
}

IValue removeElement(std::span<IValue> arguments) {
  eraseElement(arguments[0], static_cast<size_t>(index(arguments).toInt()));
  return {};
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
  addBuiltin(table, "updated(Any old, Any value, int op, str in_place) -> Any", updated);
  table.back().is_hidden = true;
  addBuiltin(table, "list.append(t[] self, t item) -> ()", append);
  addBuiltin(table, "list.extend(t[] self, Any items) -> ()", extend, extends);
  addBuiltin(table, "list.insert(t[] self, int index, t item) -> ()", insert);
  addBuiltin(table, "list.pop(t[] self, int index=-1) -> t", popElement);
  addBuiltin(table, "list.index(t[] self, Any item) -> int", index);
  addBuiltin(table, "list.remove(t[] self, Any item) -> ()", removeElement);
  addBuiltin(table, "list.clear(t[] self) -> ()", [](std::span<IValue> arguments) -> IValue {
    assignElements(arguments[0], {});
    return {};
  });
  addBuiltin(table, "list.count(t[] self, Any item) -> int", count);
  addBuiltin(table, "list.sort(t[] self, *, bool reverse=False) -> ()", sort);
  addBuiltin(table, "list.reverse(t[] self) -> ()", reverse);
  addBuiltin(table, "list.copy(t[] self) -> t[]",
             [](std::span<IValue> arguments) -> IValue { return copyOfList(arguments[0]); });
}

}  // namespace boxcar::interp
