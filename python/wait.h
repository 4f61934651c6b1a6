#pragma once

#include <Python.h>

namespace boxcar::python {

// Lets other threads of Python run while it lives. What runs meanwhile must not touch objects of Python's.
class WithoutGil final {
 public:
  explicit WithoutGil(bool releases = true) noexcept : state_(releases ? PyEval_SaveThread() : nullptr) {}
  ~WithoutGil() {
    if (state_ != nullptr) PyEval_RestoreThread(state_);
  }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* const state_;
};

// Holds the GIL while it lives, on any thread.
class WithGil final {
 public:
  WithGil() noexcept : state_(PyGILState_Ensure()) {}
  ~WithGil() { PyGILState_Release(state_); }
  WithGil(const WithGil&) = delete;
  WithGil& operator=(const WithGil&) = delete;

 private:
  const PyGILState_STATE state_;
};

// Drops a reference on any thread; null is allowed. When the process ends, nobody frees the object.
inline void releaseAnywhere(PyObject* object) noexcept {
  if (object == nullptr || Py_IsInitialized() == 0) return;
  const WithGil with_gil;
  Py_DECREF(object);
}

}  // namespace boxcar::python
