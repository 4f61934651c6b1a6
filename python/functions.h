#pragma once

#include <Python.h>
#include <boxcar/ivalue/ivalue.h>
#include <boxcar/python/callable.h>

#include <memory>

// Functions: those of scripts and of operators as Python's callables, and Python's as values of operators.

namespace boxcar::python {

// Returns what wrapObject() put into [object]; None if that is another object.
IValue valueIn(PyObject* object);
// Returns a new reference to an object that holds [value]: a Function of Python for a function, an opaque Object for a
// generator, a storage and the like.
PyObject* wrapObject(IValue value);

// Returns a callable of Python as a Function, which takes any positional arguments and gives one result.
IValue functionOf(PyObject* callable);

// Returns a new Function of Python that calls [target].
PyObject* newFunction(std::unique_ptr<Target> target);

// Adds the classes to [module].
void addFunctions(PyObject* module);

}  // namespace boxcar::python
