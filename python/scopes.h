#pragma once

#include <nanobind/nanobind.h>

namespace boxcar::python {

// Adds what `with` switches on to [module]: scopes (no_grad), handlers (trace), and handlers in Python.
void addScopes(nanobind::module_& module);

}  // namespace boxcar::python
