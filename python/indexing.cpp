#include <boxcar/interpreter/runtime/tensor_index.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>
#include <boxcar/python/error.h>
#include <boxcar/python/indexing.h>
#include <boxcar/python/reference.h>
#include <boxcar/python/tensor_object.h>
#include <boxcar/python/tensor_protocols.h>
#include <boxcar/python/values.h>
#include <boxcar/python/wait.h>
#include <fmt/format.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace boxcar::python {
namespace {

// The parts of an index.
std::span<PyObject* const> partsOf(PyObject* const& key) {
  if (PyTuple_Check(key) == 0) return {&key, 1};
  return {PySequence_Fast_ITEMS(key), static_cast<size_t>(PyTuple_GET_SIZE(key))};
}

int64_t intOf(PyObject* number) {
  const Reference index = Reference::steal(checked(PyNumber_Index(number)));
  const long long value = PyLong_AsLongLong(index.get());
  if (value == -1 && PyErr_Occurred() != nullptr) throwPythonError();
  return value;
}

std::optional<int64_t> boundOf(PyObject* bound) {
  return bound == Py_None ? std::nullopt : std::optional<int64_t>(intOf(bound));
}

bool isInt(PyObject* part) { return PyLong_Check(part) != 0 && PyBool_Check(part) == 0; }

// ---- Ints, slices, None and ...: a view ----

bool isView(std::span<PyObject* const> parts) {
  int ellipses = 0;
  for (PyObject* part : parts) {
    if (part == Py_Ellipsis) {
      if (++ellipses > 1) return false;
    } else if (!isInt(part) && part != Py_None && PySlice_Check(part) == 0) {
      return false;
    }
  }
  return true;
}

// The step of a slice, which is positive.
std::optional<int64_t> stepOf(const PySliceObject* slice) {
  const std::optional<int64_t> step = boundOf(slice->step);
  if (step.has_value() && *step <= 0) {
    throwPython(PyExc_ValueError,
                fmt::format("slice step must be positive, but it is {}; flip() turns the order of elements", *step));
  }
  return step;
}

Tensor sliced(const Tensor& tensor, int64_t dim, PyObject* part) {
  const auto* const slice = reinterpret_cast<PySliceObject*>(part);
  if (slice->start == Py_None && slice->stop == Py_None && slice->step == Py_None) return tensor;
  const auto step = stepOf(slice).value_or(1);
  return boxcar::slice(tensor, dim, boundOf(slice->start), boundOf(slice->stop), step);
}

// [dim]: of the tensor that is indexed.
void checkInt(int64_t index, int64_t dim, int64_t size) {
  BOXCAR_CHECK_INDEX(index >= -size && index < size, "index {} is out of bounds for dimension {} with size {}", index,
                     dim, size);
}

Tensor viewOf(const Tensor& tensor, std::span<PyObject* const> parts) {
  int64_t taken = 0;
  for (PyObject* part : parts) taken += part != Py_None && part != Py_Ellipsis ? 1 : 0;
  BOXCAR_CHECK_INDEX(taken <= tensor.dim(), "an index of {} dimensions is too long for a Tensor of {}", taken,
                     tensor.dim());
  Tensor view = tensor;
  int64_t dim = 0;
  int64_t indexed = 0;  // the ints so far: dimensions of the tensor that the view lacks
  int64_t added = 0;
  for (PyObject* part : parts) {
    if (part == Py_Ellipsis) {
      dim += tensor.dim() - taken;
    } else if (part == Py_None) {
      view = unsqueeze(view, dim++);
      ++added;
    } else if (isInt(part)) {
      const int64_t index = intOf(part);
      checkInt(index, dim + indexed - added, view.sizes()[static_cast<size_t>(dim)]);
      view = select(view, dim, index);
      ++indexed;
    } else {
      view = sliced(view, dim++, part);
    }
  }
  // x[:] and x[...] are views, too.
  return view.is_same(tensor) ? alias(tensor) : view;
}

// Throws what viewOf() would for ints that are out of range.
void checkInts(const Tensor& tensor, std::span<PyObject* const> parts) {
  int64_t taken = 0;
  for (PyObject* part : parts) taken += part != Py_None && part != Py_Ellipsis ? 1 : 0;
  if (taken > tensor.dim()) return;
  int64_t dim = 0;
  for (PyObject* part : parts) {
    if (part == Py_Ellipsis) {
      dim += tensor.dim() - taken;
    } else if (part != Py_None) {
      if (isInt(part)) checkInt(intOf(part), dim, tensor.sizes()[static_cast<size_t>(dim)]);
      ++dim;
    }
  }
}

// ---- Any index: the interpreter's form ----

struct Index {
  std::string form;
  std::vector<IValue> values;

  explicit Index(std::span<PyObject* const> parts) {
    for (PyObject* part : parts) add(part);
  }

 private:
  void add(PyObject* part) {
    if (part == Py_Ellipsis) {
      form += '.';
      return;
    }
    if (PySlice_Check(part) != 0) {
      form += ':';
      const auto* const slice = reinterpret_cast<PySliceObject*>(part);
      for (PyObject* bound : {slice->start, slice->stop}) values.emplace_back(boundOf(bound));
      values.emplace_back(stepOf(slice));
      return;
    }
    form += 'v';
    if (PyRange_Check(part)) {
      values.push_back(toValue(Reference::steal(checked(PySequence_List(part))).get()));
      return;
    }
    const bool is_known = isTensor(part) || PyList_Check(part) != 0 || part == Py_None || PyBool_Check(part) != 0 ||
                          PyObject_CheckBuffer(part) == 0;
    if (is_known) {
      values.push_back(toValue(part));
    } else {
      const Reference array = Reference::steal(tensorFromData(part));
      values.emplace_back(tensorOf(array.get()));
    }
  }
};

IValue writtenValue(PyObject* value) {
  if (isTensor(value)) return toValue(value);
  if (PyList_Check(value) == 0 && PyTuple_Check(value) == 0 && PyObject_CheckBuffer(value) == 0) {
    IValue written = toValue(value);
    if (!written.isScalar() && !written.isTensor()) {
      throwPython(PyExc_TypeError,
                  fmt::format("elements of a tensor can be set to numbers, Tensors, arrays and lists of "
                              "numbers, not to an object of class '{}'",
                              Py_TYPE(value)->tp_name));
    }
    return written;
  }
  const Reference tensor = Reference::steal(tensorFromData(value));
  return tensorOf(tensor.get());
}

}  // namespace

PyObject* getItem(PyObject* object, PyObject* key) {
  try {
    const auto parts = partsOf(key);
    if (isView(parts)) return wrapTensor(viewOf(tensorOf(object), parts));
    const Index index(parts);
    IValue found;
    {
      const Tensor tensor = tensorOf(object);
      const WithoutGil without_gil;
      found = interp::elementAt(interp::tensorPlace(tensor, index.form, index.values));
    }
    return toPython(std::move(found));
  } catch (...) {
    return setPythonException();
  }
}

int setItem(PyObject* object, PyObject* key, PyObject* value) {
  try {
    if (value == nullptr) throwPython(PyExc_TypeError, "elements of a tensor cannot be deleted");
    const auto parts = partsOf(key);
    const IValue written = writtenValue(value);
    const Tensor tensor = tensorOf(object);
    if (isView(parts)) checkInts(tensor, parts);
    const Index index(parts);
    const WithoutGil without_gil;
    interp::setElementAt(interp::tensorPlace(tensor, index.form, index.values), written);
    return 0;
  } catch (...) {
    setPythonException();
    return -1;
  }
}

}  // namespace boxcar::python
