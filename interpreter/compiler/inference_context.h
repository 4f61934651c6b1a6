#pragma once

// What the checkers of one function share.

#include <boxcar/interpreter/compiler/declarations.h>
#include <boxcar/interpreter/compiler/environment.h>
#include <boxcar/interpreter/compiler/findings.h>
#include <boxcar/interpreter/compiler/input_scope.h>
#include <boxcar/interpreter/compiler/typed_program.h>
#include <boxcar/interpreter/syntax/ast.h>
#include <boxcar/interpreter/syntax/diagnostic.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace boxcar::interp {

// Types that variables have if a condition holds, or if it does not.
using Facts = std::vector<std::pair<typed::VariableId, TypePtr>>;

// The state of the inference of one function's body, or of a script's statements: its names, what is known about its
// variables at the point reached, and what is wrong.
struct InferenceContext {
  // [function] is null for the script's statements; [findings] and [outline] may be null.
  InferenceContext(Declarations& declarations, const ScriptFunction* function, Diagnostics& diagnostics,
                   Findings* findings, InputOutline* outline);

  // Forgets what an earlier pass found out, except for what passes share.
  void beginPass();

  // ---- Names and variables ----
  std::optional<typed::VariableId> findVariable(std::string_view name) const;
  // Returns a variable that the text does not name.
  typed::VariableId makeVariable() { return typed::kFirstMadeVariable + made_count++; }
  // Returns the slot kind of a variable that the text names. Variables of a session are always Values.
  SlotKind kindOf(TypePtr type) const noexcept { return outline == nullptr ? slotKindOf(type) : SlotKind::Value; }
  // Returns what `object.name` means if [object] is the alias of an imported file: its function, or null, which is
  // reported, if it has none of that name. Nothing if it is something else.
  std::optional<const ScriptFunction*> findInAlias(const syntax::Expr& object, const syntax::Name& name);
  // The same for a struct; null if it has none of that name.
  const ScriptStruct* findStructInAlias(const syntax::Expr& object, const syntax::Name& name) const;
  void assume(const Facts& facts);
  // Stores [value] in a variable, so that it can be read twice; the assignment goes to [before].
  typed::ExprPtr keep(typed::ExprPtr value, typed::Block& before);
  // Also copies the value of a variable, which may change.
  typed::ExprPtr keepValue(typed::ExprPtr value, typed::Block& before);

  // ---- Text and errors ----
  std::string_view text(Span span) const { return source->text(span); }
  // Returns the type written at [span]; Any if an error was reported.
  TypePtr readType(Span span) { return declarations.readType(span, found); }
  Diagnostic& error(Span span, std::string message);
  // Whether the next error will only be counted, so that looking for suggestions would be wasted.
  bool isOnlyCounted() const noexcept {
    return diagnostics.error_count() + found.error_count() >= Diagnostics::kMaxErrors;
  }
  // Returns the name that messages use for the function, which there must be.
  std::string_view shownName() const;

  Declarations& declarations;
  const ScriptFunction* function;
  Diagnostics& diagnostics;
  Findings* findings;
  Findings::Mark findings_before;  // the findings before this inference
  SourcePtr source;
  TypePtr result = nullptr;  // null for the script's statements
  InputOutline* outline;     // null except for the statements of a session's input

  // Shared by all passes.
  std::vector<std::string_view> names;  // of the variables that the function sets, by id
  std::unordered_map<std::string_view, typed::VariableId> ids;
  std::unordered_map<typed::VariableId, std::pair<TypePtr, Span>> declared_types;
  std::unordered_map<const void*, std::vector<typed::VariableId>> clause_variables;  // by comprehension clause
  std::unordered_map<const syntax::Stmt*, Environment> places;  // of an input: the state before each statement

  // Reset by each pass.
  Diagnostics found;
  Environment environment;
  uint32_t made_count = 0;
  std::vector<typed::VariableId> assigned;                             // in the order of the assignments
  std::vector<std::pair<std::string_view, typed::VariableId>> scoped;  // variables of comprehensions, innermost last
};

}  // namespace boxcar::interp
