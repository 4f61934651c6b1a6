#include <boxcar/interpreter/compiler/inference_context.h>
#include <boxcar/interpreter/compiler/typed_builder.h>
#include <boxcar/interpreter/syntax/wording.h>
#include <fmt/format.h>

namespace boxcar::interp {

using typed::ExprPtr;

InferenceContext::InferenceContext(Declarations& declarations, const ScriptFunction* function, Diagnostics& diagnostics,
                                   Findings* findings, InputOutline* outline)
    : declarations(declarations),
      function(function),
      diagnostics(diagnostics),
      findings(findings),
      source(declarations.source()),
      outline(outline) {
  if (findings != nullptr) findings_before = findings->mark();
}

void InferenceContext::beginPass() {
  found = Diagnostics();
  if (findings != nullptr) findings->dropFrom(findings_before);
  environment = Environment();
  made_count = 0;
  assigned.clear();
  scoped.clear();
}

std::optional<typed::VariableId> InferenceContext::findVariable(std::string_view name) const {
  for (auto inner = scoped.rbegin(); inner != scoped.rend(); ++inner) {
    if (inner->first == name) return inner->second;
  }
  const auto named = ids.find(name);
  if (named == ids.end()) return std::nullopt;
  return named->second;
}

std::optional<const ScriptFunction*> InferenceContext::findInAlias(const syntax::Expr& object,
                                                                   const syntax::Name& name) {
  const auto* const ref = boost::variant2::get_if<syntax::NameRef>(&object.node);
  if (ref == nullptr || ref->name.space || findVariable(ref->name.name.text)) return std::nullopt;
  const std::string_view alias = ref->name.name.text;
  const auto* const functions = declarations.functionsOfAlias(alias, object.span.begin);
  if (functions == nullptr) return std::nullopt;
  const std::string whole = fmt::format("{}.{}", alias, name.text);
  const ScriptFunction* const found_function = declarations.findFunction(whole, object.span.begin);
  if (found_function == nullptr && declarations.findStruct(whole, object.span.begin) != nullptr) {
    error(name.span, fmt::format("`{0}` is a struct, not a value: `{0}(...)` makes one", whole));
  } else if (found_function == nullptr) {
    std::vector<std::string_view> candidates = *functions;
    for (const ScriptStruct& made : declarations.structs()) {
      if (made.name.starts_with(fmt::format("{}.", alias))) candidates.push_back(made.name.substr(alias.size() + 1));
    }
    error(name.span, withSuggestion(fmt::format("the file imported as `{}` has no function `{}`", alias, name.text),
                                    name.text, candidates));
  }
  return found_function;
}

const ScriptStruct* InferenceContext::findStructInAlias(const syntax::Expr& object, const syntax::Name& name) const {
  const auto* const ref = boost::variant2::get_if<syntax::NameRef>(&object.node);
  if (ref == nullptr || ref->name.space || findVariable(ref->name.name.text)) return nullptr;
  return declarations.findStruct(fmt::format("{}.{}", ref->name.name.text, name.text), object.span.begin);
}

void InferenceContext::assume(const Facts& facts) {
  for (const auto& [variable, type] : facts) environment[variable].type = type;
}

ExprPtr InferenceContext::keep(ExprPtr value, typed::Block& before) {
  return typed::isSimple(*value) ? std::move(value) : keepValue(std::move(value), before);
}

ExprPtr InferenceContext::keepValue(ExprPtr value, typed::Block& before) {
  const typed::Target target{makeVariable(), slotKindOf(value->type)};
  const TypePtr type = value->type;
  const Span span = value->span;
  typed::FieldNames fields = value->fields;
  typed::append(before, span, typed::SetVariable{target, std::move(value)});
  ExprPtr kept = typed::read(target, type, span);
  kept->fields = std::move(fields);
  return kept;
}

Diagnostic& InferenceContext::error(Span span, std::string message) {
  return found.error(source, span, std::move(message));
}

std::string_view InferenceContext::shownName() const {
  // A fallback has no name of its own.
  const bool is_exit = function->kind == BodyKind::Exit;
  return is_exit || function->title.starts_with("fallback") ? function->title : text(function->name_span);
}

}  // namespace boxcar::interp
