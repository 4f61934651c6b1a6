#pragma once

#include <boxcar/dispatcher/registry/operator_handle.h>
#include <nanobind/nanobind.h>

namespace boxcar::python {

// Lets the classes of the arguments answer the call (`__boxcar_dispatch__`), as TensorClass::answer() does: derived
// ones before their bases, and otherwise from left to right. Returns false if all of them return NotImplemented.
bool answerByPython(const OperatorHandle& op, DispatchKeySet below, Stack& stack);

// Adds what PythonDispatcher is made of to [module].
void addTensorClasses(nanobind::module_& module);

}  // namespace boxcar::python
