#pragma once

#include <Python.h>

// Objects of NumPy's, which are told by the names of their classes: NumPy itself is not linked, and may not be there.

namespace boxcar::python {

bool isNumpyArray(PyObject* object) noexcept;
// A number, such as numpy.float32(3). Many of these have no place among Python's numbers.
bool isNumpyScalar(PyObject* object) noexcept;

}  // namespace boxcar::python
