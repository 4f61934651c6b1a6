#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/numerics/case_reader.h"

namespace boxcar::numerics {

// The page backends/operators.md: every operator of the schemas, the dtypes that are compared with PyTorch in [files],
// and what cannot be.
std::string operatorPage(const std::vector<std::unique_ptr<CaseFile>>& files);

}  // namespace boxcar::numerics
