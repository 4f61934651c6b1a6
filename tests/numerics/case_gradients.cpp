#include "tests/numerics/case_gradients.h"

#include <boxcar/backends/autograd/autograd.h>
#include <boxcar/backends/autograd/formula_table.h>
#include <boxcar/backends/autograd/forward_mode.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "tests/numerics/case_call.h"
#include "tests/numerics/case_check.h"
#include "tests/numerics/device_copies.h"
#include "tests/numerics/name_lists.h"

namespace boxcar::numerics {
namespace {

using nlohmann::json;

constexpr std::string_view kMissing[] = {"derivative for ", " is not implemented"};
// In PyTorch's errors.
constexpr std::string_view kLacks[] = {" is not implemented", "does not support automatic differentiation"};

// As weight() in generator/gradients.py.
double weight(uint32_t number) {
  uint32_t x = (number + 1) * 2654435761U;
  x = (x ^ x >> 15) * 2246822519U;
  return (2.0 * (x >> 26) - 63) / 64;
}

// As weights() in generator/gradients.py.
Tensor weights(const Tensor& like, size_t number, bool magnitudes) {
  const int64_t parts = like.is_complex() && !magnitudes ? 2 : 1;
  Tensor made = Tensor::allocate(std::vector<int64_t>{like.numel(), parts}, ScalarType::Double);
  for (int64_t i = 0; i < made.numel(); ++i) {
    made.data_ptr<double>()[i] = weight(static_cast<uint32_t>(1000 * number + static_cast<size_t>(i)));
  }
  if (parts == 2) made = boxcar::view_as_complex(made);
  made = boxcar::reshape(boxcar::_to_copy(made, like.scalar_type(), std::nullopt, like.device()), like.sizes());
  return magnitudes ? boxcar::mul(made, boxcar::detach(like)) : made;
}

// The direction in which input [number] is changed.
Tensor tangentFor(const Tensor& input, size_t number) { return weights(input, 300 + number, false); }

IValue cloned(const IValue& value) {
  if (value.isTensor()) return boxcar::clone(value.toTensor());
  if (!value.isTensorList()) return value;
  const List<Tensor> tensors;
  const List<Tensor> originals = value.toTensorList();
  for (size_t i = 0; i < originals.size(); ++i) tensors.push_back(boxcar::clone(originals.get(i)));
  return tensors;
}

void appendTensors(const IValue& value, std::vector<Tensor>& tensors) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) tensors.push_back(value.toTensor());
  } else if (value.isList()) {
    for (size_t i = 0; i < value.length(); ++i) appendTensors(value.elementAt(i), tensors);
  }
}

Tensor onHost(const Tensor& tensor) {
  return tensor.is_cpu() ? tensor : boxcar::_to_copy(boxcar::detach(tensor), std::nullopt, std::nullopt, kCPU);
}

// A call with tensors that require grad, on the device of the cases.
struct DifferentiatedCall {
  // [leaves]: the numbers of the tensors that require grad, or that have tangents of [level], or both.
  DifferentiatedCall(const Case& expected, const OperatorHandle& op, const std::vector<size_t>& leaves,
                     const autograd::ForwardLevel* level = nullptr, bool records = false)
      : arguments(expected.makeArguments(op.schema())), copies(caseDevice()) {
    Stack stack = caseDevice().is_cpu() ? arguments.values : copies.toDevice(arguments.values);
    for (const size_t leaf : leaves) {
      const Tensor& tensor = arguments.tensors.at(leaf);
      const Tensor& input = inputs.emplace_back(caseDevice().is_cpu() ? tensor : copies.toDevice(tensor));
      if (level == nullptr || records) input.set_requires_grad(true);
      if (level != nullptr) level->setTangent(input, tangentFor(input, inputs.size() - 1));
    }
    const FunctionSchema& schema = op.schema();
    is_inplace = schema.name().ends_with('_') && !schema.name().ends_with("__");
    std::vector<Tensor> written;
    for (size_t i = 0; is_inplace && i < stack.size(); ++i) {
      if (!schema.arguments()[i].is_write()) continue;
      stack[i] = cloned(stack[i]);
      appendTensors(stack[i], written);
    }
    op.callBoxed(stack);
    for (const IValue& result : last(stack, schema.returns().size())) {
      results.push_back(result);
      appendTensors(result, outputs);
    }
    if (outputs.empty()) outputs = written;
    for (const Tensor& output : outputs) {
      if (output.requires_grad()) recorded.push_back(output);
    }
  }

  std::vector<Tensor> weightsOfRecorded(bool magnitudes) const {
    std::vector<Tensor> made;
    for (size_t i = 0; i < recorded.size(); ++i) made.push_back(weights(recorded[i], i, magnitudes));
    return made;
  }

  std::vector<Tensor> gradients(const std::vector<Tensor>& grads, bool create_graph) const {
    if (recorded.empty()) return std::vector<Tensor>(inputs.size());
    return autograd::grad(recorded, inputs, grads, {}, create_graph, true);
  }

  // Compares the results with PyTorch's; nullopt if they are equal.
  std::optional<std::string> differenceOf(const Case& expected, const FunctionSchema& schema) const {
    if (caseDevice().is_cpu()) return differenceOfResults(expected, schema, results, arguments);
    copies.updateHost();
    std::vector<IValue> on_host;
    for (const IValue& result : results) on_host.push_back(copies.toHost(result));
    return differenceOfResults(expected, schema, on_host, arguments);
  }

  CaseArguments arguments;
  mutable DeviceCopies copies;  // of the arguments, unless the cases run on the CPU
  std::vector<Tensor> inputs;
  std::vector<IValue> results;
  std::vector<Tensor> outputs;
  std::vector<Tensor> recorded;  // the outputs that require grad
  bool is_inplace = false;
};

std::string digitsOf(const std::vector<Tensor>& outputs) {
  std::string digits;
  for (const Tensor& output : outputs) digits += output.requires_grad() ? '1' : '0';
  return digits;
}

bool hasNoElements(const Tensor& tensor) { return tensor.numel() == 0; }

// Compares the sums of second derivatives that second() in generator/gradients.py makes.
std::string differenceOfSeconds(const DifferentiatedCall& call, const std::vector<Tensor>& grads,
                                const std::vector<Tensor>& found, const json& wanted) {
  std::vector<Tensor> firsts;
  std::vector<Tensor> factors;
  for (size_t i = 0; i < found.size(); ++i) {
    if (!found[i].defined() || !found[i].requires_grad()) continue;
    firsts.push_back(found[i]);
    factors.push_back(weights(found[i], 100 + i, false));
  }
  if (firsts.empty()) {
    return std::ranges::any_of(call.inputs, hasNoElements) ? "" : "the gradients are not differentiable again";
  }
  std::vector<Tensor> inputs = call.inputs;
  inputs.insert(inputs.end(), grads.begin(), grads.end());
  const std::vector<Tensor> seconds = autograd::grad(firsts, inputs, factors, {}, false, true);
  const NoGradGuard no_grad;
  for (size_t i = 0; i < seconds.size(); ++i) {
    double sum = 0;
    double size = 0;
    if (seconds[i].defined()) {
      const Tensor products = boxcar::mul(seconds[i], boxcar::conj_physical(weights(seconds[i], 200 + i, false)));
      const auto total = [](const Tensor& tensor) {
        return boxcar::item(boxcar::_to_copy(boxcar::real(boxcar::sum(tensor)), ScalarType::Double)).toDouble();
      };
      sum = total(products);
      size = total(boxcar::abs(products));
    }
    const double expected = wanted.at(i).get<double>();
    if (!(std::abs(sum - expected) <= 1e-7 + 1e-6 * std::max(size, std::abs(expected)))) {
      const bool is_leaf = i < call.inputs.size();
      return fmt::format("the weighted sum of second derivatives by {} {} should be {}, got {}",
                         is_leaf ? "input" : "the gradient of result", is_leaf ? i : i - call.inputs.size(), expected,
                         sum);
    }
  }
  return {};
}

// A sum of products of numbers of which one is the conjugate, its real part, and the sum of their magnitudes.
struct Products {
  double sum = 0;
  double size = 0;

  void add(const Tensor& a, const Tensor& b) {
    if (!a.defined() || !b.defined()) return;
    const auto wide = [](const Tensor& x) {
      return boxcar::_to_copy(boxcar::detach(x), x.is_complex() ? ScalarType::ComplexDouble : ScalarType::Double);
    };
    const Tensor products = boxcar::mul(wide(a), boxcar::conj_physical(wide(b)));
    sum += boxcar::item(boxcar::real(boxcar::sum(products))).toDouble();
    size += boxcar::item(boxcar::sum(boxcar::abs(products))).toDouble();
  }
};

double precisionOf(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::Double:
    case ScalarType::ComplexDouble: return 1e-7;
    case ScalarType::Half: return 2e-2;
    case ScalarType::BFloat16: return 1e-1;
    default: return 2e-4;
  }
}

// Returns the operator that [error] says to lack a formula; "" if it says something else.
std::string operatorWithoutFormula(const std::string& error) {
  const size_t begin = error.find(kMissing[0]);
  const size_t end = error.find(kMissing[1]);
  if (begin == std::string::npos || end == std::string::npos || end < begin) return {};
  return error.substr(begin + kMissing[0].size(), end - begin - kMissing[0].size());
}

std::string firstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

// Compares the change of the results that the tangents give with the one that the gradients give.
std::string differenceForwards(const Case& expected, const OperatorHandle& op, const std::vector<size_t>& leaves,
                               const DifferentiatedCall& backwards, const std::vector<Tensor>& grads,
                               const std::vector<Tensor>& gradients) {
  const autograd::ForwardLevel level;
  std::optional<DifferentiatedCall> made;
  try {
    made.emplace(expected, op, leaves, &level);
  } catch (const Error& error) {
    return firstLine(error.what());
  }
  const DifferentiatedCall& call = *made;
  std::vector<Tensor> tangents;
  for (const Tensor& output : call.outputs) tangents.push_back(level.tangentOf(output));
  const autograd::OuterForwardLevels none(0);
  Products by_tangents;
  size_t next = 0;
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    if (backwards.outputs[i].requires_grad()) by_tangents.add(tangents[i], grads[next++]);
  }
  Products by_gradients;
  double precision = 0;
  for (size_t i = 0; i < gradients.size(); ++i) {
    by_gradients.add(tangentFor(call.inputs[i], i), gradients[i]);
    precision = std::max(precision, precisionOf(call.inputs[i].scalar_type()));
  }
  const double size = by_tangents.size + by_gradients.size;
  // Where a result is infinite or NaN, its derivative is no number either.
  const bool is_defined = std::ranges::all_of(call.outputs, [](const Tensor& output) {
    return output.scalar_type() == ScalarType::Bool || boxcar::item(boxcar::all(boxcar::isfinite(output))).toBool();
  });
  if (!is_defined || !std::isfinite(by_gradients.sum) ||
      std::abs(by_tangents.sum - by_gradients.sum) <= precision * (1 + size)) {
    return {};
  }
  return fmt::format("forwards: the results should change by {}, but change by {}", by_gradients.sum, by_tangents.sum);
}

// Compares the second derivative along the tangents that gradients of gradients give with those that tangents of
// gradients, and gradients of tangents, give.
std::string differenceOfMixed(const Case& expected, const OperatorHandle& op, const std::vector<size_t>& leaves,
                              const std::vector<Tensor>& grads) {
  // Each is the sum over the inputs.
  const auto along = [](const std::vector<Tensor>& inputs, const std::vector<Tensor>& seconds) {
    Products products;
    for (size_t i = 0; i < inputs.size(); ++i) products.add(tangentFor(boxcar::detach(inputs[i]), i), seconds[i]);
    return products;
  };
  const auto backwards = [&] {
    const DifferentiatedCall call(expected, op, leaves);
    std::vector<Tensor> firsts;
    std::vector<Tensor> factors;
    const std::vector<Tensor> found = call.gradients(grads, true);
    for (size_t i = 0; i < found.size(); ++i) {
      if (!found[i].defined() || !found[i].requires_grad()) continue;
      firsts.push_back(found[i]);
      factors.push_back(tangentFor(boxcar::detach(call.inputs[i]), i));
    }
    if (firsts.empty()) return Products();
    return along(call.inputs, autograd::grad(firsts, call.inputs, factors, {}, false, true));
  }();
  const auto differs = [&](std::string_view what, const Products& found) -> std::string {
    const double size = backwards.size + found.size;
    if (!std::isfinite(backwards.sum) || std::abs(found.sum - backwards.sum) <= 1e-6 * (1 + size)) return {};
    return fmt::format("the second derivative along the tangents should be {}, but {} give {}", backwards.sum, what,
                       found.sum);
  };
  const autograd::ForwardLevel level;
  const DifferentiatedCall call(expected, op, leaves, &level, true);
  std::vector<Tensor> of_gradients;
  for (const Tensor& gradient : autograd::grad(call.recorded, call.inputs, grads, true, false, true)) {
    of_gradients.push_back(gradient.defined() ? level.tangentOf(gradient) : Tensor());
  }
  std::vector<Tensor> tangents;
  std::vector<Tensor> weights_of_tangents;
  for (size_t i = 0; i < call.recorded.size(); ++i) {
    const Tensor tangent = level.tangentOf(call.recorded[i]);
    if (!tangent.defined() || !tangent.requires_grad()) continue;
    tangents.push_back(tangent);
    weights_of_tangents.push_back(grads[i]);
  }
  const autograd::OuterForwardLevels none(0);
  if (std::string text = differs("tangents of gradients", along(call.inputs, of_gradients)); !text.empty()) return text;
  std::vector<Tensor> seconds(call.inputs.size());
  if (!tangents.empty()) seconds = autograd::grad(tangents, call.inputs, weights_of_tangents, {}, false, true);
  return differs("gradients of tangents", along(call.inputs, seconds));
}

class Comparison final {
 public:
  Comparison(const Case& expected, const OperatorHandle& op) : expected_(expected), op_(op) {}

  GradientOutcome run() {
    const json& record = *expected_.gradients();
    if (record.contains("refused")) {
      outcome_.kind = GradientOutcome::Kind::kEqual;
      for (const auto& [leaf, error] : record.at("refused").items()) {
        if (!checkRefused(std::stoul(leaf), error.get<std::string>())) return outcome_;
      }
    }
    if (record.contains("out")) checkGradients(record);
    return outcome_;
  }

 private:
  void fail(std::string text) {
    outcome_.kind = GradientOutcome::Kind::kDifferent;
    outcome_.text = std::move(text);
  }

  // Where PyTorch only lacks a formula, boxcar may have one. An argument that may not require grad is named in its
  // words.
  bool checkRefused(size_t leaf, const std::string& error) {
    const bool may_be_more =
        std::ranges::any_of(kLacks, [&](std::string_view text) { return error.find(text) != std::string::npos; });
    try {
      const DifferentiatedCall call(expected_, op_, {leaf});
      const auto found = call.gradients(call.weightsOfRecorded(expected_.comparesMagnitudes()), false);
      if (found[0].defined()) onHost(found[0]);  // a device reports an index out of range only when it is waited for
      if (may_be_more && found[0].defined()) return true;
    } catch (const Error& found) {
      const std::string text = found.what();
      const size_t sentence = error.find(" is not differentiable with respect to argument");
      if (sentence == std::string::npos || text.find(error.substr(sentence)) != std::string::npos) return true;
      fail(fmt::format("the gradient of tensor {} is refused (PyTorch: {}): {}", leaf, error, firstLine(text)));
      return false;
    }
    fail(fmt::format("the gradient of tensor {} should be refused (PyTorch: {})", leaf, error));
    return false;
  }

  void checkGradients(const json& record) {
    std::vector<size_t> leaves;
    for (const auto& [leaf, place] : record.at("in").items()) leaves.push_back(std::stoul(leaf));
    std::ranges::sort(leaves);
    try {
      const DifferentiatedCall call(expected_, op_, leaves);
      if (!call.is_inplace && record.value("results", true)) {  // in place, a clone is written
        if (const auto difference = call.differenceOf(expected_, op_.schema())) {
          return fail(fmt::format("the call with tensors that require grad: {}", *difference));
        }
      }
      const auto wanted = record.at("out").get<std::string>();
      if (const std::string digits = digitsOf(call.outputs); digits != wanted) {
        // Nothing but the call of its gradients says whether a formula is missing.
        call.gradients(call.weightsOfRecorded(expected_.comparesMagnitudes()), false);
        return fail(fmt::format("which results require grad should be {}, is {}", wanted, digits));
      }
      if (wanted.find('1') != std::string::npos) {
        compare(call, leaves, record);
      } else if (outcome_.kind == GradientOutcome::Kind::kNotRecorded) {
        outcome_.kind = GradientOutcome::Kind::kNotDifferentiable;
      }
    } catch (const std::exception& error) {
      outcome_.without_formula = operatorWithoutFormula(error.what());
      if (outcome_.without_formula.empty()) {
        fail(firstLine(error.what()));
      } else if (!outcome_.has_first) {
        outcome_.kind = GradientOutcome::Kind::kMissingFormula;
      }
    }
  }

  void compare(const DifferentiatedCall& call, const std::vector<size_t>& leaves, const json& record) {
    std::vector<Tensor> grads = call.weightsOfRecorded(expected_.comparesMagnitudes());
    const std::vector<Tensor> found = call.gradients(grads, false);
    // Where something has no elements, zeros are as good as no gradient.
    const bool has_empty =
        std::ranges::any_of(call.outputs, hasNoElements) || std::ranges::any_of(call.inputs, hasNoElements);
    for (size_t i = 0; i < leaves.size(); ++i) {
      auto wanted = expected_.gradient(leaves[i]);
      if (wanted.has_value() != found[i].defined() && has_empty) {
        if (!found[i].defined()) {
          if (item(any(*wanted)).toBool()) return fail(fmt::format("tensor {} should have a gradient", leaves[i]));
          continue;
        }
        wanted = zeros_like(onHost(found[i]));
      }
      if (wanted.has_value() != found[i].defined()) {
        return fail(fmt::format("tensor {} {} a gradient", leaves[i], wanted ? "should have" : "should not have"));
      }
      if (!wanted) continue;
      if (const auto difference = differenceOfGradient(expected_, onHost(found[i]), *wanted)) {
        return fail(fmt::format("the gradient of tensor {}: {}", leaves[i], *difference));
      }
    }
    outcome_.kind = GradientOutcome::Kind::kEqual;
    outcome_.has_first = true;
    if (!op_.hasTag(Tag::nondeterministic_seeded)) {
      const std::string difference = differenceForwards(expected_, op_, leaves, call, grads, found);
      // Without formula of their own, tangents need second derivatives.
      const bool may_lack = !record.contains("second") && !operatorWithoutFormula(difference).empty();
      if (!difference.empty() && !may_lack && !namesIn("forward_reasons.txt").contains(expected_.op())) {
        return fail(difference);
      }
      outcome_.has_forward = difference.empty();
      outcome_.lacks_forward = !difference.empty();
    }
    if (!record.contains("second")) return;
    const DifferentiatedCall again(expected_, op_, leaves);
    for (Tensor& grad : grads) grad.set_requires_grad(true);
    const std::string difference = differenceOfSeconds(again, grads, again.gradients(grads, true), record.at("second"));
    if (!difference.empty()) return fail("second: " + difference);
    outcome_.has_second = true;
    if (!outcome_.has_forward || expected_.comparesMagnitudes() || hasKnownDifference(expected_.op())) return;
    std::vector<Tensor> constant_grads;
    for (const Tensor& grad : grads) constant_grads.push_back(boxcar::detach(grad));
    const std::string mixed = differenceOfMixed(expected_, op_, leaves, constant_grads);
    if (!mixed.empty()) fail("mixed: " + mixed);
  }

  const Case& expected_;
  const OperatorHandle& op_;
  GradientOutcome outcome_;
};

OperatorName nameOf(const std::string& op) {
  const size_t dot = op.find('.');
  if (dot == std::string::npos) return {op, ""};
  return {op.substr(0, dot), op.substr(dot + 1)};
}

}  // namespace

GradientOutcome gradientOutcome(const Case& expected) {
  if (expected.gradients() == nullptr) return {};
  const auto op = Dispatcher::singleton().findSchema(nameOf(expected.op()));
  if (!op)
    return {.kind = GradientOutcome::Kind::kDifferent, .text = "there is no such operator", .without_formula = {}};
  try {
    return Comparison(expected, *op).run();
  } catch (const std::exception& error) {
    return {.kind = GradientOutcome::Kind::kDifferent, .text = firstLine(error.what()), .without_formula = {}};
  }
}

bool hasKnownDifference(const std::string& op) { return namesIn("gradient_reasons.txt").contains(op); }

std::optional<std::string> failureOf(const Case& expected, const GradientOutcome& outcome) {
  if (outcome.kind == GradientOutcome::Kind::kDifferent) {
    if (hasKnownDifference(expected.op())) return std::nullopt;
    return outcome.text;
  }
  if (outcome.without_formula.empty() || namesIn("without_formula.txt").contains(outcome.without_formula))
    return std::nullopt;
  return fmt::format("missing formula: {}", outcome.without_formula);
}

std::vector<std::string> superfluousWithoutFormula() {
  std::vector<std::string> superfluous;
  for (const std::string& name : namesIn("without_formula.txt")) {
    const auto op = Dispatcher::singleton().findSchema(nameOf(name));
    if (!op || autograd::differentiatedOperator(*op).formula != nullptr) superfluous.push_back(name);
  }
  return superfluous;
}

}  // namespace boxcar::numerics
