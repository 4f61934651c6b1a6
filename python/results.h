#pragma once

#include <Python.h>
#include <boxcar/ivalue/stack.h>
#include <boxcar/schema/function_schema.h>

namespace boxcar::python {

// Returns a new reference to what Python sees of the results on [stack], all of its values: None for none, the value of
// one, and a tuple of several, with the names that [schema] gives them.
PyObject* resultsToPython(const FunctionSchema& schema, Stack& stack);

// Pushes what a function of Python returned as the results of [schema]. Throws PythonError with a TypeError that names
// the function [name] where they do not fit.
void pushResults(const FunctionSchema& schema, PyObject* returned, const char* name, Stack& stack);

}  // namespace boxcar::python
