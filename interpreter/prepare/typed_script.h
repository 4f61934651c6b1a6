#pragma once

#include <boxcar/interpreter/compiler/declarations.h>
#include <boxcar/interpreter/compiler/typed_program.h>
#include <boxcar/interpreter/runtime/module_loader.h>
#include <boxcar/interpreter/syntax/ast.h>
#include <boxcar/interpreter/syntax/diagnostic.h>

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace boxcar::interp {

// A function of a script, typed.
struct TypedFunction {
  const ScriptFunction* declared;
  typed::Function typed;
};

// A function that a call means: one of the script's own, or one of a file that the script imports.
struct CalledFunction {
  std::string_view module;  // as the import spells it; empty for the script's own
  std::string_view name;
  const FunctionSchema* schema = nullptr;
  const TypedFunction* own = nullptr;  // null for those of other files

  bool operator==(const CalledFunction& other) const { return module == other.module && name == other.name; }
};

// A script after inference, before code is made of it. The preparation reads scripts in this form.
class TypedScript final {
 public:
  // Returns null, and reports to [diagnostics], if the script has errors.
  static std::unique_ptr<TypedScript> infer(const SourcePtr& source, Diagnostics& diagnostics, ModuleLoader* loader);

  const SourcePtr& source() const noexcept { return tree_.source; }
  const syntax::SyntaxTree& tree() const noexcept { return tree_; }
  // Its comments, in the order of the text.
  const std::vector<Span>& comments() const;
  // Its statements outside of functions.
  const typed::Block& statements() const noexcept { return statements_.body; }
  // Its `fn`s, methods of structs among them.
  const std::vector<TypedFunction>& functions() const noexcept { return functions_; }
  // Returns the function called [name], no method; null if there is none.
  const TypedFunction* find(std::string_view name) const;
  CalledFunction called(const typed::CallFunction& call) const;
  // The file that has the function, which must be imported.
  const CodeModule& moduleOf(const typed::CallFunction& call) const;
  // Whether it imports [path] without an alias.
  bool imports(std::string_view path) const;
  // Whether its text has the name of a function of the file that it imports as [path].
  bool names(std::string_view path) const;

 private:
  TypedScript() = default;

  syntax::SyntaxTree tree_;
  std::unique_ptr<Declarations> declarations_;
  mutable std::optional<std::vector<Span>> comments_;  // read when they are asked for
  typed::Function statements_;
  std::vector<TypedFunction> functions_;
};

}  // namespace boxcar::interp
