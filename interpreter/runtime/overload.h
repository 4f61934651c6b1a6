#pragma once

#include <boxcar/interpreter/runtime/conversion.h>
#include <boxcar/ivalue/macros.h>
#include <boxcar/schema/function_schema.h>
#include <boxcar/schema/type.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Overload resolution ("Which overload" in the reference). The compiler resolves with types. A call whose types are
// only known at run time resolves again with the types of its values, by the same rules.

namespace boxcar::interp {

// An argument as written. Positional ones come first, in order.
struct CallArgument {
  TypePtr type = nullptr;
  std::string_view keyword;  // empty: by position
};

// The source of one parameter's value.
struct ParameterPlan {
  enum class From : uint8_t {
    Argument,  // argument number [first], converted to [target]
    Rest,      // the [count] values from argument [first] on, written as separate arguments, make a list
    Default,   // the schema's default
  };
  From from = From::Default;
  uint32_t first = 0;
  uint32_t count = 0;
  ConversionTarget target;
};

// Returns the position in [operators], which have one name, of the overload called [overload]: as in PyTorch, "default"
// is the one without an overload name. Returns nothing if there is none.
std::optional<size_t> findOverload(std::span<const OperatorName> operators, std::string_view overload);

// What an error adds that finds None in place of a Tensor when the call runs.
constexpr std::string_view kRemedyForNone = "; check `is None` first (a .grad is None until a backward pass)";

// How a call's arguments map to a schema's parameters.
struct Fit {
  std::vector<ParameterPlan> parameters;  // one per parameter of the schema
  std::vector<ConversionCost> costs;      // one per argument of the call
  uint32_t default_count = 0;
  std::vector<std::pair<TypePtr, TypePtr>> variables;  // the type bound to each type variable
};

// A rejected schema and the reason: "argument 'other' must be Tensor, not str".
struct Rejection {
  size_t candidate = 0;
  std::string reason;
  std::optional<size_t> argument;  // the argument at fault, if there is one
};

struct Resolution {
  enum class Kind : uint8_t {
    Chosen,   // [candidate] with [fit]
    Dynamic,  // several candidates are possible, decided at run time; compile time only
    None,     // [rejections] says why, one entry per candidate
  };
  Kind kind = Kind::None;
  size_t candidate = 0;
  Fit fit;
  std::vector<size_t> viable;  // of Dynamic
  std::vector<Rejection> rejections;
};

// Chooses among [candidates], which are in definition order. Unless [types] are the program's, they come from values,
// so the result is never Dynamic.
Resolution resolveOverload(std::span<const FunctionSchema* const> candidates, std::span<const CallArgument> arguments,
                           TypesFrom types);

// Replaces every type variable in [type] by the type that [fit] binds it to.
TypePtr substituteVariables(TypePtr type, const Fit& fit);

// Returns the type of a call's value: None, the type of its only result, or a tuple.
TypePtr resultType(const FunctionSchema& schema, const Fit& fit);

// Whether all candidates were rejected for one reason, so that it need only be given once.
bool haveSameReason(std::span<const Rejection> rejections);

// "no overload of aten::add takes (Tensor, str)", or, if all have the same reason, "aten::relu: argument 'self' …".
std::string rejectionHeadline(std::string_view name, std::span<const CallArgument> arguments,
                              std::span<const Rejection> rejections);
// One line per candidate: "aten::add.Tensor(Tensor self, …) -> Tensor: argument 'other' must be Tensor, not str".
std::vector<std::string> rejectionLines(std::span<const FunctionSchema* const> candidates,
                                        std::span<const Rejection> rejections);

// Resolves a call by its values, with the types taken from the values: returns the candidate that fits and the source
// of each parameter's value. Throws Error that lists the candidates with reasons if none fits. The values are in the
// order of [keywords], whose positional entries are empty.
struct ValueResolution {
  size_t candidate = 0;
  Fit fit;
};
BOXCAR_API ValueResolution resolveValues(std::string_view name, std::span<const FunctionSchema* const> candidates,
                                         std::span<const IValue> values, std::span<const std::string_view> keywords);

// Resolves a call by [arguments], whose types the caller knows from values, in the same way.
BOXCAR_API ValueResolution resolveTyped(std::string_view name, std::span<const FunctionSchema* const> candidates,
                                        std::span<const CallArgument> arguments, TypesFrom types);

// Moves the parameters' values out of [values] as [fit] says: each is converted, or is the schema's default.
BOXCAR_API std::vector<IValue> arrangeValues(const FunctionSchema& schema, const Fit& fit, std::span<IValue> values);

}  // namespace boxcar::interp
