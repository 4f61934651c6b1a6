#include <boxcar/backends/autograd/formula_table.h>
#include <boxcar/backends/autograd/forward_mode.h>
#include <boxcar/backends/autograd/gradient_rule.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar::autograd {
namespace {

std::string argumentName(const LevelCall& call, uint8_t position) {
  return call.op.schema().arguments()[position].name();
}

const ArgumentKeys* argumentAt(const LevelCall& call, uint8_t position) {
  const auto found = std::ranges::find(call.arguments, position, &ArgumentKeys::index);
  return found == call.arguments.end() ? nullptr : &*found;
}

// Without a value, the keys tell.
bool mayBeRecorded(const ArgumentKeys& argument) {
  if (!argument.value.has_value()) return argument.keys.has_any(autograd_dispatch_keyset);
  bool requires_grad = false;
  forEachTensor(*argument.value, [&](const Tensor& tensor) { requires_grad |= tensor.requires_grad(); });
  return requires_grad;
}

// Without a value, any argument may.
bool mayHaveTangent(const ArgumentKeys& argument) {
  if (!argument.value.has_value()) return true;
  bool found = false;
  forEachTensor(*argument.value, [&](const Tensor& tensor) { found |= hasTangent(tensor); });
  return found;
}

// The names of the arguments with a formula for which [holds].
template <class Holds>
std::vector<std::string> inputsOf(const LevelCall& call, const Formula& formula, const Holds& holds) {
  std::vector<std::string> names;
  for (const uint8_t position : formula.inputs) {
    const ArgumentKeys* const argument = argumentAt(call, position);
    if (argument != nullptr && holds(*argument)) names.push_back(argumentName(call, position));
  }
  return names;
}

std::string resultName(const LevelCall& call, uint8_t position) {
  return call.op.schema().returns().size() == 1 ? "the result" : fmt::format("result {}", position + 1);
}

std::string savedText(const LevelCall& call, const SavedItem& item) {
  if (item.what == SavedItem::What::kResult) return resultName(call, item.position);
  const std::string name = argumentName(call, item.position);
  switch (item.what) {
    case SavedItem::What::kSizes: return fmt::format("the sizes of {}", name);
    case SavedItem::What::kStrides: return fmt::format("the strides of {}", name);
    case SavedItem::What::kOffset: return fmt::format("the offset of {}", name);
    case SavedItem::What::kDtype: return fmt::format("the dtype of {}", name);
    case SavedItem::What::kDim: return fmt::format("the rank of {}", name);
    case SavedItem::What::kIsTurned: return fmt::format("whether {} is transposed", name);
    default: return name;
  }
}

// What the node keeps if arguments with these names have a gradient.
std::vector<std::string> savedTexts(const LevelCall& call, const Formula& formula,
                                    const std::vector<std::string>& names) {
  uint16_t wanted = 0;
  for (size_t i = 0; i < formula.inputs.size(); ++i) {
    const bool is_wanted = std::ranges::find(names, argumentName(call, formula.inputs[i])) != names.end();
    if (is_wanted) wanted = static_cast<uint16_t>(wanted | 1U << i);
  }
  std::vector<std::string> texts;
  for (const SavedItem& item : formula.saved) {
    if ((item.for_inputs & wanted) == 0) continue;
    std::string text = savedText(call, item);
    if (std::ranges::find(texts, text) == texts.end()) texts.push_back(std::move(text));
  }
  return texts;
}

std::string recordingOf(const LevelCall& call, const DifferentiatedOperator& known) {
  if (known.formula == nullptr) {
    return std::ranges::any_of(call.arguments, mayBeRecorded)
               ? "records that there is no derivative, for an error of a backward pass"
               : "records nothing, as no argument requires grad";
  }
  if (known.formula->backward == nullptr) return "records nothing, as the result is not differentiable";
  const std::vector<std::string> inputs = inputsOf(call, *known.formula, mayBeRecorded);
  if (inputs.empty()) return "records nothing, as no argument that has a derivative requires grad";
  if (known.writes_out) return "refuses the call, as out= and tensors that require grad do not go together";
  const std::vector<std::string> saved = savedTexts(call, *known.formula, inputs);
  return fmt::format("records {} for the gradient{} of {}, which keeps {}", known.formula->node_name,
                     inputs.size() == 1 ? "" : "s", enumerated(inputs), saved.empty() ? "nothing" : enumerated(saved));
}

std::string_view wayOfTangents(Forward forward) {
  switch (forward) {
    case Forward::kTransposed: return "by the transpose of its gradients' formulas";
    case Forward::kLinear: return "by the operator itself, called on tangents";
    case Forward::kElementwise: return "by its gradients' formulas";
    case Forward::kGiven: return "by a formula of its own";
  }
  return {};
}

std::string tangentText(const LevelCall& call, const DifferentiatedOperator& known) {
  if (known.formula == nullptr) {
    return std::ranges::any_of(call.arguments, mayHaveTangent) ? "refuses tangents, as the operator has no derivative"
                                                               : "computes no tangent, as no argument has one";
  }
  if (known.formula->backward == nullptr) return "computes no tangent, as the result is not differentiable";
  const std::vector<std::string> inputs = inputsOf(call, *known.formula, mayHaveTangent);
  if (inputs.empty()) return "computes no tangent, as no argument has one";
  return fmt::format("computes the result's tangent, after the call, from {} of {}, {}",
                     inputs.size() == 1 ? "that" : "those", enumerated(inputs), wayOfTangents(known.formula->forward));
}

}  // namespace

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

void describeRecording(LevelCall& call) {
  if (!(call.entry.site == autogradKernelSite())) return;
  call.effect = recordingOf(call, differentiatedOperator(call.op));
  call.below = call.keys & after_autograd_keyset;
  call.excluded = autograd_dispatch_keyset_with_ADInplaceOrView;
}

void describeTangents(LevelCall& call) {
  if (call.entry.cause != EntryCause::Fallback) return;
  if (call.keys.has(DispatchKey::FuncTorchBatched)) {
    call.effect = "leaves the call to the tensors inside func::vmap(), on which it comes here again";
    return;
  }
  const DifferentiatedOperator& known = differentiatedOperator(call.op);
  const bool is_composite =
      known.formula == nullptr && call.op.hasKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd);
  call.effect = is_composite ? "leaves the call to the operators that it is made of" : tangentText(call, known);
  // What is called below is part of this call.
  if (!is_composite) call.excluded = DispatchKeySet(kForwardKey);
}

}  // namespace boxcar::autograd
