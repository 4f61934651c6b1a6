#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/hostile/findings.h"
#include "tests/hostile/subject.h"
#include "tests/hostile/worker.h"

namespace boxcar::hostile {

struct Options {
  uint64_t seed = 1;
  double seconds = 60;
  uint64_t calls = 0;  // maximum; 0: no limit but the time
  int jobs = 1;
  // In seconds. A longer call is asked to stop; one that runs for [limit] seconds is a finding.
  double patience = 0.1;
  double limit = 5;
  std::string folder;  // where operators may read and write files
};

// Makes calls in [jobs] processes, restarts those that end, and returns the findings.
Findings supervise(const std::vector<Subject>& subjects, const Options& options);

}  // namespace boxcar::hostile
