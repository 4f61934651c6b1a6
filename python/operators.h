#pragma once

#include <Python.h>
#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/ivalue/stack.h>

#include <span>
#include <string>

// Operators as Python's callables: `boxcar.ops.aten.add` chooses among the overloads, `boxcar.ops.aten.add.Tensor` is
// one of them.

namespace boxcar::python {

// Returns the callable of all operators called [name], such as "aten::add": the same object each time, a borrowed
// reference that lives as long as the process. Null if there is no such operator.
PyObject* operatorsNamed(const std::string& name);

// Returns a new reference to the callable of one operator.
PyObject* wrapOperator(const OperatorHandle& op);

// Returns the operator that [object], a callable of operators, stands for: the only overload, or the one without a
// name. Throws PythonError where there is none.
OperatorHandle onlyOperatorOf(PyObject* object);
// Returns the overload that a call with these arguments chooses, and leaves its arguments on [stack]. Throws.
OperatorHandle chooseOperator(PyObject* object, std::span<PyObject* const> arguments, PyObject* keywords, Stack& stack);

// Calls the operators called [name], which there are, with positional arguments. Returns a new reference.
PyObject* callOperators(const char* name, std::span<PyObject* const> arguments);

// Adds the class of operators and the functions that find them to [module].
void addOperators(PyObject* module);

}  // namespace boxcar::python
