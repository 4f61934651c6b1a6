#include <boxcar/dispatcher/call/tensor_class.h>
#include <boxcar/interpreter/runtime/script_error.h>
#include <boxcar/interpreter/syntax/diagnostic.h>
#include <boxcar/ivalue/file_error.h>
#include <boxcar/python/error.h>
#include <boxcar/python/reference.h>
#include <boxcar/python/wait.h>
#include <boxcar/schema/schema_error.h>
#include <fmt/format.h>

#include <new>
#include <string>
#include <string_view>
#include <utility>

namespace boxcar::python {
namespace {

PyObject* compile_error = nullptr;
PyObject* script_error = nullptr;

// The exception of Python's that this thread took last, and its text: the error of a script that it passed through has
// the text, and gets the exception as its cause.
struct Latest {
  std::shared_ptr<PyObject> exception;
  std::string text;
};
thread_local Latest latest;

std::string textOf(PyObject* exception) {
  const Reference name =
      Reference::steal(PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(exception)), "__name__"));
  const Reference text = Reference::steal(PyObject_Str(exception));
  PyErr_Clear();
  std::string result = "an exception of Python's";
  if (name.get() != nullptr) result = PyUnicode_AsUTF8(name.get());
  const char* const utf8 = text.get() == nullptr ? nullptr : PyUnicode_AsUTF8(text.get());
  PyErr_Clear();
  return utf8 == nullptr || *utf8 == '\0' ? result : result + ": " + utf8;
}

// Sets an exception of [type] with [message], after [set] has given it attributes.
template <class Set>
void raiseWith(PyObject* type, const std::string& message, const Set& set) {
  const Reference text =
      Reference::steal(PyUnicode_DecodeUTF8(message.data(), static_cast<Py_ssize_t>(message.size()), "replace"));
  if (text.get() == nullptr) return;
  const Reference exception = Reference::steal(PyObject_CallOneArg(type, text.get()));
  if (exception.get() == nullptr) return;
  set(exception.get());
  if (PyErr_Occurred() == nullptr) PyErr_SetObject(type, exception.get());
}

void setAttribute(PyObject* object, const char* name, PyObject* value) {
  if (value != nullptr) PyObject_SetAttrString(object, name, value);
  Py_XDECREF(value);
}

// Replaces "a kernel with BOXCAR_LIBRARY_IMPL(my, CPU, m)", the remedy for C++, by that for Python.
std::string withRemedyOfPython(std::string message) {
  constexpr std::string_view kMacro = "BOXCAR_LIBRARY_IMPL(";
  const size_t begin = message.find(kMacro);
  const size_t comma = message.find(", ", begin);
  const size_t end = message.find(", m)", begin);
  if (begin == std::string::npos || comma == std::string::npos || end == std::string::npos || comma >= end)
    return message;
  const std::string library = message.substr(begin + kMacro.size(), comma - begin - kMacro.size());
  const std::string key = message.substr(comma + 2, end - comma - 2);
  const std::string remedy = library == "_" ? fmt::format("boxcar.fallback(\"{}\", function)", key)
                                            : fmt::format(
                                                  "boxcar.Library(\"{}\").impl(name, \"{}\"), or with "
                                                  "register_kernel(\"{}\") of what boxcar.op() made",
                                                  library, key, key);
  return message.replace(begin, end + 4 - begin, remedy);
}

void raiseCompileError(const CompileError& error) {
  raiseWith(compile_error, error.what(), [&](PyObject* exception) {
    if (error.diagnostics().empty()) return;
    const Diagnostic& first = error.diagnostics()[0];
    if (first.source == nullptr) return;
    const auto position = first.source->position(first.span.begin);
    setAttribute(exception, "filename", PyUnicode_FromString(first.source->name().c_str()));
    setAttribute(exception, "lineno", PyLong_FromLong(static_cast<long>(position.line)));
    setAttribute(exception, "reason", PyUnicode_FromString(first.message.c_str()));
  });
}

void raiseScriptError(const ScriptError& error) {
  // A run that Ctrl-C ended: Python's own handler says what follows, usually a KeyboardInterrupt.
  if (error.cause() == ScriptErrorCause::Interrupt && PyErr_CheckSignals() < 0) return;
  const Latest cause = std::exchange(latest, {});
  const bool is_cause = cause.exception != nullptr && error.reason().find(cause.text) != std::string::npos;
  // What is meant to end the program, such as KeyboardInterrupt, is not caught as an error of a script.
  if (is_cause && PyObject_IsInstance(cause.exception.get(), PyExc_Exception) == 0) {
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(cause.exception.get())), cause.exception.get());
    return;
  }
  raiseWith(script_error, error.what(), [&](PyObject* exception) {
    setAttribute(exception, "reason", PyUnicode_FromString(error.reason().c_str()));
    if (is_cause) PyException_SetCause(exception, Py_NewRef(cause.exception.get()));
  });
}

}  // namespace

PythonError::PythonError(std::string message, std::shared_ptr<PyObject> exception)
    : RuntimeError(std::move(message)), exception_(std::move(exception)) {}

PythonError PythonError::fetch() {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  if (trace != nullptr) PyException_SetTraceback(value, trace);
  Py_XDECREF(type);
  Py_XDECREF(trace);
  std::shared_ptr<PyObject> exception(value, &releaseAnywhere);
  latest = {exception, textOf(value)};
  return {latest.text, std::move(exception)};
}

void PythonError::restore() const {
  latest = {};
  PyObject* const exception = exception_.get();
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception)), exception);
}

void throwPythonError() { throw PythonError::fetch(); }

void throwPython(PyObject* type, const std::string& message) {
  PyErr_SetString(type, message.c_str());
  throwPythonError();
}

PyObject* setPythonException() noexcept {
  try {
    throw;
  } catch (const PythonError& error) {
    error.restore();
  } catch (const CompileError& error) {
    raiseCompileError(error);
  } catch (const ScriptError& error) {
    raiseScriptError(error);
  } catch (const FileError& error) {
    // OSError(errno, text) is FileNotFoundError, PermissionError …
    const Reference arguments = Reference::steal(Py_BuildValue("(is)", error.code(), error.what()));
    if (arguments.get() != nullptr) PyErr_SetObject(PyExc_OSError, arguments.get());
  } catch (const SchemaError& error) {
    PyErr_SetString(PyExc_ValueError, error.what());
  } catch (const UnansweredCall& error) {
    PyErr_SetString(PyExc_TypeError, error.what());
  } catch (const IndexError& error) {
    PyErr_SetString(PyExc_IndexError, error.what());
  } catch (const Error& error) {
    PyErr_SetString(PyExc_RuntimeError, withRemedyOfPython(error.message()).c_str());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  } catch (...) {
    PyErr_SetString(PyExc_RuntimeError, "an exception that is none of std::exception's");
  }
  return nullptr;
}

void addExceptions(PyObject* module) {
  compile_error = checked(PyErr_NewExceptionWithDoc(
      "boxcar.CompileError",
      "A script does not compile. `filename`, `lineno` and `reason` are those of the first error; the text has all.",
      PyExc_ValueError, nullptr));
  script_error = checked(PyErr_NewExceptionWithDoc(
      "boxcar.ScriptError",
      "A script failed when it ran. The text has the script's lines; `reason` is the message without them.",
      PyExc_RuntimeError, nullptr));
  checkStatus(PyModule_AddObjectRef(module, "CompileError", compile_error));
  checkStatus(PyModule_AddObjectRef(module, "ScriptError", script_error));
}

}  // namespace boxcar::python
