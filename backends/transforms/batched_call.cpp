#include <boxcar/backends/transforms/batched_call.h>
#include <boxcar/backends/transforms/vmap_level.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

namespace boxcar::transforms {

std::vector<IValue> callOperator(const OperatorHandle& op, std::vector<IValue> arguments) {
  Stack stack;
  for (IValue& argument : arguments) stack.push_back(std::move(argument));
  op.callBoxed(stack);
  return pop(stack, stack.size());
}

std::vector<IValue> callOperator(std::string_view name, std::vector<IValue> arguments) {
  const size_t dot = name.find('.');
  const std::string base(name.substr(0, dot));
  const std::string overload(dot == std::string_view::npos ? "" : name.substr(dot + 1));
  return callOperator(Dispatcher::singleton().findSchemaOrThrow(base.c_str(), overload.c_str()), std::move(arguments));
}

std::string BatchedCall::refusal() const {
  return fmt::format("{} cannot be called inside {}()", toString(op), vmapLevelOf(level).transform);
}

size_t BatchedCall::position(std::string_view name) const {
  const std::vector<Argument>& arguments = op.schema().arguments();
  const auto found = std::ranges::find(arguments, name, &Argument::name);
  BOXCAR_CHECK(found != arguments.end(), "aten.batching: {} has no argument '{}'", toString(op), name);
  return static_cast<size_t>(found - arguments.begin());
}

void BatchedCall::checkWritten(size_t i) const {
  BOXCAR_CHECK(isBatched(i),
               "vmap: inplace arithmetic({0}, *extra_args) is not possible because there exists a Tensor `other` in "
               "extra_args that has more elements than `{0}`. This happened due to `other` being vmapped over but "
               "`{0}` not being vmapped over in a vmap. {1} would write all slices to the same memory; make `{0}` "
               "from what is vmapped over, as zeros_like(x) does, or call the out-of-place form",
               op.schema().arguments()[i].name(), name());
}

Tensor alignedTo(const Tensor& tensor, int64_t rank) {
  const int64_t missing = rank + 1 - tensor.dim();
  Tensor aligned = tensor;
  for (int64_t i = 0; i < missing; ++i) aligned = boxcar::unsqueeze(aligned, 1);
  return aligned;
}

Tensor folded(const Tensor& tensor, int64_t at) { return boxcar::flatten(tensor, at, at + 1); }

Tensor unfolded(const Tensor& tensor, int64_t batch, int64_t at) {
  std::vector<int64_t> sizes(tensor.sizes().begin(), tensor.sizes().end());
  sizes[static_cast<size_t>(at)] /= batch;
  sizes.insert(sizes.begin() + at, batch);
  return boxcar::reshape(tensor, sizes);
}

Tensor rowsOfSlices(const Tensor& indices, int64_t batch, int64_t rows) {
  const Tensor first = boxcar::mul(boxcar::arange(batch, indices.scalar_type(), std::nullopt, indices.device()), rows);
  std::vector<int64_t> sizes(static_cast<size_t>(indices.dim()), 1);
  sizes[0] = batch;
  return boxcar::add(indices, boxcar::reshape(first, sizes));
}

std::vector<int64_t> intsOf(const IValue& value) {
  if (value.isInt()) return {value.toInt()};
  const List<int64_t> list = value.toIntList();
  return {list.span().begin(), list.span().end()};
}

std::vector<IValue> callByName(std::string_view family, std::span<const NamedRule> rules, const BatchedCall& call,
                               std::string_view name) {
  const auto found = std::ranges::find(rules, name, &NamedRule::name);
  BOXCAR_CHECK(found != rules.end(), "aten.batching: the family '{}' has no '{}'", family, name);
  return found->rule(call);
}

}  // namespace boxcar::transforms
