#include "tests/numerics/case_batches.h"

#include <boxcar/backends/autograd/autograd.h>
#include <boxcar/backends/autograd/formula_table.h>
#include <boxcar/backends/transforms/batched_tensor.h>
#include <boxcar/backends/transforms/batching_table.h>
#include <boxcar/backends/transforms/vmap_level.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/value_tensors.h>
#include <boxcar/ops.h>
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "tests/numerics/case_check.h"
#include "tests/numerics/name_lists.h"

namespace boxcar::numerics {
namespace {

constexpr int64_t kSlices = 2;

// The tensors of a call, in order, and what holds for each whether it gets a batch.
std::vector<Tensor> tensorsOf(const Stack& stack, size_t count) {
  std::vector<Tensor> tensors;
  for (const IValue& value : last(const_cast<Stack&>(stack), count)) {
    visitTensors(value, [&](const Tensor& tensor) { tensors.push_back(tensor); });
  }
  return tensors;
}

// Both slices of a tensor. The second one has the same elements, so indices stay in range.
Tensor slicesOf(const Tensor& tensor) {
  std::vector<int64_t> dims(static_cast<size_t>(tensor.dim()));
  for (size_t i = 0; i < dims.size(); ++i) dims[i] = static_cast<int64_t>(i);
  const Tensor plain = boxcar::clone(tensor);
  return boxcar::stack(std::vector{plain, boxcar::flip(plain, dims)});
}

// What a call left: the results' tensors, then the written arguments'.
struct Outcome {
  std::vector<Tensor> tensors;
  std::vector<Tensor> gradients;  // of the slices of the arguments that have a batch
};

class BatchedCase final {
 public:
  BatchedCase(const Case& expected, const OperatorHandle& op, std::vector<bool> has_batch, bool differentiates)
      : expected_(expected), op_(op), has_batch_(std::move(has_batch)), differentiates_(differentiates) {}

  std::optional<std::string> difference() const {
    std::vector<Outcome> each;
    try {
      for (int64_t slice = 0; slice < kSlices; ++slice) each.push_back(plain(slice));
    } catch (const Error&) {
      return std::nullopt;  // a slice is no argument for the operator
    }
    for (size_t i = 0; i < each[0].tensors.size(); ++i) {
      // Sizes that depend on elements.
      if (!std::ranges::equal(each[0].tensors[i].sizes(), each[1].tensors[i].sizes())) return std::nullopt;
    }
    const Outcome batched = together();
    if (batched.tensors.size() != each[0].tensors.size()) return "another number of results";
    for (size_t i = 0; i < batched.tensors.size(); ++i) {
      const Tensor wanted = boxcar::stack(std::vector{each[0].tensors[i], each[1].tensors[i]});
      if (auto found = compared(batched.tensors[i], wanted)) return fmt::format("result {}: {}", i, *found);
    }
    for (size_t i = 0; i < batched.gradients.size(); ++i) {
      if (!each[0].gradients[i].defined() || !each[1].gradients[i].defined()) continue;
      const Tensor wanted = boxcar::stack(std::vector{each[0].gradients[i], each[1].gradients[i]});
      // No gradient is zeros.
      const Tensor& gradient = batched.gradients[i];
      if (auto found = compared(gradient.defined() ? gradient : boxcar::zeros_like(wanted), wanted))
        return fmt::format("gradient {}: {}", i, *found);
    }
    return std::nullopt;
  }

 private:
  std::optional<std::string> compared(const Tensor& found, const Tensor& wanted) const {
    if (!std::ranges::equal(found.sizes(), wanted.sizes())) {
      return fmt::format("expected sizes [{}], got [{}]", fmt::join(wanted.sizes(), ", "),
                         fmt::join(found.sizes(), ", "));
    }
    if (!expected_.comparesValues()) return std::nullopt;
    if (wanted.scalar_type() == ScalarType::Half || wanted.scalar_type() == ScalarType::BFloat16) {
      // A rule may round where the operator does not.
      const Tensor a = boxcar::to(boxcar::detach(found), ScalarType::Float);
      const Tensor b = boxcar::to(boxcar::detach(wanted), ScalarType::Float);
      if (found.scalar_type() == wanted.scalar_type() && boxcar::allclose(a, b, 5e-2, 5e-2, true)) return std::nullopt;
    }
    return differenceOfGradient(expected_, boxcar::detach(found), boxcar::contiguous(boxcar::detach(wanted)));
  }

  // Calls with arguments that [replace] gives for those with a batch.
  template <class Replace>
  Outcome called(const Replace& replace, const std::vector<Tensor>& leaves, int64_t batch) const {
    const CaseArguments arguments = expected_.makeArguments(op_.schema());
    const std::vector<Argument>& parameters = op_.schema().arguments();
    Stack stack;
    std::vector<Tensor> written;
    size_t number = 0;
    for (size_t i = 0; i < parameters.size(); ++i) {
      stack.push_back(mapTensors(arguments.values[i], [&](const Tensor& tensor) {
        if (!tensor.defined()) return tensor;
        const Tensor given = replace(number++, tensor);
        if (parameters[i].is_write()) written.push_back(given);
        return given;
      }));
    }
    op_.callBoxed(stack);
    Outcome outcome;
    for (const IValue& result : last(stack, op_.schema().returns().size())) {
      visitTensors(result, [&](const Tensor& tensor) { outcome.tensors.push_back(tensor); });
    }
    for (const Tensor& tensor : written) outcome.tensors.push_back(tensor);
    if (batch > 0) {
      const uint64_t level = transforms::vmapLevels().back().level;
      for (Tensor& tensor : outcome.tensors) {
        const Tensor inner = transforms::withoutLevel(tensor, level);
        tensor = inner.defined() ? inner : transforms::expandedBy(tensor, batch);
      }
    }
    if (leaves.empty()) return outcome;
    std::vector<Tensor> roots;
    std::vector<Tensor> grads;
    for (const Tensor& tensor : outcome.tensors) {
      if (!tensor.requires_grad()) continue;
      roots.push_back(tensor);
      grads.push_back(boxcar::mul(boxcar::ones_like(tensor), 0.75));
    }
    outcome.gradients = std::vector<Tensor>(leaves.size());
    if (!roots.empty()) outcome.gradients = autograd::grad(roots, leaves, grads, {}, false, true);
    return outcome;
  }

  bool isLeaf(const Tensor& tensor) const {
    return differentiates_ && (tensor.is_floating_point() || tensor.is_complex());
  }

  // Calls with other tensors in place of those that have a batch: [leafOf] gives what a gradient is taken by, and
  // [givenFor] what the call gets for that.
  template <class LeafOf, class GivenFor>
  Outcome calledWith(const LeafOf& leafOf, const GivenFor& givenFor, int64_t batch) const {
    const CaseArguments arguments = expected_.makeArguments(op_.schema());
    std::vector<Tensor> given;
    std::vector<Tensor> leaves;
    for (const Tensor& tensor : tensorsOf(arguments.values, op_.schema().arguments().size())) {
      if (!has_batch_[given.size()]) {
        given.emplace_back();
        continue;
      }
      Tensor leaf = leafOf(slicesOf(tensor));
      if (isLeaf(tensor)) {
        leaf.set_requires_grad(true);
        leaves.push_back(leaf);
      }
      given.push_back(givenFor(leaf));
    }
    return called([&](size_t i, const Tensor& tensor) { return has_batch_[i] ? given[i] : tensor; }, leaves, batch);
  }

  Outcome plain(int64_t slice) const {
    return calledWith([slice](const Tensor& slices) { return boxcar::clone(boxcar::select(slices, 0, slice)); },
                      [](const Tensor& leaf) { return leaf; }, 0);
  }

  Outcome together() const {
    const transforms::VmapLevel level(kSlices, transforms::Randomness::kDifferent);
    return calledWith([](const Tensor& slices) { return slices; },
                      [&](const Tensor& leaf) { return transforms::makeBatched(leaf, level.level()); }, kSlices);
  }

  const Case& expected_;
  const OperatorHandle& op_;
  std::vector<bool> has_batch_;
  bool differentiates_;
};

}  // namespace

std::optional<std::string> differenceOfBatches(const Case& expected, const OperatorHandle& op) {
  if (transforms::describeBatching(op).starts_with("not: ")) return std::nullopt;
  if (expected.isError() || namesIn("batch_reasons.txt").contains(expected.op())) return std::nullopt;
  const autograd::DifferentiatedOperator& known = autograd::differentiatedOperator(op);
  if (known.writes_out) return std::nullopt;
  const CaseArguments arguments = expected.makeArguments(op.schema());
  const std::vector<Tensor> tensors = tensorsOf(arguments.values, op.schema().arguments().size());
  if (tensors.empty()) return std::nullopt;
  const bool is_random = op.hasTag(Tag::nondeterministic_seeded);
  const bool may_differentiate = !is_random && !known.writes_self && known.written_arguments == 0;
  // A written argument must have a batch if another one has.
  std::vector<bool> is_written;
  for (size_t i = 0; i < op.schema().arguments().size(); ++i) {
    visitTensors(arguments.values[i],
                 [&](const Tensor&) { is_written.push_back(op.schema().arguments()[i].is_write()); });
  }
  std::vector<std::vector<bool>> choices{std::vector<bool>(tensors.size(), true)};
  for (size_t i = 0; tensors.size() > 1 && i < tensors.size(); ++i) {
    choices.push_back(is_written);
    choices.back()[i] = true;
    if (i > 0 && choices.back() == choices[choices.size() - 2]) choices.pop_back();
  }
  for (size_t i = 0; i < choices.size(); ++i) {
    for (const bool differentiates : {false, true}) {
      if (differentiates && (!may_differentiate || i > 0)) continue;
      try {
        if (auto found = BatchedCase(expected, op, choices[i], differentiates).difference()) {
          std::string which;
          for (const bool each : choices[i]) which += each ? 'b' : '-';
          return fmt::format("of tensors {}{}: {}", which, differentiates ? ", differentiated" : "", *found);
        }
      } catch (const Error& error) {
        std::string which;
        for (const bool each : choices[i]) which += each ? 'b' : '-';
        return fmt::format("of tensors {}{}: {}", which, differentiates ? ", differentiated" : "", error.message());
      }
    }
  }
  return std::nullopt;
}

}  // namespace boxcar::numerics
