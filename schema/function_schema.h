#pragma once

#include <boxcar/ivalue/macros.h>
#include <boxcar/schema/argument.h>
#include <boxcar/schema/operator_name.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar {

// What an optimiser may assume about the aliasing and the effects of an operator.
enum class AliasAnalysisKind : std::uint8_t {
  INTERNAL_SPECIAL_CASE,  // known to the optimiser by name
  CONSERVATIVE,           // anything may alias and be written
  FROM_SCHEMA,            // what the schema's annotations say
  PURE_FUNCTION,          // nothing aliases, nothing is written
};

BOXCAR_API std::string_view toString(AliasAnalysisKind kind) noexcept;

// An argument or a result of a schema, by its position.
enum class SchemaArgType : std::uint8_t { input, output };
struct SchemaArgument {
  SchemaArgType type;
  std::size_t index;
  bool operator==(const SchemaArgument&) const = default;
};

// Types whose values may alias are mapped to sets that have a type in common.
using AliasTypeSet = std::vector<TypePtr>;

// What an operator promises: its name, what it takes and returns, what it aliases and writes.
//   FunctionSchema schema = parseSchema("aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor");
class BOXCAR_API FunctionSchema {
 public:
  // Throws Error if the arguments break a rule of schemas: two with one name, a required positional one after one with
  // a default, a default together with varargs.
  FunctionSchema(std::string name, std::string overload_name, std::vector<Argument> arguments,
                 std::vector<Argument> returns, bool is_vararg = false, bool is_varret = false);
  FunctionSchema(OperatorName name, std::vector<Argument> arguments, std::vector<Argument> returns,
                 bool is_vararg = false, bool is_varret = false);

  // With the namespace: `aten::add`.
  const std::string& name() const noexcept { return name_.name; }
  const std::string& overload_name() const noexcept { return name_.overload_name; }
  const OperatorName& operator_name() const noexcept { return name_; }
  const std::vector<Argument>& arguments() const noexcept { return arguments_; }
  const std::vector<Argument>& returns() const noexcept { return returns_; }
  // Whether any number of further arguments may follow: `(str format, ...)`.
  bool is_vararg() const noexcept { return is_vararg_; }
  // Whether it returns any number of results: `-> ...`.
  bool is_varret() const noexcept { return is_varret_; }

  // Returns the position of the argument called [name], or nothing.
  std::optional<int> argumentIndexWithName(std::string_view name) const noexcept;
  // Whether an argument or a result has an alias annotation.
  bool hasAnyAliasInfo() const noexcept;
  // Whether the operator writes into an argument.
  bool is_mutable() const noexcept;
  // Whether it writes into the argument at this position or with this name; throws Error if there is no such argument.
  bool is_mutable(std::size_t index) const { return is_mutable({SchemaArgType::input, index}); }
  bool is_mutable(std::string_view name) const;
  bool is_mutable(const SchemaArgument& argument) const;

  // What the annotations say about aliases; throw Error if there is no such argument. The dispatcher's schema_info.h
  // also takes values into account. Returns the arguments or the results:
  const std::vector<Argument>& getCorrectList(SchemaArgType type) const noexcept {
    return type == SchemaArgType::input ? arguments_ : returns_;
  }
  // Whether it has an annotation.
  bool is_aliasing(const SchemaArgument& argument) const;
  // Whether both may be the same value after the call: their types can alias, and they have an alias set in common.
  bool may_alias(const SchemaArgument& lhs, const SchemaArgument& rhs) const;
  // Whether both may alias, or one may contain what the other is or contains; with [bidirectional] false, whether the
  // first one may.
  bool may_contain_alias(const SchemaArgument& lhs, const SchemaArgument& rhs, bool bidirectional = true) const;
  // Returns the alias set of a type: for T? that of T, for a union its members' sets; nothing for types without
  // identity, such as int.
  static std::optional<AliasTypeSet> mapTypeToAliasTypeSet(TypePtr type);
  // Returns all types inside those of a set, at any depth.
  static std::optional<AliasTypeSet> getAliasTypeSetContainedTypes(const std::optional<AliasTypeSet>& types);
  // Whether two sets have a type in common.
  static bool canAliasTypeSetsAlias(const std::optional<AliasTypeSet>& lhs, const std::optional<AliasTypeSet>& rhs);

  // CONSERVATIVE unless it was set.
  AliasAnalysisKind aliasAnalysis() const noexcept { return alias_analysis_.value_or(AliasAnalysisKind::CONSERVATIVE); }
  bool isDefaultAliasAnalysisKind() const noexcept { return !alias_analysis_.has_value(); }
  // Throws Error if a PURE_FUNCTION has alias annotations.
  void setAliasAnalysis(AliasAnalysisKind kind);

  // Prepends [ns] to a name that has no namespace; returns false, and changes nothing, if it has one.
  bool setNamespaceIfNotSet(std::string_view ns) { return name_.setNamespaceIfNotSet(ns); }
  // Returns this schema under another name.
  FunctionSchema cloneWithName(std::string name, std::string overload_name) const;

  // Compares everything that a schema says, except the spelling of defaults and the alias analysis kind.
  bool operator==(const FunctionSchema& other) const;

 private:
  friend class SchemaBuilder;
  FunctionSchema() = default;
  const Argument& argumentAt(const SchemaArgument& argument) const;

  OperatorName name_;
  std::vector<Argument> arguments_;
  std::vector<Argument> returns_;
  bool is_vararg_ = false;
  bool is_varret_ = false;
  std::optional<AliasAnalysisKind> alias_analysis_;
};

// The canonical form: one line that parses back to an equal schema.
BOXCAR_API std::string toString(const FunctionSchema& schema);

// Equal for equal schemas, and the same in every run of the program.
BOXCAR_API std::size_t hashOf(const FunctionSchema& schema);

}  // namespace boxcar

template <>
struct std::hash<boxcar::FunctionSchema> {
  std::size_t operator()(const boxcar::FunctionSchema& schema) const { return boxcar::hashOf(schema); }
};
