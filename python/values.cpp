#include <boxcar/ivalue/dict.h>
#include <boxcar/ivalue/tuple.h>
#include <boxcar/python/constants.h>
#include <boxcar/python/error.h>
#include <boxcar/python/functions.h>
#include <boxcar/python/reference.h>
#include <boxcar/python/tensor_object.h>
#include <boxcar/python/values.h>
#include <fmt/format.h>

#include <complex>
#include <string>
#include <utility>
#include <vector>

namespace boxcar::python {
namespace {

using Tag = IValue::Tag;

enum Code : TypeCode {
  kUnknown,
  kTensor = kTensorCode,
  kInt,
  kFloat,
  kBool,
  kNone,
  kString,
  kComplex,
  kDevice,
  kInts,
  kTensors,
  kConstants,  // and two more: dtypes, layouts, memory formats
  kIntTuple = kConstants + 3
};
// Tuples of up to so many ints have codes, from kIntTuple on, and those of tensors, from kTensorTuple on.
constexpr Py_ssize_t kMostInTuple = 8;
constexpr int kTensorTuple = kIntTuple + kMostInTuple + 1;
constexpr size_t kMostTensorsInTuple = 128;
static_assert(kTensorTuple + kMostTensorsInTuple <= UINT8_MAX);

int64_t toInt(PyObject* object) {
  const long long number = PyLong_AsLongLong(object);
  if (number == -1 && PyErr_Occurred() != nullptr) throwPythonError();
  return number;
}

std::string_view textOf(PyObject* object) {
  Py_ssize_t size = 0;
  const char* const text = PyUnicode_AsUTF8AndSize(object, &size);
  if (text == nullptr) throwPythonError();
  return {text, static_cast<size_t>(size)};
}

// Lists and tuples: both give their items as an array.
std::span<PyObject* const> itemsOf(PyObject* sequence) {
  return {PySequence_Fast_ITEMS(sequence), static_cast<size_t>(PySequence_Fast_GET_SIZE(sequence))};
}

template <class Check>
bool all(std::span<PyObject* const> items, const Check& check) {
  for (PyObject* item : items) {
    if (!check(item)) return false;
  }
  return true;
}

bool isExactInt(PyObject* object) { return PyLong_CheckExact(object); }
bool isExactFloat(PyObject* object) { return PyFloat_CheckExact(object); }

// Containers may hold themselves; Python's own limit ends that.
class Nesting final {
 public:
  Nesting() {
    if (Py_EnterRecursiveCall(" while converting a value for boxcar") != 0) throwPythonError();
  }
  ~Nesting() { Py_LeaveRecursiveCall(); }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;
};

IValue listOf(PyObject* object, TypeCode& code) {
  const Nesting nesting;
  // The items stay alive even if a conversion runs Python that changes the list.
  const Reference held = Reference::steal(checked(PySequence_Tuple(object)));
  const auto items = itemsOf(held.get());
  if (items.empty()) return GenericList();
  if (all(items, isExactInt)) {
    std::vector<int64_t> numbers;
    numbers.reserve(items.size());
    for (PyObject* item : items) numbers.push_back(toInt(item));
    code = kInts;
    return numbers;
  }
  if (all(items, isTensor)) {
    std::vector<Tensor> tensors;
    tensors.reserve(items.size());
    for (PyObject* item : items) tensors.push_back(tensorOf(item));
    code = kTensors;
    return tensors;
  }
  if (all(items, isExactFloat)) {
    std::vector<double> numbers;
    numbers.reserve(items.size());
    for (PyObject* item : items) numbers.push_back(PyFloat_AS_DOUBLE(item));
    return numbers;
  }
  if (all(items, [](PyObject* item) { return PyBool_Check(item) != 0; })) {
    std::vector<bool> flags;
    flags.reserve(items.size());
    for (PyObject* item : items) flags.push_back(item == Py_True);
    return flags;
  }
  GenericList list;
  list.reserve(items.size());
  for (PyObject* item : items) list.push_back(toValue(item));
  return list;
}

IValue tupleOf(PyObject* object, TypeCode& code) {
  const Nesting nesting;
  const Reference held = Reference::share(object);
  const auto items = itemsOf(object);
  std::vector<IValue> elements;
  elements.reserve(items.size());
  for (PyObject* item : items) elements.push_back(toValue(item));
  if (!items.empty() && items.size() <= kMostInTuple && all(items, isExactInt))
    code = static_cast<TypeCode>(kIntTuple + items.size());
  if (!items.empty() && items.size() <= kMostTensorsInTuple && all(items, isTensor))
    code = static_cast<TypeCode>(kTensorTuple + items.size());
  return Tuple(std::move(elements));
}

IValue dictOf(PyObject* object) {
  const Nesting nesting;
  const Reference held = Reference::steal(checked(PyDict_Copy(object)));
  GenericDict dict;
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(held.get(), &at, &key, &value) != 0;) dict.insert(toValue(key), toValue(value));
  return dict;
}

// Whether from_dlpack() may take it.
bool isShareable(PyObject* object) { return PyObject_HasAttrString(object, "__dlpack__") != 0; }

// Numbers of other classes: subclasses of int and float, NumPy's scalars.
bool convertNumber(PyObject* object, IValue& value, TypeCode& code) {
  if (PyFloat_Check(object) != 0) {
    code = kFloat;
    value = PyFloat_AS_DOUBLE(object);
    return true;
  }
  if (PyComplex_Check(object) != 0) {
    const Py_complex number = PyComplex_AsCComplex(object);
    code = kComplex;
    value = std::complex<double>(number.real, number.imag);
    return true;
  }
  // An array of NumPy's and a tensor of PyTorch's with one element are no numbers.
  if (PySequence_Check(object) != 0 || isShareable(object)) return false;
  const char* const name = Py_TYPE(object)->tp_name;
  if (std::string_view(name).starts_with("numpy.bool")) {
    const int truth = PyObject_IsTrue(object);
    checkStatus(truth);
    code = kBool;
    value = truth != 0;
    return true;
  }
  if (std::string_view(name).starts_with("numpy.complex") || std::string_view(name).starts_with("numpy.clongdouble")) {
    const Py_complex number = PyComplex_AsCComplex(object);
    if (PyErr_Occurred() != nullptr) throwPythonError();
    code = kComplex;
    value = std::complex<double>(number.real, number.imag);
    return true;
  }
  if (PyIndex_Check(object) != 0) {
    const Reference number = Reference::steal(checked(PyNumber_Index(object)));
    code = kInt;
    value = toInt(number.get());
    return true;
  }
  if (Py_TYPE(object)->tp_as_number != nullptr && Py_TYPE(object)->tp_as_number->nb_float != nullptr) {
    const Reference number = Reference::steal(checked(PyNumber_Float(object)));
    code = kFloat;
    value = PyFloat_AS_DOUBLE(number.get());
    return true;
  }
  return false;
}

PyObject* listToPython(const IValue& value, TypePtr type) {
  const TypePtr element = type != nullptr && type->isOptional() ? type->element() : type;
  const TypePtr inner = element != nullptr && element->isList() ? element->element() : nullptr;
  const size_t count = value.length();
  Reference list = Reference::steal(checked(PyList_New(static_cast<Py_ssize_t>(count))));
  for (size_t i = 0; i < count; ++i) {
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), toPython(value.elementAt(i), inner));
  }
  return list.release();
}

PyObject* tupleToPython(const IValue& value, TypePtr type) {
  const auto inner =
      type != nullptr && type->kind() == TypeKind::Tuple ? type->contained() : std::span<const TypePtr>();
  const size_t count = value.length();
  Reference tuple = Reference::steal(checked(PyTuple_New(static_cast<Py_ssize_t>(count))));
  for (size_t i = 0; i < count; ++i) {
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i),
                     toPython(value.elementAt(i), i < inner.size() ? inner[i] : nullptr));
  }
  return tuple.release();
}

PyObject* dictToPython(const IValue& value) {
  Reference dict = Reference::steal(checked(PyDict_New()));
  for (const auto& entry : value.toGenericDict()) {
    const Reference key = Reference::steal(toPython(entry.key()));
    const Reference held = Reference::steal(toPython(entry.value()));
    checkStatus(PyDict_SetItem(dict.get(), key.get(), held.get()));
  }
  return dict.release();
}

PyObject* intToPython(int64_t number, TypePtr type) {
  switch (type == nullptr ? TypeKind::Int : type->isOptional() ? type->element()->kind() : type->kind()) {
    case TypeKind::ScalarType: return wrapDtype(static_cast<ScalarType>(number));
    case TypeKind::Layout: return wrapLayout(static_cast<Layout>(number));
    case TypeKind::MemoryFormat: return wrapMemoryFormat(static_cast<MemoryFormat>(number));
    default: return checked(PyLong_FromLongLong(number));
  }
}

[[noreturn]] void failWithoutValue(PyObject* object) {
  PyTypeObject* const type = Py_TYPE(object);
  const Reference module =
      Reference::steal(checked(PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__module__")));
  const Reference name =
      Reference::steal(checked(PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__qualname__")));
  const std::string prefix = PyUnicode_Check(module.get()) != 0 ? std::string(textOf(module.get())) + "." : "";
  const std::string shown = (prefix == "builtins." ? "" : prefix) + std::string(textOf(name.get()));
  if (isShareable(object)) {
    throwPython(PyExc_TypeError,
                fmt::format("boxcar takes no object of class '{}' as an argument; boxcar.from_dlpack(x) "
                            "makes a tensor that shares its memory (of one of PyTorch's that requires "
                            "grad, x.detach() does)",
                            shown));
  }
  throwPython(PyExc_TypeError,
              fmt::format("boxcar has no value for an object of class '{}'; it takes Tensors, numbers, strs, dtypes, "
                          "devices, functions, and lists, tuples and dicts of these. Arrays become tensors by "
                          "boxcar.from_numpy() or boxcar.from_dlpack()",
                          shown));
}

}  // namespace

IValue toValue(PyObject* object, TypeCode& code) {
  PyTypeObject* const type = Py_TYPE(object);
  if (isTensor(object)) {
    code = kTensor;
    return tensorOf(object);
  }
  if (type == &PyLong_Type) {
    code = kInt;
    return toInt(object);
  }
  if (type == &PyFloat_Type) {
    code = kFloat;
    return PyFloat_AS_DOUBLE(object);
  }
  if (object == Py_None) {
    code = kNone;
    return {};
  }
  if (type == &PyBool_Type) {
    code = kBool;
    return object == Py_True;
  }
  if (PyUnicode_Check(object) != 0) {
    code = kString;
    return textOf(object);
  }
  if (isConstant(object)) {
    code = static_cast<TypeCode>(kConstants + static_cast<int>(kindOf(object)));
    return numberOf(object);
  }
  if (isDevice(object)) {
    code = kDevice;
    return deviceOf(object);
  }
  if (const auto dtype = dtypeOfClass(object)) {
    code = kConstants + static_cast<int>(ConstantKind::kDtype);
    return static_cast<int64_t>(*dtype);
  }
  code = kUnknown;
  if (PyList_Check(object) != 0) return listOf(object, code);
  if (PyTuple_Check(object) != 0) return tupleOf(object, code);
  if (PyDict_Check(object) != 0) return dictOf(object);
  if (IValue number; convertNumber(object, number, code)) return number;
  if (IValue held = valueIn(object); !held.isNone()) return held;
  if (PyCallable_Check(object) != 0) return functionOf(object);
  failWithoutValue(object);
}

PyObject* toPython(IValue value, TypePtr type) {
  switch (value.tag()) {
    case Tag::None: return Py_NewRef(Py_None);
    case Tag::Bool: return PyBool_FromLong(static_cast<long>(value.toBool()));
    case Tag::Int: return intToPython(value.toInt(), type);
    case Tag::Double: return checked(PyFloat_FromDouble(value.toDouble()));
    case Tag::Device: return wrapDevice(value.toDevice());
    case Tag::Tensor: return wrapTensor(std::move(value).toTensor());
    case Tag::String: {
      const std::string_view text = value.toStringView();
      return checked(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape"));
    }
    case Tag::ComplexDouble: {
      const std::complex<double> number = value.toComplexDouble();
      return checked(PyComplex_FromDoubles(number.real(), number.imag()));
    }
    case Tag::Tuple: return tupleToPython(value, type);
    case Tag::GenericDict: return dictToPython(value);
    default: return value.isList() ? listToPython(value, type) : wrapObject(std::move(value));
  }
}

}  // namespace boxcar::python
