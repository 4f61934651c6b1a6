#pragma once

#include <boxcar/interpreter/bytecode/bytecode.h>
#include <boxcar/interpreter/bytecode/struct_layout.h>
#include <boxcar/interpreter/compiler/input_scope.h>
#include <boxcar/interpreter/compiler/typed_program.h>
#include <boxcar/interpreter/runtime/module_loader.h>
#include <boxcar/interpreter/syntax/ast.h>
#include <boxcar/interpreter/syntax/diagnostic.h>
#include <boxcar/schema/function_schema.h>
#include <boxcar/schema/parse_schema.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace boxcar::interp {

enum class BodyKind : uint8_t {
  Function,  // `fn`
  Operator,  // `op`
  Impl,
  Handler,  // of a fallback or a mode
  Exit,     // of a mode
};

// A function or another body of a script.
struct ScriptFunction {
  BodyKind kind;
  FunctionSchema schema;  // what the body takes and returns
  std::string title;      // its name in call stacks
  Span name_span;
  Span span;
  const syntax::Block* body;       // null for an operator that is only declared and for an imported function
  uint32_t function;               // its index in the unit, if it has a body; the script's statements have 0
  uint32_t visible_from = 0;       // if imported: the position in the text from which it is visible
  std::optional<uint32_t> import;  // if imported: its index in imports()
  bool has_alias = false;          // it is only known as `alias.name`

  // Whether it is only known as a method, `Struct.method`.
  bool isMethod() const noexcept { return kind == BodyKind::Function && !schema.overload_name().empty(); }
};

// The name of a mode of this script or of an imported file.
struct ScriptMode {
  std::string_view name;
  Span span;
  CodeScope scope;
  uint32_t visible_from = 0;
};

// A struct of this script or of an imported file.
struct ScriptStruct {
  std::string_view name;
  Span span;
  TypePtr type;
  uint16_t index;  // in the unit's structs
  bool is_imported;
  FunctionSchema constructor;  // without the fields' defaults, which the unit has
  uint32_t visible_from = 0;   // if imported
  std::unordered_map<std::string_view, const ScriptFunction*> methods = {};

  // Returns the method of this name; null if there is none.
  const ScriptFunction* method(std::string_view called) const {
    const auto found = methods.find(called);
    return found == methods.end() ? nullptr : found->second;
  }
};

struct ScriptConstant {
  std::string_view name;
  Span span;
  uint32_t global;
  TypePtr type = nullptr;   // known once inference of the script's statements has reached it
  bool is_earlier = false;  // from an earlier input of the session: already set, and not in this text
};

// The candidate overloads of a call: operators of one name, those of the dispatcher first.
struct OverloadSet {
  std::string name;  // "aten::add"
  std::vector<OperatorName> operators;
  std::vector<const FunctionSchema*> schemas;
};

// The declarations of a script, and what its names mean.
class Declarations {
 public:
  // Reports what cannot be read and what is defined twice. Without [loader] nothing can be imported.
  // [earlier]: what else an input of a session knows; null for a script.
  Declarations(const syntax::SyntaxTree& tree, ModuleLoader* loader, Diagnostics& diagnostics,
               const EarlierInputs* earlier = nullptr);

  // Returns the function or the mode that [name] means at [position]; "m.f" is function f of the file imported as m.
  const ScriptFunction* findFunction(std::string_view name, uint32_t position) const;
  const ScriptMode* findMode(std::string_view name, uint32_t position) const;
  ScriptConstant* findConstant(std::string_view name);
  // Returns the struct of this name; "m.Linear" is struct Linear of the file imported as m.
  const ScriptStruct* findStruct(std::string_view name, uint32_t position) const;
  // Returns the struct of this type; null for other types, and for structs that are neither declared nor imported here.
  const ScriptStruct* structOf(TypePtr type) const;
  // Whether a struct that the script or its imports know has a field or a method called [name].
  bool isMember(std::string_view name) const { return member_names_.contains(name); }
  const std::deque<ScriptStruct>& structs() const noexcept { return structs_; }
  // The structs of the unit, with those that their fields lead to.
  const std::vector<CodeStruct>& codeStructs() const noexcept { return code_structs_; }
  const std::vector<std::unique_ptr<ScriptFunction>>& functions() const noexcept { return functions_; }
  const std::vector<ScriptConstant>& constants() const noexcept { return constants_; }
  const std::vector<ScriptMode>& modes() const noexcept { return modes_; }
  const std::vector<CodeHandler>& handlers() const noexcept { return handlers_; }
  const std::vector<CodeModule>& modules() const noexcept { return modules_; }
  const std::vector<CodeImport>& imports() const noexcept { return imports_; }

  // Returns the index of the handler that [statement], an `impl` or a `fallback`, registers; nothing if it was wrong.
  std::optional<uint32_t> handlerOf(const void* statement) const;
  // Returns the functions of the file that is imported as [alias] and known at [position]; null if there is none.
  const std::vector<std::string_view>* functionsOfAlias(std::string_view alias, uint32_t position) const;

  // Returns the index of the script that [statement] imports; nothing for a plugin.
  std::optional<uint32_t> moduleOf(const syntax::Import* statement) const;
  // Whether the import of a script failed.
  bool lacksModule() const noexcept { return lacks_module_; }
  // Returns the import that calls the statements of module [module].
  uint32_t importOfStatements(uint32_t module);

  // Returns the type written at [span]; Any if an error was reported.
  TypePtr readType(Span span, Diagnostics& diagnostics) const;

  // Returns the type that [text] names, which may be a struct; Any if it is none.
  TypePtr typeNamed(std::string_view text) const;

  // Records a variable that the script's own statements set. Functions cannot see it, but error messages mention it.
  void addScriptVariable(const syntax::Name& name) { script_variables_.emplace(name.text, name.span); }
  const Span* findScriptVariable(std::string_view name) const;

  // What the statements of an input see from earlier inputs; null for a script.
  const EarlierInputs* earlier() const noexcept { return earlier_; }
  // Whether the text may mention [name] at all. This keeps the cost of compiling an input independent of the session's
  // size.
  bool mentions(std::string_view name) const { return source_->text().find(name) != std::string_view::npos; }

  // Called before the statements that set constants are inferred again.
  void forgetConstantTypes();

  // Returns the operators called [name], or null. Without a namespace, these are those of the first namespace in use at
  // [position] that has the name.
  const OverloadSet* findOperators(const syntax::QualifiedName& name, uint32_t position);
  const OverloadSet* findOperators(std::string_view name, uint32_t position);
  const OverloadSet* findQualified(const std::string& name, uint32_t position = UINT32_MAX);

  // Whether the operator's own kernel may be the body of a script. Such a body can change the lists that it gets.
  bool mayBeScript(const OperatorName& name) const;

  // Returns candidates for a misspelt operator name; without a namespace, those in use at [position].
  std::vector<std::string> operatorNames(bool qualified, uint32_t position) const;

  // Returns the names of the results of [schema]; null if they have none, or if there is only one result.
  typed::FieldNames fieldNames(const FunctionSchema& schema);

  const SourcePtr& source() const noexcept { return source_; }

 private:
  void add(const syntax::Stmt& statement, const syntax::Function& function, Diagnostics& diagnostics);
  void add(const syntax::Stmt& statement, const syntax::Operator& op, Diagnostics& diagnostics);
  void add(const syntax::Const& constant, Diagnostics& diagnostics);
  void add(const syntax::Stmt& statement, const syntax::Mode& mode, Diagnostics& diagnostics);
  void add(const syntax::Stmt& statement, const syntax::Import& import, Diagnostics& diagnostics);
  // Loads the imported files, before anything else, because signatures name their structs.
  void loadImports(const syntax::SyntaxTree& tree, ModuleLoader* loader, Diagnostics& diagnostics);

  // ---- declarations_struct.cpp ----
  // Makes the types of all structs.
  void declareStructs(const syntax::SyntaxTree& tree, Diagnostics& diagnostics);
  void nameImportedStructs(const syntax::SyntaxTree& tree);
  std::optional<IValue> defaultOf(const syntax::Field& field, TypePtr type, Diagnostics& diagnostics) const;
  // Adds a struct to the unit's.
  ScriptStruct& addStruct(std::string_view name, Span span, CodeStruct code, uint32_t visible_from);
  void add(const syntax::Struct& declared, Diagnostics& diagnostics);
  void addMethod(const syntax::Stmt& statement, const syntax::Function& method, ScriptStruct& owner,
                 Diagnostics& diagnostics);
  // Adds struct [imported] of module [index] under the name [name].
  void addStructOf(uint32_t index, const CodeStruct& imported, std::string_view name, Span span, uint32_t visible_from);
  void noteMembers(const StructLayout& layout);
  // Reports structs in [types], written at [span], for an operator.
  bool reportStructs(std::span<const TypePtr> types, Span span, Diagnostics& diagnostics) const;

  // Adds the names that module [index] exports to a script that imports it by [import].
  void addNamesOf(uint32_t index, const syntax::Import& import, uint32_t visible_from, Diagnostics& diagnostics);
  // Adds the functions of module [index] to a script that imports it with an alias.
  void addAliasOf(uint32_t index, const syntax::Import& import, uint32_t visible_from, Diagnostics& diagnostics);
  void addOperatorsOf(uint32_t index, const syntax::Import& import, uint32_t visible_from, Diagnostics& diagnostics);
  // Returns the place in units_ of a file that is imported without an alias.
  std::vector<const CodeUnit*>::const_iterator findShared(const CodeUnit* unit) const;
  void addModulesOf(const EarlierInputs& earlier);
  // Adds the earlier names that no declaration of this input replaces.
  void addNamesOf(const EarlierInputs& earlier);
  void addFunctionsOf(uint32_t index, std::string_view alias, Span span, uint32_t visible_from);
  ScriptFunction& addImport(uint32_t index, const CodeUnit& unit, const CodeExport& exported, Span span,
                            uint32_t visible_from);
  // Reports operators of the script that an imported file defines, too.
  void compareWithImports(Diagnostics& diagnostics) const;
  // Adds the handlers of the impls and fallbacks in [statements] and in nested blocks.
  void addHandlers(const std::vector<syntax::StmtPtr>& statements, Diagnostics& diagnostics);
  void addHandler(const syntax::Stmt& statement, const syntax::Impl& impl, Diagnostics& diagnostics);
  void addHandler(const syntax::Stmt& statement, const syntax::Fallback& fallback, Diagnostics& diagnostics);
  ScriptFunction& addBody(BodyKind kind, FunctionSchema schema, std::string title, Span name_span, Span span,
                          const syntax::Block* body);
  // Declares [name]; reports it and returns false if it is already declared.
  bool claimName(std::string_view name, const SourcePtr& source, Span span, const SourcePtr& place_source, Span place,
                 Diagnostics& diagnostics);
  std::optional<DispatchKey> readKey(const syntax::Name& key, Diagnostics& diagnostics) const;
  // The level of a mode.
  std::optional<DispatchKey> readLevel(const syntax::Name& key, Diagnostics& diagnostics) const;
  // [text]: what stands at [signature], possibly with something blanked out.
  std::optional<FunctionSchema> readSignature(Span signature, std::string_view text, Diagnostics& diagnostics) const;
  std::optional<FunctionSchema> readSignature(Span signature, Diagnostics& diagnostics) const {
    return readSignature(signature, source_->text(signature), diagnostics);
  }
  // Reports the words in [types], written at [span], that name no type; returns whether there are any.
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
  // Files that are imported with an alias.
  struct Alias {
    uint32_t visible_from;
    std::vector<std::string_view> functions;
  };
  std::unordered_map<std::string_view, Alias> aliases_;
  std::deque<std::string> names_of_aliases_;  // "m.f"
  std::unordered_map<std::string, std::vector<ScriptFunction*>> operators_by_name_;
  struct ImportedOperator {
    const CodeOperator* op;
    const CodeUnit* unit;
    uint32_t visible_from;
  };
  std::unordered_map<std::string, std::vector<ImportedOperator>> imported_operators_;
  struct NamedType {
    TypePtr type;
    uint32_t visible_from;
  };
  // The names of structs that are known at a position.
  class NamesAt;
  std::unordered_map<std::string, NamedType> types_by_name_;  // "Linear", "m.Linear"
  std::deque<ScriptStruct> structs_;
  std::unordered_map<std::string_view, ScriptStruct*> structs_by_name_;
  std::unordered_map<TypePtr, ScriptStruct*> structs_by_type_;
  std::vector<CodeStruct> code_structs_;
  std::unordered_set<std::string_view> member_names_;
  std::unordered_map<const void*, const CodeUnit*> loaded_;  // by import statement
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
  std::unordered_map<std::string, std::unique_ptr<OverloadSet>> overloads_;  // null if there is none
};

}  // namespace boxcar::interp
