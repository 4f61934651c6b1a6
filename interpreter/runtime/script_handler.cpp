#include <boxcar/dispatcher/call/local_dispatch_key_set.h>
#include <boxcar/dispatcher/call/mode.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/registry/explanation.h>
#include <boxcar/dispatcher/registry/level_text.h>
#include <boxcar/interpreter/runtime/conversion.h>
#include <boxcar/interpreter/runtime/machine.h>
#include <boxcar/interpreter/runtime/operator_value.h>
#include <boxcar/interpreter/runtime/script_handler.h>
#include <boxcar/interpreter/runtime/script_operator.h>
#include <boxcar/interpreter/runtime/value_operations.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/resolved_tensor.h>
#include <boxcar/schema/value_type.h>

#include <fmt/ranges.h>
#include <optional>
#include <utility>

namespace boxcar::interp {
namespace {

// A running body, and what is below it.
struct HandlerRun {
  HandlerKind kind;
  DispatchKey registered;      // the key it is registered at
  DispatchKey key;             // the functionality of the call, or the key of the mode
  bool is_switched_off;        // whether the functionality is switched off for the body's calls
  LocalDispatchKeySet around;  // this thread's sets before that
  DispatchKeySet backends;     // of the call: no tensor tells that of a factory
  HandlerRun* outer;
};

[[gnu::tls_model("initial-exec")]] constinit thread_local HandlerRun* innermost = nullptr;

class RunningHandler final {
 public:
  explicit RunningHandler(HandlerRun& run) { innermost = &run; }
  ~RunningHandler() { innermost = innermost->outer; }
  RunningHandler(const RunningHandler&) = delete;
  RunningHandler& operator=(const RunningHandler&) = delete;
};

// Whether calls from a body at [key] skip that body. A body for a backend, or a composite one, calls operators that
// need the key to run at all.
bool switchesItselfOff(DispatchKey key) {
  if (key == DispatchKey::Autograd) return true;
  if (representation_ks.has_any(DispatchKeySet(key))) return false;
  return !isAliasDispatchKey(key) && !isBackendDispatchKey(key) && key != DispatchKey::Undefined;
}

// Handles a call with [keys] by what is registered at [key]: calls [body] with the key switched off where needed.
template <class Body>
void runHandler(HandlerKind kind, DispatchKey key, DispatchKeySet keys, Body body) {
  const auto lock = lockHandlers();
  const bool is_mode = kind == HandlerKind::Mode;
  const DispatchKey functionality = is_mode ? key : keys.highestFunctionalityKey();
  const bool switches_off = !is_mode && switchesItselfOff(key) && functionality != DispatchKey::Undefined;
  HandlerRun run{kind,     key, functionality, switches_off, tls_local_dispatch_key_set(), keys & backend_bitset_mask,
                 innermost};
  const RunningHandler running(run);
  std::optional<ExcludeDispatchKeyGuard> off;
  if (switches_off) off.emplace(functionality);
  body();
}

// Pushes the list of results from a body as the schema requires.
void pushResults(const std::string& title, const OperatorHandle& op, const FunctionSchema& schema, const IValue& list,
                 Stack& stack) {
  const std::vector<Argument>& results = schema.returns();
  BOXCAR_CHECK(schema.is_varret() || list.length() == results.size(),
               "{}: {} has {} result{}, but the body returned {}: return the result of redispatch(op, args), or a list "
               "like it\n  {}",
               title, op, results.size(), results.size() == 1 ? "" : "s", list.length(), schema);
  for (size_t i = 0; i < list.length(); ++i) {
    IValue value = list.elementAt(i);
    if (i < results.size() && !matches(value, results[i].type())) {
      // As for an assignment, a number is not a Tensor.
      try {
        if (!value.isScalar() || results[i].type()->kind() != TypeKind::Tensor) {
          value = convertValue(value, {results[i].type()});
        }
      } catch (const Error&) {
      }
      BOXCAR_CHECK(matches(value, results[i].type()), "{}: result {} of {} must be {}, not {}\n  {}", title, i + 1, op,
                   *results[i].type(), kindName(value), schema);
    }
    stack.push_back(std::move(value));
  }
}

// Calls the body of a fallback or a mode for a call of [op].
void callBody(const Executable& program, const CodeHandler& handler, const OperatorHandle& op, Stack& stack) {
  const FunctionSchema& schema = op.schema();
  const size_t count = schema.arguments().size();
  BOXCAR_CHECK(stack.size() >= count, "{}: {} takes {} arguments, but the stack has {} values",
               program.unit().functions[handler.function].name, op, count, stack.size());
  std::vector<IValue> values = pop(stack, count);
  copyContainers(schema, values);
  IValue arguments = GenericList(makeIntrusive<GenericListObject>(std::move(values)));
  push(stack, operatorValue(op), std::move(arguments));
  Machine::current().run(program, handler.function, stack, program.limits());
  const IValue results = pop(stack);
  // Compiled bodies return a list; assembled ones may not.
  BOXCAR_CHECK(results.isList(), "{}: the body must return a list of results, not {}",
               program.unit().functions[handler.function].name, kindName(results));
  pushResults(program.unit().functions[handler.function].name, op, schema, results, stack);
}

struct FallbackKernel {
  std::shared_ptr<const Executable> program;
  uint32_t handler;

  void operator()(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) const {
    // A running body keeps its code alive even if the program is destroyed; schemas do not move.
    const std::shared_ptr<const Executable> pinned = program;
    const CodeHandler& body = pinned->unit().handlers[handler];
    runHandler(HandlerKind::Fallback, body.key, keys, [&] { callBody(*pinned, body, op, stack); });
  }
};

struct ImplKernel {
  std::shared_ptr<const Executable> program;
  uint32_t handler;

  void operator()(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) const {
    const std::shared_ptr<const Executable> pinned = program;
    const CodeHandler& body = pinned->unit().handlers[handler];
    checkOperatorArguments(op, stack);
    const FunctionSchema& schema = op.schema();
    const std::span<IValue> values = last(stack, schema.arguments().size());
    copyContainers(schema, values);
    IValue arguments = GenericList(makeIntrusive<GenericListObject>(std::vector<IValue>(values.begin(), values.end())));
    push(stack, operatorValue(op), std::move(arguments));
    runHandler(HandlerKind::Impl, body.key, keys,
               [&] { Machine::current().run(*pinned, body.function, stack, pinned->limits()); });
    spreadOperatorResults(schema, stack);
  }
};

RegistrationHandleRAII registerImpl(const Executable& program, uint32_t index, RegistrationSite site) {
  const CodeHandler& handler = program.unit().handlers[index];
  const OperatorHandle op =
      Dispatcher::singleton().findSchemaOrThrow(handler.op.name.c_str(), handler.op.overload_name.c_str());
  const CodeFunction& body = program.unit().functions[handler.function];
  const std::vector<Argument>& arguments = op.schema().arguments();
  const std::vector<Argument>& returns = op.schema().returns();
  const SlotKind result = returns.size() == 1 ? slotKindOf(returns[0].type()) : SlotKind::Value;
  bool fits = body.argument_count == arguments.size() + 2 && body.result == result;
  for (size_t i = 0; fits && i < body.argument_count; ++i) {
    fits = body.slots[i] == (i < arguments.size() ? slotKindOf(arguments[i].type()) : SlotKind::Value);
  }
  BOXCAR_CHECK(fits, "{}: it was compiled for another operator than {}; compile the script again", body.name,
               op.schema());
  return Dispatcher::singleton().registerImpl(
      handler.op, handler.key, KernelFunction::makeFromBoxedFunctor(ImplKernel{program.shared_from_this(), index}),
      site);
}

}  // namespace

std::unique_lock<std::recursive_mutex> lockHandlers() {
  static std::recursive_mutex& mutex = *new std::recursive_mutex;  // handlers may run after main
  return std::unique_lock(mutex);
}

void ScriptModeHandler::operator()(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) const {
  const CodeHandler& body = program_->unit().handlers[handler_];
  runHandler(HandlerKind::Mode, body.key, keys, [&] { callBody(*program_, body, op, stack); });
}

void registerHandler(const Executable& program, uint32_t index) {
  const CodeHandler& handler = program.unit().handlers[index];
  const std::shared_ptr<Registrations> registrations = program.registrations();
  BOXCAR_CHECK(registrations != nullptr, "{} cannot be registered: its program was unloaded",
               program.unit().functions[handler.function].name);
  const Source& source = *program.unit().source;
  const RegistrationSite site = RegistrationSite::ofScript(source.name(), source.position(handler.span.begin).line);
  const std::lock_guard lock(registrations->mutex);
  auto& registered = registrations->by_handler[index];
  if (handler.kind == HandlerKind::Fallback) {
    // A key has one fallback, which is already registered.
    if (!registered.empty()) return;
    if (registrations->on_first) registrations->on_first(handler);
    registered.push_back(Dispatcher::singleton().registerFallback(
        handler.key, KernelFunction::makeFromBoxedFunctor(FallbackKernel{program.shared_from_this(), index}), site));
    return;
  }
  // The newest kernel of a key wins; the old one is removed once the new one is registered.
  RegistrationHandleRAII added = registerImpl(program, index, site);
  if (registered.empty() && registrations->on_first) registrations->on_first(handler);
  registered.clear();
  registered.push_back(std::move(added));
}

void checkRepresentation(std::string_view what, const OperatorHandle& op, const Stack& stack, DispatchKeySet keys) {
  DispatchKeySet passed;
  for (const ArgumentKeys& argument : dispatchArgumentsOf(op.schema(), last(stack, op.schema().arguments().size()))) {
    passed |= argument.keys & representation_ks;
  }
  passed = passed - keys;
  BOXCAR_CHECK(!passed.has_any(representation_ks),
               "{}: a tensor given to {} has the key {}, which says what its memory stands for, and the call would go "
               "past it: kernels would read other elements, or memory that is not there. Give it resolve_conj(), "
               "resolve_neg() or clone() of the tensor, or call the operator itself",
               what, toString(op), fmt::join(keyNamesOf(passed & representation_ks), ", "));
}

IValue redispatch(const OperatorHandle& op, const IValue& arguments, bool nested) {
  HandlerRun* const run = innermost;
  BOXCAR_CHECK(run != nullptr, "redispatch is only allowed in the body of an `impl`, a `fallback` or a `mode`");
  Stack stack = argumentsFor(op.schema(), arguments, "redispatch");
  // The operator and the arguments may differ from those of the call: their keys count, as far as they are below.
  const DispatchKeySet keys = op.entry().dispatchKeyExtractor().getDispatchKeySetBoxed(stack);
  const DispatchKeySet below(DispatchKeySet::FULL_AFTER, run->key);
  if (run->kind == HandlerKind::Mode) {
    std::optional<ModeSeesCallsBelow> seeing;
    if (nested) seeing.emplace(run->key);
    checkRepresentation("redispatch", op, stack, below.add(run->key));
    const bool has_backend = keys.has_any(backend_bitset_mask);
    op.redispatchBoxed((keys & below.add(run->key)) | (has_backend ? DispatchKeySet() : run->backends), stack);
    return listOf(std::move(stack));
  }
  BOXCAR_CHECK(run->key != DispatchKey::Undefined && !isBackendDispatchKey(run->registered),
               "redispatch: there is nothing below the kernels of {} at {}", op, run->registered);
  checkRepresentation("redispatch", op, stack, below);
  std::optional<ForceDispatchKeyGuard> switched_on;
  if (nested && run->is_switched_off) switched_on.emplace(run->around);
  // A trace has no script kernels: the calls that they make are recorded in it, so the tracer must see them.
  const DispatchKeySet traced(DispatchKey::Tracer);
  op.redispatchBoxed(keys & (below | traced), stack);
  return listOf(std::move(stack));
}

}  // namespace boxcar::interp
