#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/numerics/case_reader.h"

namespace boxcar::numerics {

// What a case says about the gradients of its call.
struct GradientOutcome {
  enum class Kind {
    kNotRecorded,        // the case has no gradients, or the calls are not on the CPU
    kNotDifferentiable,  // no result requires grad, as in PyTorch
    kEqual,              // gradients and refusals are PyTorch's
    kMissingFormula,     // the operator, or one that it is made of, has no formula
    kDifferent,
  };
  Kind kind = Kind::kNotRecorded;
  // Whether the case has gradients, or second derivatives, and they agree.
  bool has_first = false;
  bool has_second = false;
  // Whether the derivative forwards agrees with the gradients, or is missing or known to differ (forward_reasons.txt).
  bool has_forward = false;
  bool lacks_forward = false;
  std::string text;  // what is different
  // The operator that lacks a formula; also if only second derivatives need it.
  std::string without_formula;
};

// Returns what is wrong in words; nullopt if nothing is, or if it is known (without_formula.txt, gradient_reasons.txt).
std::optional<std::string> failureOf(const Case& expected, const GradientOutcome& outcome);
// Whether gradient_reasons.txt says why gradients of [op] differ.
bool hasKnownDifference(const std::string& op);

// Makes the call boxed with tensors that require grad, differentiates it, and compares gradients, also of gradients,
// with PyTorch's (generator/gradients.py).
GradientOutcome gradientOutcome(const Case& expected);

// Returns the operators in without_formula.txt that are unknown, or have one.
std::vector<std::string> superfluousWithoutFormula();

}  // namespace boxcar::numerics
