#pragma once

#include <boxcar/dispatcher/operator_handle.h>
#include <boxcar/interpreter/ast.h>
#include <boxcar/interpreter/diagnostic.h>
#include <boxcar/interpreter/typed_program.h>
#include <boxcar/schema/function_schema.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace boxcar::interp {

// `fn` and `op` of a script.
struct ScriptFunction {
  FunctionSchema schema;
  Span name_span;
  Span span;
  const syntax::Block* body;  // null for an operator that is only declared
  uint32_t function;          // its index in the unit, where there is a body; the script's statements have 0
  bool is_operator;
};

struct ScriptConstant {
  std::string_view name;
  Span span;
  uint32_t global;
  TypePtr type = nullptr;  // known once the script's statements have been inferred up to it
};

// The overloads that a call may mean: operators of one name, those of the dispatcher first.
struct OverloadSet {
  std::string name;  // "aten::add"
  std::vector<OperatorName> operators;
  std::vector<const FunctionSchema*> schemas;
};

// What a script defines and what its names mean.
class Declarations {
 public:
  // Reports what cannot be read and what is defined twice.
  Declarations(const syntax::SyntaxTree& tree, Diagnostics& diagnostics);

  const ScriptFunction* findFunction(std::string_view name) const;
  ScriptConstant* findConstant(std::string_view name);
  const std::vector<std::unique_ptr<ScriptFunction>>& functions() const noexcept { return functions_; }
  const std::vector<ScriptConstant>& constants() const noexcept { return constants_; }

  // The type written at [span]; Any where what is wrong with it was reported.
  TypePtr readType(Span span, Diagnostics& diagnostics) const;

  // What the script's own statements set; functions do not see it, but are told so.
  void addScriptVariable(const syntax::Name& name) { script_variables_.emplace(name.text, name.span); }
  const Span* findScriptVariable(std::string_view name) const;

  // The statements that set constants are gone through anew.
  void forgetConstantTypes();

  // The operators called [name], or null. Without a namespace those of the first one in use at [position] that has it.
  const OverloadSet* findOperators(const syntax::QualifiedName& name, uint32_t position);
  const OverloadSet* findOperators(std::string_view name, uint32_t position);
  const OverloadSet* findQualified(const std::string& name);

  // What may stand for a misspelt name of an operator: without a namespace those in use at [position].
  std::vector<std::string> operatorNames(bool qualified, uint32_t position) const;

  // The names of what [schema] returns; null where it has none, or one result only.
  typed::FieldNames fieldNames(const FunctionSchema& schema);

  const SourcePtr& source() const noexcept { return source_; }

 private:
  void add(const syntax::Stmt& statement, const syntax::Function& function, Diagnostics& diagnostics);
  void add(const syntax::Stmt& statement, const syntax::Operator& op, Diagnostics& diagnostics);
  void add(const syntax::Stmt& statement, const syntax::Const& constant, Diagnostics& diagnostics);
  std::optional<FunctionSchema> readSignature(Span signature, Diagnostics& diagnostics) const;
  // Whether one of [types], written in [span], is a name that no type has.
  bool reportTypeVariables(std::span<const TypePtr> types, Span span, Diagnostics& diagnostics) const;
  std::vector<std::string_view> namespacesAt(uint32_t position) const;

  struct Use {
    std::string_view space;
    uint32_t position;
  };

  SourcePtr source_;
  std::vector<std::unique_ptr<ScriptFunction>> functions_;
  uint32_t body_count_ = 0;
  std::unordered_map<std::string_view, ScriptFunction*> functions_by_name_;  // `fn` only
  std::unordered_map<std::string, std::vector<ScriptFunction*>> operators_by_name_;
  std::vector<ScriptConstant> constants_;
  std::unordered_map<std::string_view, size_t> constants_by_name_;
  std::unordered_map<std::string_view, Span> script_variables_;
  std::vector<Use> uses_;
  std::unordered_map<const FunctionSchema*, typed::FieldNames> field_names_;
  std::unordered_map<std::string, std::unique_ptr<OverloadSet>> overloads_;  // null where there is none
};

}  // namespace boxcar::interp
