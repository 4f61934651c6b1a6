#include <boxcar/backends/autograd/function_call.h>
#include <boxcar/backends/meta/output.h>
#include <boxcar/backends/meta/spatial.h>
#include <boxcar/backends/transforms/functional_calls.h>
#include <boxcar/dispatcher/call/hidden_calls.h>
#include <boxcar/dispatcher/call/local_dispatch_key_set.h>
#include <boxcar/ivalue/default_generators.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/value_tensors.h>
#include <boxcar/ops.h>
#include <boxcar/schema/function_schema.h>

#include <algorithm>
#include <utility>

namespace boxcar::transforms {
namespace {

bool isOnMemory(const IValue& value, const Storage& storage) {
  bool found = false;
  visitTensors(value, [&](const Tensor& tensor) { found |= tensor.storage() == storage; });
  return found;
}

bool hasShapeOf(const Tensor& tensor, const Tensor& value) {
  return std::ranges::equal(tensor.sizes(), value.sizes()) && tensor.device() == value.device() &&
         tensor.layout() == value.layout();
}

}  // namespace

// ---- Calls ----

std::vector<IValue> FunctionalCall::takeArguments() {
  std::vector<IValue> taken(std::make_move_iterator(stack_.end() - count_), std::make_move_iterator(stack_.end()));
  stack_.resize(stack_.size() - count_);
  return taken;
}

void FunctionalCall::giveResults(std::vector<IValue> results) {
  for (IValue& result : results) stack_.push_back(std::move(result));
}

bool FunctionalCall::currentOf(std::span<const IValue> values, std::vector<IValue>& mapped) const {
  bool is_mapped = false;
  mapped.reserve(values.size());
  for (const IValue& value : values) {
    if (value.isTensor()) {
      Tensor current = values_.current(value.toTensor());
      is_mapped |= !current.is_same(value.toTensor());
      mapped.emplace_back(std::move(current));
      continue;
    }
    // A container is copied only if it holds a tensor with another value.
    bool has_other = false;
    visitTensors(value, [&](const Tensor& tensor) { has_other |= !values_.current(tensor).is_same(tensor); });
    mapped.push_back(has_other ? mapTensors(value, [&](const Tensor& tensor) { return values_.current(tensor); })
                               : value);
    is_mapped |= has_other;
  }
  return is_mapped;
}

std::vector<IValue> FunctionalCall::callBelow(const OperatorHandle& op, const std::vector<IValue>& arguments) const {
  Stack stack(arguments);
  // A redispatch is not another call to modes above and observers.
  op.redispatchBoxed(keys_, stack);
  return std::vector<IValue>(std::make_move_iterator(stack.begin()), std::make_move_iterator(stack.end()));
}

std::vector<IValue> FunctionalCall::callHidden(const std::vector<IValue>& arguments) const {
  const HiddenCalls hidden;
  Stack stack(arguments);
  op_.callBoxed(stack);
  return std::vector<IValue>(std::make_move_iterator(stack.begin()), std::make_move_iterator(stack.end()));
}

void FunctionalCall::callHiddenOnce(std::vector<IValue> arguments) const {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const TypePtr type = op_.schema().arguments()[i].type();
    if ((type->isOptional() ? type->element() : type)->kind() != TypeKind::Generator) continue;
    arguments[i] = IValue(makeGenerator(arguments[plan_.written[0]].toTensor().device(), 0));
    callHidden(arguments);
    return;
  }
}

FunctionalCall::FunctionalCall(FunctionalValues& values, const OperatorHandle& op, DispatchKeySet below, Stack& stack)
    : values_(values),
      op_(op),
      plan_(planOf(op)),
      keys_(tls_is_dispatch_key_included(DispatchKey::Tracer) && !tls_is_dispatch_key_excluded(DispatchKey::Tracer)
                ? below.add(DispatchKey::Tracer)
                : below),
      stack_(stack),
      count_(op.schema().arguments().size()) {}

void FunctionalCall::run() {
  switch (plan_.kind) {
    case OperatorPlan::Kind::kRead: return read();
    case OperatorPlan::Kind::kView: return view() ? void() : read();
    case OperatorPlan::Kind::kWrite: {
      const std::span<IValue> given = arguments();
      // Batch norm writes its statistics in training alone: its arguments are input, weight, bias, the two, training.
      const bool writes = !plan_.writes_statistics || !plan_.form || (given[3].isTensor() && given[5].toBool());
      return writes ? write() : read();
    }
    case OperatorPlan::Kind::kShape: return shape();
    case OperatorPlan::Kind::kResize: return resize();
    case OperatorPlan::Kind::kSet:
      BOXCAR_FAIL(
          "{} cannot be called inside functionalize(): a tensor would get another's memory, which a program without "
          "writes does not have. Call it outside of the scope, or use the other tensor itself",
          op_.operator_name());
    case OperatorPlan::Kind::kPass: break;
  }
  op_.redispatchBoxed(keys_, stack_);
}

// ---- Reads ----

ViewStep FunctionalCall::stepOf(const std::vector<IValue>& arguments, uint8_t viewed, int64_t index) const {
  ViewStep step{op_, plan_.kind == OperatorPlan::Kind::kView ? plan_.form : std::nullopt, {}, viewed, index};
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (i != viewed) step.arguments.push_back(arguments[i]);
  }
  return step;
}

void FunctionalCall::noteResult(const std::vector<IValue>& arguments, const Tensor& result,
                                std::optional<int64_t> index, bool is_value) const {
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!isOnMemory(arguments[i], result.storage())) continue;
    if (arguments[i].isTensor()) {
      std::optional<ViewStep> step;
      if (index) step = stepOf(arguments, static_cast<uint8_t>(i), *index);
      return values_.noteView(result, arguments[i].toTensor(), std::move(step), is_value);
    }
    for (const Tensor& viewed : autograd::tensorsIn({&arguments[i], 1})) {
      if (viewed.storage() == result.storage()) return values_.noteView(result, viewed, std::nullopt, is_value);
    }
  }
  values_.noteMade(result.storage());
}

void FunctionalCall::noteResults(const std::vector<IValue>& arguments, std::span<const IValue> results,
                                 bool is_value) const {
  // Of several results, a step could not say which.
  const bool is_only = results.size() == 1;
  for (const IValue& result : results) {
    if (result.isTensor()) {
      if (result.toTensor().defined()) {
        noteResult(arguments, result.toTensor(), is_only ? std::optional<int64_t>(-1) : std::nullopt, is_value);
      }
      continue;
    }
    int64_t index = 0;
    visitTensors(result, [&](const Tensor& tensor) {
      const bool is_element = is_only && result.isTensorList();
      noteResult(arguments, tensor, is_element ? std::optional(index++) : std::nullopt, is_value);
    });
  }
}

void FunctionalCall::read() {
  const std::vector<IValue> given(stack_.end() - count_, stack_.end());
  const size_t base = stack_.size() - count_;
  std::vector<IValue> values;
  if (!currentOf(given, values) && !unwrapNumbers(values)) {
    op_.redispatchBoxed(keys_, stack_);
    return noteResults(given, std::span<const IValue>(stack_.begin() + base, stack_.end()), true);
  }
  stack_.resize(base);
  std::vector<uint32_t> versions;
  for (const IValue& value : values) versions.push_back(value.isTensor() ? value.toTensor().version() : 0);
  std::vector<IValue> results = callBelow(op_, values);
  for (size_t i = 0; i < values.size(); ++i) {
    BOXCAR_CHECK(!values[i].isTensor() || values[i].toTensor().version() == versions[i],
                 "{} writes its argument '{}', but its schema does not say so, so that functionalize() cannot follow "
                 "it: write Tensor(a!) in its schema\n  {}",
                 op_.operator_name(), op_.schema().arguments()[i].name(), op_.schema());
  }
  const auto isPart = [&](const Tensor& tensor) {
    return std::ranges::any_of(values, [&](const IValue& value) { return isOnMemory(value, tensor.storage()); });
  };
  bool has_part = false;
  for (const IValue& result : results) visitTensors(result, [&](const Tensor& tensor) { has_part |= isPart(tensor); });
  if (!has_part && !mayDifferInOrder(given, values)) {
    for (const IValue& result : results) {
      visitTensors(result, [&](const Tensor& tensor) { values_.noteMade(tensor.storage()); });
    }
    return giveResults(std::move(results));
  }
  // The program gets a view of its own tensor, or a tensor with the strides of what its own tensors give.
  std::vector<Tensor> expected;
  std::vector<IValue> shown = callHidden(given);
  for (const IValue& result : shown) visitTensors(result, [&](const Tensor& tensor) { expected.push_back(tensor); });
  size_t next = 0;
  for (IValue& result : results) {
    bool has_tensor = false;
    visitTensors(result, [&](const Tensor&) { has_tensor = true; });
    if (!has_tensor) continue;
    result = mapTensors(result, [&](const Tensor& tensor) {
      if (!tensor.defined() || next >= expected.size()) return tensor;
      const Tensor& other = expected[next++];
      if (std::ranges::any_of(given, [&](const IValue& value) { return isOnMemory(value, other.storage()); }))
        return other;
      const bool has_strides = std::ranges::equal(tensor.strides(), other.strides());
      if (has_strides) return isPart(tensor) ? boxcar::clone(tensor) : tensor;
      return withStrides(tensor, other.strides());
    });
  }
  noteResults(given, results, false);
  giveResults(std::move(results));
}

bool FunctionalCall::unwrapNumbers(std::vector<IValue>& values) const {
  if (!keys_.has(DispatchKey::Tracer)) return false;
  IValue* number = nullptr;
  for (IValue& value : values) {
    bool has_tensor = false;
    visitTensors(value, [&](const Tensor&) { has_tensor = true; });
    if (!has_tensor) continue;
    if (number != nullptr || !value.isTensor()) return false;
    if (!value.toTensor().unsafeGetTensorImpl()->is_wrapped_number()) return false;
    number = &value;
  }
  if (number == nullptr) return false;
  // A number of float64 would be one of float32 to what promotes dtypes.
  const bool has_dtype = isIntegralType(number->toTensor().scalar_type(), true);
  if (!has_dtype && op_.operator_name().name != "aten::_to_copy") return false;
  const Tensor copy = number->toTensor().shallowCopy();
  copy.unsafeGetTensorImpl()->set_wrapped_number(false);
  *number = copy;
  return true;
}

bool FunctionalCall::mayDifferInOrder(const std::vector<IValue>& given, const std::vector<IValue>& values) const {
  if (!values_.copies() || plan_.is_random) return false;
  for (size_t i = 0; i < given.size(); ++i) {
    if (!given[i].isTensor() || !given[i].toTensor().defined()) continue;
    const Tensor& tensor = given[i].toTensor();
    const Tensor& value = values[i].toTensor();
    if (!value.is_contiguous() && !std::ranges::equal(tensor.strides(), value.strides())) return true;
  }
  return false;
}

bool FunctionalCall::view() {
  const std::span<IValue> given = arguments();
  const Tensor viewed = given[plan_.viewed].toTensor();
  if (!values_.copies()) {
    const bool is_mapped = std::ranges::any_of(given, [&](const IValue& value) {
      return value.isTensor() && !values_.current(value.toTensor()).is_same(value.toTensor());
    });
    if (!is_mapped) return false;
  }
  const std::vector<IValue> kept(given.begin(), given.end());
  std::vector<IValue> results = callHidden(kept);
  // It may be a copy, as that of contiguous() can be.
  bool is_view = true;
  for (const IValue& result : results) {
    visitTensors(result, [&](const Tensor& tensor) { is_view &= tensor.storage() == viewed.storage(); });
  }
  if (!is_view) return false;
  stack_.resize(stack_.size() - count_);
  noteResults(kept, results, false);
  giveResults(std::move(results));
  return true;
}

// ---- Writes ----

void FunctionalCall::copyHidden(const Tensor& tensor, const Tensor& value) const {
  const HiddenCalls hidden;
  Tensor written = tensor;
  boxcar::copy_(written, value);
}

void FunctionalCall::writeResized(const std::vector<IValue>& given, std::span<Write> writes) const {
  // The operator resizes its outputs, or it fails.
  if (!plan_.is_random) callHidden(given);
  for (Write& write : writes) {
    if (plan_.is_random && !hasShapeOf(write.tensor, write.value)) {
      const HiddenCalls hidden;
      boxcar::resize_(write.tensor, write.value.sizes());
    }
    BOXCAR_CHECK(hasShapeOf(write.tensor, write.value),
                 "functionalize() does not know what {} writes: its functional form gives {} instead of {}",
                 op_.operator_name(), meta::listOf(write.value.sizes()), meta::listOf(write.tensor.sizes()));
    toType(write);
    copyHidden(write.tensor, write.value);
    values_.replace(write.tensor, write.value, op_);
  }
}

void FunctionalCall::toType(Write& write) const {
  if (write.value.scalar_type() == write.tensor.scalar_type()) return;
  write.value = boxcar::_to_copy(write.value, write.tensor.scalar_type());
}

bool FunctionalCall::mayRefuse(const std::vector<IValue>& given, const Write& write) const {
  if (write.value.scalar_type() != write.tensor.scalar_type() || meta::overlapsItself(write.tensor)) return true;
  bool is_shared = false;
  for (const IValue& argument : given) {
    visitTensors(argument, [&](const Tensor& other) {
      is_shared |= other.storage() == write.tensor.storage() && !other.is_same(write.tensor);
    });
  }
  return is_shared;
}

void FunctionalCall::writeAll(const std::vector<IValue>& given, std::span<Write> writes, bool is_checked) const {
  if (!std::ranges::all_of(writes, [](const Write& write) { return hasShapeOf(write.tensor, write.value); })) {
    return writeResized(given, writes);
  }
  const auto isWrittenTwice = [&](const Write& write) {
    return std::ranges::count_if(writes, [&](const Write& other) { return other.tensor.is_same(write.tensor); }) > 1;
  };
  const bool calls = !is_checked && std::ranges::any_of(writes, [&](const Write& write) {
    return isWrittenTwice(write) || mayRefuse(given, write);
  });
  for (Write& write : writes) {
    toType(write);
    // What the program may write later must not be a value.
    const auto holds = [&](const IValue& argument) { return isOnMemory(argument, write.value.storage()); };
    if (std::ranges::any_of(given, holds)) write.value = boxcar::clone(write.value);
    values_.write(write.tensor, write.value);
  }
  if (calls) {
    try {
      callHidden(given);
    } catch (const Error&) {
      for (const Write& write : writes) values_.takeMemory(write.tensor);
      throw;
    }
  }
  for (const Write& write : writes) copyHidden(write.tensor, write.value);
  for (const Write& write : writes) values_.noteWritten(write.tensor);
}

void FunctionalCall::write() {
  const std::vector<IValue> given = takeArguments();
  std::vector<IValue> values;
  currentOf(given, values);
  std::vector<IValue> made;
  try {
    if (plan_.form) {
      std::vector<IValue> taken;
      for (const uint8_t position : plan_.taken) taken.push_back(values[position]);
      if (plan_.takes_options) {
        const Tensor& out = given[plan_.written[0]].toTensor();
        for (IValue option : {IValue(out.scalar_type()), IValue(), IValue(out.device()), IValue()}) {
          taken.push_back(std::move(option));
        }
      }
      made = callBelow(*plan_.form, taken);
    } else {
      for (const uint8_t position : plan_.written) {
        values[position] = mapTensors(
            values[position], [](const Tensor& tensor) { return tensor.defined() ? boxcar::clone(tensor) : tensor; });
      }
      made = callBelow(op_, values);
    }
  } catch (const Error&) {
    // The operator's own message is about what the program called.
    if (!plan_.is_random) callHidden(given);
    throw;
  }
  std::vector<Write> writes;
  for (size_t i = 0; i < plan_.written.size(); ++i) {
    const std::vector<Tensor> tensors = autograd::tensorsIn({&given[plan_.written[i]], 1});
    const IValue& value = plan_.form ? made[plan_.made[i]] : values[plan_.written[i]];
    const std::vector<Tensor> news = autograd::tensorsIn({&value, 1});
    BOXCAR_CHECK(tensors.size() <= news.size(), "{} must have at most {} outputs, one for each result, but has {}",
                 op_.operator_name(), news.size(), tensors.size());
    for (size_t k = 0; k < tensors.size(); ++k) writes.push_back({tensors[k], news[k]});
  }
  const auto hasOtherType = [](const Write& write) { return write.value.scalar_type() != write.tensor.scalar_type(); };
  if (plan_.is_random && std::ranges::any_of(writes, hasOtherType)) callHiddenOnce(given);
  writeAll(given, writes, plan_.is_random || !plan_.form);
  std::vector<IValue> results;
  for (size_t i = 0; i < plan_.results.size(); ++i) {
    const OperatorPlan::Result& result = plan_.results[i];
    if (result.is_argument) {
      results.push_back(given[result.position]);
      continue;
    }
    const size_t own = plan_.form ? result.position : i;
    visitTensors(made[own], [&](const Tensor& tensor) { values_.noteMade(tensor.storage()); });
    results.push_back(made[own]);
  }
  giveResults(std::move(results));
}

// ---- Shapes ----

void FunctionalCall::shape() {
  const std::vector<IValue> given = takeArguments();
  std::optional<ViewStep> step;
  if (plan_.form) {
    step = stepOf(given, 0, -1);
    step->op = *plan_.form;
    step->copy = planOf(*plan_.form).form;
  }
  std::vector<IValue> results;
  values_.reshape(given[0].toTensor(), std::move(step), [&] { results = callHidden(given); });
  giveResults(std::move(results));
}

void FunctionalCall::resize() {
  const std::vector<IValue> given = takeArguments();
  // That of empty.out is the last one, and what its elements become is nobody's business.
  const bool is_output = plan_.written[0] != 0;
  const IValue& wanted = given[is_output ? 0 : 1];
  const Tensor tensor = given[plan_.written[0]].toTensor();
  const std::vector<int64_t> before(tensor.sizes().begin(), tensor.sizes().end());
  const std::vector<int64_t> sizes =
      wanted.isTensor() ? std::vector<int64_t>(wanted.toTensor().sizes().begin(), wanted.toTensor().sizes().end())
                        : wanted.to<std::vector<int64_t>>();
  // The operator's own error.
  if (std::ranges::any_of(sizes, [](int64_t size) { return size < 0; })) callHidden(given);
  const size_t bytes = static_cast<size_t>(tensor.storage_offset() + numelOf(sizes)) * tensor.itemsize();
  // The kernels of some outputs make their memories larger before they say so.
  const bool is_grown = is_output && numelOf(sizes) > tensor.numel() && tensor.storage_offset() == 0 &&
                        bytes == tensor.storage()->nbytes();
  std::vector<IValue> results;
  if (std::ranges::equal(before, sizes) && (!is_output || given[1].isNone())) {
    // Nothing changes.
  } else if (bytes <= tensor.storage()->nbytes() && !is_grown) {
    values_.reshape(tensor, std::nullopt, [&] { callHidden(given); });
  } else {
    BOXCAR_CHECK(is_output || tensor.numel() == 0,
                 "{} inside functionalize() cannot enlarge the memory of a tensor that has elements: make a new tensor "
                 "of {} and copy them into it",
                 op_.operator_name(), meta::listOf(sizes));
    // Not of the tensor, whose memory may be another than traces saw.
    const Tensor value = boxcar::empty(sizes, tensor.scalar_type(), std::nullopt, tensor.device());
    callHidden(given);
    copyHidden(tensor, value);
    values_.replace(tensor, value, op_);
  }
  results.push_back(given[plan_.written[0]]);
  giveResults(std::move(results));
}

}  // namespace boxcar::transforms
