#pragma once

#include <Python.h>
#include <boxcar/ivalue/ivalue.h>
#include <boxcar/schema/type.h>

#include <cstdint>

// Values of Python as IValues, and back. Tensors are shared, everything else is copied: lists and dicts of Python do
// not change when an operator changes its copy.

namespace boxcar::python {

// What tells the type of a value (typeOf) without looking at it again; 0 where only the value tells.
using TypeCode = uint8_t;
inline constexpr TypeCode kTensorCode = 1;

// Returns the value of [object], and its code. Numbers of NumPy become numbers; a callable becomes a Function. Throws
// PythonError: TypeError for an object that boxcar has no value for, OverflowError for an int of more than 64 bits.
IValue toValue(PyObject* object, TypeCode& code);
inline IValue toValue(PyObject* object) {
  TypeCode code = 0;
  return toValue(object, code);
}

// Returns a new reference to the object of [value]. [type]: the type in a schema; an int of type ScalarType is a dtype.
// Null if it is not known.
PyObject* toPython(IValue value, TypePtr type = nullptr);

}  // namespace boxcar::python
