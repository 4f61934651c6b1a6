#pragma once

#include <boxcar/ivalue/ivalue.h>
#include <boxcar/schema/function_schema.h>
#include <boxcar/schema/type.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar::interp {

// A function that the language brings, and no operator: `len`, `list.append`, `math::sqrt`.
struct Builtin {
  // Takes all arguments, in the schema's order, defaults filled in, converted to the schema's types; gives one value,
  // None where there is no result. It may take the values out of [arguments].
  using Function = IValue (*)(std::span<IValue> arguments);
  // The result's type for arguments of types [arguments]; null where they do not fit. Where a built-in has no such rule
  // its schema says it.
  using ResultRule = TypePtr (*)(std::span<const TypePtr> arguments);

  std::string full_name;
  FunctionSchema schema;  // under the last part of the name
  Function function = nullptr;
  ResultRule result_rule = nullptr;
  // The last positional parameter is a list whose elements are written singly, as in `print(a, b)`, and are singly
  // given to [function], which tells by the number of arguments how many they are.
  bool variadic = false;
  uint16_t min_variadic = 0;
  uint16_t max_variadic = UINT16_MAX;
  // What the compiler calls and no script can: `format`, `dtype_name`.
  bool is_hidden = false;

  std::string_view name() const noexcept { return full_name; }
};

// All of them. A method's name begins with its receiver's kind, `str.`, `list.`, `dict.` or `tensor.`; the receiver is
// its first argument. A tensor's attributes are among them: `tensor.shape`.
const std::vector<Builtin>& builtins();

// Its index in builtins().
std::optional<uint16_t> findBuiltin(std::string_view name);

// What the names of the methods of values of type [type] begin with: "list", "dict", "str", "tensor", "operator"; empty
// where it has none.
std::string_view methodPrefix(TypePtr type) noexcept;

// What `for x in value` gives to x for a value of type [type]; null where there is nothing to walk over.
TypePtr iteratedType(TypePtr type);

}  // namespace boxcar::interp
