#pragma once

#include <nanobind/nanobind.h>

namespace boxcar::python {

// Lets classes of tensors answer the operators on their tensors (`__boxcar_dispatch__`), and adds what PythonDispatcher
// is made of to [module].
void addTensorClasses(nanobind::module_& module);

}  // namespace boxcar::python
