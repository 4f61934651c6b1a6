#pragma once

#include <nanobind/nanobind.h>

namespace boxcar::python {

// Adds what Python asks of operators to [module]: kernels and tags, the dispatch table, how a call finds its kernel.
void addOperatorFacts(nanobind::module_& module);

}  // namespace boxcar::python
