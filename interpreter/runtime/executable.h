#pragma once

#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/dispatcher/registry/registration_handle.h>
#include <boxcar/interpreter/bytecode/bytecode.h>
#include <boxcar/interpreter/runtime/limits.h>
#include <boxcar/interpreter/runtime/once.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace boxcar::interp {

class Executable;

// A function in the form that the machine runs.
struct ExecutableFunction {
  const Executable* program;
  const Instruction* code;
  uint32_t slots;  // its own slots
  uint32_t frame;  // its own slots and room for the arguments that it passes on
  uint32_t arguments;
  uint32_t value_count;
  const uint16_t* values;  // its Value slots, arguments included
  const uint64_t* tags;    // the initial second word of each slot
  const CodeFunction* source;
};

// A constant of the script: set once, by the first run that reaches it.
struct GlobalValue {
  Once once;
  IValue value;
};

struct LinkedSite {
  OperatorHandle op;
  uint16_t arguments;
  uint16_t results;
  bool is_factory;  // it takes the default device
};

// The candidate operators of a dynamic site.
struct LinkedDynamicSite {
  const DynamicSite* site;
  std::vector<OperatorHandle> candidates;
};

// What a program registered while it ran, by handler. It lives as long as the program. Code can live longer, because
// kernels that still run keep it.
struct Registrations {
  std::mutex mutex;
  std::unordered_map<uint32_t, std::vector<RegistrationHandleRAII>> by_handler;
  // Called when a handler is registered for the first time; null if there is nothing to do.
  std::function<void(const CodeHandler&)> on_first;
};

// Code that is ready to run: verified, and linked to the operators and modules that it uses. Only its constants and
// limits change while it runs, so any number of threads can run it.
class Executable final : public std::enable_shared_from_this<Executable> {
 public:
  // Throws Error if the verifier rejects the unit.
  explicit Executable(CodeUnit unit);
  ~Executable();
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  // Looks up the operators of all sites and takes the modules that the unit names, null for plugins. Must come before
  // the first run. Throws Error if an operator is undefined or has another number of arguments or results, or if a
  // module lacks an imported function.
  void link(std::vector<std::shared_ptr<Executable>> modules = {});

  const CodeUnit& unit() const noexcept { return unit_; }
  const ExecutableFunction& function(uint32_t index) const noexcept { return functions_[index]; }
  const LinkedSite& site(uint32_t index) const noexcept { return sites_[index]; }
  const LinkedDynamicSite& dynamicSite(uint32_t index) const noexcept { return dynamic_sites_[index]; }
  const ExecutableFunction& imported(uint32_t index) const noexcept { return *imports_[index]; }
  Executable& module(uint32_t index) const noexcept { return *modules_[index]; }
  // The script's folder; relative paths in the script are resolved from there. Null for a script of the library, in
  // which they are its caller's.
  const std::string* folder() const noexcept { return is_in_library_ ? nullptr : &folder_; }
  // The value of one of the script's constants.
  GlobalValue& global(uint32_t index) const noexcept { return globals_[index]; }
  // Its exported functions as values, in the order of the unit's exports, once one is asked for.
  std::mutex& functionValuesMutex() const noexcept { return function_values_mutex_; }
  std::vector<IValue>& functionValues() const noexcept { return function_values_; }
  // Whether an import has run its statements.
  Once& statements() const noexcept { return statements_; }

  // The limits for calls of the script's operators that are not part of a run; runs have limits of their own.
  RunLimits limits() const noexcept {
    return {max_instructions_.load(std::memory_order_relaxed), max_depth_.load(std::memory_order_relaxed),
            max_seconds_.load(std::memory_order_relaxed)};
  }
  void setLimits(const RunLimits& limits) noexcept {
    max_instructions_.store(limits.max_instructions, std::memory_order_relaxed);
    max_depth_.store(limits.max_depth, std::memory_order_relaxed);
    max_seconds_.store(limits.max_seconds, std::memory_order_relaxed);
  }

  // Returns the mode called [name]; throws Error if there is none.
  uint32_t modeNamed(std::string_view name) const;

  // Where the registrations of its statements are kept; null if nothing keeps them, or nothing does any more.
  std::shared_ptr<Registrations> registrations() const noexcept { return registrations_.lock(); }
  void setRegistrations(const std::shared_ptr<Registrations>& registrations) noexcept {
    registrations_ = registrations;
  }

 private:
  void checkStruct(const CodeStruct& imported) const;
  const ExecutableFunction* findImport(const CodeImport& import) const;

  CodeUnit unit_;
  std::string folder_;
  bool is_in_library_ = false;
  std::vector<ExecutableFunction> functions_;
  std::vector<uint16_t> values_;
  std::vector<uint64_t> tags_;
  std::vector<LinkedSite> sites_;
  std::vector<LinkedDynamicSite> dynamic_sites_;
  std::vector<std::shared_ptr<Executable>> modules_;
  std::vector<const ExecutableFunction*> imports_;
  std::unique_ptr<GlobalValue[]> globals_;
  mutable std::mutex function_values_mutex_;
  mutable std::vector<IValue> function_values_;
  mutable Once statements_;
  std::atomic<uint64_t> max_instructions_ = RunLimits().max_instructions;
  std::atomic<uint32_t> max_depth_ = RunLimits().max_depth;
  std::atomic<double> max_seconds_ = RunLimits().max_seconds;
  std::weak_ptr<Registrations> registrations_;
};

}  // namespace boxcar::interp
