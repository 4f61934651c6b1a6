#include <boxcar/backends/autograd/formula_table.h>
#include <boxcar/backends/autograd/gradient_rule.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <fmt/format.h>

namespace boxcar::autograd {

std::string describeGradient(const OperatorHandle& op) {
  registerAutogradKernels();
  const TableEntry entry = Dispatcher::singleton().computeTableEntry(op, DispatchKey::AutogradCPU);
  if (entry.kernel->kind != KernelKind::Function) return "not recorded, so its results have no history";
  if (entry.key == DispatchKey::CompositeImplicitAutograd && entry.cause == EntryCause::Alias) {
    return "composed of other operators, which are differentiated";
  }
  if (!(entry.site == autogradKernelSite())) return fmt::format("by its own kernel for {}", entry.key);
  const DifferentiatedOperator& known = differentiatedOperator(op);
  if (known.formula != nullptr && known.formula->backward == nullptr)
    return "none, as its results are not differentiable";
  if (known.writes_out) return "none, as it has out=, so to call it on tensors that require grad is an error";
  if (known.formula == nullptr) return "no formula, so to ask for it is an error";
  return fmt::format("by the formula at backends/ops/{}:{}", formulaFiles()[known.formula->file], known.formula->line);
}

}  // namespace boxcar::autograd
