#include <boxcar/backends/composite/fused_append.h>
#include <boxcar/backends/composite/fused_expressions.h>
#include <boxcar/backends/composite/handed_over.h>
#include <boxcar/backends/composite/plain_call.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/last_reference.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/array_ref.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <string_view>
#include <vector>

// fused::pointwise: an expression's operators called one after the other, or a program of it on CPUs.

namespace boxcar::composite {
namespace {

using native::Operation;
using native::PointwiseExpression;
using Node = PointwiseExpression::Node;

// Returns the number as a tensor whose type has lower priority in promotion, for operators that take no number there.
Tensor wrappedNumber(const Scalar& number) {
  Tensor result = native::numberTensor(number, number.type());
  result.unsafeGetTensorImpl()->set_wrapped_number(true);
  return result;
}

// Calls the operators of an expression.
class FusedEvaluation final {
 public:
  FusedEvaluation(const PointwiseExpression& expression, TensorList inputs)
      : expression_(expression), nodes_(expression.nodes()), inputs_(inputs), values_(nodes_.size()) {}

  Tensor run() {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const Node& node = nodes_[i];
      if (!node.isTensor()) continue;
      values_[i] = node.operation == Operation::kInput ? inputs_[node.operands[0]] : call(node);
      for (const uint32_t operand : expression_.operandsOf(node)) {
        if (node.operation != Operation::kInput && expression_.lastUses()[operand] == i) values_[operand] = {};
      }
    }
    return values_.back();
  }

 private:
  bool isTensor(uint32_t node) const { return nodes_[node].isTensor(); }
  const Tensor& tensor(uint32_t node) const { return values_[node]; }
  const Scalar& number(uint32_t node) const { return nodes_[node].number; }

  template <class Bound, class Read>
  std::optional<Bound> bound(uint32_t node, const Read& read) const {
    if (nodes_[node].operation == Operation::kNone) return std::nullopt;
    return read(node);
  }
  Tensor clamp(uint32_t self, uint32_t low, uint32_t high) const {
    if (isTensor(low) || isTensor(high)) {
      const auto read = [this](uint32_t node) { return tensor(node); };
      return boxcar::clamp(tensor(self), bound<Tensor>(low, read), bound<Tensor>(high, read));
    }
    const auto read = [this](uint32_t node) { return number(node); };
    return boxcar::clamp(tensor(self), bound<Scalar>(low, read), bound<Scalar>(high, read));
  }
  Tensor power(uint32_t base, uint32_t exponent) const {
    if (!isTensor(base)) return boxcar::pow(number(base), tensor(exponent));
    return isTensor(exponent) ? boxcar::pow(tensor(base), tensor(exponent))
                              : boxcar::pow(tensor(base), number(exponent));
  }
  Tensor where(uint32_t condition, uint32_t a, uint32_t b) const {
    const Tensor& chosen = tensor(condition);
    if (isTensor(a)) {
      return isTensor(b) ? boxcar::where(chosen, tensor(a), tensor(b)) : boxcar::where(chosen, tensor(a), number(b));
    }
    return isTensor(b) ? boxcar::where(chosen, number(a), tensor(b)) : boxcar::where(chosen, number(a), number(b));
  }

  // Calls the operator of a node as scripts do, where a number may be on either side.
  Tensor call(const Node& node) const {
    const auto& [a, b, c, d] = node.operands;
    switch (node.operation) {
      case Operation::kInput:
      case Operation::kNumber:
      case Operation::kNone: break;
      case Operation::kAdd:
        if (!isTensor(a)) return boxcar::add(tensor(b), number(a));
        return isTensor(b) ? boxcar::add(tensor(a), tensor(b)) : boxcar::add(tensor(a), number(b));
      case Operation::kSub:
        if (!isTensor(a)) return boxcar::rsub(tensor(b), number(a));
        return isTensor(b) ? boxcar::sub(tensor(a), tensor(b)) : boxcar::sub(tensor(a), number(b));
      case Operation::kMul:
        if (!isTensor(a)) return boxcar::mul(tensor(b), number(a));
        return isTensor(b) ? boxcar::mul(tensor(a), tensor(b)) : boxcar::mul(tensor(a), number(b));
      case Operation::kDiv:
        if (!isTensor(a)) return boxcar::div(wrappedNumber(number(a)), tensor(b));
        return isTensor(b) ? boxcar::div(tensor(a), tensor(b)) : boxcar::div(tensor(a), number(b));
      case Operation::kPow: return power(a, b);
#define BOXCAR_CALL_COMPARISON(name, functor, swapped)              \
  case Operation::k_##name:                                         \
    if (!isTensor(a)) return boxcar::swapped(tensor(b), number(a)); \
    return isTensor(b) ? boxcar::name(tensor(a), tensor(b)) : boxcar::name(tensor(a), number(b));
        BOXCAR_EXPRESSION_COMPARISONS(BOXCAR_CALL_COMPARISON)
#undef BOXCAR_CALL_COMPARISON
#define BOXCAR_CALL_UNARY(name, functor) \
  case Operation::k_##name: return boxcar::name(tensor(a));
        BOXCAR_EXPRESSION_UNARY(BOXCAR_CALL_UNARY)
#undef BOXCAR_CALL_UNARY
      case Operation::kRelu6: return boxcar::relu6(tensor(a));
      case Operation::kSelu: return boxcar::selu(tensor(a));
      case Operation::kGelu: return boxcar::gelu(tensor(a));
      case Operation::kGeluTanh: return boxcar::gelu(tensor(a), "tanh");
      case Operation::kElu: return boxcar::elu(tensor(a), number(b), number(c), number(d));
      case Operation::kLeakyRelu: return boxcar::leaky_relu(tensor(a), number(b));
      case Operation::kHardtanh: return boxcar::hardtanh(tensor(a), number(b), number(c));
      case Operation::kSoftplus: return boxcar::softplus(tensor(a), number(b), number(c));
      case Operation::kClamp: return clamp(a, b, c);
      case Operation::kClampMin:
        return isTensor(b) ? boxcar::clamp_min(tensor(a), tensor(b)) : boxcar::clamp_min(tensor(a), number(b));
      case Operation::kClampMax:
        return isTensor(b) ? boxcar::clamp_max(tensor(a), tensor(b)) : boxcar::clamp_max(tensor(a), number(b));
      case Operation::kMinimum: return boxcar::minimum(tensor(a), tensor(b));
      case Operation::kMaximum: return boxcar::maximum(tensor(a), tensor(b));
      case Operation::kWhere: return where(a, b, c);
      case Operation::kMaskedFill:
        return isTensor(c) ? boxcar::masked_fill(tensor(a), tensor(b), tensor(c))
                           : boxcar::masked_fill(tensor(a), tensor(b), number(c));
    }
    return {};
  }

  const PointwiseExpression& expression_;
  const std::span<const Node> nodes_;
  const TensorList inputs_;
  std::vector<Tensor> values_;
};

// Calls the operators one after the other.
Tensor callOperators(std::string_view text, TensorList inputs) {
  // Its own reference: what the operators run may ask for other expressions.
  const std::shared_ptr<const FusedExpression> fused = fusedExpression(text);
  fused->expression.checkInputs(inputs.size());
  return FusedEvaluation(fused->expression, inputs).run();
}

// What is known about a call beside its arguments.
struct PointwiseCall {
  DispatchKeySet keys;
  bool owns_list = false;  // nobody else has the list of inputs
};

// Runs the program if the call is of plain CPU tensors alone.
Tensor runOrCall(PointwiseCall call, std::string_view text, TensorList inputs) {
  if (isPlainCpuCall(call.keys)) [[likely]] {
    const FusedExpression& fused = *fusedExpression(text);
    fused.expression.checkInputs(inputs.size());
    for (const native::PointwiseProgram& program : fused.programs) {
      if (Tensor result = program.run(inputs, call.owns_list); result.defined()) return result;
    }
  }
  return callOperators(text, inputs);
}

Tensor pointwise(DispatchKeySet keys, std::string_view text, TensorList inputs) {
  return runOrCall({keys}, text, inputs);
}

void pointwiseOnStack(const Kernel*, const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  PointwiseCall call{keys};
  if (!stack.empty() && stack.back().tag() == IValue::Tag::TensorList) {
    call.owns_list = stack.back().unsafeGet<IValue::Tag::TensorList>().use_count() == 1;
  }
  callOnStack(&runOrCall, call, op, stack);
}

using OptionalDims = std::optional<std::span<const int64_t>>;
using native::GroupReduction;

GroupReduction groupReductionOf(std::string_view name) {
  if (name == "sum") return GroupReduction::kSum;
  if (name == "mean") return GroupReduction::kMean;
  if (name == "amax") return GroupReduction::kAmax;
  if (name == "amin") return GroupReduction::kAmin;
  BOXCAR_FAIL(
      "fused::pointwise_reduce: there is no reduction \"{}\"; there are \"sum\", \"mean\", \"amax\" and \"amin\"",
      name);
}

Tensor reduced(const Tensor& self, GroupReduction reduction, OptionalDims dim, bool keepdim) {
  switch (reduction) {
    case GroupReduction::kSum: return boxcar::sum(self, dim, keepdim);
    case GroupReduction::kMean: return boxcar::mean(self, dim, keepdim);
    case GroupReduction::kAmax: return boxcar::amax(self, dim.value_or(std::span<const int64_t>()), keepdim);
    case GroupReduction::kAmin: return boxcar::amin(self, dim.value_or(std::span<const int64_t>()), keepdim);
  }
  return {};
}

Tensor callAndReduce(std::string_view reduction, std::string_view text, TensorList inputs, OptionalDims dim,
                     bool keepdim) {
  const GroupReduction kind = groupReductionOf(reduction);
  return reduced(callOperators(text, inputs), kind, dim, keepdim);
}

Tensor pointwiseReduce(DispatchKeySet keys, std::string_view reduction, std::string_view text, TensorList inputs,
                       OptionalDims dim, bool keepdim) {
  const GroupReduction kind = groupReductionOf(reduction);
  if (isPlainCpuCall(keys)) [[likely]] {
    const FusedExpression& fused = *fusedExpression(text);
    fused.expression.checkInputs(inputs.size());
    const auto dims = dim.value_or(std::span<const int64_t>());
    for (const native::PointwiseProgram& program : fused.programs) {
      if (Tensor result = program.reduce(inputs, kind, dims, keepdim); result.defined()) return result;
    }
  }
  return reduced(pointwise(keys, text, inputs), kind, dim, keepdim);
}

void registerOperators(Library& m) {
  m.impl("pointwise", BOXCAR_FN(callOperators));
  m.impl("pointwise_reduce", BOXCAR_FN(callAndReduce));
  m.impl("append", CppFunction::makeFromBoxedFunction<&callCatForAppend>());
}

}  // namespace

BOXCAR_LIBRARY_IMPL(fused, CompositeImplicitAutograd, m) {
  m.impl("pointwise", TwoForms<&pointwise, &pointwiseOnStack>::kKernel, std::source_location::current());
  m.impl("pointwise_reduce", BOXCAR_FN(pointwiseReduce));
  m.impl("append", CppFunction::makeFromBoxedFunction<&append>());
}

// Modes and tracers see the operators instead of these: a kernel at their key runs in place of them.
BOXCAR_LIBRARY_IMPL(fused, PreDispatch, m) { registerOperators(m); }
BOXCAR_LIBRARY_IMPL(fused, Python, m) { registerOperators(m); }
BOXCAR_LIBRARY_IMPL(fused, Tracer, m) { registerOperators(m); }

}  // namespace boxcar::composite
