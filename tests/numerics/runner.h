#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/numerics/case_call.h"
#include "tests/numerics/case_gradients.h"
#include "tests/numerics/case_reader.h"

namespace boxcar::numerics {

struct RunOptions {
  std::vector<std::string> patterns;  // of operators; empty: all operators
  std::vector<Way> ways{std::begin(kAllWays), std::end(kAllWays)};
  int jobs = 1;
  int max_failures = 5;  // shown for each operator
  // Counts operators without a kernel, and cases that meet one inside, neither as passed nor as failed.
  bool skip_missing = false;
  std::vector<std::string> except;  // patterns of operators to skip
  size_t at_least = 0;              // minimum number of cases that must pass
  bool has_all_cases = false;       // not only the kept sample
};

// The cases of one operator.
struct OperatorCases {
  std::string op;
  std::vector<const Case*> cases;
};

// Groups the cases by operator, sorted by name.
std::vector<OperatorCases> casesByOperator(const std::vector<std::unique_ptr<CaseFile>>& files);

// Runs the cases in separate processes, so that a crash affects only its case. Prints the failures and a table. Returns
// whether no case failed and at least options.at_least passed.
bool run(const std::vector<std::unique_ptr<CaseFile>>& files, const RunOptions& options);

// Returns the failure of a case in words, with the call; empty if it passes in all [ways]. Sets [gradients], if not
// null, where the gradients are one of them.
std::string failuresOf(const Case& expected, const std::vector<Way>& ways, GradientOutcome* gradients = nullptr);

}  // namespace boxcar::numerics
