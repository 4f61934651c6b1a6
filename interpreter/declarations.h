#pragma once

#include <boxcar/interpreter/ast.h>
#include <boxcar/interpreter/bytecode.h>
#include <boxcar/interpreter/diagnostic.h>
#include <boxcar/interpreter/input_scope.h>
#include <boxcar/interpreter/module_loader.h>
#include <boxcar/interpreter/typed_program.h>
#include <boxcar/schema/function_schema.h>
#include <boxcar/schema/parse_schema.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace boxcar::interp {

enum class BodyKind : uint8_t {
  Function,  // `fn`
  Operator,  // `op`
  Impl,
  Handler,  // of a fallback or a mode
  Exit,     // of a mode
};

// What a script has bodies for.
struct ScriptFunction {
  BodyKind kind;
  FunctionSchema schema;  // what the body takes and returns
  std::string title;      // what call stacks call it
  Span name_span;
  Span span;
  const syntax::Block* body;       // null for an operator that is only declared, and for a function that is imported
  uint32_t function;               // its index in the unit, where there is a body; the script's statements have 0
  uint32_t visible_from = 0;       // of an imported one: where in the text it is known from
  std::optional<uint32_t> import;  // of an imported one: its index in imports()
};

// A mode's name, its own or an imported file's.
struct ScriptMode {
  std::string_view name;
  Span span;
  CodeScope scope;
  uint32_t visible_from = 0;
};

struct ScriptConstant {
  std::string_view name;
  Span span;
  uint32_t global;
  TypePtr type = nullptr;   // known once the script's statements have been inferred up to it
  bool is_earlier = false;  // of an earlier input of the session: it is set, and has no place in this text
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
  // Reports what cannot be read and what is defined twice. Without [loader] nothing can be imported.
  // [earlier]: what else is known to an input of a session; null for a script.
  Declarations(const syntax::SyntaxTree& tree, ModuleLoader* loader, Diagnostics& diagnostics,
               const EarlierInputs* earlier = nullptr);

  // The function or the mode that [name] means at [position].
  const ScriptFunction* findFunction(std::string_view name, uint32_t position) const;
  const ScriptMode* findMode(std::string_view name, uint32_t position) const;
  ScriptConstant* findConstant(std::string_view name);
  const std::vector<std::unique_ptr<ScriptFunction>>& functions() const noexcept { return functions_; }
  const std::vector<ScriptConstant>& constants() const noexcept { return constants_; }
  const std::vector<ScriptMode>& modes() const noexcept { return modes_; }
  const std::vector<CodeHandler>& handlers() const noexcept { return handlers_; }
  const std::vector<CodeModule>& modules() const noexcept { return modules_; }
  const std::vector<CodeImport>& imports() const noexcept { return imports_; }

  // The index of the handler that [statement], an `impl` or a `fallback`, registers; nothing where it was wrong.
  std::optional<uint32_t> handlerOf(const void* statement) const;
  // The index of the script that [statement] imports; nothing for a plugin.
  std::optional<uint32_t> moduleOf(const syntax::Import* statement) const;
  // Whether a script could not be imported.
  bool lacksModule() const noexcept { return lacks_module_; }
  // What calls the statements of module [module].
  uint32_t importOfStatements(uint32_t module);

  // The type written at [span]; Any where what is wrong with it was reported.
  TypePtr readType(Span span, Diagnostics& diagnostics) const;

  // What the script's own statements set; functions do not see it, but are told so.
  void addScriptVariable(const syntax::Name& name) { script_variables_.emplace(name.text, name.span); }
  const Span* findScriptVariable(std::string_view name) const;

  // What the statements of an input find set; null for a script.
  const EarlierInputs* earlier() const noexcept { return earlier_; }
  // Whether the text may name [name] at all; compiling an input costs no more when the session has much.
  bool mentions(std::string_view name) const { return source_->text().find(name) != std::string_view::npos; }

  // The statements that set constants are gone through anew.
  void forgetConstantTypes();

  // The operators called [name], or null. Without a namespace those of the first one in use at [position] that has it.
  const OverloadSet* findOperators(const syntax::QualifiedName& name, uint32_t position);
  const OverloadSet* findOperators(std::string_view name, uint32_t position);
  const OverloadSet* findQualified(const std::string& name, uint32_t position = UINT32_MAX);

  // Whether the operator's own kernel may be the body of a script, which can change the lists that it gets.
  bool mayBeScript(const OperatorName& name) const;

  // What may stand for a misspelt name of an operator: without a namespace those in use at [position].
  std::vector<std::string> operatorNames(bool qualified, uint32_t position) const;

  // The names of what [schema] returns; null where it has none, or one result only.
  typed::FieldNames fieldNames(const FunctionSchema& schema);

  const SourcePtr& source() const noexcept { return source_; }

 private:
  void add(const syntax::Stmt& statement, const syntax::Function& function, Diagnostics& diagnostics);
  void add(const syntax::Stmt& statement, const syntax::Operator& op, Diagnostics& diagnostics);
  void add(const syntax::Const& constant, Diagnostics& diagnostics);
  void add(const syntax::Stmt& statement, const syntax::Mode& mode, Diagnostics& diagnostics);
  void add(const syntax::Stmt& statement, const syntax::Import& import, ModuleLoader* loader, Diagnostics& diagnostics);
  // What module [index] shows those who import it by [import].
  void addNamesOf(uint32_t index, const syntax::Import& import, uint32_t visible_from, Diagnostics& diagnostics);
  void addOperatorsOf(uint32_t index, const syntax::Import& import, uint32_t visible_from, Diagnostics& diagnostics);
  void addModulesOf(const EarlierInputs& earlier);
  // What no declaration of this input takes the place of.
  void addNamesOf(const EarlierInputs& earlier);
  void addImport(uint32_t index, const CodeUnit& unit, const CodeExport& exported, Span span, uint32_t visible_from);
  // Reports operators of the script that a file defines, too, which it imports.
  void compareWithImports(Diagnostics& diagnostics) const;
  // Those of the implementations and fallbacks in [statements] and in the blocks there.
  void addHandlers(const std::vector<syntax::StmtPtr>& statements, Diagnostics& diagnostics);
  void addHandler(const syntax::Stmt& statement, const syntax::Impl& impl, Diagnostics& diagnostics);
  void addHandler(const syntax::Stmt& statement, const syntax::Fallback& fallback, Diagnostics& diagnostics);
  ScriptFunction& addBody(BodyKind kind, FunctionSchema schema, std::string title, Span name_span, Span span,
                          const syntax::Block* body);
  // Makes [name] known; false where it is already, which is reported.
  bool claimName(std::string_view name, const SourcePtr& source, Span span, const SourcePtr& place_source, Span place,
                 Diagnostics& diagnostics);
  std::optional<DispatchKey> readKey(const syntax::Name& key, Diagnostics& diagnostics) const;
  std::optional<FunctionSchema> readSignature(Span signature, Diagnostics& diagnostics) const;
  // Whether one of [types], written in [span], is a name that no type has.
  bool reportTypeVariables(std::span<const TypePtr> types, Span span, Diagnostics& diagnostics) const;
  void checkUses(Diagnostics& diagnostics) const;
  bool checkArgumentNames(const FunctionSchema& schema, Span span, Diagnostics& diagnostics) const;
  void report(const SchemaError& error, Span span, Diagnostics& diagnostics) const;
  std::vector<std::string_view> namespacesAt(uint32_t position) const;

  struct Use {
    std::string_view space;
    Span span;
    bool is_earlier = false;
  };

  SourcePtr source_;
  const EarlierInputs* earlier_;
  std::vector<std::unique_ptr<ScriptFunction>> functions_;
  uint32_t body_count_ = 0;
  std::unordered_map<std::string_view, Location> names_;                     // of functions, constants and modes
  std::unordered_map<std::string_view, ScriptFunction*> functions_by_name_;  // `fn` only
  std::unordered_map<std::string, std::vector<ScriptFunction*>> operators_by_name_;
  struct ImportedOperator {
    const CodeOperator* op;
    const CodeUnit* unit;
    uint32_t visible_from;
  };
  std::unordered_map<std::string, std::vector<ImportedOperator>> imported_operators_;
  std::vector<ScriptConstant> constants_;
  std::unordered_map<std::string_view, size_t> constants_by_name_;
  std::vector<ScriptMode> modes_;
  std::vector<CodeHandler> handlers_;
  std::unordered_map<const void*, uint32_t> handlers_by_statement_;
  std::vector<CodeModule> modules_;
  std::unordered_map<const void*, uint32_t> modules_by_statement_;
  std::vector<const CodeUnit*> units_;  // of the modules; null for plugins
  std::vector<CodeImport> imports_;
  bool lacks_module_ = false;
  std::unordered_map<std::string_view, Span> script_variables_;
  std::vector<Use> uses_;
  std::unordered_map<const FunctionSchema*, typed::FieldNames> field_names_;
  std::unordered_map<std::string, std::unique_ptr<OverloadSet>> overloads_;  // null where there is none
};

}  // namespace boxcar::interp
