// Bodies that handle calls of operators: `impl`, `fallback` and `mode`.

#include <boxcar/dispatcher/call/mode.h>
#include <boxcar/interpreter/compiler/declarations.h>
#include <boxcar/interpreter/runtime/overload.h>
#include <boxcar/interpreter/syntax/wording.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace boxcar::interp {
namespace {

// The arguments that every handler takes after the operator's own.
void addHandlerArguments(std::vector<Argument>& arguments) {
  for (const auto& [name, type] : {std::pair("op", Type::function()), std::pair("args", Type::listOf(Type::any()))}) {
    const bool is_taken =
        std::ranges::any_of(arguments, [&](const Argument& argument) { return argument.name() == name; });
    // If the operator has its own argument of that name, it takes precedence; a name that no script can write fills the
    // place.
    arguments.emplace_back(is_taken ? fmt::format("{}_of_the_call", name) : name, type, std::nullopt, std::nullopt,
                           true);
  }
}

FunctionSchema handlerSchema() {
  std::vector<Argument> arguments;
  addHandlerArguments(arguments);
  return FunctionSchema("handler", "", std::move(arguments), {Argument("", Type::listOf(Type::any()))});
}

constexpr bool hasModes(DispatchKey key) { return key == DispatchKey::PreDispatch || key == DispatchKey::Python; }

}  // namespace

std::optional<DispatchKey> Declarations::readKey(const syntax::Name& key, Diagnostics& diagnostics) const {
  try {
    const DispatchKey found = parseDispatchKey(key.text);
    if (isRuntimeDispatchKey(found) || isAliasDispatchKey(found)) return found;
    diagnostics.error(
        source_, key.span,
        isPerBackendFunctionalityKey(found)
            ? fmt::format("`{}` is a functionality with a key for each backend; name specific ones, such as `{}`",
                          found, toRuntimePerBackendFunctionalityKey(found, BackendComponent::CPUBit))
            : fmt::format("`{}` is not a key that calls dispatch to", key.text));
  } catch (const Error& error) {
    diagnostics.error(source_, key.span, error.message());
  }
  return std::nullopt;
}

std::optional<DispatchKey> Declarations::readLevel(const syntax::Name& key, Diagnostics& diagnostics) const {
  std::string message;
  try {
    const DispatchKey found = parseDispatchKey(key.text);
    const std::string why = whyNoModeAt(found);
    if (why.empty()) return found;
    message = fmt::format("a mode cannot be at `{}`, which {}", key.text, why);
  } catch (const Error& error) {
    message = error.message();
  }
  diagnostics.error(source_, key.span, message);
  return std::nullopt;
}

void Declarations::add(const syntax::Stmt& statement, const syntax::Mode& mode, Diagnostics& diagnostics) {
  const std::string_view name = mode.name.text;
  DispatchKey key = DispatchKey::PreDispatch;
  if (mode.key) {
    const auto given = readLevel(mode.key, diagnostics);
    if (!given) return;
    key = *given;
  }
  if (!claimName(name, source_, mode.name.span, source_, mode.name.span, diagnostics)) return;

  CodeHandler handler;
  handler.kind = HandlerKind::Mode;
  handler.key = key;
  handler.name = name;
  handler.span = mode.name.span;
  handler.function = addBody(BodyKind::Handler, handlerSchema(), fmt::format("mode {}", name), mode.name.span,
                             statement.span, &mode.body)
                         .function;
  if (mode.exit) {
    handler.exit = addBody(BodyKind::Exit, FunctionSchema("exit", "", {}, {}), fmt::format("exit of mode {}", name),
                           mode.name.span, mode.exit->span, &*mode.exit)
                       .function;
  }
  const auto index = static_cast<uint32_t>(handlers_.size());
  handlers_.push_back(std::move(handler));
  modes_.push_back({name, mode.name.span, {CodeScopeKind::Mode, index, {}, {}}, 0});
}

const ScriptMode* Declarations::findMode(std::string_view name, uint32_t position) const {
  for (const ScriptMode& mode : modes_) {
    if (mode.name == name && mode.visible_from <= position) return &mode;
  }
  return nullptr;
}

void Declarations::addHandlers(const std::vector<syntax::StmtPtr>& statements, Diagnostics& diagnostics) {
  const auto inside = [&](const syntax::Block& block) { addHandlers(block.statements, diagnostics); };
  for (const syntax::StmtPtr& statement : statements) {
    boost::variant2::visit(
        [&]<class T>(const T& node) {
          if constexpr (std::is_same_v<T, syntax::Impl> || std::is_same_v<T, syntax::Fallback>) {
            addHandler(*statement, node, diagnostics);
            inside(node.body);
          } else if constexpr (std::is_same_v<T, syntax::If>) {
            for (const auto& branch : node.branches) inside(branch.body);
            if (node.otherwise) inside(*node.otherwise);
          } else if constexpr (std::is_same_v<T, syntax::While> || std::is_same_v<T, syntax::For> ||
                               std::is_same_v<T, syntax::With> || std::is_same_v<T, syntax::Function>) {
            inside(node.body);
          } else if constexpr (std::is_same_v<T, syntax::Operator>) {
            if (node.body) inside(*node.body);
          } else if constexpr (std::is_same_v<T, syntax::Mode>) {
            inside(node.body);
            if (node.exit) inside(*node.exit);
          }
        },
        statement->node);
  }
}

void Declarations::addHandler(const syntax::Stmt& statement, const syntax::Fallback& fallback,
                              Diagnostics& diagnostics) {
  const auto key = readKey(fallback.key, diagnostics);
  if (!key) return;
  const std::string title = fmt::format("fallback @ {}", fallback.key.text);
  if (isAliasDispatchKey(*key) || *key == DispatchKey::Undefined) {
    diagnostics.error(
        source_, fallback.key.span,
        fmt::format("a fallback cannot be at `{}`, which is not a runtime key; register one for each runtime key",
                    fallback.key.text));
    return;
  }
  if (hasModes(*key)) {
    diagnostics.error(
        source_, fallback.key.span,
        fmt::format("a fallback cannot be at `{}`, where modes run; declare a `mode`", fallback.key.text));
    return;
  }
  CodeHandler handler;
  handler.kind = HandlerKind::Fallback;
  handler.key = *key;
  handler.span = fallback.key.span;
  handler.function =
      addBody(BodyKind::Handler, handlerSchema(), title, fallback.key.span, statement.span, &fallback.body).function;
  handlers_by_statement_.emplace(&fallback, static_cast<uint32_t>(handlers_.size()));
  handlers_.push_back(std::move(handler));
}

void Declarations::addHandler(const syntax::Stmt& statement, const syntax::Impl& impl, Diagnostics& diagnostics) {
  const auto key = readKey(impl.key, diagnostics);
  const OverloadSet* set = findOperators(impl.name, statement.span.begin);
  if (set == nullptr) {
    const bool qualified = static_cast<bool>(impl.name.space);
    const std::string name =
        qualified ? fmt::format("{}::{}", impl.name.space.text, impl.name.name.text) : std::string(impl.name.name.text);
    const std::vector<std::string> names = operatorNames(qualified, statement.span.begin);
    const std::vector<std::string_view> candidates(names.begin(), names.end());
    diagnostics.error(source_, impl.name.span,
                      withSuggestion(fmt::format("there is no operator called `{}`", name), name, candidates));
    return;
  }
  const std::string_view overload = impl.name.overload.text;
  const std::optional<size_t> found = findOverload(set->operators, overload);
  if (!found) {
    Diagnostic& diagnostic = diagnostics.error(
        source_, impl.name.span,
        overload.empty() ? fmt::format("{} has no overload without a name; name one of them", set->name)
                         : fmt::format("{} has no overload `{}`", set->name, overload));
    for (const FunctionSchema* schema : set->schemas) diagnostic.note(toString(*schema));
    return;
  }
  if (!key) return;
  const FunctionSchema& schema = *set->schemas[*found];
  std::vector<Argument> arguments = schema.arguments();
  addHandlerArguments(arguments);

  CodeHandler handler;
  handler.kind = HandlerKind::Impl;
  handler.key = *key;
  handler.op = schema.operator_name();
  handler.span = impl.name.span;
  const std::string title = fmt::format("impl {} @ {}", schema.operator_name(), impl.key.text);
  handler.function =
      addBody(BodyKind::Impl, FunctionSchema(schema.operator_name(), std::move(arguments), schema.returns()), title,
              impl.name.span, statement.span, &impl.body)
          .function;
  handlers_by_statement_.emplace(&impl, static_cast<uint32_t>(handlers_.size()));
  handlers_.push_back(std::move(handler));
}

std::optional<uint32_t> Declarations::handlerOf(const void* statement) const {
  const auto found = handlers_by_statement_.find(statement);
  if (found == handlers_by_statement_.end()) return std::nullopt;
  return found->second;
}

}  // namespace boxcar::interp
