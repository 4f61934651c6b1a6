#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/numerics/case_call.h"
#include "tests/numerics/case_reader.h"

namespace boxcar::numerics {

struct RunOptions {
  std::vector<std::string> patterns;  // of operators; all of them where it is empty
  std::vector<Way> ways{std::begin(kAllWays), std::end(kAllWays)};
  int jobs = 1;
  int max_failures = 5;  // shown of each operator
  // Operators that have no kernel, and cases that meet one inside, count neither as passed nor as failed.
  bool skip_missing = false;
  std::vector<std::string> except;  // patterns of operators that are left out
  size_t at_least = 0;              // as many cases must pass
};

// The cases of one operator.
struct OperatorCases {
  std::string op;
  std::vector<const Case*> cases;
};

// By the operator's name.
std::vector<OperatorCases> casesByOperator(const std::vector<std::unique_ptr<CaseFile>>& files);

// Runs the cases in processes of their own, so that one that crashes costs only its operator, and prints what fails and
// a table. Whether none failed, and as many passed as must.
bool run(const std::vector<std::unique_ptr<CaseFile>>& files, const RunOptions& options);

// A case's failure in words, with the call; empty where it passes in all of [ways].
std::string failuresOf(const Case& expected, const std::vector<Way>& ways);

}  // namespace boxcar::numerics
