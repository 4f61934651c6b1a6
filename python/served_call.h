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

// How redispatch() goes on: by OperatorHandle::redispatchBoxed, or by another function like it.
using GoOn = void (*)(const OperatorHandle& op, DispatchKeySet keys, Stack& stack);

// As above, for a function that goes on by [go_on]. Needs the GIL.
void serveCallThen(GoOn go_on, PyObject* function, CallForm form, const OperatorHandle& op, DispatchKeySet keys,
                   Stack& stack);

// Returns a new list of the arguments of [op] on [stack], which keeps them. Needs the GIL.
PyObject* argumentList(const OperatorHandle& op, const Stack& stack);

// Returns what function(op, args) returned, a new reference, for a call whose redispatch goes on with [keys]. Needs the
// GIL.
PyObject* callForOperator(PyObject* function, const OperatorHandle& op, DispatchKeySet keys, PyObject* args);

// Returns [values], a sequence of all arguments of [op], as its arguments. [name]: the function that takes them.
Stack stackOf(const OperatorHandle& op, PyObject* values, const char* name);

// Adds the function redispatch to [module].
void addRedispatch(PyObject* module);

}  // namespace boxcar::python
