#pragma once

#include <boxcar/dispatcher/operator_handle.h>
#include <boxcar/dispatcher/registration_handle.h>
#include <boxcar/interpreter/bytecode.h>
#include <boxcar/interpreter/limits.h>
#include <boxcar/interpreter/once.h>

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

// A function as the machine wants it.
struct ExecutableFunction {
  const Executable* program;
  const Instruction* code;
  uint32_t slots;  // its own
  uint32_t frame;  // with room behind them for the arguments that it passes on
  uint32_t arguments;
  uint32_t value_count;
  const uint16_t* values;  // its Value slots, arguments included
  const uint64_t* tags;    // what the second word of each slot is at the start
  const CodeFunction* source;
};

// A constant of the script: set once, by the first run that comes to it.
struct GlobalValue {
  Once once;
  IValue value;
};

struct LinkedSite {
  OperatorHandle op;
  uint16_t arguments;
  uint16_t results;
};

// The operators that a dynamic site may mean.
struct LinkedDynamicSite {
  const DynamicSite* site;
  std::vector<OperatorHandle> candidates;
};

// What a program has registered while it ran, by handler. It lives as long as the program, not as long as its code,
// which kernels that still run keep.
struct Registrations {
  std::mutex mutex;
  std::unordered_map<uint32_t, std::vector<RegistrationHandleRAII>> by_handler;
  // Called when a handler is registered for the first time; null where there is nothing to do.
  std::function<void(const CodeHandler&)> on_first;
};

// Code that may run: verified, and linked to the operators and the modules that it uses. It does not change while it
// runs but for its constants and limits, so that any number of threads can run it.
class Executable final : public std::enable_shared_from_this<Executable> {
 public:
  // Throws an Error where the verifier refuses the unit.
  explicit Executable(CodeUnit unit);
  ~Executable();
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  // Finds the operators of all sites, and takes the modules that the unit names, null for plugins; before it nothing
  // runs. An Error when an operator is not defined or has another number of arguments or results, or a module lacks
  // what is imported.
  void link(std::vector<std::shared_ptr<Executable>> modules = {});

  const CodeUnit& unit() const noexcept { return unit_; }
  const ExecutableFunction& function(uint32_t index) const noexcept { return functions_[index]; }
  const LinkedSite& site(uint32_t index) const noexcept { return sites_[index]; }
  const LinkedDynamicSite& dynamicSite(uint32_t index) const noexcept { return dynamic_sites_[index]; }
  const ExecutableFunction& imported(uint32_t index) const noexcept { return *imports_[index]; }
  Executable& module(uint32_t index) const noexcept { return *modules_[index]; }
  // Where the script lies: what relative paths in it start from.
  const std::string& folder() const noexcept { return folder_; }
  // What the script's constants hold.
  GlobalValue& global(uint32_t index) const noexcept { return globals_[index]; }
  // Whether its statements were run by an import.
  Once& statements() const noexcept { return statements_; }

  // How far a call of one of its operators goes that no run makes; runs have limits of their own.
  RunLimits limits() const noexcept {
    return {max_instructions_.load(std::memory_order_relaxed), max_depth_.load(std::memory_order_relaxed),
            max_seconds_.load(std::memory_order_relaxed)};
  }
  void setLimits(const RunLimits& limits) noexcept {
    max_instructions_.store(limits.max_instructions, std::memory_order_relaxed);
    max_depth_.store(limits.max_depth, std::memory_order_relaxed);
    max_seconds_.store(limits.max_seconds, std::memory_order_relaxed);
  }

  // The mode called [name]; Error where there is none.
  uint32_t modeNamed(std::string_view name) const;

  // Where what its statements register is kept; null where nothing keeps it, or no more.
  std::shared_ptr<Registrations> registrations() const noexcept { return registrations_.lock(); }
  void setRegistrations(const std::shared_ptr<Registrations>& registrations) noexcept {
    registrations_ = registrations;
  }

 private:
  const ExecutableFunction* findImport(const CodeImport& import) const;

  CodeUnit unit_;
  std::string folder_;
  std::vector<ExecutableFunction> functions_;
  std::vector<uint16_t> values_;
  std::vector<uint64_t> tags_;
  std::vector<LinkedSite> sites_;
  std::vector<LinkedDynamicSite> dynamic_sites_;
  std::vector<std::shared_ptr<Executable>> modules_;
  std::vector<const ExecutableFunction*> imports_;
  std::unique_ptr<GlobalValue[]> globals_;
  mutable Once statements_;
  std::atomic<uint64_t> max_instructions_ = RunLimits().max_instructions;
  std::atomic<uint32_t> max_depth_ = RunLimits().max_depth;
  std::atomic<double> max_seconds_ = RunLimits().max_seconds;
  std::weak_ptr<Registrations> registrations_;
};

}  // namespace boxcar::interp
