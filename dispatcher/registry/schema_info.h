#pragma once

#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/macros.h>
#include <boxcar/schema/function_schema.h>

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace boxcar {

// What an operator does to the values of one call: what its schema says, plus what these values imply. Two arguments
// that get the same tensor alias each other. batch_norm writes its running statistics when it trains, which its schema
// does not say. An unknown value may be anything.
//
//   SchemaInfo info("aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)");
//   info.addArgumentValue("self", x);
//   info.addArgumentValue("other", x);
//   info.is_mutable("other");  // true
class BOXCAR_API SchemaInfo final {
 public:
  explicit SchemaInfo(FunctionSchema schema) : schema_(std::move(schema)) {}
  explicit SchemaInfo(std::string_view schema);

  const FunctionSchema& schema() const noexcept { return schema_; }

  // Sets the value of an argument; throws Error if there is no argument of that name. The values of a list are those of
  // the first arguments, in order, with nullopt for unknown ones.
  void addArgumentValue(std::string_view name, IValue value);
  void addArgumentValues(const std::vector<std::optional<IValue>>& values);
  void addArgumentValues(const std::unordered_map<std::string, IValue>& values);
  bool hasInputArgumentNamed(std::string_view name) const noexcept {
    return schema_.argumentIndexWithName(name).has_value();
  }

  // Whether the operator, in a call with these values, writes to any argument; to this argument, or to one that aliases
  // it.
  bool is_mutable() const;
  bool is_mutable(const SchemaArgument& argument) const;
  bool is_mutable(std::string_view name) const;
  // Whether the same arguments may give different results next time: what the operator's tags say, except for a dropout
  // that does not train.
  bool is_nondeterministic() const;
  // As in FunctionSchema, plus the aliasing among the values.
  bool may_alias(const SchemaArgument& lhs, const SchemaArgument& rhs) const;
  bool may_contain_alias(const SchemaArgument& lhs, const SchemaArgument& rhs, bool bidirectional = true) const;

 private:
  struct Aliases;
  Aliases computeAliases() const;
  // The value of the argument at [index]; null if it is unknown.
  const IValue* valueAt(std::size_t index) const noexcept;
  // Whether a call may train, according to the argument [flag].
  bool mayBeOn(std::string_view flag) const;
  bool writes(std::size_t index) const;

  FunctionSchema schema_;
  std::map<std::size_t, IValue> values_;
};

// Returns the indices of the arguments that a call writes to although its schema does not say so. [values] are the
// arguments, in order.
BOXCAR_API std::vector<std::size_t> undeclaredWrites(const FunctionSchema& schema, std::span<const IValue> values);

}  // namespace boxcar
