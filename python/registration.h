#pragma once

#include <nanobind/nanobind.h>

namespace boxcar::python {

// Adds to [module] what defines operators and registers kernels in Python.
void addRegistration(nanobind::module_& module);

}  // namespace boxcar::python
