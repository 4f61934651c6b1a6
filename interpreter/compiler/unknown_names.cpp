#include <boxcar/dispatcher/handlers/handler_kinds.h>
#include <boxcar/interpreter/bytecode/builtins.h>
#include <boxcar/interpreter/compiler/builtin_names.h>
#include <boxcar/interpreter/compiler/unknown_names.h>
#include <boxcar/interpreter/syntax/named_dimensions.h>
#include <boxcar/interpreter/syntax/wording.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar::interp {

namespace {

// What [name] from other languages is called here; empty for other names.
std::string_view hintAtForeignName(std::string_view name) {
  if (name == "torch" || name == "F" || name == "np")
    return "operators have no module before them: `relu(x)`, or with their namespace `aten::relu(x)`";
  if (name == "null" || name == "nil" || name == "undefined") return "the absent value is called `None`";
  if (name == "pass") return "a block that does nothing is empty: `{ }`";
  return {};
}

// Returns the operators of that name in namespaces that are not in use.
std::vector<std::string> namesakes(const InferenceContext& context, const syntax::QualifiedName& name) {
  std::vector<std::string> found;
  const std::string ending = fmt::format("::{}", name.name.text);
  for (std::string& op : context.declarations.operatorNames(true, name.span.begin)) {
    if (op.ends_with(ending)) found.push_back(std::move(op));
  }
  return found;
}

}  // namespace

void reportUnknownName(InferenceContext& context, const syntax::Name& name) {
  if (context.isOnlyCounted()) {
    context.error(name.span, {});
    return;
  }
  const std::string shown(name.text);
  const OverloadSet* const operators = context.declarations.findOperators(name.text, name.span.begin);
  if (isCallable(name.text) || operators != nullptr) {
    Diagnostic& diagnostic =
        context.error(name.span, fmt::format("`{}` is {}, not a value: call it, `{}(…)`", shown,
                                             operators != nullptr ? "an operator" : "a function", shown));
    if (operators != nullptr) {
      const std::string& overload = operators->operators[0].overload_name;
      diagnostic.note(fmt::format("as a value it is `operator(\"{}{}{}\")`", operators->name,
                                  overload.empty() ? "" : ".", overload));
    }
    if (shown == "float") diagnostic.note("the dtypes are called `float32` and `float64`");
    if (shown == "int") diagnostic.note("the dtypes are called `int32` and `int64`");
    return;
  }
  if (context.declarations.findMode(name.text, name.span.begin) != nullptr) {
    context.error(name.span, fmt::format("`{}` is a mode, not a value: `with {} {{ … }}`", shown, shown));
    return;
  }
  std::vector<std::string_view> candidates;
  for (typed::VariableId i = 0; i < context.names.size(); ++i) {
    if (context.environment.at(i).type != nullptr) candidates.push_back(context.names[i]);
  }
  for (const auto& scoped : context.scoped) candidates.push_back(scoped.first);
  for (const ScriptConstant& known : context.declarations.constants()) candidates.push_back(known.name);
  // The name of a function is a value, too.
  for (const auto& function : context.declarations.functions()) {
    const bool is_known = function->visible_from <= name.span.begin && !function->has_alias;
    if (function->kind == BodyKind::Function && is_known) candidates.push_back(function->schema.name());
  }
  candidates.insert(candidates.end(), dtypeNames().begin(), dtypeNames().end());
  candidates.insert(candidates.end(), {"True", "False", "None"});
  const Span* of_script = context.function == nullptr ? nullptr : context.declarations.findScriptVariable(name.text);
  std::string message = fmt::format("there is no variable or constant called `{}`", shown);
  const std::string_view hint = hintAtForeignName(name.text);
  if (of_script == nullptr && hint.empty()) message = withSuggestion(std::move(message), name.text, candidates);
  Diagnostic& diagnostic = context.error(name.span, std::move(message));
  const auto isNamed = [&name](const EarlierInputs::Variable& variable) { return variable.name == name.text; };
  if (of_script != nullptr) {
    diagnostic.note(fmt::format("`{}` is a variable of the script; make it a `const`, or pass it", shown),
                    context.source, *of_script);
  } else if (context.declarations.earlier() != nullptr &&
             std::ranges::any_of(context.declarations.earlier()->variables, isNamed)) {
    diagnostic.note(fmt::format("`{}` is a variable of the session; make it a `const`, or pass it", shown));
  } else if (!hint.empty()) {
    diagnostic.note(std::string(hint));
  }
}

void reportUnknownInTorch(InferenceContext& context, const syntax::Name& name, Span span) {
  if (context.isOnlyCounted()) {
    context.error(span, {});
    return;
  }
  Diagnostic& diagnostic =
      context.error(span, withSuggestion(fmt::format("`torch.{}` is not a dtype, layout or memory format", name.text),
                                         name.text, dtypeNames()));
  if (context.declarations.findOperators(name.text, name.span.begin) != nullptr || isCallable(name.text))
    diagnostic.note(std::string(hintAtForeignName("torch")));
}

void reportUnknownFunction(InferenceContext& context, const syntax::QualifiedName& name) {
  if (context.isOnlyCounted()) {
    context.error(name.span, {});
    return;
  }
  const std::string_view shown = context.text(name.span);
  std::vector<std::string> operators =
      context.declarations.operatorNames(static_cast<bool>(name.space), name.span.begin);
  std::vector<std::string_view> candidates(operators.begin(), operators.end());
  if (!name.space) {
    for (const auto& function : context.declarations.functions()) {
      const bool is_known = function->visible_from <= name.span.begin && !function->has_alias && !function->isMethod();
      if (function->kind == BodyKind::Function && is_known) candidates.push_back(function->schema.name());
    }
    for (const Builtin& builtin : builtins()) {
      if (isCallable(builtin.name())) candidates.push_back(builtin.name());
    }
    for (const ScriptStruct& made : context.declarations.structs()) {
      if (made.visible_from <= name.span.begin) candidates.push_back(made.name);
    }
  }
  std::ranges::sort(candidates);
  const std::string full = name.space ? fmt::format("{}::{}", name.space.text, name.name.text) : std::string(shown);
  const std::string_view kind = name.space ? "operator" : "function or operator";
  // The same name in another namespace is a better suggestion than another name.
  const std::vector<std::string> elsewhere = name.space ? std::vector<std::string>() : namesakes(context, name);
  std::string message = fmt::format("there is no {} called `{}`", kind, full);
  if (elsewhere.empty()) {
    message = withSuggestion(std::move(message), full, candidates);
  } else {
    message += fmt::format(". Did you mean '{}'?", fmt::join(elsewhere, "' or '"));
  }
  Diagnostic& diagnostic = context.error(name.span, std::move(message));
  if (!elsewhere.empty()) {
    diagnostic.note(fmt::format("write its namespace, or `use {}`", elsewhere[0].substr(0, elsewhere[0].find(':'))));
  }
  if (!name.space && context.declarations.findMode(shown, name.span.begin) != nullptr) {
    diagnostic.note(fmt::format("`{}` is a mode: `with {} {{ … }}`", shown, shown));
  } else if (!name.space && findHandlerKind(shown) != nullptr) {
    diagnostic.note(fmt::format("`{}` is a handler: `with {}(…) {{ … }}`", shown, shown));
  } else if (const ScriptFunction* later =
                 name.space ? nullptr : context.declarations.findFunction(shown, UINT32_MAX)) {
    diagnostic.note(fmt::format("`{}` is only known after its import, which is here", shown), context.source,
                    later->span);
  } else if (!name.space && (shown.ends_with("Error") || shown == "Exception")) {
    diagnostic.note("an error is its message: `raise \"...\"`");
  } else if (isAboutNames(name.name.text) && (!name.space || name.space.text == "aten")) {
    diagnostic.note(std::string(kNoNames));
  } else if (!name.space && context.findVariable(shown)) {
    const TypePtr type = context.environment.at(*context.findVariable(shown)).type;
    diagnostic.note(fmt::format("the variable `{}` is {}; only a Function can be called", shown,
                                type == nullptr ? "not set" : withArticle(type)));
  }
}

void reportUnknownMethod(InferenceContext& context, const syntax::Name& name, TypePtr type) {
  if (context.isOnlyCounted()) {
    context.error(name.span, {});
    return;
  }
  const std::string prefix = fmt::format("{}.", methodPrefix(type));
  std::vector<std::string_view> candidates;
  for (const Builtin& builtin : builtins()) {
    if (prefix.size() > 1 && builtin.name().starts_with(prefix)) {
      candidates.push_back(builtin.name().substr(prefix.size()));
    }
  }
  if (const ScriptStruct* const declared = context.declarations.structOf(type)) {
    for (const auto& [method, function] : declared->methods) candidates.push_back(method);
    std::ranges::sort(candidates);
  }
  std::vector<std::string> operators;
  if (type->kind() == TypeKind::Tensor || type->kind() == TypeKind::Any) {
    operators = context.declarations.operatorNames(false, name.span.begin);
    candidates.insert(candidates.end(), operators.begin(), operators.end());
  }
  const std::string unknown = fmt::format("there is no function, method or operator `{}` for {}", name.text, *type);
  const bool is_attribute = std::ranges::find(candidates, name.text) != candidates.end();
  Diagnostic& diagnostic =
      context.error(name.span, is_attribute ? fmt::format("{}. It is an attribute: leave out the parentheses", unknown)
                                            : withSuggestion(unknown, name.text, candidates));
  if (type->isOptional()) diagnostic.note("check `is None` first");
  if (type->kind() == TypeKind::Tensor && isAboutNames(name.text)) diagnostic.note(std::string(kNoNames));
}

}  // namespace boxcar::interp
