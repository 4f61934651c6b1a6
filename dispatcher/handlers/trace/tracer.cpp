#include <boxcar/dispatcher/call/hidden_calls.h>
#include <boxcar/dispatcher/call/local_dispatch_key_set.h>
#include <boxcar/dispatcher/handlers/trace/trace_program.h>
#include <boxcar/dispatcher/handlers/trace/tracer.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/values/content_hash.h>
#include <boxcar/dispatcher/values/tensor_bytes.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/file_access.h>
#include <boxcar/ivalue/output_file.h>
#include <boxcar/ivalue/value_tensors.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace boxcar {

struct Tracer::State {
  State(const std::string& file, TracerOptions chosen)
      : options(chosen), path(file), access(fileAccess()), program(options.has_graph, options.keeps_backward) {
    if (!file.empty()) output.emplace(file);
  }

  const TracerOptions options;
  const std::string path;
  const FileAccess access;  // that of the tracer's creator, which resolves the paths
  std::optional<OutputFile> output;
  mutable std::mutex mutex;
  detail::TraceProgram program;
};

namespace {

// The maximum number of variables in a script.
constexpr size_t kMostValues = 65'000;

// A tracer that is on for this thread.
struct Active {
  Tracer* tracer;
  Active* outer;
};
constinit thread_local Active* innermost_tracer = nullptr;
// The tracer that the running one passes calls on to.
constinit thread_local Active* next_out = nullptr;

class NextOut final {
 public:
  explicit NextOut(Active* next) : before_(std::exchange(next_out, next)) {}
  ~NextOut() { next_out = before_; }
  NextOut(const NextOut&) = delete;
  NextOut& operator=(const NextOut&) = delete;

 private:
  Active* before_;
};

bool isAmong(const Tracer* tracer, const Active* active) {
  while (active != nullptr && active->tracer != tracer) active = active->outer;
  return active != nullptr;
}

// Passes the call on to [active], and from the last tracer to the kernels.
void goOn(Active* active, const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  // A tracer that is on twice writes a call once.
  while (active != nullptr && isAmong(active->tracer, active->outer)) active = active->outer;
  if (active == nullptr) return op.redispatchBoxed(keys, stack);
  const NextOut next(active->outer);
  active->tracer->call(op, keys, stack);
}

// Whether a script answers the call: a body, an `impl` or a `fallback`. Fallbacks of others are passed over.
bool scriptAnswers(const OperatorHandle& op, DispatchKeySet keys) {
  if (op.entry().schemaSite().is_script) return true;
  for (;;) {
    const DispatchKey key = keys.highestPriorityTypeId();
    const TableEntry table_entry = Dispatcher::singleton().computeTableEntry(op, key);
    if (!table_entry.kernel->isFallthrough()) {
      if (table_entry.site.is_script) return true;
      if (table_entry.cause == EntryCause::Exact || table_entry.cause == EntryCause::Alias) return false;
    }
    if (key == DispatchKey::Undefined) return false;
    keys = keys.remove(toFunctionalityKey(key));
  }
}

// Passes on a call that a functional scope turns into others, which are written instead. The scope also writes the
// memory of the program's tensors, so that this is no write from outside.
void passOnFunctionalized(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  std::vector<std::pair<Storage, uint32_t>> given;
  for (size_t i = op.schema().arguments().size(); i > 0; --i) {
    visitTensors(stack.end()[-static_cast<std::ptrdiff_t>(i)],
                 [&](const Tensor& tensor) { given.emplace_back(tensor.storage(), tensor.version()); });
  }
  op.redispatchBoxed(keys, stack);
  std::vector<Storage> written;
  for (const auto& [storage, version] : given) {
    if (storage->version() != version) written.push_back(storage);
  }
  if (written.empty()) return;
  for (const Active* active = innermost_tracer; active != nullptr; active = active->outer) {
    active->tracer->noteWrites(written);
  }
}

// Whether an operator that is made of others makes them in a region of autocast, where they are cast: the trace has no
// such region.
bool hasCastsInside(const OperatorHandle& op) {
  const LocalDispatchKeySet local = tls_local_dispatch_key_set();
  return (local.included_ - local.excluded_).has_any(autocast_dispatch_keyset) &&
         op.hasKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd);
}

void traceCall(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  const DispatchKeySet below = keys.remove(DispatchKey::Tracer);
  if (below.has(DispatchKey::Functionalize)) return passOnFunctionalized(op, below, stack);
  // The script is not there when a trace runs, so the trace instead has the calls that the script's bodies and handlers
  // make or pass on. It has those of a backward pass, too, so that nothing is differentiated when it runs.
  if (innermost_tracer == nullptr || (op.hasTag(Tag::differentiation) && !innermost_tracer->tracer->keepsBackward()) ||
      scriptAnswers(op, below) || hasCastsInside(op)) {
    return op.redispatchBoxed(below, stack);
  }
  const ExcludeDispatchKeyGuard untraced(DispatchKey::Tracer);
  goOn(innermost_tracer, op, below, stack);
}

// The fallback that serves the tracers of all threads; registered while there are any.
class SharedFallback final {
 public:
  SharedFallback() {
    const std::lock_guard lock(mutex);
    if (count == 0) {
      Dispatcher& dispatcher = Dispatcher::singleton();
      BOXCAR_CHECK(!dispatcher.hasBackendFallbackForDispatchKey(DispatchKey::Tracer),
                   "the tracer cannot be switched on, because there is another fallback at the dispatch key Tracer: "
                   "remove that one first");
      const std::source_location here = std::source_location::current();
      registration = dispatcher.registerFallback(
          DispatchKey::Tracer, KernelFunction::makeFromBoxedFunction<&traceCall>(), {here.file_name(), here.line()});
    }
    ++count;
  }
  ~SharedFallback() {
    const std::lock_guard lock(mutex);
    if (--count == 0) registration = RegistrationHandleRAII();
  }
  SharedFallback(const SharedFallback&) = delete;
  SharedFallback& operator=(const SharedFallback&) = delete;

 private:
  static inline std::mutex mutex;
  static inline size_t count = 0;
  static inline RegistrationHandleRAII registration;
};

// Switches a tracer on for this thread while it lives.
class Tracing final {
 public:
  explicit Tracing(Tracer& tracer) : included_(DispatchKey::Tracer), active_{&tracer, innermost_tracer} {
    innermost_tracer = &active_;
  }
  ~Tracing() {
    Active** place = &innermost_tracer;
    while (*place != &active_) place = &(*place)->outer;
    *place = active_.outer;
  }
  Tracing(const Tracing&) = delete;
  Tracing& operator=(const Tracing&) = delete;

 private:
  const SharedFallback fallback_;
  const IncludeDispatchKeyGuard included_;
  Active active_;
};

// Returns the file name for a trace's [tensors]: equal tensors get the same name, wherever the trace is.
std::string fileNameOf(const Dict<std::string, Tensor>& tensors) {
  std::string contents;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto [name, tensor] = tensors.entryAt(i);
    const ContentHash hash = hashOfBytes(ElementBytes(tensor).bytes());
    contents += fmt::format("{} {} [{}] {:x} {:x};", name, dtypeName(tensor.scalar_type()),
                            fmt::join(tensor.sizes(), ","), hash.high, hash.low);
  }
  return fmt::format("tensors-{:016x}.safetensors", hashOfBytes(std::as_bytes(std::span(contents))).low);
}

}  // namespace

Tracer::Tracer(const std::string& path, TracerOptions options) : state_(std::make_unique<State>(path, options)) {}

Tracer::~Tracer() = default;

std::shared_ptr<void> Tracer::enter() { return std::make_shared<Tracing>(*this); }

void Tracer::call(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  Active* const outer = std::exchange(next_out, nullptr);
  const FunctionSchema& schema = op.schema();
  BOXCAR_CHECK(!schema.is_vararg(),
               "the tracer cannot write down {}, which takes any number of arguments: call it outside of the trace",
               op);
  std::unique_lock lock(state_->mutex);
  const size_t count = schema.arguments().size();
  const size_t base = stack.size() - count;
  if (!state_->program.tells(op)) {
    lock.unlock();
    const auto given = std::span(stack.end() - count, count);
    const auto text = std::ranges::find_if(given, &IValue::isString);
    const std::string path = text == given.end() ? std::string() : text->toStringRef();
    goOn(outer, op, keys, stack);
    lock.lock();
    return state_->program.noteRead(std::span(stack.begin() + std::min(base, stack.size()), stack.end()), path);
  }
  const detail::TraceProgram::Call call = state_->program.begin(op, keys, std::span(stack.end() - count, count));
  // Other calls may be written while this one runs.
  lock.unlock();
  goOn(outer, op, keys, stack);
  lock.lock();
  state_->program.end(call, std::span(stack.begin() + std::min(base, stack.size()), stack.end()));
}

void Tracer::noteWrites(std::span<const Storage> storages) {
  const std::lock_guard lock(state_->mutex);
  for (const Storage& storage : storages) state_->program.noteWrite(storage);
}

void Tracer::callFunction(const FunctionObject& function, Stack& stack) {
  const FunctionSchema& schema = function.schema();
  const size_t count = schema.arguments().size();
  const size_t base = stack.size() - count;
  {
    const std::lock_guard lock(state_->mutex);
    state_->program.beginFunction(schema, std::span(stack.end() - count, count), state_->options.keeps_calls);
  }
  {
    const HandlerGuard on(*this);
    function.call(stack);
  }
  const std::lock_guard lock(state_->mutex);
  state_->program.endFunction(std::span(stack.begin() + base, stack.end()));
}

const TracedFunction& Tracer::tracedFunction() const {
  const std::lock_guard lock(state_->mutex);
  const TracedFunction* const function = state_->program.tracedFunction();
  BOXCAR_CHECK(function != nullptr, "the tracer has kept no call of a function");
  return *function;
}

std::string Tracer::finish(bool failed) {
  const std::lock_guard lock(state_->mutex);
  // A script that failed before its first call must not replace an existing trace, and half a function is none.
  if ((failed && (state_->program.isEmpty() || state_->program.isFunction())) || !state_->output) return {};
  const FileAccessGuard access(state_->access);
  const Dict<std::string, Tensor>& tensors = state_->program.savedTensors();
  const std::string file = fileNameOf(tensors);
  if (!tensors.empty()) {
    Stack stack{tensors, (std::filesystem::path(state_->path).parent_path() / file).string()};
    const HiddenCalls hidden;
    Dispatcher::singleton().findSchemaOrThrow("io::save", "").callBoxed(stack);
  }
  const std::string text = state_->program.text(file);
  state_->output->write(std::as_bytes(std::span(text)));
  state_->output->commit();
  std::string report;
  if (failed) report = fmt::format("trace: the run failed; {} has the calls before that\n", state_->path);
  if (state_->program.valueCount() <= kMostValues) return report;
  return report + fmt::format(
                      "trace: {} has {} values, more than the {} that a script can have: it can be read but not run; "
                      "trace a smaller part\n",
                      state_->path, state_->program.valueCount(), kMostValues);
}

bool Tracer::keepsBackward() const noexcept { return state_->options.keeps_backward; }

bool Tracer::isEmpty() const {
  const std::lock_guard lock(state_->mutex);
  return state_->program.isEmpty();
}

std::string Tracer::graph(bool folds) const {
  const std::lock_guard lock(state_->mutex);
  return state_->program.dot(folds);
}

constinit const HandlerKind kTraceKind = {"trace(str path) -> ()",
                                          "Write the operator calls as a script, PATH, and their tensors next to it",
                                          [](std::span<const IValue> arguments) -> std::unique_ptr<Handler> {
                                            return std::make_unique<Tracer>(arguments[0].toStringRef());
                                          }};

}  // namespace boxcar
