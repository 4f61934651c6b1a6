#include <boxcar/dispatcher/call/grad_mode.h>
#include <boxcar/dispatcher/call/local_dispatch_key_set.h>
#include <boxcar/ivalue/dlpack.h>
#include <boxcar/ivalue/dlpack_abi.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/from_blob.h>
#include <boxcar/ivalue/resolved_tensor.h>
#include <boxcar/ivalue/zero_tensor.h>
#include <boxcar/python/error.h>
#include <boxcar/python/operators.h>
#include <boxcar/python/reference.h>
#include <boxcar/python/sharing.h>
#include <boxcar/python/tensor_object.h>
#include <boxcar/python/wait.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace boxcar::python {
namespace {

// ---- DLPack ----

constexpr const char* kVersioned = "dltensor_versioned";
constexpr const char* kUsedVersioned = "used_dltensor_versioned";
constexpr const char* kUnversioned = "dltensor";
constexpr const char* kUsedUnversioned = "used_dltensor";

// DLPack's structure before version 1.
struct Unversioned {
  dlpack::Array array;
  void* manager_ctx;
  void (*deleter)(Unversioned* self);
};

void dropVersioned(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, kVersioned) == 0) return;  // a consumer took it
  releaseDLPack(static_cast<DLManagedTensorVersioned*>(PyCapsule_GetPointer(capsule, kVersioned)));
}

void dropUnversioned(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, kUnversioned) == 0) return;
  auto* const managed = static_cast<Unversioned*>(PyCapsule_GetPointer(capsule, kUnversioned));
  managed->deleter(managed);
}

void endUnversioned(Unversioned* managed) {
  releaseDLPack(static_cast<DLManagedTensorVersioned*>(managed->manager_ctx));
  delete managed;
}

// Returns a structure of version 1 for one of before, which it owns.
DLManagedTensorVersioned* versionedOf(Unversioned* old) {
  auto managed = std::make_unique<dlpack::ManagedTensor>();
  managed->version = {dlpack::kMajorVersion, 0};
  managed->manager_ctx = old;
  managed->flags = 0;
  managed->dl_tensor = old->array;
  managed->deleter = [](DLManagedTensorVersioned* self) {
    auto* const kept = static_cast<Unversioned*>(dlpack::asManagedTensor(self)->manager_ctx);
    if (kept->deleter != nullptr) kept->deleter(kept);
    delete dlpack::asManagedTensor(self);
  };
  return dlpack::asDLManagedTensor(managed.release());
}

// Finishes the work on a device, since DLPack's streams say only when the other side may begin.
void finishWork(const Tensor& tensor) {
  if (!tensor.is_cuda()) return;
  const Reference done = Reference::steal(callOperators("cuda::synchronize", {}));
}

Tensor tensorOfCapsule(PyObject* capsule) {
  DLManagedTensorVersioned* managed = nullptr;
  const char* used = kUsedVersioned;
  if (PyCapsule_IsValid(capsule, kVersioned) != 0) {
    managed = static_cast<DLManagedTensorVersioned*>(PyCapsule_GetPointer(capsule, kVersioned));
  } else if (PyCapsule_IsValid(capsule, kUnversioned) != 0) {
    managed = versionedOf(static_cast<Unversioned*>(PyCapsule_GetPointer(capsule, kUnversioned)));
    used = kUsedUnversioned;
  } else {
    throwPython(PyExc_ValueError, "from_dlpack(): the capsule holds no DLPack tensor, or was used before");
  }
  // From here on the memory is ours to release, on any thread: producers of DLPack take the GIL where they need it.
  checkStatus(PyCapsule_SetName(capsule, used));
  try {
    return fromDLPack(managed);
  } catch (...) {
    releaseDLPack(managed);
    throw;
  }
}

PyObject* keywordNames(std::initializer_list<const char*> names) {
  Reference tuple = Reference::steal(checked(PyTuple_New(static_cast<Py_ssize_t>(names.size()))));
  Py_ssize_t at = 0;
  for (const char* name : names) PyTuple_SET_ITEM(tuple.get(), at++, checked(PyUnicode_InternFromString(name)));
  return tuple.release();
}

// Asks a producer for its capsule: with the version that is understood, or as before version 1.
Reference capsuleOf(PyObject* producer) {
  static PyObject* const method = checked(PyUnicode_InternFromString("__dlpack__"));
  static PyObject* const names = keywordNames({"max_version"});
  static PyObject* const version = checked(Py_BuildValue("(ii)", 1, 1));
  PyObject* const arguments[] = {producer, version};
  PyObject* capsule = PyObject_VectorcallMethod(method, arguments, 1, names);
  if (capsule == nullptr && PyObject_HasAttr(producer, method) == 0) {
    PyErr_Clear();
    throwPython(
        PyExc_TypeError,
        std::string("from_dlpack() takes an array of a library that has __dlpack__(), and not an object of class '") +
            Py_TYPE(producer)->tp_name + "'");
  }
  if (capsule == nullptr && PyErr_ExceptionMatches(PyExc_TypeError) != 0) {
    PyErr_Clear();
    capsule = PyObject_VectorcallMethod(method, arguments, 1, nullptr);
  }
  return Reference::steal(checked(capsule));
}

PyObject* fromDlpack(PyObject* /*module*/, PyObject* object) {
  try {
    if (isTensor(object)) return Py_NewRef(object);
    if (PyCapsule_CheckExact(object) != 0) return wrapTensor(tensorOfCapsule(object));
    const Reference capsule = capsuleOf(object);
    return wrapTensor(tensorOfCapsule(capsule.get()));
  } catch (const PythonError& error) {
    error.restore();
    return nullptr;
  } catch (const Error& error) {
    PyErr_SetString(PyExc_BufferError, error.what());  // the array API's kind for what cannot be shared
    return nullptr;
  }
}

// Keyword arguments of a METH_FASTCALL method, by name; positional ones are refused.
template <size_t count>
std::array<PyObject*, count> keywordsOf(const char* method, const std::array<const char*, count>& known,
                                        PyObject* const* arguments, Py_ssize_t positional, PyObject* names,
                                        Py_ssize_t most_positional = 0) {
  std::array<PyObject*, count> found = {};
  if (positional > most_positional)
    throwPython(PyExc_TypeError, fmt::format("{}() takes its arguments by keyword", method));
  for (Py_ssize_t i = 0; i < positional; ++i) found[static_cast<size_t>(i)] = arguments[i];
  for (Py_ssize_t i = 0; names != nullptr && i < PyTuple_GET_SIZE(names); ++i) {
    bool is_known = false;
    for (size_t k = 0; k < count && !is_known; ++k) {
      is_known = PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, i), known[k]) == 0;
      if (is_known) found[k] = arguments[positional + i];
    }
    if (!is_known) {
      throwPython(PyExc_TypeError, fmt::format("{}() has no argument '{}'; it has {}", method,
                                               PyUnicode_AsUTF8(PyTuple_GET_ITEM(names, i)), fmt::join(known, ", ")));
    }
  }
  return found;
}

bool wantsVersioned(PyObject* max_version) {
  if (max_version == nullptr || max_version == Py_None) return false;
  const Reference major = Reference::steal(checked(PySequence_GetItem(max_version, 0)));
  const long number = PyLong_AsLong(major.get());
  if (number == -1 && PyErr_Occurred() != nullptr) throwPythonError();
  return number >= 1;
}

// The tensor to lend: on the device that is asked for, and a copy if that is asked for.
Tensor lent(PyObject* object, PyObject* device, PyObject* copy) {
  const bool never_copies = copy == Py_False;
  const bool copies = copy != nullptr && copy != Py_None && !never_copies;
  Reference held = Reference::share(object);
  if (never_copies && hasMathBits(tensorOf(object))) {
    throwPython(PyExc_BufferError,
                "__dlpack__(): the tensor is conjugated or negated lazily, so that others get a copy; lend "
                "x.resolve_conj().resolve_neg()");
  }
  if (device != nullptr && device != Py_None) {
    int kind = 0, number = 0;
    if (PyArg_ParseTuple(device, "ii:__dlpack__", &kind, &number) == 0) throwPythonError();
    const bool is_there = kind == (tensorOf(object).is_cuda() ? dlpack::kCuda : dlpack::kCpu);
    if (!is_there) {
      if (kind != dlpack::kCpu || never_copies) {
        throwPython(
            PyExc_BufferError,
            "__dlpack__(): the tensor is on another device, and a copy to that one is not made here; use .to()");
      }
      held = Reference::steal(checked(PyObject_CallMethod(object, "cpu", nullptr)));
      return tensorOf(held.get());
    }
  }
  if (copies) held = Reference::steal(checked(PyObject_CallMethod(object, "clone", nullptr)));
  return tensorOf(held.get());
}

// ---- Buffers ----

struct Format {
  ScalarType dtype;
  const char* text;  // as module struct writes it
};
constexpr Format kFormats[] = {{ScalarType::Byte, "B"},          {ScalarType::Char, "b"},
                               {ScalarType::Short, "h"},         {ScalarType::Int, "i"},
                               {ScalarType::Long, "l"},          {ScalarType::Half, "e"},
                               {ScalarType::Float, "f"},         {ScalarType::Double, "d"},
                               {ScalarType::ComplexFloat, "Zf"}, {ScalarType::ComplexDouble, "Zd"},
                               {ScalarType::Bool, "?"}};

// Whether autograd would miss writes to memory that is lent: not below autograd, where kernels run.
bool isRecorded(const Tensor& tensor) {
  return tensor.requires_grad() && GradMode::is_enabled() &&
         !raw_local_dispatch_key_set.excluded().has_any(autograd_dispatch_keyset);
}

// What a buffer of a tensor keeps: its shape in bytes.
struct Exported {
  Storage storage;  // which the tensor may change for another, by x.data = y
  std::vector<Py_ssize_t> shape;
  std::vector<Py_ssize_t> strides;
};

ScalarType dtypeOfFormat(const Py_buffer& view) {
  std::string_view text = view.format == nullptr ? "B" : view.format;
  if (!text.empty() && (text[0] == '@' || text[0] == '=' || text[0] == '<')) text.remove_prefix(1);
  for (const Format& format : kFormats) {
    if (text == format.text && static_cast<size_t>(view.itemsize) == elementSize(format.dtype)) return format.dtype;
  }
  if ((text == "q" || text == "l") && view.itemsize == 8) return ScalarType::Long;
  if (text == "c" && view.itemsize == 1) return ScalarType::Byte;
  throwPython(PyExc_TypeError,
              fmt::format("boxcar has no dtype for elements of format '{}' with {} bytes; convert the array first, for "
                          "example with .astype(\"int64\")",
                          view.format == nullptr ? "B" : view.format, view.itemsize));
}

struct OwnedBuffer {
  Py_buffer view = {};
  ~OwnedBuffer() {
    if (view.obj == nullptr || Py_IsInitialized() == 0) return;
    const WithGil with_gil;
    PyBuffer_Release(&view);
  }
};

}  // namespace

PyObject* tensorFromBuffer(PyObject* object, BufferUse use) {
  auto buffer = std::make_shared<OwnedBuffer>();
  Py_buffer& view = buffer->view;
  const int flags = PyBUF_FORMAT | PyBUF_STRIDES;
  if (PyObject_GetBuffer(object, &view, use == BufferUse::kShared ? flags | PyBUF_WRITABLE : flags) != 0) {
    if (use == BufferUse::kReadOnce) throwPythonError();
    PyErr_Clear();
    if (PyObject_CheckBuffer(object) == 0) {
      throwPython(
          PyExc_TypeError,
          std::string("from_numpy() takes an array, or another object with a buffer, and not an object of class '") +
              Py_TYPE(object)->tp_name + "'; boxcar.tensor() takes numbers and lists");
    }
    throwPython(PyExc_ValueError,
                "from_numpy(): the array is read-only, and operators may write to any tensor; copy it with "
                "boxcar.tensor() or array.copy()");
  }
  if (view.ndim > 0 && (view.shape == nullptr || view.strides == nullptr)) {  // dates of NumPy's
    throwPython(PyExc_TypeError,
                std::string("boxcar has no dtype for elements of class '") + Py_TYPE(object)->tp_name + "'");
  }
  const ScalarType dtype = dtypeOfFormat(view);
  const auto itemsize = static_cast<int64_t>(view.itemsize);
  std::vector<int64_t> shape(view.shape, view.shape + view.ndim);
  std::vector<int64_t> strides;
  bool fits = reinterpret_cast<uintptr_t>(view.buf) % static_cast<size_t>(itemsize) == 0;
  for (int i = 0; i < view.ndim; ++i) {
    fits = fits && view.strides[i] >= 0 && view.strides[i] % itemsize == 0;
    strides.push_back(view.strides[i] / itemsize);
  }
  if (!fits) {
    throwPython(PyExc_ValueError,
                "from_numpy(): a tensor's strides are not negative, and its elements lie at multiples of their size; "
                "copy the array first, with array.copy()");
  }
  return wrapTensor(from_blob(view.buf, shape, strides, [buffer](void*) mutable { buffer.reset(); }, {.dtype = dtype}));
}

namespace {

const char* formatOf(ScalarType dtype) {
  const auto* const found = std::ranges::find(kFormats, dtype, &Format::dtype);
  return found == std::end(kFormats) ? nullptr : found->text;
}

// Why the tensor is no buffer of Python's, and the remedy; empty if it is one.
std::string whyNoBuffer(const Tensor& tensor) {
  if (const std::string_view unreadable = whyUnreadable(tensor); !unreadable.empty())
    return fmt::format("the tensor is no buffer: {}", unreadable);
  if (isZeroTensor(tensor)) return "a zero tensor has no memory, so it is no buffer; use tensor.clone()";
  if (!tensor.is_cpu() || tensor.layout() != Layout::Strided) {
    return fmt::format("only a strided tensor in the CPU's memory is a buffer; this one is on {}: copy it with .cpu()",
                       tensor.device());
  }
  if (hasMathBits(tensor)) {
    return "the memory of a tensor that is conjugated or negated lazily does not hold its elements; use "
           "tensor.resolve_conj().resolve_neg()";
  }
  if (isRecorded(tensor)) {
    return "the tensor requires grad, and writes to its buffer would be unknown to autograd; use tensor.detach()";
  }
  if (formatOf(tensor.scalar_type()) == nullptr) {
    return fmt::format("Python's buffers have no format for {}; convert the tensor first, with .float()",
                       dtypeName(tensor.scalar_type()));
  }
  return {};
}

}  // namespace

int getBuffer(PyObject* object, Py_buffer* view, int flags) {
  view->obj = nullptr;
  try {
    const Tensor& tensor = tensorOf(object);
    if (const std::string why = whyNoBuffer(tensor); !why.empty()) throwPython(PyExc_BufferError, why);
    const char* const format = formatOf(tensor.scalar_type());
    if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES && !tensor.is_contiguous()) {
      throwPython(PyExc_BufferError, "the tensor's elements do not lie one after another; use .contiguous()");
    }
    auto exported = std::make_unique<Exported>();
    exported->storage = tensor.storage();
    const auto itemsize = static_cast<Py_ssize_t>(tensor.itemsize());
    exported->shape.assign(tensor.sizes().begin(), tensor.sizes().end());
    for (const int64_t stride : tensor.strides()) exported->strides.push_back(stride * itemsize);
    view->buf = tensor.data_ptr();
    view->len = static_cast<Py_ssize_t>(tensor.nbytes());
    view->itemsize = itemsize;
    view->readonly = 0;
    view->ndim = static_cast<int>(tensor.dim());
    view->format = (flags & PyBUF_FORMAT) == PyBUF_FORMAT ? const_cast<char*>(format) : nullptr;
    view->shape = (flags & PyBUF_ND) == PyBUF_ND ? exported->shape.data() : nullptr;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? exported->strides.data() : nullptr;
    view->suboffsets = nullptr;
    view->internal = exported.release();
    view->obj = Py_NewRef(object);
    return 0;
  } catch (...) {
    setPythonException();
    return -1;
  }
}

void releaseBuffer(PyObject* /*object*/, Py_buffer* view) { delete static_cast<Exported*>(view->internal); }

PyObject* dlpackOf(PyObject* object, PyObject* const* arguments, Py_ssize_t count, PyObject* keywords) {
  try {
    static constexpr std::array<const char*, 4> kNames = {"stream", "max_version", "dl_device", "copy"};
    const auto [stream, max_version, device, copy] = keywordsOf("__dlpack__", kNames, arguments, count, keywords, 1);
    static_cast<void>(stream);
    const Tensor tensor = lent(object, device, copy);
    finishWork(tensor);
    DLManagedTensorVersioned* const managed = toDLPack(tensor);
    if (wantsVersioned(max_version)) {
      PyObject* const capsule = PyCapsule_New(managed, kVersioned, &dropVersioned);
      if (capsule == nullptr) releaseDLPack(managed);
      return capsule;
    }
    auto* const old = new Unversioned{dlpack::asManagedTensor(managed)->dl_tensor, managed, &endUnversioned};
    PyObject* const capsule = PyCapsule_New(old, kUnversioned, &dropUnversioned);
    if (capsule == nullptr) endUnversioned(old);
    return capsule;
  } catch (const PythonError& error) {
    error.restore();
    return nullptr;
  } catch (const Error& error) {
    PyErr_SetString(PyExc_BufferError, error.what());
    return nullptr;
  }
}

PyObject* dlpackDeviceOf(PyObject* object, PyObject* /*unused*/) {
  const Device device = tensorOf(object).device();
  return Py_BuildValue("(ii)", device.is_cuda() ? dlpack::kCuda : dlpack::kCpu,
                       device.is_cuda() ? std::max<int>(device.index(), 0) : 0);
}

namespace {

PyObject* numpyModule() {
  static PyObject* const numpy = checked(PyImport_ImportModule("numpy"));
  return numpy;
}

}  // namespace

PyObject* numpyOf(PyObject* object, PyObject* const* arguments, Py_ssize_t count, PyObject* keywords) {
  try {
    static constexpr std::array<const char*, 1> kNames = {"force"};
    const auto [force] = keywordsOf("numpy", kNames, arguments, count, keywords);
    Reference tensor = Reference::share(object);
    if (force != nullptr && PyObject_IsTrue(force) == 1) {
      tensor = Reference::steal(checked(PyObject_CallMethod(tensor.get(), "detach", nullptr)));
      tensor = Reference::steal(checked(PyObject_CallMethod(tensor.get(), "cpu", nullptr)));
      tensor = Reference::steal(checked(PyObject_CallMethod(tensor.get(), "resolve_conj", nullptr)));
      tensor = Reference::steal(checked(PyObject_CallMethod(tensor.get(), "resolve_neg", nullptr)));
    } else if (isRecorded(tensorOf(object))) {
      throwPython(PyExc_RuntimeError,
                  "numpy(): the tensor requires grad, and NumPy's writes would be unknown to autograd; use "
                  "tensor.detach().numpy()");
    } else if (!tensorOf(object).is_cpu()) {
      throwPython(PyExc_TypeError, "numpy(): the tensor is on " + toString(tensorOf(object).device()) +
                                       ", and NumPy has only the CPU's memory; use tensor.cpu().numpy()");
    }
    if (isZeroTensor(tensorOf(tensor.get()))) {
      tensor = Reference::steal(checked(PyObject_CallMethod(tensor.get(), "clone", nullptr)));
    }
    if (const std::string why = whyNoBuffer(tensorOf(tensor.get())); !why.empty())
      throwPython(PyExc_TypeError, "numpy(): " + why);
    const Reference view = Reference::steal(checked(PyMemoryView_FromObject(tensor.get())));
    return PyObject_CallMethod(numpyModule(), "asarray", "O", view.get());
  } catch (...) {
    return setPythonException();
  }
}

PyObject* arrayOf(PyObject* object, PyObject* const* arguments, Py_ssize_t count, PyObject* keywords) {
  try {
    static constexpr std::array<const char*, 2> kNames = {"dtype", "copy"};
    const auto [dtype, copy] = keywordsOf("__array__", kNames, arguments, count, keywords, 1);
    Reference array = Reference::steal(checked(numpyOf(object, nullptr, 0, nullptr)));
    if (dtype != nullptr && dtype != Py_None) {
      array = Reference::steal(checked(PyObject_CallMethod(numpyModule(), "asarray", "OO", array.get(), dtype)));
    }
    if (copy == Py_True) array = Reference::steal(checked(PyObject_CallMethod(array.get(), "copy", nullptr)));
    return array.release();
  } catch (...) {
    return setPythonException();
  }
}

namespace {

PyObject* fromNumpy(PyObject* /*module*/, PyObject* array) {
  try {
    return tensorFromBuffer(array, BufferUse::kShared);
  } catch (...) {
    return setPythonException();
  }
}

PyMethodDef kFunctions[] = {
    {"from_dlpack", fromDlpack, METH_O,
     "from_dlpack(array)\n--\n\nA tensor over the memory of an array of another library, which has __dlpack__()."},
    {"from_numpy", fromNumpy, METH_O,
     "from_numpy(array)\n--\n\nA tensor over the memory of an array of NumPy's, or of another object with a buffer."},
    {}};

}  // namespace

void addSharing(PyObject* module) { checkStatus(PyModule_AddFunctions(module, kFunctions)); }

}  // namespace boxcar::python
