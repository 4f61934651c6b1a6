#include <boxcar/backends/autograd/formula.h>
#include <boxcar/backends/autograd/formula_functions.h>
#include <boxcar/backends/autograd/formula_table.h>
#include <boxcar/backends/autograd/forward_mode.h>
#include <boxcar/backends/autograd/function_call.h>
#include <boxcar/backends/autograd/gradient_rule.h>
#include <boxcar/backends/meta/output.h>
#include <boxcar/dispatcher/call/grad_mode.h>
#include <boxcar/dispatcher/call/local_dispatch_key_set.h>
#include <boxcar/dispatcher/call/watched_call.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/value_tensors.h>
#include <boxcar/ivalue/zero_tensor.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

// The kernel that computes tangents, one for all operators. It stands above the autograd keys, so the calls that
// compute tangents are recorded for differentiation as others are, and no_grad() does not switch it off.

namespace boxcar::autograd {
namespace {

bool holdsTangent(const IValue& value, uint64_t level) {
  bool found = false;
  forEachTensor(value, [&](const Tensor& tensor) { found |= hasTangent(tensor, level); });
  return found;
}

// Whether nobody but kernels sees zeros that stand for the tangent of [tensor]: it is an ordinary tensor, and the
// thread has nothing that watches or transforms calls.
bool isPlain(const Tensor& tensor) {
  constexpr DispatchKeySet kPlain =
      default_included_set | autograd_dispatch_keyset | DispatchKeySet(DispatchKey::Dense) | backend_bitset_mask;
  constexpr DispatchKeySet kOthers(DispatchKeySet::RAW, ~kPlain.add(kForwardKey).raw_repr());
  return ::boxcar::detail::computeDispatchKeySet(tensor.key_set(), kOthers).empty() &&
         !::boxcar::detail::callsAreWatched();
}

// Whether the operator is made of others, which compute the tangents.
bool isComposite(const OperatorHandle& op, const DifferentiatedOperator& known) {
  return known.formula == nullptr && op.hasKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd);
}

// Whether the operator has a kernel of its own for differentiation, which calls operators that compute the tangents.
bool hasOwnDerivative(const OperatorHandle& op, const DifferentiatedOperator& known) {
  if (known.formula != nullptr) return false;
  if (!op.hasKernelForDispatchKey(DispatchKey::Autograd) && !op.hasKernelForDispatchKey(DispatchKey::AutogradCPU)) {
    return false;
  }
  const TableEntry entry = Dispatcher::singleton().computeTableEntry(op, DispatchKey::AutogradCPU);
  return entry.kernel->kind == KernelKind::Function && !(entry.site == autogradKernelSite());
}

// A call on tensors some of which have tangents.
class PushedCall final {
 public:
  PushedCall(const DifferentiatedOperator& op, const OperatorHandle& handle, std::span<const IValue> arguments)
      : op_(op), handle_(handle), arguments_(arguments.begin(), arguments.end()) {
    const std::span<const uint64_t> active = forwardLevels();
    for (size_t i = 0; i < active.size(); ++i) {
      const auto has = [&](const IValue& argument) { return holdsTangent(argument, active[i]); };
      if (std::ranges::any_of(arguments_, has)) levels_.push_back({i, active[i]});
    }
    if (levels_.empty()) return;
    check();
    if (callsInPlace()) {
      for (const Level& level : levels_) {
        const OuterForwardLevels outer(level.index);
        // A view of its own, as the call may change its shape.
        tangents_of_self_.push_back(boxcar::alias(writableTangent(arguments_[0].toTensor(), level.id)));
      }
    }
    if (op_.writes_self && op_.formula != nullptr && readsSelf(*op_.formula)) {
      arguments_[0] = boxcar::clone(arguments_[0].toTensor());  // it is written before the formula reads it
    }
  }

  // Gives the results their tangents.
  void finish(std::span<IValue> results) {
    if (levels_.empty() || op_.formula == nullptr) return;
    for (IValue& result : results) takeOver(result);
    size_t next = 0;
    for (const Level& level : levels_) {
      const OuterForwardLevels outer(level.index);
      if (op_.formula->backward == nullptr) {
        // The result does not change with the arguments.
        if (op_.writes_self) writeZeros(results[0].toTensor(), level);
      } else if (callsInPlace()) {
        callInPlace(level, results[0].toTensor(), tangents_of_self_[next++]);
      } else {
        set(level, results, tangentsOf(level, results));
      }
    }
  }

 private:
  struct Level {
    size_t index;
    uint64_t id;
  };

  // Whether the operator itself changes the tangent of its first argument.
  bool callsInPlace() const {
    return op_.writes_self && op_.formula != nullptr && op_.formula->backward != nullptr &&
           op_.formula->forward == Forward::kLinear;
  }

  // To have no tangent is to have zeros.
  static void writeZeros(const Tensor& tensor, const Level& level) {
    if (!hasTangent(tensor, level.id)) return;
    Tensor tangent = writableTangent(tensor, level.id);
    boxcar::zero_(tangent);
  }

  // Whether tangents depend on what the first argument was.
  static bool readsSelf(const Formula& formula) {
    if (formula.backward == nullptr || formula.forward == Forward::kLinear) return false;
    if (formula.forward == Forward::kGiven) return true;
    return std::ranges::any_of(formula.saved, [](const SavedItem& item) {
      return item.what == SavedItem::What::kArgument && item.position == 0;
    });
  }

  void check() const {
    if (op_.writes_out) failOnWrittenOut(handle_, "has a tangent");
    const std::vector<Argument>& returns = handle_.schema().returns();
    BOXCAR_CHECK(op_.formula != nullptr || returns.empty(),
                 "the derivative of {} is not implemented, so func::jvp() cannot differentiate it. Give it one by "
                 "autograd::register_derivative, or detach() its arguments",
                 toString(handle_.operator_name()));
    if (op_.formula == nullptr) return;
    const auto has = [&](const IValue& argument) {
      return std::ranges::any_of(levels_, [&](const Level& level) { return holdsTangent(argument, level.id); });
    };
    checkRefusedArguments(op_, handle_, arguments_, has, "a tangent. Give the function detach() of it");
  }

  // A result that is an argument itself becomes a view of it, or its tangent would be the argument's, too.
  void takeOver(IValue& result) const {
    if (op_.writes_self || !result.isTensor()) return;
    const Tensor tensor = result.toTensor();
    const auto is_same = [&](const IValue& argument) {
      return argument.isTensor() && argument.toTensor().is_same(tensor);
    };
    if (!tensor.defined() || std::ranges::none_of(arguments_, is_same)) return;
    const OuterForwardLevels none(0);
    result = boxcar::alias(tensor);
  }

  // Returns what stands for the tangent of [tensor], which has none.
  Tensor zerosFor(const Tensor& tensor) const {
    if (!isPlain(tensor)) return boxcar::zeros_like(tensor);
    if (op_.is_pointwise && tensor.is_cpu()) return readableZeros(tensor);
    const bool is_copy = op_.writes_self && handle_.operator_name().name == "aten::copy_";
    return is_copy ? makeZeroTensor(tensor.sizes(), tensor.scalar_type(), tensor.device()) : boxcar::zeros_like(tensor);
  }

  // Returns the arguments with the tangents in place of what has a formula; zeros where there is none. [self]: the
  // tangent of the first argument, if it is known.
  Stack onTangents(const Level& level, const Tensor& self = {}) const {
    const auto tangentOrZeros = [&](const Tensor& tensor) {
      Tensor tangent = tangentOf(tensor, level.id);
      return tangent.defined() || !tensor.defined() ? tangent : zerosFor(tensor);
    };
    Stack stack(arguments_.begin(), arguments_.end());
    for (const uint8_t input : op_.formula->inputs) {
      if (input == 0 && self.defined()) {
        stack[0] = self;
      } else if (!stack[input].isNone()) {
        stack[input] = mapTensors(stack[input], tangentOrZeros);
      }
    }
    return stack;
  }

  // Returns the tangent of an argument as it stays: an operator in place writes that of its first argument at the end,
  // and what is recorded may have saved it.
  Tensor constantTangent(const Tensor& tensor, const Level& level) const {
    Tensor tangent = tangentOf(tensor, level.id);
    return tangent.defined() && op_.writes_self && GradMode::is_enabled() ? boxcar::clone(tangent) : tangent;
  }

  void callInPlace(const Level& level, const Tensor& self, const Tensor& tangent) const {
    Stack stack = onTangents(level, tangent);
    handle_.callBoxed(stack);
    setTangent(self, level.id, tangent);
  }

  std::vector<Tensor> tangentsOf(const Level& level, std::span<const IValue> results) const {
    switch (op_.formula->forward) {
      case Forward::kLinear: {
        Stack stack = onTangents(level);
        (isViewOfRepeated() ? reshapeOperator() : handle_).callBoxed(stack);
        return tensorsIn(stack);
      }
      case Forward::kGiven: {
        std::vector<Tensor> tangents(arguments_.size());
        for (const uint8_t input : op_.formula->inputs) {
          if (arguments_[input].isTensor()) tangents[input] = constantTangent(arguments_[input].toTensor(), level);
        }
        ForwardCall call(arguments_, results, tangents);
        op_.formula->given(call);
        return call.found();
      }
      case Forward::kElementwise: return elementwise(level, results);
      case Forward::kTransposed: return transposed(level, results);
    }
    return {};
  }

  // The node that the call would have if its arguments required grad.
  IntrusivePtr<OperatorNode> makeNode(const Level& level, std::span<const IValue> results) const {
    auto node = makeIntrusive<OperatorNode>(*op_.formula);
    static const Tensor leaf = boxcar::zeros(IntArrayRef());
    uint16_t wanted = 0;
    for (size_t i = 0; i < op_.formula->inputs.size(); ++i) {
      const IValue& argument = arguments_[op_.formula->inputs[i]];
      node->beginInput();
      if (argument.isNone()) node->addEdge({});
      forEachTensor(argument,
                    [&](const Tensor& tensor) { node->addEdge(hasTangent(tensor, level.id) ? Edge(leaf) : Edge()); });
      if (holdsTangent(argument, level.id)) wanted = static_cast<uint16_t>(wanted | 1U << i);
    }
    for (const SavedItem& item : op_.formula->saved) {
      if ((item.for_inputs & wanted) == 0) {
        node->save(SavedValue());
      } else if (item.what == SavedItem::What::kResult) {
        node->save(SavedValue(results[item.position]));
      } else {
        node->save(savedArgument(item, arguments_));
      }
    }
    return node;
  }

  std::vector<Tensor> elementwise(const Level& level, std::span<const IValue> results) const {
    const IntrusivePtr<OperatorNode> node = makeNode(level, results);
    const auto result = static_cast<size_t>(std::countr_zero(op_.formula->differentiable_results));
    std::vector<Tensor> sums(results.size());
    for (size_t i = 0; i < op_.formula->inputs.size(); ++i) {
      const IValue& argument = arguments_[op_.formula->inputs[i]];
      if (!argument.isTensor()) continue;
      const Tensor tangent = constantTangent(argument.toTensor(), level);
      if (!tangent.defined()) continue;
      Gradients gradients(results.size());
      gradients[result] = conjugate(tangent);
      BackwardCall call(*node, gradients, static_cast<uint16_t>(1U << i));
      op_.formula->backward(call);
      const Tensor found = call.takeResults()[node->firstEdge(i)];
      if (!found.defined()) continue;
      Tensor& sum = sums[result];
      sum = sum.defined() ? boxcar::add(sum, conjugate(found)) : conjugate(found);
    }
    return sums;
  }

  std::vector<Tensor> transposed(const Level& level, std::span<const IValue> results) const {
    const IntrusivePtr<OperatorNode> node = makeNode(level, results);
    std::vector<Tensor> tangents;  // for each edge
    for (const uint8_t input : op_.formula->inputs) {
      if (arguments_[input].isNone()) tangents.emplace_back();
      forEachTensor(arguments_[input],
                    [&](const Tensor& tensor) { tangents.push_back(constantTangent(tensor, level)); });
    }
    std::vector<Tensor> outputs;  // undefined where not differentiable
    for (size_t i = 0; i < results.size(); ++i) {
      const bool is_differentiable = (op_.formula->differentiable_results >> i & 1) != 0;
      forEachTensor(results[i],
                    [&](const Tensor& tensor) { outputs.push_back(is_differentiable ? tensor : Tensor()); });
    }
    return tangentsByTransposition(*node, outputs, tangents);
  }

  // [tangents]: one for each tensor in the results.
  void set(const Level& level, std::span<const IValue> results, std::vector<Tensor> tangents) const {
    if (op_.writes_self) {
      // Undefined: the result does not change with the arguments.
      const Tensor& self = results[0].toTensor();
      if (tangents[0].defined()) return writeTangent(self, level.id, tangents[0]);
      return writeZeros(self, level);
    }
    size_t next = 0;
    for (size_t i = 0; i < results.size(); ++i) {
      const bool is_differentiable = (op_.formula->differentiable_results >> i & 1) != 0;
      forEachTensor(results[i], [&](const Tensor& tensor) {
        const Tensor& tangent = tangents[next++];
        if (!is_differentiable || !tangent.defined() || !canRequireGrad(tensor)) return;
        setTangent(tensor, level.id, op_.is_view ? tangent : apart(level, tangent));
      });
    }
  }

  // Whether it is view() of a tensor that shows an element several times, such as an expanded one. The tangent may have
  // other strides then, which do not fit. Neither can be written, so the result may be a copy.
  bool isViewOfRepeated() const {
    static const OperatorHandle view = Dispatcher::singleton().findSchemaOrThrow("aten::view", "");
    return handle_ == view && meta::overlapsItself(arguments_[0].toTensor());
  }
  static const OperatorHandle& reshapeOperator() {
    static const OperatorHandle reshape = Dispatcher::singleton().findSchemaOrThrow("aten::reshape", "");
    return reshape;
  }

  // Returns [tangent] in memory of its own, if it lies in that of an argument's tangent: either may be written.
  Tensor apart(const Level& level, const Tensor& tangent) const {
    bool is_shared = false;
    for (const uint8_t input : op_.formula->inputs) {
      forEachTensor(arguments_[input], [&](const Tensor& tensor) {
        const Tensor other = tangentOf(tensor, level.id);
        is_shared |= other.defined() && other.storage() == tangent.storage();
      });
    }
    return is_shared ? boxcar::clone(tangent) : tangent;
  }

  const DifferentiatedOperator& op_;
  const OperatorHandle& handle_;
  std::vector<IValue> arguments_;
  std::vector<Level> levels_;             // at which an argument has a tangent
  std::vector<Tensor> tangents_of_self_;  // of callsInPlace(), one for each level
};

void computeTangents(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  DispatchKeySet below = keys & DispatchKeySet(DispatchKeySet::FULL_AFTER, kForwardKey);
  // Tensors inside func::vmap() have their tangents within: the call on those comes here again.
  if (keys.has(DispatchKey::FuncTorchBatched)) return op.redispatchBoxed(below, stack);
  const DifferentiatedOperator& known = differentiatedOperator(op);
  const bool has_own = hasOwnDerivative(op, known);
  if (has_own || isComposite(op, known)) {
    const bool has_tangents = std::ranges::any_of(last(stack, known.arguments), [](const IValue& argument) {
      return std::ranges::any_of(forwardLevels(), [&](uint64_t level) { return holdsTangent(argument, level); });
    });
    // A trace has the calls that the operator makes, as what computes the tangents is among them.
    if (has_tangents) below = below.remove(DispatchKey::Tracer);
    // A tensor without history would not lead to the kernel for differentiation.
    if (has_tangents && has_own) below = below | DispatchKeySet(DispatchKey::AutogradFunctionality);
    return op.redispatchBoxed(below, stack);
  }
  PushedCall call(known, op, last(stack, known.arguments));
  {
    // What kernels call is part of this call.
    const OuterForwardLevels none(0);
    op.redispatchBoxed(below, stack);
  }
  call.finish(last(stack, known.results));
}

}  // namespace

void registerForwardKernel() {
  static std::once_flag once;
  std::call_once(once, [] {
    // Never destroyed: calls may run when the process ends.
    static auto& registration = *new RegistrationHandleRAII(Dispatcher::singleton().registerFallback(
        kForwardKey, KernelFunction::makeFromBoxedFunction<&computeTangents>(), {__FILE__, __LINE__}));
    (void)registration;
    setLevelDescriber(kForwardKey, &describeTangents);
  });
}

}  // namespace boxcar::autograd
