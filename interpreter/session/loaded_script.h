#pragma once

#include <boxcar/interpreter/runtime/executable.h>
#include <boxcar/interpreter/runtime/limits.h>
#include <boxcar/interpreter/syntax/diagnostic.h>

#include <memory>
#include <vector>

namespace boxcar::interp {

// A script whose operators are registered and whose code is linked: a Program, or a file that one imports.
class LoadedScript final {
 public:
  // [modules]: the unit's imports, in its order; null for plugins. Throws Error if the verifier rejects the unit, or if
  // its operators contradict what is registered.
  LoadedScript(CodeUnit unit, std::vector<std::shared_ptr<LoadedScript>> modules);

  const Executable& executable() const noexcept { return *executable_; }
  const std::vector<std::shared_ptr<LoadedScript>>& modules() const noexcept { return modules_; }
  Registrations& registrations() const noexcept { return *registrations_; }

  // Unregisters one of its operators, or registers it again; does nothing if it has no such operator.
  void withdrawOperator(const OperatorName& name);
  void restoreOperator(const OperatorName& name);

  // Sets the limits of calls, outside of runs, of its operators and of those of the files that it imports.
  void setLimits(const RunLimits& limits);
  // Sets the limits for its own operators alone.
  void setOwnLimits(const RunLimits& limits) noexcept { executable_->setLimits(limits); }

  std::vector<Diagnostic> warnings;

 private:
  std::vector<std::shared_ptr<LoadedScript>> modules_;
  // Shared with kernels: a kernel that still runs when the program is destroyed keeps its code.
  std::shared_ptr<Executable> executable_;
  std::vector<std::vector<RegistrationHandleRAII>> operators_;  // in the unit's order
  std::shared_ptr<Registrations> registrations_;
};

}  // namespace boxcar::interp
