#include <boxcar/backends/autograd/anomaly_mode.h>
#include <boxcar/backends/autograd/formula.h>
#include <boxcar/backends/autograd/formula_table.h>
#include <boxcar/backends/autograd/forward_mode.h>
#include <boxcar/backends/autograd/gradient_rule.h>
#include <boxcar/backends/autograd/history.h>
#include <boxcar/dispatcher/call/local_dispatch_key_set.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

// The kernel at the autograd keys, one for all operators that are not made of others, and do not have their own: it
// records a node for a call on tensors that require grad, and goes on below. It is registered when the first tensor
// begins to require grad: most programs have none, and registering takes as long as the rest of their start.

namespace boxcar::autograd {
namespace {

bool requiresGrad(const IValue& value) {
  if (value.isTensor()) return value.toTensor().requires_grad();
  bool requires_grad = false;
  forEachTensor(value, [&](const Tensor& tensor) { requires_grad |= tensor.requires_grad(); });
  return requires_grad;
}

// Where the elements of a tensor lie in its storage. It does not hold the storage: who does is counted.
struct Placement {
  explicit Placement(const Tensor& tensor)
      : sizes(toDimVector(tensor.sizes())), strides(toDimVector(tensor.strides())), offset(tensor.storage_offset()) {}
  bool operator==(const Placement&) const = default;

  DimVector sizes;
  DimVector strides;
  int64_t offset;
};

// The error of an operator without a formula, told when its gradient is asked for.
class NotImplemented final : public Node {
 public:
  explicit NotImplemented(std::string op) : op_(std::move(op)) {}
  std::string name() const override { return "NotImplemented"; }
  Gradients apply(Gradients) override {
    BOXCAR_FAIL(
        "derivative for {} is not implemented. Give it one by autograd::register_derivative, or compute what it "
        "returns under no_grad",
        op_);
  }

 private:
  std::string op_;
};

class DifferentiatedCall final {
 public:
  DifferentiatedCall(const DifferentiatedOperator& op, const OperatorHandle& handle, Stack& stack)
      : op_(op), handle_(handle), arguments_(last(stack, op.arguments)) {}

  // Makes the node before the call, if anything requires grad.
  void start() {
    if (watchesViews()) [[unlikely]] {
      for (const IValue& argument : arguments_) forEachTensor(argument, adoptHistory);
    }
    if (op_.writes_self && arguments_[0].isTensor()) checkWrittenAtAll(arguments_[0].toTensor());
    if (op_.formula == nullptr) return startWithoutFormula();
    if (op_.formula->backward == nullptr) return;  // not differentiable
    checkRefusedArguments(op_, handle_, arguments_, requiresGrad,
                          "requires_grad True. Give the function detach() of it, or call it under no_grad");
    const auto is_recorded = [&](uint8_t position) { return requiresGrad(arguments_[position]); };
    if (std::ranges::none_of(op_.formula->inputs, is_recorded)) return;
    checkWritten();
    auto node = makeIntrusive<OperatorNode>(*op_.formula);
    rememberCall(*node, handle_.operator_name().name);
    uint16_t wanted = 0;
    for (size_t i = 0; i < op_.formula->inputs.size(); ++i) {
      const IValue& argument = arguments_[op_.formula->inputs[i]];
      node->beginInput();
      if (argument.isTensor()) {
        node->addEdge(gradientEdge(argument.toTensor()));
      } else if (argument.isNone()) {
        node->addEdge({});
      } else {
        forEachTensor(argument, [&](const Tensor& tensor) { node->addEdge(gradientEdge(tensor)); });
      }
      if (requiresGrad(argument)) wanted = static_cast<uint16_t>(wanted | 1U << i);
    }
    for (size_t i = 0; i < op_.formula->saved.size(); ++i) {
      const SavedItem& item = op_.formula->saved[i];
      const bool is_wanted = (item.for_inputs & wanted) != 0 && item.what != SavedItem::What::kResult;
      // What the kernel writes besides self is saved as it is then.
      const bool is_written =
          is_wanted && item.what == SavedItem::What::kArgument && (op_.written_arguments >> item.position & 1) != 0;
      if (is_written) written_.emplace_back(i, arguments_[item.position]);
      node->save(is_wanted && !is_written ? saved(item) : SavedValue());
    }
    if (op_.writes_self && arguments_[0].toTensor().unsafeGetTensorImpl()->base() != nullptr) {
      view_before_.emplace(arguments_[0].toTensor());
    }
    operator_node_ = node.get();
    wanted_ = wanted;
    node_ = std::move(node);
  }

  // Gives the results their history.
  void finish(std::span<IValue> results) {
    if (!node_) return;
    if (op_.writes_self) {
      const Tensor& self = results[0].toTensor();
      if (view_before_.has_value() && *view_before_ != Placement(self)) {
        setHistory(self, node_);  // a view became another view of the same elements, like x.t_()
      } else if (canRequireGrad(self)) {
        rebaseHistory(self, node_);
      }
    } else {
      for (size_t i = 0; i < results.size(); ++i) {
        const bool is_differentiable = op_.formula == nullptr || (op_.formula->differentiable_results >> i & 1) != 0;
        if (results[i].isTensor()) {
          results[i] = withHistory(std::move(results[i]).toTensor(), is_differentiable);
        } else if (results[i].isTensorList()) {
          const List<Tensor> tensors = results[i].toTensorList();
          for (size_t k = 0; k < tensors.size(); ++k) tensors.set(k, withHistory(tensors.get(k), is_differentiable));
        }
      }
    }
    if (operator_node_ == nullptr) return;
    saveResults(results);
  }

 private:
  void checkWritten() const {
    if (op_.writes_out) failOnWrittenOut(handle_, "requires grad");
    if (op_.writes_self) checkWrittenInPlace(arguments_[0].toTensor());
  }

  void startWithoutFormula() {
    if (std::ranges::none_of(arguments_, requiresGrad)) return;
    checkWritten();
    node_ = makeIntrusive<NotImplemented>(toString(handle_.operator_name()));
    for (const IValue& argument : arguments_) {
      forEachTensor(argument, [&](const Tensor& tensor) { node_->addEdge(gradientEdge(tensor)); });
    }
  }

  SavedValue saved(const SavedItem& item) const {
    const IValue& argument = arguments_[item.position];
    // What the call writes is saved as it was. Kept itself, it would keep its own node.
    if (item.what == SavedItem::What::kArgument && op_.writes_self && argument.isTensor() &&
        rootOf(argument.toTensor()) == rootOf(arguments_[0].toTensor())) {
      return SavedValue(cloneWithTangents(argument.toTensor()));
    }
    return savedArgument(item, arguments_);
  }

  // The tensor that has the history of all its views.
  static const TensorImpl* rootOf(const Tensor& tensor) {
    const TensorImpl* const impl = tensor.unsafeGetTensorImpl();
    return impl->base() != nullptr ? impl->base() : impl;
  }

  void saveResults(std::span<const IValue> results) {
    for (const auto& [item, value] : written_) operator_node_->saveAt(item, SavedValue(value));
    const auto& items = op_.formula->saved;
    for (size_t i = 0; i < items.size(); ++i) {
      if (items[i].what != SavedItem::What::kResult || (items[i].for_inputs & wanted_) == 0) continue;
      const Tensor& result = results[items[i].position].toTensor();
      const bool has_history =
          canRequireGrad(result) && (op_.formula->differentiable_results >> items[i].position & 1) != 0;
      operator_node_->saveAt(i, SavedValue(result, has_history ? static_cast<int>(items[i].position) : -1));
    }
  }

  Tensor withHistory(Tensor result, bool is_differentiable) const {
    if (!canRequireGrad(result) || !is_differentiable) {
      node_->addOutput(result);
      return result;
    }
    if (result.requires_grad()) result = boxcar::alias(result);  // an argument that the kernel returned
    if (!op_.is_view) result.unsafeGetTensorImpl()->clear_base();
    setHistory(result, node_);
    return result;
  }

  const DifferentiatedOperator& op_;
  const OperatorHandle& handle_;
  std::span<IValue> arguments_;
  IntrusivePtr<Node> node_;
  OperatorNode* operator_node_ = nullptr;
  uint16_t wanted_ = 0;
  std::optional<Placement> view_before_;            // of self, if that is a view that is written
  std::vector<std::pair<size_t, IValue>> written_;  // arguments to save after the call
};

void runAutograd(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  const DifferentiatedOperator& known = differentiatedOperator(op);
  DifferentiatedCall call(known, op, stack);
  call.start();
  // What kernels call is part of this call.
  const AutoDispatchBelowAutograd below;
  op.redispatchBoxed(keys & after_autograd_keyset, stack);
  call.finish(last(stack, known.results));
}

// Registers the kernel for every operator that is there or comes, unless it has its own, or is made of others.
class KernelRegistrar final : public OpRegistrationListener {
 public:
  void onOperatorRegistered(const OperatorHandle& op) override {
    if (op.hasKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd) ||
        op.hasKernelForDispatchKey(DispatchKey::Autograd)) {
      return;
    }
    const RegistrationSite site = autogradKernelSite();
    handles_.insert_or_assign(op.operator_name(), Dispatcher::singleton().registerImpl(
                                                      op.operator_name(), DispatchKey::Autograd, kernel_, site));
  }
  void onOperatorDeregistered(const OperatorHandle& op) override { handles_.erase(op.operator_name()); }

 private:
  const KernelFunction kernel_ = KernelFunction::makeFromBoxedFunction<&runAutograd>();
  std::unordered_map<OperatorName, RegistrationHandleRAII> handles_;
};

void registerKernels() {
  for (const DispatchKey key : {DispatchKey::AutogradFunctionality, DispatchKey::AutogradOther}) {
    setLevelDescriber(key, &describeRecording);
  }
  // Never destroyed: calls may run when the process ends.
  static auto& registration =
      *new RegistrationHandleRAII(Dispatcher::singleton().addRegistrationListener(std::make_unique<KernelRegistrar>()));
  (void)registration;
}

void beforeItRequiresGrad(TensorImpl& tensor) {
  registerAutogradKernels();
  AutogradMeta::findOrMake(tensor);
}

[[maybe_unused]] const bool is_hook_set = (boxcar::detail::setRequiresGradHook(&beforeItRequiresGrad), true);

}  // namespace

RegistrationSite autogradKernelSite() noexcept { return {__FILE__, __LINE__}; }

void registerAutogradKernels() {
  static std::once_flag once;
  std::call_once(once, registerKernels);
}

}  // namespace boxcar::autograd
