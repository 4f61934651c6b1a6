#include <boxcar/dispatcher/call/scope.h>
#include <boxcar/dispatcher/handlers/handler_kinds.h>
#include <boxcar/interpreter/compiler/scope_checker.h>
#include <boxcar/interpreter/runtime/handler_object.h>
#include <boxcar/interpreter/syntax/wording.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>

namespace boxcar::interp {

using boost::variant2::get_if;

std::optional<typed::Scope> ScopeChecker::scope(const syntax::Expr& expr) {
  constexpr std::string_view kScopes[] = {"include", "exclude", "inference_mode"};
  const auto* ref = get_if<syntax::NameRef>(&expr.node);
  const auto* call = get_if<syntax::Call>(&expr.node);
  const syntax::QualifiedName* name = ref != nullptr ? &ref->name : call != nullptr ? &call->callee : nullptr;
  if (name == nullptr || name->space) {
    context_.error(
        expr.span,
        "`with` takes scopes: a mode's name, a handler such as `check_nan()`, `include(KEY)`, `exclude(KEY)` or "
        "`inference_mode()`");
    return std::nullopt;
  }
  const std::string_view word = name->name.text;
  if (const ScriptMode* mode = context_.declarations.findMode(word, expr.span.begin)) {
    if (ref != nullptr) return typed::Scope{mode->scope, nullptr};
    context_.error(expr.span, fmt::format("`{}` is a mode, which takes no arguments: `with {} {{ … }}`", word, word));
    return std::nullopt;
  }
  const boxcar::HandlerKind* const kind = findHandlerKind(word);
  const ScopeKind* const scope_kind = findScopeKind(word);
  if (kind != nullptr || scope_kind != nullptr) {
    if (call == nullptr) {
      const std::string_view schema = kind == nullptr ? scope_kind->schema : kind->schema;
      context_.error(expr.span, fmt::format("a {} is called: `with {}`", kind == nullptr ? "scope" : "handler",
                                            schema.substr(0, schema.rfind(" ->"))));
      return std::nullopt;
    }
    return typed::Scope{{},
                        builtins_.callBuiltin(handlerBuiltin(word), calls_.inferArguments(call->arguments), expr.span)};
  }
  if (std::ranges::find(kScopes, word) == std::end(kScopes)) {
    std::vector<std::string_view> candidates(std::begin(kScopes), std::end(kScopes));
    for (const ScopeKind* each : scopeKinds()) candidates.push_back(each->name());
    for (const boxcar::HandlerKind* each : handlerKinds()) candidates.push_back(each->name());
    for (const ScriptMode& mode : context_.declarations.modes()) candidates.push_back(mode.name);
    context_.error(name->span,
                   withSuggestion(fmt::format("there is no mode or scope called `{}`", word), word, candidates));
    return std::nullopt;
  }
  if (call == nullptr) {
    context_.error(expr.span, fmt::format("a scope is called: `{}({})`", word, word == "inference_mode" ? "" : "KEY"));
    return std::nullopt;
  }
  CodeScope scope;
  if (word == "inference_mode") {
    if (!call->arguments.empty()) context_.error(call->arguments_span, "`inference_mode()` takes no arguments");
    scope.kind = CodeScopeKind::InferenceMode;
    return typed::Scope{scope, nullptr};
  }
  const auto keys = scopeKeys(*call);
  if (!keys) return std::nullopt;
  scope.kind = word == "include" ? CodeScopeKind::Include : CodeScopeKind::Exclude;
  scope.keys = *keys;
  return typed::Scope{scope, nullptr};
}

std::optional<DispatchKeySet> ScopeChecker::scopeKeys(const syntax::Call& call) {
  DispatchKeySet keys;
  bool is_good = true;
  const auto reject = [&](Span span, std::string message) {
    context_.error(span, std::move(message));
    is_good = false;
  };
  if (call.arguments.empty()) {
    reject(call.arguments_span, fmt::format("`{}` takes one key or more: `{}(Tracer)`", context_.text(call.callee.span),
                                            context_.text(call.callee.span)));
  }
  for (const syntax::Argument& argument : call.arguments) {
    const auto* ref = get_if<syntax::NameRef>(&argument.value->node);
    if (ref == nullptr || ref->name.space || argument.keyword) {
      reject(argument.span,
             fmt::format("`{}` takes names of dispatch keys, such as `Tracer`", context_.text(call.callee.span)));
      continue;
    }
    const std::string_view name = ref->name.name.text;
    try {
      const DispatchKey key = parseDispatchKey(name);
      if (isAliasDispatchKey(key)) {
        reject(argument.span, fmt::format("`{}` is an alias for several keys; a scope takes functionality keys{}", name,
                                          key == DispatchKey::Autograd ? ", here `AutogradFunctionality`" : ""));
      } else if (toBackendComponent(key) != BackendComponent::InvalidBit) {
        reject(argument.span, fmt::format("`{}` belongs to one backend; a scope takes functionality keys, such as `{}`",
                                          name, toFunctionalityKey(key)));
      } else if (key == DispatchKey::Undefined) {
        reject(argument.span, "`Undefined` is the key of calls that have none; it cannot be switched on or off");
      } else {
        keys = keys.add(key);
      }
    } catch (const Error& failure) {
      reject(argument.span, failure.message());
    }
  }
  if (!is_good) return std::nullopt;
  return keys;
}

}  // namespace boxcar::interp
