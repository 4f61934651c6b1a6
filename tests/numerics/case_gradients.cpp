#include "tests/numerics/case_gradients.h"

#include <boxcar/backends/autograd/autograd.h>
#include <boxcar/backends/autograd/formula_table.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "tests/numerics/case_call.h"
#include "tests/numerics/case_check.h"

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
  made = boxcar::reshape(boxcar::_to_copy(made, like.scalar_type()), like.sizes());
  return magnitudes ? boxcar::mul(made, boxcar::detach(like)) : made;
}

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

// A call with tensors that require grad.
struct DifferentiatedCall {
  // [leaves]: the numbers of the tensors that require grad.
  DifferentiatedCall(const Case& expected, const OperatorHandle& op, const std::vector<size_t>& leaves)
      : arguments(expected.makeArguments(op.schema())) {
    for (const size_t leaf : leaves) inputs.push_back(arguments.tensors.at(leaf).set_requires_grad(true));
    const FunctionSchema& schema = op.schema();
    is_inplace = schema.name().ends_with('_') && !schema.name().ends_with("__");
    Stack stack = arguments.values;
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

  CaseArguments arguments;
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

// Returns the operator that [error] says to lack a formula; "" if it says something else.
std::string operatorWithoutFormula(const std::string& error) {
  const size_t begin = error.find(kMissing[0]);
  const size_t end = error.find(kMissing[1]);
  if (begin == std::string::npos || end == std::string::npos || end < begin) return {};
  return error.substr(begin + kMissing[0].size(), end - begin - kMissing[0].size());
}

std::string firstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

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
        if (const auto difference = differenceOfResults(expected_, op_.schema(), call.results, call.arguments)) {
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
        wanted = zeros_like(found[i]);
      }
      if (wanted.has_value() != found[i].defined()) {
        return fail(fmt::format("tensor {} {} a gradient", leaves[i], wanted ? "should have" : "should not have"));
      }
      if (!wanted) continue;
      if (const auto difference = differenceOfGradient(expected_, found[i], *wanted)) {
        return fail(fmt::format("the gradient of tensor {}: {}", leaves[i], *difference));
      }
    }
    outcome_.kind = GradientOutcome::Kind::kEqual;
    outcome_.has_first = true;
    if (!record.contains("second")) return;
    const DifferentiatedCall again(expected_, op_, leaves);
    for (Tensor& grad : grads) grad.set_requires_grad(true);
    const std::string difference = differenceOfSeconds(again, grads, again.gradients(grads, true), record.at("second"));
    if (!difference.empty()) return fail("second: " + difference);
    outcome_.has_second = true;
  }

  const Case& expected_;
  const OperatorHandle& op_;
  GradientOutcome outcome_;
};

// Returns the operators that start the lines of a file beside data/.
std::set<std::string> listedIn(const std::string& name) {
  const std::string path = std::string(BOXCAR_NUMERICS_DATA) + "/../" + name;
  std::ifstream file(path);
  BOXCAR_CHECK(file.good(), "cannot read '{}'", path);
  std::set<std::string> names;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && !line.starts_with('#')) names.insert(line.substr(0, line.find(' ')));
  }
  return names;
}

const std::set<std::string>& namesWithoutFormula() {
  static const std::set<std::string> names = listedIn("without_formula.txt");
  return names;
}

OperatorName nameOf(const std::string& op) {
  const size_t dot = op.find('.');
  if (dot == std::string::npos) return {op, ""};
  return {op.substr(0, dot), op.substr(dot + 1)};
}

}  // namespace

GradientOutcome gradientOutcome(const Case& expected) {
  if (expected.gradients() == nullptr || !caseDevice().is_cpu()) return {};
  const auto op = Dispatcher::singleton().findSchema(nameOf(expected.op()));
  if (!op) return {GradientOutcome::Kind::kDifferent, false, false, "there is no such operator", {}};
  try {
    return Comparison(expected, *op).run();
  } catch (const std::exception& error) {
    return {GradientOutcome::Kind::kDifferent, false, false, firstLine(error.what()), {}};
  }
}

bool hasKnownDifference(const std::string& op) {
  static const std::set<std::string> names = listedIn("gradient_reasons.txt");
  return names.contains(op);
}

std::optional<std::string> failureOf(const Case& expected, const GradientOutcome& outcome) {
  if (outcome.kind == GradientOutcome::Kind::kDifferent) {
    if (hasKnownDifference(expected.op())) return std::nullopt;
    return outcome.text;
  }
  if (outcome.without_formula.empty() || namesWithoutFormula().contains(outcome.without_formula)) return std::nullopt;
  return fmt::format("missing formula: {}", outcome.without_formula);
}

std::vector<std::string> superfluousWithoutFormula() {
  std::vector<std::string> superfluous;
  for (const std::string& name : namesWithoutFormula()) {
    const auto op = Dispatcher::singleton().findSchema(nameOf(name));
    if (!op || autograd::differentiatedOperator(*op).formula != nullptr) superfluous.push_back(name);
  }
  return superfluous;
}

}  // namespace boxcar::numerics
