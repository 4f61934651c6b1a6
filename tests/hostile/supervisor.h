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
  uint64_t calls = 0;  // as many at most; 0: as there is time for
  int jobs = 1;
  // A call that takes longer is asked to end; one that goes on for [limit] seconds is a finding.
  double patience = 0.1;
  double limit = 5;
  std::string folder;  // that operators may read and write
};

// Makes calls in [jobs] processes, which it starts anew where one ends; gives what was found.
Findings supervise(const std::vector<Subject>& subjects, const Options& options);

}  // namespace boxcar::hostile
