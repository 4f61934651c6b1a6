#include "tests/numerics/case_fake.h"

#include <boxcar/backends/autograd/autograd.h>
#include <boxcar/backends/transforms/fake_scope.h>
#include <boxcar/backends/transforms/fake_tensor.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/no_elements_error.h>
#include <boxcar/ivalue/value_tensors.h>
#include <boxcar/ops.h>
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "tests/numerics/name_lists.h"

namespace boxcar::numerics {
namespace {

using transforms::FakeConverter;
using transforms::isFake;

std::string shapeText(const Tensor& tensor) {
  if (!tensor.defined()) return "an undefined tensor";
  return fmt::format("{}[{}] with strides [{}] on {}", dtypeName(tensor.dtype()), fmt::join(tensor.sizes(), ", "),
                     fmt::join(tensor.strides(), ", "), tensor.device());
}

// Compares only the strides of dimensions whose size is not 1.
bool haveOneShape(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.device() != b.device() || !std::ranges::equal(a.sizes(), b.sizes())) return false;
  for (size_t i = 0; i < a.sizes().size() && a.numel() > 0; ++i) {
    if (a.sizes()[i] != 1 && a.strides()[i] != b.strides()[i]) return false;
  }
  return true;
}

// Returns the number of the first of [tensors] that has the memory of [tensor]; -1 if none has.
int64_t ownerOf(const Tensor& tensor, const std::vector<Tensor>& tensors) {
  const auto found =
      std::ranges::find_if(tensors, [&](const Tensor& other) { return other.storage() == tensor.storage(); });
  return found == tensors.end() ? -1 : found - tensors.begin();
}

std::vector<Tensor> tensorsOf(std::span<const IValue> values) {
  std::vector<Tensor> tensors;
  for (const IValue& value : values) visitTensors(value, [&](const Tensor& tensor) { tensors.push_back(tensor); });
  return tensors;
}

// Returns the gradients of the sum of the results of [op] by each tensor that can have one; undefined ones where there
// is none. Throws Error.
std::vector<Tensor> gradientsOf(const OperatorHandle& op, Stack stack) {
  std::vector<Tensor> leaves;
  for (const Tensor& tensor : tensorsOf(last(stack, stack.size()))) {
    const bool is_new = std::ranges::none_of(leaves, [&](const Tensor& leaf) { return leaf.is_same(tensor); });
    if (is_new && (tensor.is_floating_point() || tensor.is_complex())) {
      leaves.push_back(tensor.set_requires_grad(true));
    }
  }
  op.callBoxed(stack);
  std::vector<Tensor> roots;
  std::vector<Tensor> grads;
  for (const Tensor& result : tensorsOf(last(stack, stack.size()))) {
    if (!result.requires_grad()) continue;
    roots.push_back(result);
    grads.push_back(boxcar::ones_like(result));
  }
  return roots.empty() ? std::vector<Tensor>() : autograd::grad(roots, leaves, grads, {}, false, true);
}

// Compares the shapes of gradients. What real tensors have no gradient for is left out.
std::optional<std::string> gradientDifference(const Case& expected, const OperatorHandle& op) {
  if (op.schema().is_mutable()) return std::nullopt;
  FakeConverter converter;
  Stack fake;
  const CaseArguments copies = expected.makeArguments(op.schema());
  for (const IValue& value : copies.values) fake.push_back(converter.convert(value));
  std::vector<Tensor> wanted;
  std::vector<Tensor> found;
  std::string refusal;
  try {
    // Formulas make tensors, too.
    const transforms::FakeTensorGuard guard;
    found = gradientsOf(op, std::move(fake));
  } catch (const Error& error) {
    refusal = error.message();
  }
  try {
    wanted = gradientsOf(op, expected.makeArguments(op.schema()).values);
  } catch (const Error&) {
    return std::nullopt;
  }
  if (!refusal.empty()) return "its gradient is refused: " + refusal;
  if (wanted.size() != found.size()) {
    return fmt::format("it has {} gradients, and {} if it is fake", wanted.size(), found.size());
  }
  for (size_t i = 0; i < wanted.size(); ++i) {
    const bool is_same = wanted[i].defined() == found[i].defined() &&
                         (!wanted[i].defined() || (isFake(found[i]) && wanted[i].dtype() == found[i].dtype() &&
                                                   std::ranges::equal(wanted[i].sizes(), found[i].sizes())));
    if (!is_same) {
      return fmt::format("gradient {} is {}, and if it is fake {}", i, shapeText(wanted[i]), shapeText(found[i]));
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> fakeDifference(const Case& expected, const OperatorHandle& op) {
  const bool may_need_elements = op.hasTag(Tag::data_dependent_output) || op.hasTag(Tag::dynamic_output_shape) ||
                                 namesIn("fake_reasons.txt").contains(expected.op());
  Stack real = expected.makeArguments(op.schema()).values;
  const CaseArguments copies = expected.makeArguments(op.schema());
  FakeConverter converter;
  Stack fake;
  for (const IValue& value : copies.values) fake.push_back(converter.convert(value));
  const std::vector<Tensor> real_arguments = tensorsOf(last(real, real.size()));
  const std::vector<Tensor> fake_arguments = tensorsOf(last(fake, fake.size()));
  try {
    op.callBoxed(real);
  } catch (const Error&) {
    // What is wrong may be an element. But the call must end in some way.
    try {
      op.callBoxed(fake);
    } catch (const Error&) {
    }
    return std::nullopt;
  }
  try {
    // Only a scope says that a tensor is to be fake that is made of numbers.
    std::optional<transforms::FakeTensorGuard> guard;
    if (fake_arguments.empty()) guard.emplace();
    op.callBoxed(fake);
  } catch (const Error& error) {
    if (may_need_elements) return std::nullopt;
    return fmt::format("it is refused: {}", error.message());
  }
  const std::vector<Tensor> real_results = tensorsOf(last(real, real.size()));
  const std::vector<Tensor> fake_results = tensorsOf(last(fake, fake.size()));
  if (real_results.size() != fake_results.size()) {
    return fmt::format("it gives {} tensors, and {} if they are fake", real_results.size(), fake_results.size());
  }
  for (size_t i = 0; i < real_results.size(); ++i) {
    const Tensor& result = fake_results[i];
    const bool is_taken =
        std::ranges::any_of(real_arguments, [&](const Tensor& t) { return t.is_same(real_results[i]); });
    if (!isFake(result)) return fmt::format("result {} is not fake", i);
    if (!haveOneShape(real_results[i], result)) {
      return fmt::format("result {} is {}, and if it is fake {}", i, shapeText(real_results[i]), shapeText(result));
    }
    if (ownerOf(real_results[i], real_arguments) != ownerOf(result, fake_arguments)) {
      return fmt::format("result {} shares memory with argument tensor {}, and if it is fake with {}", i,
                         ownerOf(real_results[i], real_arguments), ownerOf(result, fake_arguments));
    }
    if (is_taken && std::ranges::none_of(fake_arguments, [&](const Tensor& t) { return t.is_same(result); })) {
      return fmt::format("result {} is an argument, but not if it is fake", i);
    }
  }
  for (size_t i = 0; i < real_arguments.size(); ++i) {
    if (!haveOneShape(real_arguments[i], fake_arguments[i])) {
      return fmt::format("argument tensor {} is {} afterwards, and if it is fake {}", i, shapeText(real_arguments[i]),
                         shapeText(fake_arguments[i]));
    }
  }
  const auto difference = gradientDifference(expected, op);
  return may_need_elements ? std::nullopt : difference;
}

}  // namespace boxcar::numerics
