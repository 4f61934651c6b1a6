#include <boxcar/backends/transforms/element_use.h>
#include <boxcar/backends/transforms/functional_form.h>
#include <boxcar/backends/transforms/level_text.h>
#include <boxcar/backends/transforms/math_bits.h>
#include <boxcar/backends/transforms/remembered.h>
#include <boxcar/dispatcher/call/hidden_calls.h>
#include <boxcar/dispatcher/call/local_dispatch_key_set.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/value_tensors.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace boxcar::transforms {
namespace {

constexpr DispatchKeySet kBelow(DispatchKeySet::FULL_AFTER, DispatchKey::Conjugate);
// A product's kernel knows conjugates if nothing but modes comes between.
constexpr uint64_t kUpToProducts =
    DispatchKeySet({DispatchKey::Dense, DispatchKey::BackendSelect, DispatchKey::Python}).raw_repr() |
    full_backend_mask;

// While it lives, calls are made below the keys Conjugate and Negative: all above have seen the call that they are for.
// But a trace inside functionalize() has the calls below that.
class BelowMathBits final {
 public:
  BelowMathBits() noexcept : guard_(isFunctionalized() ? kAbove.remove(DispatchKey::Tracer) : kAbove) {}

 private:
  static constexpr DispatchKeySet kAbove = DispatchKeySet(DispatchKeySet::FULL) - kBelow;
  static bool isFunctionalized() noexcept {
    constexpr DispatchKeySet kKey(DispatchKey::Functionalize);
    return tls_is_dispatch_keyset_included(kKey) && !tls_is_dispatch_keyset_excluded(kKey);
  }

  const ExcludeDispatchKeyGuard guard_;
};

bool isConjugate(const Tensor& tensor) { return tensor.key_set().has(DispatchKey::Conjugate); }
bool isNegative(const Tensor& tensor) { return tensor.key_set().has(DispatchKey::Negative); }

Tensor resolvedBelow(const Tensor& tensor) {
  if (!hasMathBits(tensor)) return tensor;
  const BelowMathBits below;
  Tensor result = withoutMathBits(tensor);
  if (isConjugate(tensor)) result = boxcar::conj_physical(result);
  if (!isNegative(tensor)) return result;
  return isConjugate(tensor) ? boxcar::neg_(result) : boxcar::neg(result);
}

// How an operator is called on tensors with bits.
struct BitsPlan {
  using Way = BitsWay;
  Way way = Way::kResolve;
  uint8_t first_factor = 0;  // of a product, the first of two arguments
};

constexpr std::pair<std::string_view, uint8_t> kProducts[] = {
    {"aten::mm", 0},     {"aten::bmm", 0},      {"aten::mv", 0},      {"aten::dot", 0},   {"aten::vdot", 0},
    {"aten::addmm", 1},  {"aten::baddbmm", 1},  {"aten::addbmm", 1},  {"aten::addmv", 1}, {"aten::addmm_", 1},
    {"aten::addmv_", 1}, {"aten::baddbmm_", 1}, {"aten::addbmm_", 1},
};

BitsPlan makePlan(const OperatorHandle& op) {
  using Way = BitsPlan::Way;
  const std::string_view name = op.operator_name().name;
  if (name == "aten::copy_") return {.way = Way::kCopy};
  if (name == "aten::clone") return {.way = Way::kClone};
  for (const auto& [product, first] : kProducts) {
    if (name == product) return {.way = Way::kProduct, .first_factor = first};
  }
  if (planOf(op).kind == OperatorPlan::Kind::kSet) return {.way = Way::kTakeMemory};
  return {.way = readsNoElements(op) ? Way::kPass : Way::kResolve};
}

const BitsPlan& bitsPlan(const OperatorHandle& op) { return remembered<&makePlan>(op); }

// One call with tensors that have bits.
class BitsCall final {
 public:
  BitsCall(const OperatorHandle& op, DispatchKeySet below, Stack& stack)
      : op_(op), below_(below), stack_(stack), first_(stack.size() - op.schema().arguments().size()) {}

  void run() {
    using Way = BitsPlan::Way;
    const BitsPlan& plan = bitsPlan(op_);
    switch (plan.way) {
      case Way::kPass: return pass();
      case Way::kCopy: return copy();
      case Way::kClone: return clone();
      case Way::kTakeMemory: return takeMemory();
      case Way::kProduct: return resolve(knowsConjugates(plan) ? plan.first_factor : kNoFactor);
      case Way::kResolve: break;
    }
    if (!isMadeOfOthers(op_, below_)) return resolve(kNoFactor);
    // Its kernel may have a quicker way for plain tensors: the thread's key says that these are none.
    const IncludeDispatchKeyGuard led_here(DispatchKey::Conjugate);
    pass();
  }

 private:
  static constexpr size_t kNoFactor = ~size_t{0} - 1;

  IValue& argument(size_t i) { return stack_[first_ + i]; }
  void pass() { op_.redispatchBoxed(below_, stack_); }
  void finish(IValue result) {
    drop(stack_, stack_.size() - first_);
    stack_.push_back(std::move(result));
  }

  // Whether the kernel of the product multiplies by conjugates as quickly as by what is in memory.
  bool knowsConjugates(const BitsPlan& plan) {
    if (!below_.has_backend(BackendComponent::CPUBit) || (below_.raw_repr() & ~kUpToProducts) != 0) return false;
    return std::ranges::all_of(std::span(&argument(plan.first_factor), 2), [](const IValue& factor) {
      return factor.isTensor() && factor.toTensor().is_cpu() && factor.toTensor().is_complex();
    });
  }

  // Calls the operator on copies, and writes to tensors with bits what it has written to their copies. The two factors
  // from [factor] on keep the bit of conjugates.
  void resolve(size_t factor) {
    const std::vector<Argument>& parameters = op_.schema().arguments();
    std::vector<std::pair<Tensor, Tensor>> written;  // and the copy
    for (size_t i = 0; i < parameters.size(); ++i) {
      const bool is_factor = i == factor || i == factor + 1;
      const bool writes = parameters[i].is_write();
      IValue& value = argument(i);
      bool has_bits = false;
      visitTensors(value, [&](const Tensor& tensor) { has_bits |= hasMathBits(tensor); });
      if (!has_bits) continue;
      value = mapTensors(value, [&](const Tensor& tensor) {
        if (!hasMathBits(tensor) || (is_factor && !isNegative(tensor))) return tensor;
        if (writes) {
          const auto known =
              std::ranges::find_if(written, [&](const auto& each) { return each.first.is_same(tensor); });
          if (known != written.end()) return known->second;
        }
        Tensor copy = resolvedBelow(tensor);
        if (writes) written.emplace_back(tensor, copy);
        return copy;
      });
    }
    op_.redispatchBoxed(below_, stack_);
    if (written.empty()) return;
    for (size_t i = first_; i < stack_.size(); ++i) {
      stack_[i] = mapTensors(stack_[i], [&](const Tensor& tensor) {
        const auto found = std::ranges::find_if(written, [&](const auto& each) { return each.second.is_same(tensor); });
        return found != written.end() ? found->first : tensor;
      });
    }
    const BelowMathBits below;
    for (const auto& [tensor, copy] : written) writeBack(tensor, copy);
  }

  static void writeBack(const Tensor& tensor, const Tensor& copy) {
    if (!std::ranges::equal(tensor.sizes(), copy.sizes())) {
      Tensor plain = withoutMathBits(tensor);
      boxcar::resize_(plain, copy.sizes());
      tensor.unsafeGetTensorImpl()->setShape(plain.sizes(), plain.strides(), plain.storage_offset());
    }
    Tensor target = withoutMathBits(tensor);
    boxcar::copy_(target, copy);
    if (isConjugate(tensor)) boxcar::conj_physical_(target);
    if (isNegative(tensor)) boxcar::neg_(target);
  }

  // Copies memory, and changes it in place where the bits differ.
  void copy() {
    const Tensor self = argument(0).toTensor();
    const Tensor src = argument(1).toTensor();
    const bool is_plain_copy = self.defined() && src.defined() && self.scalar_type() == src.scalar_type();
    if (!is_plain_copy) return resolve(kNoFactor);
    argument(0) = withoutMathBits(self);
    argument(1) = withoutMathBits(src);
    op_.redispatchBoxed(below_, stack_);
    const BelowMathBits below;
    Tensor target = withoutMathBits(self);
    if (isConjugate(self) != isConjugate(src)) boxcar::conj_physical_(target);
    if (isNegative(self) != isNegative(src)) boxcar::neg_(target);
    stack_[first_] = self;
  }

  void clone() {
    if (!hasMathBits(argument(0).toTensor())) return pass();
    const auto format = argument(1).to<std::optional<MemoryFormat>>();
    if (format.value_or(MemoryFormat::Preserve) != MemoryFormat::Preserve) return resolve(kNoFactor);
    finish(resolvedBelow(argument(0).toTensor()));
  }

  // The memory of a tensor without bits would be that of one with them, or the other way.
  void takeMemory() {
    for (size_t i = 1; i < op_.schema().arguments().size(); ++i) {
      if (!argument(i).isTensor()) continue;
      const DispatchKeySet own = argument(0).toTensor().key_set() & math_bits_ks;
      BOXCAR_CHECK(own == (argument(i).toTensor().key_set() & math_bits_ks),
                   "{}: one tensor is lazily conjugated or negated and the other is not, so its memory stands for "
                   "other elements; give it x.resolve_conj().resolve_neg()",
                   toString(op_));
    }
    pass();
  }

  const OperatorHandle& op_;
  const DispatchKeySet below_;
  Stack& stack_;
  const size_t first_;
};

void callWithBits(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  BitsCall(op, keys & kBelow, stack).run();
}

// For what reads memory without an operator.
Tensor resolvedHidden(const Tensor& tensor) {
  const HiddenCalls hidden;
  // The memory of a program's tensors holds what it wrote.
  const ExcludeDispatchKeyGuard as_it_is(DispatchKey::Functionalize);
  return resolvedBelow(tensor);
}

[[maybe_unused]] const bool is_bits_hook_set = (boxcar::detail::setMathBitsHook(&registerMathBits), true);

}  // namespace

BitsWay bitsWayOf(const OperatorHandle& op) { return bitsPlan(op).way; }

void registerMathBits() {
  static std::once_flag once;
  std::call_once(once, [] {
    setResolveTensor(&resolvedHidden);
    // Never destroyed: calls may run when the process ends.
    static auto& registrations = *new std::vector<RegistrationHandleRAII>;
    for (const DispatchKey key : {DispatchKey::Conjugate, DispatchKey::Negative}) {
      registrations.push_back(Dispatcher::singleton().registerFallback(
          key, KernelFunction::makeFromBoxedFunction<&callWithBits>(), {__FILE__, __LINE__}));
      setLevelDescriber(key, &describeMathBitsLevel);
    }
  });
}

}  // namespace boxcar::transforms
