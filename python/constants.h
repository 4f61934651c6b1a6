#pragma once

#include <Python.h>
#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/layout.h>
#include <boxcar/ivalue/scalar_type.h>

#include <optional>

// Dtypes, layouts, memory formats and devices as Python objects: one object of each dtype, layout and format.

namespace boxcar::python {

enum class ConstantKind : uint8_t { kDtype, kLayout, kMemoryFormat };

struct ConstantObject {
  PyObject_HEAD;
  ConstantKind kind;
  int8_t number;  // of the enumeration
};

namespace detail {
extern PyTypeObject* constant_types[3];
extern PyTypeObject* device_type;
}  // namespace detail

inline bool isConstant(PyObject* object) noexcept {
  PyTypeObject* const type = Py_TYPE(object);
  return type == detail::constant_types[0] || type == detail::constant_types[1] || type == detail::constant_types[2];
}
inline ConstantKind kindOf(PyObject* constant) noexcept { return reinterpret_cast<ConstantObject*>(constant)->kind; }
inline int64_t numberOf(PyObject* constant) noexcept { return reinterpret_cast<ConstantObject*>(constant)->number; }
inline bool isDtype(PyObject* object) noexcept { return Py_TYPE(object) == detail::constant_types[0]; }
inline ScalarType dtypeOf(PyObject* dtype) noexcept { return static_cast<ScalarType>(numberOf(dtype)); }
// The dtype that a class of Python's means where a dtype is wanted: float64 of float, int64 of int, bool, complex128.
inline std::optional<ScalarType> dtypeOfClass(PyObject* object) noexcept {
  if (object == reinterpret_cast<PyObject*>(&PyFloat_Type)) return ScalarType::Double;
  if (object == reinterpret_cast<PyObject*>(&PyLong_Type)) return ScalarType::Long;
  if (object == reinterpret_cast<PyObject*>(&PyBool_Type)) return ScalarType::Bool;
  if (object == reinterpret_cast<PyObject*>(&PyComplex_Type)) return ScalarType::ComplexDouble;
  return std::nullopt;
}

// Each returns a new reference to the object; throws Error for a number that none has.
PyObject* wrapDtype(ScalarType dtype);
PyObject* wrapLayout(Layout layout);
PyObject* wrapMemoryFormat(MemoryFormat format);
PyObject* wrapDevice(Device device);

struct DeviceObject {
  PyObject_HEAD;
  Device device;
};
inline bool isDevice(PyObject* object) noexcept { return Py_TYPE(object) == detail::device_type; }
inline Device deviceOf(PyObject* object) noexcept { return reinterpret_cast<DeviceObject*>(object)->device; }

// Makes the classes and the objects and adds them to [module].
void addConstants(PyObject* module);

}  // namespace boxcar::python
