#pragma once

#include <Python.h>
#include <boxcar/ivalue/tensor.h>

#include <utility>

// Tensors as Python objects. The class is made by hand and not by nanobind: most of the cost of an operator's call from
// Python is to make the object of its result.

namespace boxcar::python {

struct TensorObject {
  PyObject_HEAD;
  Tensor tensor;
  PyObject* attributes;  // a dict, or null
  PyObject* weak_references;
};

namespace detail {
extern PyTypeObject* tensor_type;
}

inline bool isTensor(PyObject* object) noexcept {
  return Py_TYPE(object) == detail::tensor_type || PyType_IsSubtype(Py_TYPE(object), detail::tensor_type) != 0;
}
// The tensor in an object for which isTensor() holds.
inline const Tensor& tensorOf(PyObject* object) noexcept { return reinterpret_cast<TensorObject*>(object)->tensor; }
// Returns a tensor over the memory of that one.
Tensor withoutHistory(PyObject* tensor);

// Returns the object of [tensor]: the one that Python has, if there is one, so that its class, its attributes and its
// identity last; None for the undefined tensor. Throws PythonError if there is no memory.
PyObject* wrapTensor(Tensor tensor);

// Whether the class answers the operators on its tensors: it has `__boxcar_dispatch__`. Such tensors have the key
// Python.
bool classDispatches(PyTypeObject* type);

// Returns the class that [tensor] has or had in Python where that one answers operators: a borrowed reference, or null.
PyTypeObject* dispatchingClassOf(const Tensor& tensor);

// Returns a new object of class [type], a subclass of Tensor or Tensor itself, for [tensor], which no object has yet.
PyObject* newTensorObject(PyTypeObject* type, Tensor tensor);

// Makes the class and adds it to [module].
void addTensorType(PyObject* module);

}  // namespace boxcar::python
