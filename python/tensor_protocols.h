#pragma once

#include <Python.h>

#include <vector>

// What Python's syntax and built-in functions do with tensors, by PyTorch's rules.

namespace boxcar::python {

// Adds the slots of operators (+, @, ==, …), of indexing, of attributes and of sharing to those of the class.
void addProtocols(std::vector<PyType_Slot>& slots);

// Returns a new Tensor object for numbers and nested lists of them, an array (with a copy) or a tensor (with a copy).
// [dtype] and [device] may be null or None. Throws.
PyObject* tensorFromData(PyObject* data, PyObject* dtype = nullptr, PyObject* device = nullptr);

}  // namespace boxcar::python
