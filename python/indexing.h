#pragma once

#include <Python.h>

// Elements and parts of tensors: x[1], x[:, None, ::2], x[mask], x[rows, columns] = y.

namespace boxcar::python {

// Slots of the class of tensors.
PyObject* getItem(PyObject* tensor, PyObject* key);
int setItem(PyObject* tensor, PyObject* key, PyObject* value);

}  // namespace boxcar::python
