#include <boxcar/python/numpy_objects.h>

#include <cstring>

namespace boxcar::python {
namespace {

bool hasBase(PyObject* object, const char* name) noexcept {
  for (const PyTypeObject* type = Py_TYPE(object); type != nullptr; type = type->tp_base) {
    if (std::strcmp(type->tp_name, name) == 0) return true;
  }
  return false;
}

}  // namespace

bool isNumpyArray(PyObject* object) noexcept { return hasBase(object, "numpy.ndarray"); }
bool isNumpyScalar(PyObject* object) noexcept { return hasBase(object, "numpy.generic"); }

}  // namespace boxcar::python
