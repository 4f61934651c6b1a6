#pragma once

#include <string>
#include <vector>

#include "tests/exhaustion/exhausted_case.h"

// All cases. They write to [folder].

namespace boxcar::exhaustion {

void addScriptCases(std::vector<CaseMaker>& cases, const std::string& folder);
void addCallCases(std::vector<CaseMaker>& cases);
void addRegistrationCases(std::vector<CaseMaker>& cases);
void addFileCases(std::vector<CaseMaker>& cases, const std::string& folder);

}  // namespace boxcar::exhaustion
