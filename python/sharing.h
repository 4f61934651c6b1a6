#pragma once

#include <Python.h>

// Sharing the memory of tensors with NumPy, PyTorch, JAX and others: by DLPack, and by Python's buffers.

namespace boxcar::python {

// What the memory of a buffer is for.
enum class BufferUse {
  kShared,    // the tensor is over it: it must be writable, and live as long
  kReadOnce,  // it is only copied
};

// Returns a new Tensor object over the memory of an object with a buffer, such as an array of NumPy's. Throws
// PythonError: TypeError for elements that boxcar has no dtype for, ValueError for memory that is read-only or whose
// elements do not lie at multiples of their size.
PyObject* tensorFromBuffer(PyObject* object, BufferUse use);

// Slots of the class of tensors: a tensor on the CPU is a buffer.
int getBuffer(PyObject* object, Py_buffer* view, int flags);
void releaseBuffer(PyObject* object, Py_buffer* view);

// Methods of the class of tensors.
PyObject* dlpackOf(PyObject* object, PyObject* const* arguments, Py_ssize_t count, PyObject* keywords);
PyObject* dlpackDeviceOf(PyObject* object, PyObject* unused);
PyObject* numpyOf(PyObject* object, PyObject* const* arguments, Py_ssize_t count, PyObject* keywords);
PyObject* arrayOf(PyObject* object, PyObject* const* arguments, Py_ssize_t count, PyObject* keywords);

// A method that takes an array of arguments, as the table of methods holds it.
template <class Method>
PyCFunction withKeywords(Method* method) noexcept {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(method));
}

#define BOXCAR_SHARING_METHODS                                                                                       \
  {"__dlpack__", withKeywords(&dlpackOf), METH_FASTCALL | METH_KEYWORDS,                                             \
   "A capsule with the memory, by the array API's protocol."},                                                       \
      {"__dlpack_device__", dlpackDeviceOf, METH_NOARGS, "DLPack's number of the device's kind, and the device's."}, \
      {"numpy", withKeywords(&numpyOf), METH_FASTCALL | METH_KEYWORDS,                                               \
       "numpy(*, force=False)\n--\n\nAn array over the same memory. With `force`, detached and copied to the CPU "   \
       "where it must be."},                                                                                         \
  {                                                                                                                  \
    "__array__", withKeywords(&arrayOf), METH_FASTCALL | METH_KEYWORDS, "An array for NumPy."                        \
  }

// Adds from_dlpack and from_numpy to [module].
void addSharing(PyObject* module);

}  // namespace boxcar::python
