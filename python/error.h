#pragma once

#include <Python.h>
#include <boxcar/ivalue/error.h>

#include <memory>
#include <string>

namespace boxcar::python {

// An exception of Python's on its way through C++: what a kernel or a handler in Python raised. Needs the GIL to be
// made; copies and destruction do not need it.
class PythonError final : public RuntimeError {
 public:
  // Takes the exception that is set in this thread.
  static PythonError fetch();

  // Sets the exception again.
  void restore() const;

 private:
  PythonError(std::string message, std::shared_ptr<PyObject> exception);

  std::shared_ptr<PyObject> exception_;
};

// Throws the Python exception that is set.
[[noreturn]] void throwPythonError();
// Throws a new one of Python's class [type].
[[noreturn]] void throwPython(PyObject* type, const std::string& message);

// Returns [object], or throws the Python exception that is set where it is null.
inline PyObject* checked(PyObject* object) {
  if (object == nullptr) [[unlikely]]
    throwPythonError();
  return object;
}
inline void checkStatus(int status) {
  if (status < 0) [[unlikely]]
    throwPythonError();
}

// Sets Python's exception for the C++ exception that is being handled: IndexError for an index, FileNotFoundError and
// its like for what the system says of files, CompileError and ScriptError for scripts, RuntimeError for the rest.
// Returns null, for functions that Python calls.
PyObject* setPythonException() noexcept;

// The classes CompileError and ScriptError of the module, which are made when it is initialised.
void addExceptions(PyObject* module);

}  // namespace boxcar::python
