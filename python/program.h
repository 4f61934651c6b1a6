#pragma once

#include <nanobind/nanobind.h>

namespace boxcar::python {

// Adds the class Program, of scripts and models, and the functions that load them to [module].
void addPrograms(nanobind::module_& module);

}  // namespace boxcar::python
