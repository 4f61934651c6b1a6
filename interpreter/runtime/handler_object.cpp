#include <boxcar/dispatcher/handlers/handler_kinds.h>
#include <boxcar/interpreter/runtime/builtin_table.h>
#include <boxcar/interpreter/runtime/handler_object.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <utility>
#include <vector>

namespace boxcar::interp {
namespace {

class HandlerObject final : public CustomClassHolder {
 public:
  explicit HandlerObject(std::unique_ptr<Handler> made) : handler(std::move(made)) {}
  std::string className() const override { return "Handler"; }

  std::unique_ptr<Handler> handler;
};

class ScopeObject final : public CustomClassHolder {
 public:
  explicit ScopeObject(std::unique_ptr<Scope> made) : scope(std::move(made)) {}
  std::string className() const override { return "Scope"; }

  std::unique_ptr<Scope> scope;
};

// The kinds when the first script is compiled.
const std::vector<const ScopeKind*>& knownScopeKinds() {
  static const std::vector<const ScopeKind*> kinds = scopeKinds();
  return kinds;
}

IValue scopeValue(std::unique_ptr<Scope> scope) {
  return IValue(IntrusivePtr<CustomClassHolder>(makeIntrusive<ScopeObject>(std::move(scope))));
}

template <size_t index>
IValue makeHandler(std::span<IValue> arguments) {
  return handlerValue(handlerKinds()[index]->make(arguments));
}

template <size_t index>
IValue makeScope(std::span<IValue> arguments) {
  return scopeValue(knownScopeKinds()[index]->make(arguments));
}

void addHidden(BuiltinTable& table, std::string_view schema, Builtin::Function function) {
  addBuiltin(table, handlerBuiltin(schema), function, [](std::span<const TypePtr>) { return Type::any(); });
  table.back().is_hidden = true;
}

template <size_t index>
void addHandlerBuiltin(BuiltinTable& table) {
  if (index < handlerKinds().size()) addHidden(table, handlerKinds()[index]->schema, &makeHandler<index>);
}

template <size_t index>
void addScopeBuiltin(BuiltinTable& table) {
  if (index < knownScopeKinds().size()) addHidden(table, knownScopeKinds()[index]->schema, &makeScope<index>);
}

// A built-in is a function pointer, so each kind has an instance; there are fewer kinds than this.
constexpr size_t kMostKinds = 24;

}  // namespace

void addHandlerBuiltins(BuiltinTable& table) {
  BOXCAR_CHECK(handlerKinds().size() <= kMostKinds, "there are more kinds of handlers than built-ins for them");
  BOXCAR_CHECK(knownScopeKinds().size() <= kMostKinds, "there are more kinds of scopes than built-ins for them");
  [&]<size_t... index>(std::index_sequence<index...>) {
    (addHandlerBuiltin<index>(table), ...);
    (addScopeBuiltin<index>(table), ...);
  }
  (std::make_index_sequence<kMostKinds>());
}

IValue handlerValue(std::unique_ptr<Handler> handler) {
  return IValue(IntrusivePtr<CustomClassHolder>(makeIntrusive<HandlerObject>(std::move(handler))));
}

std::unique_ptr<Handler> takeHandler(const IValue& value) {
  auto* object = value.isObject() ? dynamic_cast<HandlerObject*>(value.toObject().get()) : nullptr;
  BOXCAR_CHECK(object != nullptr && object->handler != nullptr, "`with` got a value that is not a handler");
  return std::move(object->handler);
}

std::unique_ptr<Scope> takeScope(const IValue& value) {
  auto* object = value.isObject() ? dynamic_cast<ScopeObject*>(value.toObject().get()) : nullptr;
  return object == nullptr ? nullptr : std::move(object->scope);
}

std::string handlerBuiltin(std::string_view name) { return fmt::format("with.{}", name); }

}  // namespace boxcar::interp
