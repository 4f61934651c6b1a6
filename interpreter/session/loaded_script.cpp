#include <boxcar/interpreter/runtime/script_operator.h>
#include <boxcar/interpreter/session/loaded_script.h>

#include <set>
#include <utility>
#include <vector>

namespace boxcar::interp {

LoadedScript::LoadedScript(CodeUnit unit, std::vector<std::shared_ptr<LoadedScript>> modules)
    : modules_(std::move(modules)),
      executable_(std::make_shared<Executable>(std::move(unit))),
      operators_(registerOperators(executable_)),
      registrations_(std::make_shared<Registrations>()) {
  executable_->setRegistrations(registrations_);
  std::vector<std::shared_ptr<Executable>> executables;
  for (const auto& module : modules_) executables.push_back(module == nullptr ? nullptr : module->executable_);
  executable_->link(std::move(executables));
}

void LoadedScript::setLimits(const RunLimits& limits) {
  std::set<const LoadedScript*> seen;
  std::vector<LoadedScript*> left{this};
  while (!left.empty()) {
    LoadedScript& script = *left.back();
    left.pop_back();
    if (!seen.insert(&script).second) continue;
    script.setOwnLimits(limits);
    for (const auto& module : script.modules_) {
      if (module != nullptr) left.push_back(module.get());
    }
  }
}

void LoadedScript::withdrawOperator(const OperatorName& name) {
  const std::vector<CodeOperator>& operators = executable_->unit().operators;
  for (size_t i = 0; i < operators.size(); ++i) {
    if (operators[i].schema.operator_name() == name) operators_[i].clear();
  }
}

void LoadedScript::restoreOperator(const OperatorName& name) {
  const std::vector<CodeOperator>& operators = executable_->unit().operators;
  for (size_t i = 0; i < operators.size(); ++i) {
    if (operators[i].schema.operator_name() == name) operators_[i] = registerOperator(executable_, operators[i]);
  }
}

}  // namespace boxcar::interp
