#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/numerics/case_reader.h"

namespace boxcar::numerics {

// Returns the page backends/operators.md: every operator of the schemas, the dtypes that [files] compare with PyTorch,
// and what cannot be compared.
std::string operatorPage(const std::vector<std::unique_ptr<CaseFile>>& files);

}  // namespace boxcar::numerics
