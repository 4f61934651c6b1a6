#include <boxcar/interpreter/runtime/conversion.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/python/error.h>
#include <boxcar/python/reference.h>
#include <boxcar/python/results.h>
#include <boxcar/python/values.h>
#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

namespace boxcar::python {
namespace {

// Returns the class of tuples with the names of [schema]'s results, such as values and indices; null if they have none.
PyObject* tupleClass(const FunctionSchema& schema) {
  static auto* const classes = new std::map<std::vector<std::string>, PyObject*>();
  std::vector<std::string> names = {schema.name().substr(schema.name().rfind(':') + 1)};
  for (const Argument& result : schema.returns()) {
    if (result.name().empty()) return nullptr;
    names.push_back(result.name());
  }
  PyObject*& found = (*classes)[names];
  if (found == nullptr) {
    Reference fields = Reference::steal(checked(PyList_New(0)));
    for (size_t i = 1; i < names.size(); ++i) {
      const Reference name = Reference::steal(checked(PyUnicode_FromString(names[i].c_str())));
      checkStatus(PyList_Append(fields.get(), name.get()));
    }
    const Reference tuple = Reference::steal(checked(PyList_AsTuple(fields.get())));
    const Reference module = Reference::steal(checked(PyImport_ImportModule("boxcar._results")));
    found = checked(PyObject_CallMethod(module.get(), "named", "sO", names[0].c_str(), tuple.get()));
  }
  return found;
}

// Lists of tensors that PyTorch's operators give are tuples in Python, as in PyTorch: they are indices, too.
PyObject* resultToPython(const FunctionSchema& schema, IValue value, TypePtr type) {
  const bool is_list = value.isList() && type != nullptr && type->isList();
  const TypePtr element = !is_list                        ? nullptr
                          : type->element()->isOptional() ? type->element()->element()
                                                          : type->element();
  Reference result = Reference::steal(toPython(std::move(value), type));
  if (element != Type::tensor()) return result.release();
  const bool is_torchs = schema.name().starts_with("aten::") || schema.name().starts_with("autograd::");
  return is_torchs ? checked(PyList_AsTuple(result.get())) : result.release();
}

}  // namespace

PyObject* resultsToPython(const FunctionSchema& schema, Stack& stack) {
  const std::vector<Argument>& returns = schema.returns();
  const auto typeOfResult = [&](size_t i) { return i < returns.size() ? returns[i].type() : nullptr; };
  if (stack.empty()) return Py_NewRef(Py_None);
  if (stack.size() == 1) return resultToPython(schema, pop(stack), typeOfResult(0));
  Reference tuple = Reference::steal(checked(PyTuple_New(static_cast<Py_ssize_t>(stack.size()))));
  for (size_t i = 0; i < stack.size(); ++i) {
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i),
                     resultToPython(schema, std::move(stack[i]), typeOfResult(i)));
  }
  PyObject* const named = returns.size() == stack.size() ? tupleClass(schema) : nullptr;
  return named == nullptr ? tuple.release() : checked(PyObject_Call(named, tuple.get(), nullptr));
}

void pushResults(const FunctionSchema& schema, PyObject* returned, const char* name, Stack& stack) {
  const std::vector<Argument>& returns = schema.returns();
  const auto fail = [&](const std::string& what) {
    throwPython(PyExc_TypeError,
                fmt::format("{} returned {}, but it must return what its schema says: {}", name, what, schema));
  };
  const auto pushOne = [&](PyObject* object, const Argument& result) {
    try {
      stack.push_back(interp::convertValue(toValue(object), {result.type()}));
    } catch (const PythonError&) {
      throw;
    } catch (const Error& error) {
      fail(fmt::format("a value that does not fit ({})", error.message()));
    }
  };
  if (returns.empty()) {
    if (returned != Py_None) fail(fmt::format("a value of class '{}'", Py_TYPE(returned)->tp_name));
    return;
  }
  if (returns.size() == 1) return pushOne(returned, returns[0]);
  if (PyTuple_Check(returned) == 0 && PyList_Check(returned) == 0) {
    fail(fmt::format("a value of class '{}' and no tuple of {}", Py_TYPE(returned)->tp_name, returns.size()));
  }
  const Reference items = Reference::steal(checked(PySequence_Tuple(returned)));
  const auto count = static_cast<size_t>(PyTuple_GET_SIZE(items.get()));
  if (count != returns.size()) fail(fmt::format("{} values", count));
  for (size_t i = 0; i < count; ++i) pushOne(PyTuple_GET_ITEM(items.get(), static_cast<Py_ssize_t>(i)), returns[i]);
}

}  // namespace boxcar::python
