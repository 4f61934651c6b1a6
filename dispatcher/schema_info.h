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

// What an operator does to the values of one call: what its schema says, and what these values add. Two arguments that
// are given one tensor are one another's alias; batch_norm writes its running statistics where it trains, which its
// schema does not say. Values that are not known may be any.
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

  // The value of an argument; Error where there is none of that name. A list's values are those of the first arguments,
  // in their order: nothing for one that is not known.
  void addArgumentValue(std::string_view name, IValue value);
  void addArgumentValues(const std::vector<std::optional<IValue>>& values);
  void addArgumentValues(const std::unordered_map<std::string, IValue>& values);
  bool hasInputArgumentNamed(std::string_view name) const noexcept {
    return schema_.argumentIndexWithName(name).has_value();
  }

  // Whether the operator, in a call with these values, writes into an argument; into this one, or what is its alias.
  bool is_mutable() const;
  bool is_mutable(const SchemaArgument& argument) const;
  bool is_mutable(std::string_view name) const;
  // Whether the same arguments may give other results the next time: what the operator's tags say, but not of a dropout
  // that does not train.
  bool is_nondeterministic() const;
  // As those of FunctionSchema, with what the values share.
  bool may_alias(const SchemaArgument& lhs, const SchemaArgument& rhs) const;
  bool may_contain_alias(const SchemaArgument& lhs, const SchemaArgument& rhs, bool bidirectional = true) const;

 private:
  struct Aliases;
  Aliases computeAliases() const;
  // The value of the argument at [index]; null where it is not known.
  const IValue* valueAt(std::size_t index) const noexcept;
  // Whether a call may train, as the argument [flag] says.
  bool mayBeOn(std::string_view flag) const;
  bool writes(std::size_t index) const;

  FunctionSchema schema_;
  std::map<std::size_t, IValue> values_;
};

// The numbers of the arguments that a call with [values], which are the arguments' in order, writes to although its
// schema does not say so.
BOXCAR_API std::vector<std::size_t> undeclaredWrites(const FunctionSchema& schema, std::span<const IValue> values);

}  // namespace boxcar
