// len, range, str, zip and similar functions; print.

#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/interpreter/runtime/arithmetic.h>
#include <boxcar/interpreter/runtime/builtin_table.h>
#include <boxcar/interpreter/runtime/container_operations.h>
#include <boxcar/interpreter/runtime/dynamic_call.h>
#include <boxcar/interpreter/runtime/value_operations.h>
#include <boxcar/ivalue/cpu_generator.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace boxcar::interp {
namespace {

// The maximum number of elements of a list that a built-in makes at once.
constexpr uint64_t kMaxRange = uint64_t{1} << 28;

TypePtr listOfElements(std::span<const TypePtr> arguments) {
  const TypePtr element = iteratedType(arguments[0]);
  return element == nullptr ? nullptr : Type::listOf(element);
}

IValue makeRange(std::span<IValue> arguments) {
  const int64_t start = arguments.size() == 1 ? 0 : arguments[0].toInt();
  const int64_t stop = arguments[arguments.size() == 1 ? 0 : 1].toInt();
  const int64_t step = arguments.size() == 3 ? arguments[2].toInt() : 1;
  const uint64_t count = rangeCount(start, stop, step);
  BOXCAR_CHECK(count <= kMaxRange, "a range of {} ints is too long for a list; iterate over it with `for`", count);
  std::vector<int64_t> numbers(count);
  for (uint64_t i = 0; i < count; ++i) {
    numbers[i] = static_cast<int64_t>(static_cast<uint64_t>(start) + i * static_cast<uint64_t>(step));
  }
  return numbers;
}

IValue print(std::span<IValue> arguments) {
  const std::string& separator = arguments[arguments.size() - 2].toStringRef();
  const std::string& end = arguments.back().toStringRef();
  std::string text;
  for (size_t i = 0; i + 2 < arguments.size(); ++i) {
    if (i != 0) text += separator;
    text += toString(arguments[i]);
  }
  text += end;
  Stack stack;
  push(stack, std::move(text));
  Dispatcher::singleton().findSchemaOrThrow("aten::_print", "").callBoxed(stack);
  return {};
}

IValue zip(std::span<IValue> arguments) {
  std::vector<std::vector<IValue>> columns;
  size_t count = SIZE_MAX;
  for (const IValue& argument : arguments) {
    columns.push_back(elementsOf(argument));
    count = std::min(count, columns.back().size());
  }
  const GenericList rows;
  for (size_t i = 0; i < count; ++i) {
    std::vector<IValue> row;
    for (std::vector<IValue>& column : columns) row.push_back(std::move(column[i]));
    rows.push_back(Tuple(std::move(row)));
  }
  return rows;
}

TypePtr zipType(std::span<const TypePtr> arguments) {
  std::vector<TypePtr> elements;
  for (const TypePtr argument : arguments) {
    elements.push_back(iteratedType(argument));
    if (elements.back() == nullptr) return nullptr;
  }
  return Type::listOf(Type::tupleOf(elements));
}

IValue enumerate(std::span<IValue> arguments) {
  int64_t number = arguments[1].toInt();
  const GenericList pairs;
  for (IValue& element : elementsOf(arguments[0])) {
    pairs.push_back(Tuple(std::vector<IValue>{number, std::move(element)}));
    number = addInt(number, 1);
  }
  return pairs;
}

TypePtr enumerateType(std::span<const TypePtr> arguments) {
  const TypePtr element = iteratedType(arguments[0]);
  if (element == nullptr) return nullptr;
  const TypePtr pair[] = {Type::integer(), element};
  return Type::listOf(Type::tupleOf(pair));
}

IValue sorted(std::span<IValue> arguments) {
  std::vector<IValue> elements = elementsOf(arguments[0]);
  sortValues(elements, arguments[1].toBool());
  return makeGenericList(std::move(elements));
}

IValue anyOf(std::span<IValue> arguments) {
  if (arguments[0].isTensor()) return callOperator("aten::any", arguments);
  return std::ranges::any_of(elementsOf(arguments[0]), truth);
}

IValue allOf(std::span<IValue> arguments) {
  if (arguments[0].isTensor()) return callOperator("aten::all", arguments);
  return std::ranges::all_of(elementsOf(arguments[0]), truth);
}

TypePtr truthOfElements(std::span<const TypePtr> arguments) {
  if (arguments[0]->kind() == TypeKind::Any) return Type::any();
  return iteratedType(arguments[0]) == nullptr ? nullptr : Type::boolean();
}

IValue secondsOnClock(std::span<IValue>) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

}  // namespace

void addGeneralBuiltins(BuiltinTable& table) {
  addVariadic(table, "print(Any[] values, *, str sep=' ', str end='\\n') -> ()", 0, UINT16_MAX - 2, print);
  addBuiltin(
      table, "len(Any value) -> int", [](std::span<IValue> arguments) -> IValue { return lengthOf(arguments[0]); },
      [](std::span<const TypePtr> arguments) { return iteratedType(arguments[0]) ? Type::integer() : nullptr; });
  addVariadic(table, "range(int[] limits) -> int[]", 1, 3, makeRange);
  addBuiltin(table, "any(Any values) -> Any", anyOf, truthOfElements);
  addBuiltin(table, "all(Any values) -> Any", allOf, truthOfElements);
  addBuiltin(table, "sorted(Any values, *, bool reverse=False) -> Any[]", sorted, listOfElements);
  addVariadic(table, "zip(Any[] values) -> Any[]", 1, UINT16_MAX, zip, zipType);
  addBuiltin(table, "enumerate(Any values, int start=0) -> Any[]", enumerate, enumerateType);
  addVariadic(
      table, "list(Any[] values) -> Any[]", 0, 1,
      [](std::span<IValue> arguments) -> IValue {
        return arguments.empty() ? IValue(GenericList()) : makeGenericList(elementsOf(arguments[0]));
      },
      [](std::span<const TypePtr> arguments) {
        return arguments.empty() ? Type::listOf(Type::any()) : listOfElements(arguments);
      });
  addBuiltin(table, "type(Any value) -> str",
             [](std::span<IValue> arguments) -> IValue { return kindName(arguments[0]); });
  addBuiltin(table, "clock() -> float", secondsOnClock);
  addBuiltin(table, "manual_seed(int seed, *, int drawn=0, float? next_normal=None, Device? device=None) -> ()",
             [](std::span<IValue> arguments) -> IValue {
               const auto seed = static_cast<uint64_t>(arguments[0].toInt());
               const int64_t drawn = arguments[1].toInt();
               BOXCAR_CHECK(drawn >= 0,
                            "manual_seed(): `drawn` is the count of numbers already drawn, and cannot be {}", drawn);
               if (arguments[3].isNone()) manualSeed(seed);
               if (arguments[3].isNone() && drawn == 0 && arguments[2].isNone()) return {};
               const Generator& generator =
                   arguments[3].isNone() ? defaultCpuGenerator() : defaultGenerator(arguments[3].toDevice());
               const std::lock_guard lock(generator.mutex());
               generator.unsafeGetGeneratorImpl()->set_state(
                   {seed, static_cast<uint64_t>(drawn), arguments[2].to<std::optional<double>>()});
               return {};
             });
}

}  // namespace boxcar::interp
