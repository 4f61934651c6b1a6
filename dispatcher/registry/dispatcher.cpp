#include <boxcar/dispatcher/boxing/counted_boxed_writes.h>
#include <boxcar/dispatcher/call/dispatch_trace.h>
#include <boxcar/dispatcher/plugin/plugin_table.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/registry/intercepted_levels.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/dispatcher/registry/library_list.h>
#include <boxcar/dispatcher/registry/operator_table.h>
#include <boxcar/dispatcher/registry/read_block.h>
#include <boxcar/dispatcher/registry/registration_lock.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/python_text.h>
#include <fmt/format.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <map>
#include <mutex>
#include <utility>

namespace boxcar {

struct Dispatcher::State {
  // The registration lock.
  std::recursive_mutex& mutex = detail::registrationMutex();
  // Notified of every definition and kernel.
  std::condition_variable_any changed;
  detail::RegistrationListeners listeners;
  OperatorTable operators;
  BackendFallbacks fallbacks;
  detail::KernelSlot* fallback_slots = nullptr;  // never freed
  std::map<std::string, RegistrationSite> libraries;
  std::vector<std::string> registration_errors;
  // What the macros' blocks registered; it is never undone.
  std::deque<Library> libraries_of_blocks;
  // In definition order.
  std::map<uint64_t, OperatorEntry*> defined;
  uint64_t definitions = 0;
  PluginTable plugins{mutex};

  // The plans of operators whose definition was deferred.
  std::vector<OperatorEntry::EntryPlan> plans;

  std::atomic<bool> ready{false};
  bool reading = false;

  // Parses the schema of [entry] if that was deferred. Adding a listener parses all deferred definitions first, so
  // listeners are never told of these.
  void define(OperatorEntry& entry) {
    const detail::SchemaText* text = entry.putOffSchema();
    if (text == nullptr) return;
    entry.putOffSchema(nullptr);
    try {
      entry.registerSchema(fallbacks, schema(text->text), text->site, text->tags(), &plans);
    } catch (const Error& error) {
      std::erase_if(defined, [&](const auto& numbered) { return numbered.second == &entry; });
      noteFailure(error);
    } catch (...) {
      entry.putOffSchema(text);  // out of memory: the next look-up tries again
      throw;
    }
  }

  void defineAll() {
    // A copy, because definitions that fail are removed.
    const auto all = defined;
    for (const auto& [number, entry] : all) define(*entry);
  }

  // Written to stderr, because a program may never ask for the errors of its own blocks, and would run on without what
  // they failed to register.
  void noteFailure(const Error& error) {
    std::fputs("boxcar: a registration failed: ", stderr);
    std::fputs(error.message().c_str(), stderr);
    std::fputc('\n', stderr);
    registration_errors.push_back(error.message());
  }

  void removeDefinition(OperatorEntry& entry, uint64_t number,
                        const std::vector<detail::RegistrationListeners::Token>& told) {
    if (entry.putOffSchema() != nullptr) {
      entry.putOffSchema(nullptr);
      defined.erase(number);
      return;
    }
    const OperatorHandle op(&entry);
    listeners.call(told, [&](const auto& listener) {
      try {
        listener->onOperatorDeregistered(op);
      } catch (const std::exception& error) {
        registration_errors.push_back(
            fmt::format("a listener failed when {} was removed: {}", entry.operator_name(), error.what()));
      } catch (...) {
        registration_errors.push_back(
            fmt::format("a listener failed when {} was removed: it threw something that is not a std::exception",
                        entry.operator_name()));
      }
    });
    entry.deregisterSchema();
    defined.erase(number);
  }

  // Returns a suggestion after the look-up of [wanted] failed.
  std::string suggestFor(const OperatorName& wanted) const {
    std::vector<std::string> names;
    std::vector<std::string> overloads;
    for (const auto& [number, entry] : defined) {
      const OperatorName& name = entry->operator_name();
      names.push_back(toString(name));
      if (wanted.overload_name.empty() && names.back() == wanted.name) {
        return fmt::format(" The overload is an argument of its own: ask for \"{}\" and \"{}\"", name.name,
                           name.overload_name);
      }
      if (name.name == wanted.name) overloads.push_back(name.overload_name.empty() ? "\"\"" : name.overload_name);
    }
    if (!overloads.empty()) return fmt::format(" The overloads of {} are: {}", wanted.name, fmt::join(overloads, ", "));
    if (!wanted.getNamespace().has_value()) return " A name begins with its namespace: \"aten::add\"";
    const std::vector<std::string_view> candidates(names.begin(), names.end());
    return didYouMean(toString(wanted), candidates);
  }

  // Reads the blocks that the program was linked with. They call singleton() again from here; other threads wait at the
  // lock.
  void readFirst() {
    const std::lock_guard lock(mutex);
    if (std::exchange(reading, true)) return;
    try {
      fallbacks.setHoldsEntries(true);
      readLinkedBlocks();
      fallbacks.setHoldsEntries(false);
      for (OperatorEntry* entry : operators.entries()) {
        if (entry->hasSchema()) entry->computeTableEntries(fallbacks, plans);
      }
    } catch (...) {
      reading = false;  // out of memory: the next call continues
      throw;
    }
    ready.store(true, std::memory_order_release);
  }

  void readLinkedBlocks() {
    for (detail::LibraryBlock* block = detail::takeLinkedBlocks(); block != nullptr; block = block->next) {
      try {
        detail::readBlock(*block, libraries_of_blocks);
      } catch (const Error& error) {
        noteFailure(error);
      }
    }
  }
};

namespace {

// A per-backend functionality has no table entry of its own, so no call would ever reach the kernel.
void checkKeyOfKernel(const OperatorName& name, DispatchKey key, const RegistrationSite& site) {
  if (isAliasDispatchKey(key) || isRuntimeDispatchKey(key)) return;
  BOXCAR_CHECK(isPerBackendFunctionalityKey(key), "number {} is not a dispatch key, but a kernel of {} has it at {}",
               static_cast<unsigned>(key), name, site);
  BOXCAR_FAIL(
      "a kernel of {} cannot be registered for {} at {}: it is a functionality with a key for each backend; register "
      "for specific ones, such as {}",
      name, key, site, toRuntimePerBackendFunctionalityKey(key, BackendComponent::CPUBit));
}

}  // namespace

namespace detail {

std::recursive_mutex& registrationMutex() noexcept {
  // Never destroyed, like the Dispatcher.
  // NOLINTNEXTLINE(bugprone-unhandled-exception-at-new): without memory for it nothing can start
  static std::recursive_mutex& mutex = *new std::recursive_mutex;
  return mutex;
}

}  // namespace detail

Dispatcher::Dispatcher() : state_(std::make_unique<State>()) {
  detail::readDispatchTraceEnvironment();
  const auto update = [](void* state, DispatchKey key) {
    auto* const all = static_cast<State*>(state);
    for (OperatorEntry* entry : all->operators.entries()) entry->updateFallback(all->fallbacks, key);
  };
  detail::setLevelUpdater({update, state_.get()});
}

Dispatcher& Dispatcher::singleton() {
  // Never destroyed: libraries that are static objects undo their registrations after main.
  static Dispatcher& dispatcher = *new Dispatcher;
  if (!dispatcher.state_->ready.load(std::memory_order_acquire)) [[unlikely]]
    dispatcher.state_->readFirst();
  return dispatcher;
}

std::optional<OperatorHandle> Dispatcher::findOp(const OperatorName& name) const {
  if (OperatorEntry* entry = state_->operators.findInSnapshot(name); entry != nullptr && entry->hasSchema()) {
    return OperatorHandle(entry);
  }
  const std::lock_guard lock(state_->mutex);
  state_->readLinkedBlocks();
  OperatorEntry* entry = state_->operators.find(name);
  if (entry != nullptr) state_->define(*entry);
  if (entry == nullptr || entry->isEmpty()) return std::nullopt;
  state_->operators.refreshSnapshot();
  return OperatorHandle(entry);
}

std::optional<OperatorHandle> Dispatcher::findSchema(const OperatorName& name) const {
  const auto op = findOp(name);
  return op.has_value() && op->hasSchema() ? op : std::nullopt;
}

OperatorHandle Dispatcher::findSchemaOrThrow(const char* name, const char* overload_name) const {
  const OperatorName wanted(name, overload_name);
  if (const auto op = findSchema(wanted)) return *op;
  const std::lock_guard lock(state_->mutex);
  const std::string errors =
      state_->registration_errors.empty()
          ? ""
          : fmt::format("\nregistrations that failed:\n{}", fmt::join(state_->registration_errors, "\n"));
  if (OperatorEntry* entry = state_->operators.find(wanted); entry != nullptr && !entry->isEmpty()) {
    if (entry->hasSchema()) return OperatorHandle(entry);  // another thread was faster
    BOXCAR_FAIL(
        "Could not find schema for {} but we found an implementation; did you forget to def() the operator? It has "
        "kernels for: {}{}",
        wanted, entry->listKernelKeys(), errors);
  }
  BOXCAR_FAIL("Could not find schema for {}.{}{}", wanted, state_->suggestFor(wanted), errors);
}

std::vector<OperatorHandle> Dispatcher::findOverloads(const std::string& name) const {
  const std::lock_guard lock(state_->mutex);
  state_->readLinkedBlocks();
  std::vector<OperatorEntry*> found;
  for (const auto& [number, entry] : state_->defined) {
    if (entry->operator_name().name == name) found.push_back(entry);
  }
  std::vector<OperatorHandle> overloads;
  for (OperatorEntry* entry : found) {
    state_->define(*entry);
    if (entry->hasSchema()) overloads.emplace_back(entry);
  }
  return overloads;
}

std::vector<OperatorName> Dispatcher::getAllOpNames() const {
  const std::lock_guard lock(state_->mutex);
  state_->readLinkedBlocks();
  std::vector<OperatorName> names;
  names.reserve(state_->defined.size());
  for (const auto& [number, entry] : state_->defined) names.push_back(entry->operator_name());
  return names;
}

std::vector<OperatorName> Dispatcher::getRegistrationsForDispatchKey(std::optional<DispatchKey> key) const {
  const std::lock_guard lock(state_->mutex);
  state_->readLinkedBlocks();
  std::vector<OperatorName> names;
  for (const OperatorEntry* entry : state_->operators.entries()) {
    const bool is_registered = key.has_value() ? entry->hasKernelForDispatchKey(*key) : !entry->isEmpty();
    if (is_registered) names.push_back(entry->operator_name());
  }
  return names;
}

void Dispatcher::readLibraries() {
  const std::lock_guard lock(state_->mutex);
  state_->readLinkedBlocks();
}

RegistrationHandleRAII Dispatcher::registerLibrary(std::string ns, RegistrationSite site) {
  const std::lock_guard lock(state_->mutex);
  const auto [found, inserted] = state_->libraries.emplace(ns, site);
  BOXCAR_CHECK(inserted,
               "only one BOXCAR_LIBRARY can claim namespace {}: it is claimed at {}, and again at {}. Use "
               "BOXCAR_LIBRARY_FRAGMENT to add to it",
               ns, found->second, site);
  // Map nodes do not move, so the handle needs no copy of the name and no memory.
  return RegistrationHandleRAII([this, claim = &*found] {
    const std::lock_guard undo_lock(state_->mutex);
    state_->libraries.erase(state_->libraries.find(claim->first));
  });
}

std::vector<OperatorHandle> Dispatcher::findDanglingImpls() const {
  const std::lock_guard lock(state_->mutex);
  state_->readLinkedBlocks();
  std::vector<OperatorHandle> dangling;
  for (OperatorEntry* entry : state_->operators.entries()) {
    if (!entry->hasSchema() && entry->putOffSchema() == nullptr && !entry->isEmpty()) dangling.emplace_back(entry);
  }
  return dangling;
}

RegistrationHandleRAII Dispatcher::registerDef(FunctionSchema schema, RegistrationSite site, std::vector<Tag> tags) {
  const std::lock_guard lock(state_->mutex);
  OperatorEntry& entry = state_->operators.findOrAdd(OperatorName(schema.operator_name()));
  state_->define(entry);
  BOXCAR_CHECK(
      !entry.hasSchema(),
      "operator {} is defined twice: at {} as\n    {}\nand at {} as\n    {}\nkeep one, or give one of them another "
      "overload name",
      entry.operator_name(), entry.schemaSite(), entry.schema(), site, schema);
  const uint64_t number = state_->definitions++;
  const auto place = state_->defined.emplace_hint(state_->defined.end(), number, &entry);
  try {
    entry.registerSchema(state_->fallbacks, std::move(schema), site, std::move(tags));
  } catch (...) {
    state_->defined.erase(place);
    throw;
  }
  const OperatorHandle op(&entry);
  std::vector<detail::RegistrationListeners::Token> told;
  try {
    const auto listeners = state_->listeners.all();
    told.reserve(listeners.size());
    state_->listeners.call(listeners, [&](const auto& listener) {
      listener->onOperatorRegistered(op);
      told.push_back(listener);
    });
  } catch (...) {
    state_->removeDefinition(entry, number, told);
    throw;
  }
  state_->changed.notify_all();
  // Captures two words, which a std::function stores without an allocation.
  return RegistrationHandleRAII([&entry, number] {
    State& state = *singleton().state_;
    const std::lock_guard undo_lock(state.mutex);
    state.removeDefinition(entry, number, state.listeners.all());
  });
}

RegistrationHandleRAII Dispatcher::registerDef(const detail::SchemaText& text) {
  const std::lock_guard lock(state_->mutex);
  OperatorEntry& entry = state_->operators.findOrAdd(OperatorName(text.name, text.overload_name));
  if (entry.hasSchema() || entry.putOffSchema() != nullptr || !state_->listeners.all().empty()) {
    return registerDef(schema(text.text), text.site, text.tags());
  }
  const uint64_t number = state_->definitions++;
  state_->defined.emplace_hint(state_->defined.end(), number, &entry);
  entry.putOffSchema(&text);
  state_->changed.notify_all();
  return RegistrationHandleRAII([&entry, number] {
    State& state = *singleton().state_;
    const std::lock_guard undo_lock(state.mutex);
    if (state.defined.contains(number)) state.removeDefinition(entry, number, state.listeners.all());
  });
}

namespace {

// Whether a boxed kernel at [key] does the work of its operator, and does not wrap another one.
bool isOwnWork(DispatchKey key, const KernelFunction& kernel) {
  if (kernel.signature() != nullptr || kernel.kernel()->kind != KernelKind::Function) return false;
  return key != DispatchKey::Autograd && (isAliasDispatchKey(key) || isBackendDispatchKey(key));
}

}  // namespace

RegistrationHandleRAII Dispatcher::registerImpl(OperatorName name, std::optional<DispatchKey> key,
                                                KernelFunction kernel, RegistrationSite site) {
  BOXCAR_CHECK(kernel.isValid(), "no kernel was given for {} at {}", name, site);
  checkKeyOfKernel(name, key.value_or(DispatchKey::CompositeImplicitAutograd), site);
  const std::lock_guard lock(state_->mutex);
  OperatorEntry& entry = state_->operators.findOrAdd(std::move(name));
  // Kernels from the program's own blocks are checked when the schema is parsed.
  if (state_->ready.load(std::memory_order_relaxed)) state_->define(entry);
  const DispatchKey registered = key.value_or(DispatchKey::CompositeImplicitAutograd);
  if (isOwnWork(registered, kernel) && entry.hasSchema() && entry.schema().is_mutable()) {
    kernel = detail::countingWrites(std::move(kernel));
  }
  const uint64_t id = entry.registerKernel(state_->fallbacks, registered, std::move(kernel), site);
  state_->changed.notify_all();
  return RegistrationHandleRAII([&entry, id] {
    State& state = *singleton().state_;
    std::unique_lock undo_lock(state.mutex);
    const AnnotatedKernel removed = entry.deregisterKernel(state.fallbacks, id);
    undo_lock.unlock();
    if (removed.slot != nullptr) removed.slot->retire();
  });
}

RegistrationHandleRAII Dispatcher::registerFallback(DispatchKey key, KernelFunction kernel, RegistrationSite site) {
  BOXCAR_CHECK(kernel.isValid(), "no kernel was given for the fallback at {}", site);
  BOXCAR_CHECK(
      isRuntimeDispatchKey(key) && key != DispatchKey::Undefined,
      "a fallback cannot be registered for {} at {}: it is not a runtime key; register one for each runtime key", key,
      site);
  BOXCAR_CHECK(defaultKernelOf(key)->kind != KernelKind::Modes,
               "a fallback cannot be registered for {} at {}: modes run there; {}", key, site,
               site.is_script ? "declare a `mode`" : "hold a ModeGuard with the handler");
  BOXCAR_CHECK(kernel.signature() == nullptr,
               "the fallback for {} at {} is an unboxed function, but it serves operators of every signature: use "
               "CppFunction::makeFromBoxedFunction<&function>()",
               key, site);
  const std::lock_guard lock(state_->mutex);
  const AnnotatedKernel* there = state_->fallbacks.find(key);
  BOXCAR_CHECK(there == nullptr,
               "only one fallback can be registered for {}: there is one from {}, and another at {}. {}", key,
               there->site, site,
               site.is_script ? "Keep one, or write a `mode` instead; any number of modes can be on: `with name { … }`"
                              : "Remove one, or hold a ModeGuard with the handler");
  AnnotatedKernel fallback{std::move(kernel), site, key, 0};
  detail::fillSlot(fallback, state_->fallback_slots, nullptr);
  state_->fallbacks.add(std::move(fallback));
  for (OperatorEntry* entry : state_->operators.entries()) entry->updateFallback(state_->fallbacks, key);
  return RegistrationHandleRAII([this, key] {
    std::unique_lock undo_lock(state_->mutex);
    const AnnotatedKernel removed = state_->fallbacks.remove(key);
    for (OperatorEntry* entry : state_->operators.entries()) entry->updateFallback(state_->fallbacks, key);
    undo_lock.unlock();
    if (removed.slot != nullptr) removed.slot->retire();
  });
}

RegistrationHandleRAII Dispatcher::addRegistrationListener(std::unique_ptr<OpRegistrationListener> listener) {
  BOXCAR_CHECK(listener != nullptr, "no listener was given to addRegistrationListener");
  const std::lock_guard lock(state_->mutex);
  state_->readLinkedBlocks();
  state_->defineAll();
  const auto token = state_->listeners.add(std::move(listener));
  RegistrationHandleRAII handle([this, token] {
    const std::lock_guard undo_lock(state_->mutex);
    state_->listeners.remove(token);
  });
  // A copy, because the listener may define and remove.
  const auto defined = state_->defined;
  for (const auto& [number, entry] : defined) {
    if (state_->listeners.isThere(token) && state_->defined.contains(number)) {
      token->onOperatorRegistered(OperatorHandle(entry));
    }
  }
  return handle;
}

void Dispatcher::waitForDef(const FunctionSchema& schema, std::chrono::milliseconds timeout) const {
  std::unique_lock lock(state_->mutex);
  const auto isDefined = [&] {
    state_->readLinkedBlocks();
    OperatorEntry* entry = state_->operators.find(schema.operator_name());
    if (entry != nullptr) state_->define(*entry);
    return entry != nullptr && entry->hasSchema();
  };
  BOXCAR_CHECK(state_->changed.wait_for(lock, timeout, isDefined),
               "waited {} ms for operator {} to be defined, but nobody defined it; is its library loaded?",
               timeout.count(), schema.operator_name());
}

void Dispatcher::waitForImpl(const OperatorName& name, std::optional<DispatchKey> key,
                             std::chrono::milliseconds timeout) const {
  const DispatchKey wanted = key.value_or(DispatchKey::CompositeImplicitAutograd);
  std::unique_lock lock(state_->mutex);
  const auto isImplemented = [&] {
    state_->readLinkedBlocks();
    const OperatorEntry* entry = state_->operators.find(name);
    return entry != nullptr && entry->hasKernelForDispatchKey(wanted);
  };
  BOXCAR_CHECK(state_->changed.wait_for(lock, timeout, isImplemented),
               "waited {} ms for a kernel of {} for {}, but nobody registered one; is its library loaded?",
               timeout.count(), name, wanted);
}

KernelFunction Dispatcher::fallbackForDispatchKey(DispatchKey key) const {
  if (!isRuntimeDispatchKey(key)) return {};
  const std::lock_guard lock(state_->mutex);
  const AnnotatedKernel* fallback = state_->fallbacks.find(key);
  return fallback == nullptr ? KernelFunction() : fallback->kernel;
}

TableEntry Dispatcher::computeTableEntry(const OperatorHandle& op, DispatchKey key) const {
  const std::lock_guard lock(state_->mutex);
  return op.entry().computeTableEntry(state_->fallbacks, key);
}

std::vector<std::string> Dispatcher::registrationErrors() const {
  const std::lock_guard lock(state_->mutex);
  state_->readLinkedBlocks();
  return state_->registration_errors;
}

PluginInfo Dispatcher::loadPlugin(const std::string& path) { return state_->plugins.load(path); }

void Dispatcher::unloadPlugin(const std::string& name_or_path) { state_->plugins.unload(name_or_path); }

std::vector<PluginInfo> Dispatcher::plugins() const { return state_->plugins.list(); }

}  // namespace boxcar
