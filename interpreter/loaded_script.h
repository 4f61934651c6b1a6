#pragma once

#include <boxcar/interpreter/diagnostic.h>
#include <boxcar/interpreter/executable.h>
#include <boxcar/interpreter/limits.h>

#include <memory>
#include <vector>

namespace boxcar::interp {

// A script whose operators are registered and whose code is linked: what a Program is, and a file that one imports.
class LoadedScript final {
 public:
  // [modules]: what the unit imports, in its order; null for plugins. Throws Error where the verifier refuses the unit,
  // or its operators contradict what is registered.
  LoadedScript(CodeUnit unit, std::vector<std::shared_ptr<LoadedScript>> modules);

  const Executable& executable() const noexcept { return *executable_; }
  const std::vector<std::shared_ptr<LoadedScript>>& modules() const noexcept { return modules_; }
  Registrations& registrations() const noexcept { return *registrations_; }

  // One of its operators is none any more, or is one again; nothing where it has no such operator.
  void withdrawOperator(const OperatorName& name);
  void restoreOperator(const OperatorName& name);

  // Of calls of its operators, and of those of the files that it imports, that no run makes.
  void setLimits(const RunLimits& limits);
  // Of calls of its operators alone.
  void setOwnLimits(const RunLimits& limits) noexcept { executable_->setLimits(limits); }

  std::vector<Diagnostic> warnings;

 private:
  std::vector<std::shared_ptr<LoadedScript>> modules_;
  // Kernels share it: one that still runs when the program goes keeps its code.
  std::shared_ptr<Executable> executable_;
  std::vector<std::vector<RegistrationHandleRAII>> operators_;  // as the unit has them
  std::shared_ptr<Registrations> registrations_;
};

}  // namespace boxcar::interp
