#include <boxcar/dispatcher/call/hidden_calls.h>
#include <boxcar/dispatcher/handlers/call_results.h>
#include <boxcar/dispatcher/handlers/check/nan_checker.h>
#include <boxcar/dispatcher/values/aliasing.h>
#include <boxcar/dispatcher/values/tensor_bytes.h>
#include <boxcar/dispatcher/values/tensor_range.h>
#include <boxcar/dispatcher/values/value_copy.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace boxcar {
namespace {

bool isFinite(double number) { return std::isfinite(number); }
bool isFinite(std::complex<double> number) { return isFinite(number.real()) && isFinite(number.imag()); }

template <class T>
bool areFinite(const List<T>& list) {
  return std::ranges::all_of(list, [](T number) { return isFinite(number); });
}

// Whether the numbers in a value that are not in tensors are finite. Containers may contain themselves, or one another
// many times, and may nest deeper than calls can.
bool numbersAreFinite(const IValue& whole) {
  std::set<const void*> seen;
  std::vector<IValue> pending{whole};
  while (!pending.empty()) {
    const IValue value = std::move(pending.back());
    pending.pop_back();
    if (value.isDouble() && !isFinite(value.toDouble())) return false;
    if (value.isComplexDouble() && !isFinite(value.toComplexDouble())) return false;
    if (value.isDoubleList() && !areFinite(value.toDoubleList())) return false;
    if (value.isComplexDoubleList() && !areFinite(value.toComplexDoubleList())) return false;
    const void* const address = containerAddress(value);
    if (address == nullptr || value.isTensorList() || !seen.insert(address).second) continue;
    if (value.isGenericDict()) {
      const GenericDict dict = value.toGenericDict();
      for (size_t i = 0; i < dict.size(); ++i) pending.push_back(dict.entryAt(i).second);
    } else {
      for (size_t i = 0; i < value.length(); ++i) pending.push_back(value.elementAt(i));
    }
  }
  return true;
}

// Returns a copy of the current elements of [tensor].
Tensor snapshotOf(const Tensor& tensor) {
  const ElementBytes elements(tensor);
  const HiddenCalls hidden;
  const Tensor snapshot = Tensor::allocate(tensor.sizes(), tensor.scalar_type());
  if (snapshot.numel() > 0) std::memcpy(snapshot.data_ptr(), elements.bytes().data(), elements.bytes().size());
  return snapshot;
}

// A call's inputs, and the previous contents of those that the call changes.
class Inputs final {
 public:
  Inputs(const FunctionSchema& schema, std::span<const IValue> values)
      : schema_(schema), values_(values.begin(), values.end()), tensors_(tensorsOfArguments(schema, values)) {
    snapshots_.resize(tensors_.size());
    for (size_t i = 0; i < tensors_.size(); ++i) {
      // Other inputs may share memory with what is written.
      const bool may_change = tensors_[i].isWritten() || sharesWithWritten(tensors_[i].tensor);
      if (may_change && !isOut(tensors_[i]) && hasBytes(tensors_[i].tensor))
        snapshots_[i] = snapshotOf(tensors_[i].tensor);
    }
  }

  const std::vector<PlacedTensor>& tensors() const noexcept { return tensors_; }

  bool areFinite() const {
    for (const IValue& value : values_) {
      if (!numbersAreFinite(value)) return false;
    }
    for (size_t i = 0; i < tensors_.size(); ++i) {
      if (!isOut(tensors_[i]) && !allFinite(before(i))) return false;
    }
    return true;
  }

  // One line for each tensor, and for each number that enters the computation.
  std::string text() const {
    std::string lines;
    size_t next = 0;
    for (size_t index = 0; index < values_.size(); ++index) {
      if (isOperand(index)) lines += fmt::format("\n  {}: {}", argumentPlace(schema_, index), repr(values_[index]));
      for (; next < tensors_.size() && tensors_[next].index == index; ++next) {
        lines += fmt::format("\n  {}: {}", tensors_[next].place,
                             isOut(tensors_[next]) ? typeAndSizes(tensors_[next].tensor) + ", not read"
                                                   : describe(before(next), rangeOf(before(next))));
      }
    }
    return lines;
  }

 private:
  // Whether it is, for example, a divisor, an exponent or coefficients; not a dimension or a default.
  bool isOperand(size_t index) const {
    const IValue& value = values_[index];
    const Argument& argument = schema_.arguments()[index];
    const TypePtr type = argument.type()->isOptional() ? argument.type()->element() : argument.type();
    const bool is_number = value.isDouble() || value.isComplexDouble() || value.isDoubleList() ||
                           (value.isInt() && type->kind() == TypeKind::Scalar);
    return is_number && !(argument.default_value() && *argument.default_value() == value);
  }
  bool isOut(const PlacedTensor& input) const {
    return input.index < schema_.arguments().size() && schema_.arguments()[input.index].is_out();
  }
  bool sharesWithWritten(const Tensor& tensor) const {
    for (const PlacedTensor& other : tensors_) {
      if (other.isWritten() && shareMemory(tensor, other.tensor)) return true;
    }
    return false;
  }
  const Tensor& before(size_t i) const { return snapshots_[i].defined() ? snapshots_[i] : tensors_[i].tensor; }

  const FunctionSchema& schema_;
  std::vector<IValue> values_;
  std::vector<PlacedTensor> tensors_;
  std::vector<Tensor> snapshots_;  // undefined if the call does not change the input
};

[[noreturn]] void fail(const OperatorHandle& op, const std::string& what, const Inputs& inputs) {
  const std::string text = inputs.text();
  BOXCAR_FAIL("{} made {}, and its inputs have none{}{}", op, what, text.empty() ? "; it takes no tensors" : ":", text);
}

void check(const OperatorHandle& op, const PlacedTensor& output, const std::string& place, const Inputs& inputs) {
  if (allFinite(output.tensor) || !inputs.areFinite()) return;
  const TensorRange range = rangeOf(output.tensor);
  const int64_t count = output.tensor.numel();
  fail(op,
       fmt::format("{} in the {} of {}, {}", countsText(range.nans, range.infinities),
                   count == 1 ? "one element" : fmt::format("{} elements", count), place, typeAndSizes(output.tensor)),
       inputs);
}

}  // namespace

void NanChecker::call(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  const FunctionSchema& schema = op.schema();
  const size_t count = schema.arguments().size();
  if (schema.is_vararg() || op.hasTag(Tag::nondeterministic_bitwise)) return op.redispatchBoxed(keys, stack);
  const Inputs inputs(schema, last(stack, count));
  const size_t below = stack.size() - count;
  op.redispatchBoxed(keys, stack);

  for (const PlacedTensor& input : inputs.tensors()) {
    if (input.isWritten()) check(op, input, input.place, inputs);
  }
  const std::span<const IValue> results = resultsAbove(stack, below);
  for (const PlacedTensor& result : tensorsOfResults(schema, results)) {
    // A view has the elements of its base, and written arguments were checked above.
    if (result.alias == nullptr || op.hasTag(Tag::maybe_aliasing_or_mutating)) check(op, result, result.place, inputs);
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (!numbersAreFinite(results[i]) && inputs.areFinite())
      fail(op, fmt::format("{} as {}", repr(results[i]), resultPlace(schema, i)), inputs);
  }
}

constinit const HandlerKind kCheckNanKind = {
    "check_nan() -> ()", "Stop at the first operator that makes a NaN or an Inf from arguments that have none",
    [](std::span<const IValue>) -> std::unique_ptr<Handler> { return std::make_unique<NanChecker>(); }};

}  // namespace boxcar
