#pragma once

#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/ivalue/stack.h>

#include <string>
#include <vector>

namespace boxcar::hostile {

// An operator to call, with arguments that boxcar or PyTorch accepts.
struct Subject {
  OperatorHandle op;
  std::string name;
  std::vector<Stack> plausible;
};

// Returns the defined operators whose names match one of [patterns], sorted by name. No patterns means all operators
// except those whose calls tell nothing: README.md lists these and says why.
std::vector<Subject> findSubjects(const std::vector<std::string>& patterns);

// Makes the plausible arguments of each subject. Call this before guarding starts and outside of time limits: there are
// many, and this may take seconds.
void findPlausibleArguments(std::vector<Subject>& subjects);

}  // namespace boxcar::hostile
