#pragma once

#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/macros.h>
#include <boxcar/schema/function_schema.h>
#include <boxcar/schema/type.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar::interp {

// A function of the language that is not an operator: `len`, `list.append`, `math::sqrt`.
struct Builtin {
  // Takes all arguments in the schema's order, with defaults filled in, converted to the schema's types. Returns one
  // value, None if there is no result. It may move values out of [arguments].
  using Function = IValue (*)(std::span<IValue> arguments);
  // Returns the result's type for arguments of types [arguments]; null if they do not fit. For a built-in without such
  // a rule, the schema gives the type.
  using ResultRule = TypePtr (*)(std::span<const TypePtr> arguments);

  std::string full_name;
  FunctionSchema schema;  // named by the last part of the full name
  Function function = nullptr;
  ResultRule result_rule = nullptr;
  // The last positional parameter is a list whose elements are written as separate arguments, as in `print(a, b)`. They
  // are passed to [function] separately, too; it finds their number from the number of arguments.
  bool variadic = false;
  uint16_t min_variadic = 0;
  uint16_t max_variadic = UINT16_MAX;
  // Called by the compiler and not accessible to scripts: `format`, `dtype_name`.
  bool is_hidden = false;

  std::string_view name() const noexcept { return full_name; }
};

// Returns all built-ins. A method's name begins with its receiver's kind, `str.`, `list.`, `dict.` or `tensor.`; the
// receiver is its first argument. A tensor's attributes are included: `tensor.shape`.
BOXCAR_API const std::vector<Builtin>& builtins();

// Returns the index in builtins() of the built-in called [name].
BOXCAR_API std::optional<uint16_t> findBuiltin(std::string_view name);

// Returns the prefix of the method names for values of type [type]: "list", "dict", "str", "tensor", "operator"; empty
// if the type has no methods.
std::string_view methodPrefix(TypePtr type) noexcept;

// Returns the type of x in `for x in value` for a value of type [type]; null if it cannot be iterated.
TypePtr iteratedType(TypePtr type);

}  // namespace boxcar::interp
