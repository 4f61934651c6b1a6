#pragma once

#include <boxcar/interpreter/conversion.h>
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

// Which of several schemas a call means ("Which overload" in the reference). The compiler asks with types; a call whose
// types are only known when it runs asks again with those of its values, and gets the answer by the same rules.

namespace boxcar::interp {

// An argument as it is written. Positional ones come first, in order.
struct CallArgument {
  TypePtr type = nullptr;
  std::string_view keyword;  // empty: by position
};

// Where the value of one parameter comes from.
struct ParameterPlan {
  enum class From : uint8_t {
    Argument,  // argument number [first], converted to [target]
    Rest,      // the ints from argument [first] on stand singly: the [count] of them make a list
    Default,   // the schema's default
  };
  From from = From::Default;
  uint32_t first = 0;
  uint32_t count = 0;
  ConversionTarget target;
};

// The position among [operators], which have one name, of the overload that a program calls [overload]: "default" is
// the one without a name, as PyTorch spells it. Nothing where there is none.
std::optional<size_t> findOverload(std::span<const OperatorName> operators, std::string_view overload);

// How a call's arguments become a schema's parameters.
struct Fit {
  std::vector<ParameterPlan> parameters;  // as many as the schema has
  std::vector<ConversionCost> costs;      // as many as the call has arguments
  uint32_t default_count = 0;
  std::vector<std::pair<TypePtr, TypePtr>> variables;  // what each type variable stands for
};

// A schema that was turned down, and why: "argument 'other' must be Tensor, not str".
struct Rejection {
  size_t candidate = 0;
  std::string reason;
  std::optional<size_t> argument;  // the one at fault, where it is one
};

struct Resolution {
  enum class Kind : uint8_t {
    Chosen,   // [candidate] with [fit]
    Dynamic,  // several may be meant, which one shows when the line runs; compile time only
    None,     // [rejections] says why, one entry a candidate
  };
  Kind kind = Kind::None;
  size_t candidate = 0;
  Fit fit;
  std::vector<size_t> viable;  // of Dynamic
  std::vector<Rejection> rejections;
};

// Chooses among [candidates], which stand in the order of their definition. [at_run_time]: the types are those of
// values (typeOf), so that the result is never Dynamic.
Resolution resolveOverload(std::span<const FunctionSchema* const> candidates, std::span<const CallArgument> arguments,
                           bool at_run_time);

// The type with every type variable replaced by what it stands for in [fit].
TypePtr substituteVariables(TypePtr type, const Fit& fit);

// What a call gives: None, the type of its one result, or a tuple.
TypePtr resultType(const FunctionSchema& schema, const Fit& fit);

// Whether all candidates were turned down for one reason, so that it can be told once.
bool haveSameReason(std::span<const Rejection> rejections);

// "no overload of aten::add takes (Tensor, str)", or where all have the same reason "aten::relu: argument 'self' …".
std::string rejectionHeadline(std::string_view name, std::span<const CallArgument> arguments,
                              std::span<const Rejection> rejections);
// "aten::add.Tensor(Tensor self, …) -> Tensor: argument 'other' must be Tensor, not str", a line for each.
std::vector<std::string> rejectionLines(std::span<const FunctionSchema* const> candidates,
                                        std::span<const Rejection> rejections);

// The candidate that values fit, their types taken from themselves, and where each parameter's value comes from. Throws
// an Error that lists the candidates with reasons where none fits. The values stand in the order of [keywords], whose
// positional entries are empty.
struct ValueResolution {
  size_t candidate = 0;
  Fit fit;
};
ValueResolution resolveValues(std::string_view name, std::span<const FunctionSchema* const> candidates,
                              std::span<const IValue> values, std::span<const std::string_view> keywords);

// Takes the parameters' values out of [values], as [fit] says, each converted or the schema's default.
std::vector<IValue> arrangeValues(const FunctionSchema& schema, const Fit& fit, std::span<IValue> values);

}  // namespace boxcar::interp
