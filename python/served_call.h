#pragma once

#include <Python.h>
#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/ivalue/stack.h>

// Calls of operators that functions of Python serve: handlers and kernels.

namespace boxcar::python {

// How a function of Python takes the arguments of an operator.
enum class CallForm {
  kHandler,  // function(op, args)
  kKernel,   // function(*args), with keyword-only arguments by keyword
};

// Lets [function] serve the call with the arguments on [stack], and puts what it returns there. [keys]: those that
// redispatch() in it goes on with. Takes the GIL.
void serveCall(PyObject* function, CallForm form, const OperatorHandle& op, DispatchKeySet keys, Stack& stack);

// Adds the function redispatch to [module].
void addRedispatch(PyObject* module);

}  // namespace boxcar::python
