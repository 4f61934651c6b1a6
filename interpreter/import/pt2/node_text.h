#pragma once

#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/interpreter/import/expression.h>
#include <boxcar/interpreter/import/pt2/exported_program.h>
#include <boxcar/schema/type.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

// The text of a node's call in a script.

namespace boxcar::interp::pt2 {

// Returns the operator that a target means: "torch.ops.aten.add.Tensor"; nothing if the process has none.
std::optional<OperatorHandle> operatorOf(std::string_view target);

// Returns the target and where the model calls it: "torch.ops.my.op.default (model.py:12)".
std::string describedNode(const Node& node);

// Returns what a node needs besides its operator and boxcar lacks, such as a dtype; empty if it needs no such thing.
std::string missingOf(const Node& node);

// Whether the target is a function of numbers, such as "_operator.add", and not an operator.
bool isNumberFunction(std::string_view target);

// Returns a number of the archive as the language's name: "float32"; empty if it has none.
std::string_view dtypeName(int64_t number);
// Returns the archive's number of a memory format; nothing if it has none.
std::optional<int64_t> numberOfMemoryFormat(std::string_view name);

class NodeText final {
 public:
  // [lookup] gives the expression of a value.
  using Lookup = std::function<Expression(const std::string& value)>;
  // [number] gives the text in which an int or a float of the argument called [name] stands; without it, as it is.
  using Number = std::function<std::string(std::string_view name, std::string text, TypePtr type)>;
  // [list] gives the variable that a list of values is, if there is one.
  using List = std::function<std::optional<Expression>(const std::vector<Argument>& items)>;
  explicit NodeText(Lookup lookup, Number number = {}, List list = {})
      : lookup_(std::move(lookup)), number_(std::move(number)), list_(std::move(list)) {}

  // Returns the call. Throws Error that names an argument which has no form in a script.
  Expression call(const Node& node) const;
  // Returns "x += y" for an in-place operator that has a sign; empty otherwise.
  std::string augmentedAssignment(const Node& node) const;
  // Returns an argument; [type]: that of the parameter, null if it has none; [length]: the N of `int[N]`; [name]: what
  // its numbers are called.
  Expression argument(const Argument& value, TypePtr type = nullptr, std::optional<int32_t> length = {},
                      std::string_view name = "number") const;

  // Returns the argument called [name]; null if it is left to its default.
  static const Argument* find(const Node& node, std::string_view name);

 private:
  Expression callOf(const Node& node, const OperatorHandle& op) const;
  std::optional<Expression> sign(const Node& node, const OperatorHandle& op) const;
  std::optional<Expression> indexing(const Node& node, const OperatorHandle& op) const;
  Expression numberFunction(const Node& node) const;
  Expression binary(const Argument& left, std::string_view sign, const Argument& right, Precedence binding,
                    TypePtr type) const;

  Expression numberText(std::string_view name, std::string text, bool is_negative, TypePtr type) const;

  Lookup lookup_;
  Number number_;
  List list_;
};

}  // namespace boxcar::interp::pt2
