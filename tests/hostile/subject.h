#pragma once

#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/ivalue/stack.h>

#include <string>
#include <vector>

namespace boxcar::hostile {

// An operator to be called, with arguments that it runs with, or that PyTorch's runs with.
struct Subject {
  OperatorHandle op;
  std::string name;
  std::vector<Stack> plausible;
};

// The defined operators whose names are like one of [patterns], all where there is none, but those of which a call says
// nothing: README.md tells which, and why. By name.
std::vector<Subject> findSubjects(const std::vector<std::string>& patterns);

// Makes the plausible arguments of each: before anything is guarded, for there are many, and where it may take seconds.
void findPlausibleArguments(std::vector<Subject>& subjects);

}  // namespace boxcar::hostile
