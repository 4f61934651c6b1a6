#include <boxcar/interpreter/bytecode/builtins.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/python/constants.h>
#include <boxcar/python/error.h>
#include <boxcar/python/indexing.h>
#include <boxcar/python/numpy_objects.h>
#include <boxcar/python/operators.h>
#include <boxcar/python/reference.h>
#include <boxcar/python/sharing.h>
#include <boxcar/python/tensor_object.h>
#include <boxcar/python/tensor_protocols.h>
#include <boxcar/python/values.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar::python {
namespace {

// ---- Operators ----

// The callable of the operators called [name], which is found once.
template <const char* name>
PyObject* operators() {
  static PyObject* const found = operatorsNamed(name);
  return found;
}

// Whether an operand is for boxcar to judge: other classes may know what to do with a tensor.
bool isOperand(PyObject* object) {
  return isTensor(object) || PyLong_Check(object) != 0 || PyFloat_Check(object) != 0 || PyComplex_Check(object) != 0 ||
         (PyIndex_Check(object) != 0 && !isNumpyArray(object)) || isNumpyScalar(object);
}

// Calls [operators] on a tensor and what is no operand: an array of NumPy's becomes a tensor, as in PyTorch.
PyObject* withArray(PyObject* operators, PyObject* tensor, PyObject* array) {
  if (!isTensor(tensor) || !isNumpyArray(array)) Py_RETURN_NOTIMPLEMENTED;
  try {
    const Reference other = Reference::steal(tensorFromData(array));
    PyObject* const arguments[] = {tensor, other.get()};
    return PyObject_Vectorcall(operators, arguments, 2, nullptr);
  } catch (...) {
    return setPythonException();
  }
}

template <const char* name>
PyObject* binary(PyObject* a, PyObject* b) {
  if (!isOperand(a) || !isOperand(b)) return withArray(operators<name>(), a, b);
  PyObject* const arguments[] = {a, b};
  return PyObject_Vectorcall(operators<name>(), arguments, 2, nullptr);
}
template <const char* name>
PyObject* power(PyObject* a, PyObject* b, PyObject* /*modulus*/) {
  return binary<name>(a, b);
}
template <const char* name>
PyObject* unary(PyObject* a) {
  return PyObject_Vectorcall(operators<name>(), &a, 1, nullptr);
}
template <const char* name>
PyObject* inPlace(PyObject* a, PyObject* b) {
  if (!isOperand(b)) return withArray(operators<name>(), a, b);
  PyObject* const arguments[] = {a, b};
  return PyObject_Vectorcall(operators<name>(), arguments, 2, nullptr);
}

#define BOXCAR_NAMES(_) \
  _(add)                \
  _(sub)                \
  _(mul)                \
  _(div)                \
  _(remainder)          \
  _(floor_divide)       \
  _(pow)                \
  _(matmul)             \
  _(bitwise_and)        \
  _(bitwise_or)         \
  _(bitwise_xor)        \
  _(bitwise_not)        \
  _(neg)                \
  _(positive)           \
  _(abs)                \
  _(add_)               \
  _(sub_)               \
  _(mul_)               \
  _(div_)               \
  _(remainder_)         \
  _(floor_divide_)      \
  _(bitwise_and_)       \
  _(bitwise_or_)        \
  _(bitwise_xor_)       \
  _(pow_)               \
  _(eq)                 \
  _(ne)                 \
  _(lt)                 \
  _(le)                 \
  _(gt)                 \
  _(ge) _(item) _(unbind) _(bitwise_left_shift) _(bitwise_right_shift) _(mT) _(mH) _(matrix_H) _(real) _(imag) _(t)
#define BOXCAR_NAME(name) constexpr char k_##name[] = "aten::" #name;
BOXCAR_NAMES(BOXCAR_NAME)
#undef BOXCAR_NAME

PyObject* compare(PyObject* a, PyObject* b, int operation) {
  switch (operation) {
    case Py_EQ: return binary<k_eq>(a, b);
    case Py_NE: return binary<k_ne>(a, b);
    case Py_LT: return binary<k_lt>(a, b);
    case Py_LE: return binary<k_le>(a, b);
    case Py_GT: return binary<k_gt>(a, b);
    default: return binary<k_ge>(a, b);
  }
}

// By identity: == compares elements.
Py_hash_t hash(PyObject* object) { return _Py_HashPointer(object); }

// ---- Numbers ----

Reference itemOf(PyObject* object, const char* wanted) {
  if (tensorOf(object).numel() != 1) {
    throwPython(PyExc_ValueError, std::string("only a tensor with one element can be converted to ") + wanted +
                                      "; this one has " + std::to_string(tensorOf(object).numel()) +
                                      ". Use .tolist() or .numpy() for all of them");
  }
  return Reference::steal(checked(unary<k_item>(object)));
}

int truth(PyObject* object) {
  try {
    if (tensorOf(object).numel() != 1) {
      throwPython(PyExc_RuntimeError, "Boolean value of a Tensor with " + std::to_string(tensorOf(object).numel()) +
                                          " elements is ambiguous; use .any() or .all()");
    }
    return PyObject_IsTrue(itemOf(object, "bool").get());
  } catch (...) {
    setPythonException();
    return -1;
  }
}

template <PyObject* (*convert)(PyObject*)>
PyObject* number(PyObject* object) {
  try {
    return convert(itemOf(object, convert == &PyNumber_Float ? "float" : "int").get());
  } catch (...) {
    return setPythonException();
  }
}

PyObject* index(PyObject* object) {
  try {
    if (!isIntegralType(tensorOf(object).scalar_type(), /*includeBool=*/true)) {
      throwPython(PyExc_TypeError, "only integer tensors of a single element can be converted to an index");
    }
    return PyNumber_Index(itemOf(object, "int").get());
  } catch (...) {
    return setPythonException();
  }
}

// ---- Containers ----

Py_ssize_t length(PyObject* object) {
  const Tensor& tensor = tensorOf(object);
  if (tensor.dim() == 0) {
    PyErr_SetString(PyExc_TypeError, "len() of a tensor without dimensions");
    return -1;
  }
  return static_cast<Py_ssize_t>(tensor.sizes()[0]);
}

PyObject* iterate(PyObject* object) {
  if (tensorOf(object).dim() == 0) {
    PyErr_SetString(PyExc_TypeError, "iteration over a tensor without dimensions");
    return nullptr;
  }
  const Reference parts = Reference::steal(unary<k_unbind>(object));
  return parts.get() == nullptr ? nullptr : PyObject_GetIter(parts.get());
}

int contains(PyObject* object, PyObject* value) {
  const Reference equal = Reference::steal(binary<k_eq>(object, value));
  if (equal.get() == nullptr) return -1;
  const Reference any = Reference::steal(PyObject_CallMethod(equal.get(), "any", nullptr));
  return any.get() == nullptr ? -1 : PyObject_IsTrue(any.get());
}

// ---- Attributes ----

PyObject* show(PyObject* object) {
  try {
    std::string text = toString(tensorOf(object));
    constexpr std::string_view kPlain = "tensor";
    if (Py_TYPE(object) != detail::tensor_type && text.starts_with(kPlain)) {
      // The class's name in its place, and further lines as far in.
      const std::string_view full = Py_TYPE(object)->tp_name;
      const std::string name(full.substr(full.rfind('.') + 1));
      text.replace(0, kPlain.size(), name);
      for (size_t line = text.find('\n'); line != std::string::npos; line = text.find('\n', line + 1)) {
        if (text.compare(line + 1, kPlain.size(), std::string(kPlain.size(), ' ')) == 0)
          text.replace(line + 1, kPlain.size(), std::string(name.size(), ' '));
      }
    }
    return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
  } catch (...) {
    return setPythonException();
  }
}

PyObject* tupleOf(std::span<const int64_t> numbers) {
  Reference tuple = Reference::steal(checked(PyTuple_New(static_cast<Py_ssize_t>(numbers.size()))));
  for (size_t i = 0; i < numbers.size(); ++i) {
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), checked(PyLong_FromLongLong(numbers[i])));
  }
  return tuple.release();
}

template <auto get>
PyObject* field(PyObject* object, void* /*unused*/) {
  try {
    return get(tensorOf(object));
  } catch (...) {
    return setPythonException();
  }
}

// Attributes that are operators, as they are in scripts: prim::name, prim::name.set, aten::name.
PyObject* attributeOf(PyObject* object, void* name) {
  PyObject* const found = operatorsNamed(static_cast<const char*>(name));
  return found == nullptr ? nullptr : PyObject_Vectorcall(found, &object, 1, nullptr);
}
int setAttribute(PyObject* object, PyObject* value, void* name) {
  const std::string setter = static_cast<const char*>(name);
  PyObject* const arguments[] = {object, value == nullptr ? Py_None : value};  // `del x.grad`
  try {
    const Reference found = Reference::steal(checked(PyObject_GetAttrString(operatorsNamed(setter), "set")));
    const Reference result = Reference::steal(checked(PyObject_Vectorcall(found.get(), arguments, 2, nullptr)));
    return 0;
  } catch (...) {
    setPythonException();
    return -1;
  }
}

constexpr char kGrad[] = "prim::grad";
constexpr char kRequiresGrad[] = "prim::requires_grad";
constexpr char kIsLeaf[] = "prim::is_leaf";
constexpr char kGradFn[] = "prim::grad_fn";
constexpr char kData[] = "prim::data";
constexpr char kVersion[] = "aten::_version";

// x.data = y: the tensor takes y's memory and shape, unknown to autograd. Its count of writes and its gradient stay.
int setData(PyObject* object, PyObject* value, void* /*unused*/) {
  try {
    if (value == nullptr || !isTensor(value)) throwPython(PyExc_TypeError, "Tensor.data must be a Tensor");
    const Tensor& tensor = tensorOf(object);
    const Tensor& source = tensorOf(value);
    if (source.scalar_type() != tensor.scalar_type() || source.device() != tensor.device() ||
        source.layout() != Layout::Strided || tensor.layout() != Layout::Strided) {
      throwPython(PyExc_RuntimeError,
                  fmt::format("x.data = y takes a strided y of x's dtype and device, {} on {}, but y is {} on {}; "
                              "convert it first, with y.to(x)",
                              dtypeName(tensor.scalar_type()), toString(tensor.device()),
                              dtypeName(source.scalar_type()), toString(source.device())));
    }
    // `x.data -= y` assigns the memory that x has.
    if (tensor.storage().get() == source.storage().get() && tensor.storage_offset() == source.storage_offset() &&
        std::ranges::equal(tensor.sizes(), source.sizes()) && std::ranges::equal(tensor.strides(), source.strides()))
      return 0;
    if (tensor.unsafeGetTensorImpl()->base() != nullptr) {
      throwPython(PyExc_RuntimeError, "x.data = y: x is a view, and a view stays with its base; use x.copy_(y)");
    }
    tensor.unsafeGetTensorImpl()->setStorage(source.storage(), source.sizes(), source.strides(),
                                             source.storage_offset());
    return 0;
  } catch (...) {
    setPythonException();
    return -1;
  }
}

template <class Result>
PyObject* flag(Result value) {
  return PyBool_FromLong(static_cast<long>(value));
}

PyObject* shapeOf(const Tensor& x) { return tupleOf(x.sizes()); }
PyObject* dtypeOfTensor(const Tensor& x) { return wrapDtype(x.scalar_type()); }
PyObject* deviceOfTensor(const Tensor& x) { return wrapDevice(x.device()); }
PyObject* layoutOfTensor(const Tensor& x) { return wrapLayout(x.layout()); }
PyObject* rankOf(const Tensor& x) { return PyLong_FromLongLong(x.dim()); }
PyObject* itemsizeOf(const Tensor& x) { return PyLong_FromSize_t(x.itemsize()); }
PyObject* nbytesOf(const Tensor& x) { return PyLong_FromSize_t(x.nbytes()); }
PyObject* isCpu(const Tensor& x) { return flag(x.is_cpu()); }
PyObject* isCuda(const Tensor& x) { return flag(x.is_cuda()); }
PyObject* isMeta(const Tensor& x) { return flag(x.is_meta()); }
PyObject* isMkldnn(const Tensor& x) { return flag(x.is_mkldnn()); }
PyObject* keysOf(const Tensor& x) {
  Reference list = Reference::steal(checked(PyList_New(0)));
  for (const DispatchKey key : x.key_set()) {
    const Reference name = Reference::steal(checked(PyUnicode_FromString(std::string(toString(key)).c_str())));
    checkStatus(PyList_Append(list.get(), name.get()));
  }
  return list.release();
}
// An attribute whose value an operator gives.
template <const char* name>
PyObject* given(PyObject* object, void* /*unused*/) {
  return unary<name>(object);
}

PyGetSetDef kFields[] = {
    {"shape", field<&shapeOf>, nullptr, "The size of each dimension, a tuple of ints.", nullptr},
    {"dtype", field<&dtypeOfTensor>, nullptr, "The type of the elements.", nullptr},
    {"device", field<&deviceOfTensor>, nullptr, "Where the elements are.", nullptr},
    {"layout", field<&layoutOfTensor>, nullptr, "How the elements are stored.", nullptr},
    {"ndim", field<&rankOf>, nullptr, "The number of dimensions.", nullptr},
    {"itemsize", field<&itemsizeOf>, nullptr, "The bytes of an element.", nullptr},
    {"nbytes", field<&nbytesOf>, nullptr, "The bytes of all elements.", nullptr},
    {"is_cpu", field<&isCpu>, nullptr, "Whether the elements are in the CPU's memory.", nullptr},
    {"is_cuda", field<&isCuda>, nullptr, "Whether the elements are on a CUDA device.", nullptr},
    {"is_meta", field<&isMeta>, nullptr, "Whether there are no elements, only a shape.", nullptr},
    {"is_mkldnn", field<&isMkldnn>, nullptr, "Whether the elements are in a layout of oneDNN's.", nullptr},
    {"keys", field<&keysOf>, nullptr, "The dispatch keys, by name.", nullptr},
    {"T", given<k_t>, nullptr, "The transposed matrix.", nullptr},
    {"mT", given<k_mT>, nullptr, "The last two dimensions swapped.", nullptr},
    {"H", given<k_matrix_H>, nullptr, "The transposed matrix of the complex conjugates.", nullptr},
    {"mH", given<k_mH>, nullptr, "The last two dimensions swapped, of the complex conjugates.", nullptr},
    {"real", given<k_real>, nullptr, "The real parts.", nullptr},
    {"imag", given<k_imag>, nullptr, "The imaginary parts of complex numbers.", nullptr},
    {"grad", attributeOf, setAttribute, "The gradient that backward passes accumulated, or None.",
     const_cast<char*>(kGrad)},
    {"requires_grad", attributeOf, setAttribute, "Whether calls on the tensor are recorded for differentiation.",
     const_cast<char*>(kRequiresGrad)},
    {"is_leaf", attributeOf, nullptr, "Whether no recorded call made the tensor.", const_cast<char*>(kIsLeaf)},
    {"grad_fn", attributeOf, nullptr, "The name of the step of backward passes that made the tensor.",
     const_cast<char*>(kGradFn)},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {"data", attributeOf, setData, "A tensor over the same memory without history.", const_cast<char*>(kData)},
    {"_version", attributeOf, nullptr, "How often the memory was written to.", const_cast<char*>(kVersion)},
    {}};

// ---- Methods that are no operators ----

PyObject* callBuiltin(const char* name, PyObject* object) {
  try {
    std::array<IValue, 1> arguments = {tensorOf(object)};
    return toPython(interp::builtins()[*interp::findBuiltin(name)].function(arguments));
  } catch (...) {
    return setPythonException();
  }
}
PyObject* tolist(PyObject* object, PyObject* /*unused*/) { return callBuiltin("tensor.tolist", object); }
// float(), float(memory_format=boxcar.channels_last)
template <ScalarType dtype>
PyObject* converted(PyObject* object, PyObject* arguments, PyObject* keywords) {
  if (PyTuple_GET_SIZE(arguments) != 0) {
    PyErr_SetString(PyExc_TypeError, "it takes nothing but memory_format=");
    return nullptr;
  }
  const Reference to = Reference::steal(PyObject_GetAttrString(object, "to"));
  if (to.get() == nullptr) return nullptr;
  const Reference wanted = Reference::steal(PyTuple_Pack(1, Reference::steal(wrapDtype(dtype)).get()));
  return wanted.get() == nullptr ? nullptr : PyObject_Call(to.get(), wanted.get(), keywords);
}
PyObject* toCpu(PyObject* object, PyObject* /*unused*/) { return PyObject_CallMethod(object, "to", "s", "cpu"); }
PyObject* toCuda(PyObject* object, PyObject* /*unused*/) { return PyObject_CallMethod(object, "to", "s", "cuda"); }
PyObject* dim(PyObject* object, PyObject* /*unused*/) { return field<&rankOf>(object, nullptr); }
PyObject* numel(PyObject* object, PyObject* /*unused*/) { return PyLong_FromLongLong(tensorOf(object).numel()); }
PyObject* dataPointer(PyObject* object, PyObject* /*unused*/) {
  return PyLong_FromVoidPtr(tensorOf(object).data_ptr());
}
PyObject* storageOffset(PyObject* object, PyObject* /*unused*/) {
  return PyLong_FromLongLong(tensorOf(object).storage_offset());
}
PyObject* elementSize(PyObject* object, PyObject* /*unused*/) { return field<&itemsizeOf>(object, nullptr); }
PyObject* isFloatingPoint(PyObject* object, PyObject* /*unused*/) { return flag(tensorOf(object).is_floating_point()); }
PyObject* isComplex(PyObject* object, PyObject* /*unused*/) { return flag(tensorOf(object).is_complex()); }

// size(), size(dim); stride(), stride(dim)
template <auto all, auto one>
PyObject* dimensions(PyObject* object, PyObject* const* arguments, Py_ssize_t count) {
  try {
    const Tensor& tensor = tensorOf(object);
    if (count == 0) return tupleOf((tensor.*all)());
    if (count != 1) throwPython(PyExc_TypeError, "it takes a dimension, or nothing for all of them");
    const long long dimension = PyLong_AsLongLong(arguments[0]);
    if (dimension == -1 && PyErr_Occurred() != nullptr) return nullptr;
    return PyLong_FromLongLong((tensor.*one)(dimension));
  } catch (...) {
    return setPythonException();
  }
}

#define BOXCAR_CONVERSION(name, dtype, text)                                                            \
  {                                                                                                     \
    name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&converted<ScalarType::dtype>)),   \
        METH_VARARGS | METH_KEYWORDS, name "(memory_format=preserve_format): the elements as " text "." \
  }

PyMethodDef kMethods[] = {
    {"tolist", tolist, METH_NOARGS, "The elements as nested lists of numbers."},
    BOXCAR_CONVERSION("float", Float, "float32"),
    BOXCAR_CONVERSION("double", Double, "float64"),
    BOXCAR_CONVERSION("half", Half, "float16"),
    BOXCAR_CONVERSION("bfloat16", BFloat16, "bfloat16"),
    BOXCAR_CONVERSION("int", Int, "int32"),
    BOXCAR_CONVERSION("long", Long, "int64"),
    BOXCAR_CONVERSION("bool", Bool, "bools"),
    BOXCAR_CONVERSION("short", Short, "int16"),
    BOXCAR_CONVERSION("char", Char, "int8"),
    BOXCAR_CONVERSION("byte", Byte, "uint8"),
    BOXCAR_CONVERSION("cfloat", ComplexFloat, "complex64"),
    BOXCAR_CONVERSION("cdouble", ComplexDouble, "complex128"),
    {"cpu", toCpu, METH_NOARGS, "The tensor in the CPU's memory."},
    {"cuda", toCuda, METH_NOARGS, "The tensor on the current CUDA device."},
    {"dim", dim, METH_NOARGS, "The number of dimensions."},
    {"numel", numel, METH_NOARGS, "The number of elements."},
    {"nelement", numel, METH_NOARGS, "The number of elements."},
    {"data_ptr", dataPointer, METH_NOARGS, "The address of the first element."},
    {"storage_offset", storageOffset, METH_NOARGS, "The place of the first element in the memory, in elements."},
    {"element_size", elementSize, METH_NOARGS, "The bytes of an element."},
    {"is_floating_point", isFloatingPoint, METH_NOARGS, "Whether the elements are floats."},
    {"is_complex", isComplex, METH_NOARGS, "Whether the elements are complex numbers."},
    {"size",
     withKeywords(&dimensions<static_cast<std::span<const int64_t> (Tensor::*)() const noexcept>(&Tensor::sizes),
                              &Tensor::size>),
     METH_FASTCALL, "size(dim=None): the size of a dimension, or of all."},
    {"stride",
     withKeywords(&dimensions<static_cast<std::span<const int64_t> (Tensor::*)() const noexcept>(&Tensor::strides),
                              &Tensor::stride>),
     METH_FASTCALL, "stride(dim=None): the step of a dimension in memory, or of all."},
    BOXCAR_SHARING_METHODS,
    {}};

template <class Function>
void* slot(Function* function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

namespace {

// Whether numbers of NumPy's are in nested lists, which do not hold themselves: their dtypes count, and IValues have
// none.
bool holdsNumpyScalar(PyObject* data) {
  if (PyList_CheckExact(data) == 0 && PyTuple_CheckExact(data) == 0)
    return PyFloat_CheckExact(data) == 0 && PyLong_CheckExact(data) == 0 && isNumpyScalar(data);
  PyObject* const* const items = PySequence_Fast_ITEMS(data);
  return std::any_of(items, items + PySequence_Fast_GET_SIZE(data), holdsNumpyScalar);
}

// Returns null for lists with numbers of NumPy's.
PyObject* tensorFromValue(PyObject* data, const std::array<IValue, 3>& options) {
  IValue given;
  Reference shared;
  if (isTensor(data)) {
    given = withoutHistory(data);
  } else if (PyObject_CheckBuffer(data) != 0 && PyBytes_Check(data) == 0) {
    shared = Reference::steal(tensorFromBuffer(data, BufferUse::kReadOnce));
    given = tensorOf(shared.get());
  } else {
    given = toValue(data);
    if (!given.isScalar() && !given.isTensor() && !given.isList() && !given.isTuple()) {
      throwPython(PyExc_TypeError, fmt::format("tensor() takes numbers, lists of them and arrays, and not an object of "
                                               "class '{}'",
                                               Py_TYPE(data)->tp_name));
    }
    const bool may_hold_others = given.isGenericList() || given.isTuple();
    if (may_hold_others && holdsNumpyScalar(data)) return nullptr;
  }
  std::array<IValue, 4> arguments = {std::move(given), options[0], options[1], options[2]};
  return wrapTensor(interp::builtins()[*interp::findBuiltin("tensor")].function(arguments).toTensor());
}

// Tensors, arrays and numbers of NumPy's in lists, ranges, and tensors of PyTorch's: Python's code makes plain lists of
// them. Returns null for other data.
PyObject* tensorFromOther(PyObject* data, std::array<IValue, 3> options) {
  const Reference module = Reference::steal(checked(PyImport_ImportModule("boxcar._data")));
  const Reference plain = Reference::steal(checked(PyObject_CallMethod(module.get(), "plain", "(O)", data)));
  if (plain.get() == Py_None) return nullptr;
  PyObject* const dtype = PyTuple_GET_ITEM(plain.get(), 1);
  if (options[0].isNone() && dtype != Py_None) options[0] = numberOf(dtype);
  return tensorFromValue(PyTuple_GET_ITEM(plain.get(), 0), options);
}

}  // namespace

PyObject* tensorFromData(PyObject* data, PyObject* dtype, PyObject* device) {
  std::array<IValue, 3> options;
  if (dtype != nullptr && dtype != Py_None) {
    const auto of_class = dtypeOfClass(dtype);
    if (!isDtype(dtype) && !of_class.has_value())
      throwPython(PyExc_TypeError, "tensor(): `dtype` must be a dtype, such as boxcar.float32");
    options[0] = of_class.has_value() ? static_cast<int64_t>(*of_class) : numberOf(dtype);
  }
  if (device != nullptr && device != Py_None) {
    const IValue wanted = toValue(device);
    options[1] = wanted.isString() ? Device(wanted.toStringView()) : wanted.toDevice();
  }
  try {
    if (PyObject* const tensor = tensorFromValue(data, options)) return tensor;
  } catch (const Error& error) {
    if (PyObject* const tensor = tensorFromOther(data, options)) return tensor;
    // What the function says of lists: they are no values that it can take.
    if (!error.message().starts_with("tensor()")) throw;
    throwPython(PyExc_ValueError, error.message());
  }
  if (PyObject* const tensor = tensorFromOther(data, options)) return tensor;
  throwPython(PyExc_TypeError, "tensor() takes numbers of NumPy's that have a dtype of boxcar's");
}

void addProtocols(std::vector<PyType_Slot>& slots) {
  for (const PyType_Slot& each : std::initializer_list<PyType_Slot>{
           {Py_nb_add, slot(&binary<k_add>)},
           {Py_nb_subtract, slot(&binary<k_sub>)},
           {Py_nb_multiply, slot(&binary<k_mul>)},
           {Py_nb_true_divide, slot(&binary<k_div>)},
           {Py_nb_remainder, slot(&binary<k_remainder>)},
           {Py_nb_floor_divide, slot(&binary<k_floor_divide>)},
           {Py_nb_power, slot(&power<k_pow>)},
           {Py_nb_matrix_multiply, slot(&binary<k_matmul>)},
           {Py_nb_and, slot(&binary<k_bitwise_and>)},
           {Py_nb_or, slot(&binary<k_bitwise_or>)},
           {Py_nb_xor, slot(&binary<k_bitwise_xor>)},
           {Py_nb_lshift, slot(&binary<k_bitwise_left_shift>)},
           {Py_nb_rshift, slot(&binary<k_bitwise_right_shift>)},
           {Py_nb_negative, slot(&unary<k_neg>)},
           {Py_nb_positive, slot(&unary<k_positive>)},
           {Py_nb_absolute, slot(&unary<k_abs>)},
           {Py_nb_invert, slot(&unary<k_bitwise_not>)},
           {Py_nb_inplace_add, slot(&inPlace<k_add_>)},
           {Py_nb_inplace_subtract, slot(&inPlace<k_sub_>)},
           {Py_nb_inplace_multiply, slot(&inPlace<k_mul_>)},
           {Py_nb_inplace_true_divide, slot(&inPlace<k_div_>)},
           {Py_nb_inplace_remainder, slot(&inPlace<k_remainder_>)},
           {Py_nb_inplace_floor_divide, slot(&inPlace<k_floor_divide_>)},
           {Py_nb_inplace_and, slot(&inPlace<k_bitwise_and_>)},
           {Py_nb_inplace_or, slot(&inPlace<k_bitwise_or_>)},
           {Py_nb_inplace_xor, slot(&inPlace<k_bitwise_xor_>)},
           {Py_nb_bool, slot(&truth)},
           {Py_nb_int, slot(&number<&PyNumber_Long>)},
           {Py_nb_float, slot(&number<&PyNumber_Float>)},
           {Py_nb_index, slot(&index)},
           {Py_mp_subscript, slot(&getItem)},
           {Py_mp_ass_subscript, slot(&setItem)},
           {Py_mp_length, slot(&length)},
           {Py_sq_length, slot(&length)},
           {Py_sq_contains, slot(&contains)},
           {Py_tp_iter, slot(&iterate)},
           {Py_tp_richcompare, slot(&compare)},
           {Py_tp_hash, slot(&hash)},
           {Py_tp_repr, slot(&show)},
           {Py_tp_getset, kFields},
           {Py_tp_methods, kMethods},
           {Py_bf_getbuffer, slot(&getBuffer)},
           {Py_bf_releasebuffer, slot(&releaseBuffer)},
       }) {
    slots.push_back(each);
  }
}

}  // namespace boxcar::python
