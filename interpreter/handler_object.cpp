#include <boxcar/dispatcher/fallbacks/handler_kinds.h>
#include <boxcar/interpreter/builtin_table.h>
#include <boxcar/interpreter/handler_object.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <utility>

namespace boxcar::interp {
namespace {

class HandlerObject final : public CustomClassHolder {
 public:
  explicit HandlerObject(std::unique_ptr<Handler> made) : handler(std::move(made)) {}
  std::string className() const override { return "Handler"; }

  std::unique_ptr<Handler> handler;
};

template <size_t index>
IValue makeHandler(std::span<IValue> arguments) {
  return handlerValue(handlerKinds()[index]->make(arguments));
}

template <size_t index>
void addHandlerBuiltin(BuiltinTable& table) {
  if (index >= handlerKinds().size()) return;
  addBuiltin(table, handlerBuiltin(handlerKinds()[index]->schema), &makeHandler<index>,
             [](std::span<const TypePtr>) { return Type::any(); });
  table.back().is_hidden = true;
}

// A built-in is a function pointer, so that each kind has an instance; there are fewer.
constexpr size_t kMostKinds = 24;

}  // namespace

void addHandlerBuiltins(BuiltinTable& table) {
  BOXCAR_CHECK(handlerKinds().size() <= kMostKinds, "there are more kinds of handlers than built-ins for them");
  [&]<size_t... index>(std::index_sequence<index...>) { (addHandlerBuiltin<index>(table), ...); }
  (std::make_index_sequence<kMostKinds>());
}

IValue handlerValue(std::unique_ptr<Handler> handler) {
  return IValue(IntrusivePtr<CustomClassHolder>(makeIntrusive<HandlerObject>(std::move(handler))));
}

std::unique_ptr<Handler> takeHandler(const IValue& value) {
  auto* object = value.isObject() ? dynamic_cast<HandlerObject*>(value.toObject().get()) : nullptr;
  BOXCAR_CHECK(object != nullptr && object->handler != nullptr, "`with` was given no handler that it can switch on");
  return std::move(object->handler);
}

std::string handlerBuiltin(std::string_view name) { return fmt::format("with.{}", name); }

}  // namespace boxcar::interp
