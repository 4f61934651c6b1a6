#pragma once

#include <Python.h>

#include <utility>

namespace boxcar::python {

// An owning pointer to a Python object. Needs the GIL.
class Reference final {
 public:
  Reference() noexcept = default;
  // Takes over a reference that the caller owns; may be null.
  static Reference steal(PyObject* object) noexcept {
    Reference result;
    result.object_ = object;
    return result;
  }
  // Adds a reference; may be null.
  static Reference share(PyObject* object) noexcept { return steal(Py_XNewRef(object)); }
  Reference(const Reference& other) noexcept : object_(Py_XNewRef(other.object_)) {}
  Reference(Reference&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Reference& operator=(Reference other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Reference() { Py_XDECREF(object_); }

  PyObject* get() const noexcept { return object_; }
  // Gives the reference to the caller.
  [[nodiscard]] PyObject* release() noexcept { return std::exchange(object_, nullptr); }

 private:
  PyObject* object_ = nullptr;
};

}  // namespace boxcar::python
