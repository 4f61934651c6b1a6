// Proposals of names: what the script has and what it can call.

#include <boxcar/interpreter/bytecode/builtins.h>
#include <boxcar/interpreter/compiler/environment.h>
#include <boxcar/interpreter/service/completer.h>
#include <boxcar/interpreter/service/names.h>
#include <boxcar/interpreter/service/text.h>
#include <boxcar/interpreter/syntax/wording.h>
#include <boxcar/schema/words.h>

#include <algorithm>

namespace boxcar::service {

using interp::ScriptFunction;

void Completer::addVariables() {
  Analysis& analysis = this->analysis();
  const uint32_t place = cursor_.offset();
  const uint32_t begin =
      cursor_.before() == cursor_.statementBegin() ? place : cursor_.tokens()[cursor_.statementBegin()].span.begin;
  const ScriptFunction* function = analysis.functionAt(place);
  // The analysis does not know the variables of a comprehension that is still being written.
  const auto& tokens = cursor_.tokens();
  if (!cursor_.openBrackets().empty()) {
    for (size_t i = cursor_.openBrackets().front(); i < tokens.size() && tokens[i].kind != Kind::Newline; ++i) {
      if (tokens[i].kind != Kind::KwFor) continue;
      for (size_t k = i + 1; k < tokens.size() && tokens[k].kind != Kind::KwIn; ++k) {
        if (tokens[k].kind != Kind::Name && tokens[k].kind != Kind::Comma) break;
        if (tokens[k].kind == Kind::Name) add(cursor_.text(k), CompletionKind::Variable);
      }
    }
  }
  // The latest assignment before the cursor determines the type.
  const auto& assignments = analysis.findings().assignments;
  std::vector<const interp::Findings::Assignment*> before;
  for (const auto& assignment : assignments) {
    if (assignment.span.end <= begin && analysis.functionAt(assignment.span.begin) == function) {
      before.push_back(&assignment);
    }
  }
  std::ranges::sort(before, std::ranges::greater(), [](const auto* assignment) { return assignment->span.begin; });
  for (const auto* assignment : before) {
    if (analysis.declarations().findConstant(assignment->name) == nullptr) {
      add(assignment->name, CompletionKind::Variable, std::string(assignment->type->text()));
    }
  }
  if (function != nullptr) {
    for (const Argument& argument : function->schema.arguments()) {
      add(argument.name(), CompletionKind::Variable, std::string(interp::scriptType(argument.type())->text()));
    }
  } else {
    for (const KnownVariable& variable : known_) add(variable.name, CompletionKind::Variable, variable.type);
    add("argv", CompletionKind::Variable, "str[]", "The arguments of the command line after the script.");
  }
  for (const interp::ScriptConstant& constant : analysis.declarations().constants()) {
    add(constant.name, CompletionKind::Constant, constant.type == nullptr ? "" : std::string(constant.type->text()),
        commentAbove(*source_, constant.span.begin));
  }
}

std::string Completer::documentationOf(const ScriptFunction& function) {
  return function.import ? "" : commentAbove(*source_, function.span.begin);
}

void Completer::addFunctions() {
  for (const auto& function : analysis().declarations().functions()) {
    if (function->kind != interp::BodyKind::Function || function->visible_from > cursor_.offset()) continue;
    if (function->has_alias || function->isMethod()) continue;
    add(function->schema.name(), CompletionKind::Function, toString(function->schema), documentationOf(*function));
  }
  addStructs();
}

void Completer::addBuiltins() {
  for (const interp::Builtin& builtin : interp::builtins()) {
    if (builtin.is_hidden || builtin.full_name.find_first_of(".:") != std::string::npos) continue;
    add(builtin.name(), CompletionKind::Builtin, signatureOf(builtin));
  }
  add("isinstance", CompletionKind::Builtin, "isinstance(value, T) -> bool",
      "Whether a value has type T, written as in signatures; the compiler narrows the type.");
}

void Completer::addOperator(std::string_view label, const interp::OverloadSet& set, const FunctionSchema& shown,
                            CompletionKind kind) {
  // Internal names are proposed once the user begins to write one.
  if (label.starts_with('_') && !cursor_.wordText().starts_with('_')) return;
  std::string detail = toString(shown);
  if (set.schemas.size() > 1) {
    detail += fmt::format("  (and {} more overload{})", set.schemas.size() - 1, set.schemas.size() == 2 ? "" : "s");
  }
  std::string documentation;
  if (workspace_.docstrings != nullptr) documentation = workspace_.docstrings->find(toString(shown.operator_name()));
  for (const auto& function : analysis().declarations().functions()) {
    if (&function->schema == &shown) documentation = documentationOf(*function);
  }
  add(label, kind, std::move(detail), std::move(documentation));
}

void Completer::addOperatorsInUse() {
  interp::Declarations& declarations = analysis().declarations();
  for (const std::string& name : declarations.operatorNames(false, cursor_.offset())) {
    if (!begins(name)) continue;
    if (const auto* set = declarations.findOperators(name, cursor_.offset())) {
      addOperator(name, *set, *set->schemas[0], CompletionKind::Operator);
    }
  }
}

void Completer::addNamespaces(bool with_colons) {
  std::string last;
  for (const std::string& name : analysis().declarations().operatorNames(true, cursor_.offset())) {
    const std::string_view space = spaceOf(name);
    if (space == last) continue;
    last = space;
    add(with_colons ? fmt::format("{}::", space) : last, CompletionKind::Namespace);
  }
  if (with_colons) add("math::", CompletionKind::Namespace, {}, "Functions of numbers, and `pi` and `e`.");
}

void Completer::addQualified(std::string_view space) {
  interp::Declarations& declarations = analysis().declarations();
  for (const std::string& name : declarations.operatorNames(true, cursor_.offset())) {
    if (spaceOf(name) != space || !begins(nameOf(name))) continue;
    if (const auto* set = declarations.findQualified(name, cursor_.offset())) {
      addOperator(nameOf(name), *set, *set->schemas[0], CompletionKind::Operator);
    }
  }
  if (space != "math") return;
  for (const interp::Builtin& builtin : interp::builtins()) {
    if (builtin.name().starts_with("math::"))
      add(nameOf(builtin.name()), CompletionKind::Builtin, signatureOf(builtin));
  }
  for (const std::string_view constant : {"pi", "e"}) add(constant, CompletionKind::Constant, "float");
}

void Completer::addOverloads(const std::string& name) {
  const auto* set = analysis().declarations().findQualified(name, cursor_.offset());
  if (set == nullptr) return;
  for (size_t i = 0; i < set->schemas.size(); ++i) {
    if (set->operators[i].overload_name.empty()) continue;
    add(set->operators[i].overload_name, CompletionKind::Overload, toString(*set->schemas[i]));
  }
}

void Completer::addStructs() {
  for (const interp::ScriptStruct& made : analysis().declarations().structs()) {
    if (made.visible_from > cursor_.offset()) continue;
    add(made.name, CompletionKind::Type, toString(made.constructor),
        made.is_imported ? std::string() : commentAbove(*source_, made.span.begin));
  }
}

void Completer::addTypes() {
  addStructs();
  for (const std::string_view type : detail::typeNames()) add(type, CompletionKind::Type);
}

void Completer::addDtypes() {
  for (const std::string_view dtype : interp::dtypeNames()) add(dtype, CompletionKind::Dtype, "ScalarType");
}

void Completer::addDispatchKeys(bool functionalities) {
  for (uint16_t i = 1; i <= static_cast<uint16_t>(DispatchKey::EndOfAliasKeys); ++i) {
    const auto key = static_cast<DispatchKey>(i);
    if (key == DispatchKey::EndOfFunctionalityKeys) continue;
    const bool is_functionality = i < static_cast<uint16_t>(DispatchKey::EndOfFunctionalityKeys);
    if (functionalities ? is_functionality : isRuntimeDispatchKey(key) || isAliasDispatchKey(key)) {
      add(toString(key), CompletionKind::DispatchKey);
    }
  }
}

}  // namespace boxcar::service
