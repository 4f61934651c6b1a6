#include <boxcar/dispatcher/call/tensor_class.h>
#include <boxcar/python/constants.h>
#include <boxcar/python/error.h>
#include <boxcar/python/operators.h>
#include <boxcar/python/reference.h>
#include <boxcar/python/tensor_classes.h>
#include <boxcar/python/tensor_object.h>
#include <boxcar/python/tensor_protocols.h>
#include <boxcar/python/wait.h>

#include <structmember.h>

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace boxcar::python {

PyTypeObject* detail::tensor_type = nullptr;

namespace {

// The objects of tensors. It is not in the tensors themselves, which threads without the GIL may be reading. An object
// holds its tensor, so that an address here is that of one tensor.
boost::unordered_flat_map<const TensorImpl*, PyObject*>& objects() {
  static auto* const all = new boost::unordered_flat_map<const TensorImpl*, PyObject*>();  // outlives the interpreter
  return *all;
}

// The class of a tensor whose class in Python answers operators. It has what is left of the tensor's object while only
// C++ holds the tensor: a new object gets it. It is attached when the object is made and nobody else knows the tensor,
// and empty while the object lives.
class LeftOfObject final : public TensorClass {
 public:
  LeftOfObject() = default;
  ~LeftOfObject() override {
    releaseAnywhere(attributes_);
    releaseAnywhere(reinterpret_cast<PyObject*>(type_));
  }
  LeftOfObject(const LeftOfObject&) = delete;
  LeftOfObject& operator=(const LeftOfObject&) = delete;

  std::string nameOf(const Tensor& tensor) const override {
    const WithGil with_gil;
    const PyTypeObject* const type = dispatchingClassOf(tensor);
    return type == nullptr ? "Tensor" : type->tp_name;
  }
  bool answer(const OperatorHandle& op, DispatchKeySet below, Stack& stack) override {
    return answerByPython(op, below, stack);
  }

  PyTypeObject* type() const noexcept { return type_; }
  void put(PyTypeObject* type, PyObject* attributes) noexcept {
    type_ = reinterpret_cast<PyTypeObject*>(Py_NewRef(reinterpret_cast<PyObject*>(type)));
    attributes_ = attributes;
  }
  // Returns a reference to the class and one to the attributes, which may be null.
  std::pair<PyTypeObject*, PyObject*> take() noexcept {
    return {std::exchange(type_, nullptr), std::exchange(attributes_, nullptr)};
  }

 private:
  PyTypeObject* type_ = nullptr;
  PyObject* attributes_ = nullptr;
};

LeftOfObject* leftOf(const Tensor& tensor) noexcept { return dynamic_cast<LeftOfObject*>(tensorClassOf(tensor)); }

bool hasPythonKey(const Tensor& tensor) noexcept {
  return tensor.key_set().has_any(DispatchKeySet(DispatchKey::Python));
}

TensorObject* self(PyObject* object) noexcept { return reinterpret_cast<TensorObject*>(object); }

// Memory of plain tensors' objects that were freed: to make the object is a large part of a small call.
constexpr size_t kMostSpare = 64;
PyObject* spare[kMostSpare];
size_t spare_count = 0;

PyObject* allocate(PyTypeObject* type) {
  if (type != detail::tensor_type || spare_count == 0) return checked(type->tp_alloc(type, 0));
  PyObject* const object = PyObject_Init(spare[--spare_count], type);
  self(object)->attributes = nullptr;
  self(object)->weak_references = nullptr;
  return object;
}

// Whether C++ holds a tensor whose class and attributes must last.
bool isHeldElsewhere(const TensorObject& object) noexcept {
  return hasPythonKey(object.tensor) && object.tensor.unsafeGetTensorImpl()->useCount() > 1;
}

int traverse(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(object));
  // If C++ holds the tensor, too, the attributes live on with it.
  if (isHeldElsewhere(*self(object))) return 0;
  Py_VISIT(self(object)->attributes);
  return 0;
}

int clear(PyObject* object) {
  Py_CLEAR(self(object)->attributes);
  return 0;
}

void deallocate(PyObject* object) {
  PyObject_GC_UnTrack(object);
  TensorObject* const tensor = self(object);
  if (tensor->weak_references != nullptr) PyObject_ClearWeakRefs(object);
  objects().erase(tensor->tensor.unsafeGetTensorImpl());
  PyTypeObject* const type = Py_TYPE(object);
  LeftOfObject* const left = isHeldElsewhere(*tensor) ? leftOf(tensor->tensor) : nullptr;
  if (left != nullptr) {
    left->put(type, std::exchange(tensor->attributes, nullptr));
  } else {
    clear(object);
  }
  tensor->tensor.~Tensor();
  if (type == detail::tensor_type && spare_count < kMostSpare) {
    spare[spare_count++] = object;
  } else {
    type->tp_free(object);
  }
  Py_DECREF(type);
}

// Tensor([1, 2]) has floats, as PyTorch's: tensor() keeps the dtype.
PyObject* floatsOf(PyObject* data) {
  const Reference dtype = Reference::steal(wrapDtype(ScalarType::Float));
  return tensorFromData(data, dtype.get());
}

}  // namespace

Tensor withoutHistory(PyObject* tensor) {
  const Tensor& given = tensorOf(tensor);
  if (!given.key_set().has(DispatchKey::FuncTorchBatched)) return given.shallowCopy();
  PyObject* const arguments[] = {tensor};  // only operators know what is inside func.vmap()
  return tensorOf(Reference::steal(callOperators("aten::detach", arguments)).get());
}

namespace {

PyObject* make(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  try {
    PyObject* data = nullptr;
    static const char* const kNames[] = {"data", nullptr};
    checkStatus(PyArg_ParseTupleAndKeywords(args, keywords, "O:Tensor", const_cast<char**>(kNames), &data) != 0 ? 0
                                                                                                                : -1);
    const Reference tensor = isTensor(data) ? Reference::share(data) : Reference::steal(floatsOf(data));
    return newTensorObject(type, withoutHistory(tensor.get()));
  } catch (...) {
    return setPythonException();
  }
}

// Fields that C++ knows; `__dictoffset__` and `__weaklistoffset__` tell Python where an object's own attributes are.
PyMemberDef kMembers[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(TensorObject, attributes), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(TensorObject, weak_references), READONLY, nullptr},
    {}};

}  // namespace

bool classDispatches(PyTypeObject* type) {
  if (type == detail::tensor_type) return false;
  static PyObject* const name = checked(PyUnicode_InternFromString("__boxcar_dispatch__"));
  const Reference method = Reference::steal(PyObject_GetAttr(reinterpret_cast<PyObject*>(type), name));
  if (method.get() != nullptr) return method.get() != Py_None;
  if (PyErr_ExceptionMatches(PyExc_AttributeError) == 0) throwPythonError();
  PyErr_Clear();
  return false;
}

PyTypeObject* dispatchingClassOf(const Tensor& tensor) {
  if (!hasPythonKey(tensor)) return nullptr;
  const auto found = objects().find(tensor.unsafeGetTensorImpl());
  if (found != objects().end()) return Py_TYPE(found->second) == detail::tensor_type ? nullptr : Py_TYPE(found->second);
  const LeftOfObject* const left = leftOf(tensor);
  return left == nullptr ? nullptr : left->type();
}

PyObject* newTensorObject(PyTypeObject* type, Tensor tensor) {
  const bool dispatches = type != detail::tensor_type && classDispatches(type);
  PyObject* const object = allocate(type);
  new (&self(object)->tensor) Tensor(std::move(tensor));
  // To be tracked from the first attribute on would be enough, but Python offers no hook for that.
  if (PyObject_GC_IsTracked(object) == 0) PyObject_GC_Track(object);
  const Tensor& held = tensorOf(object);
  TensorImpl& impl = *held.unsafeGetTensorImpl();
  objects().insert_or_assign(&impl, object);
  if (dispatches) {
    if (leftOf(held) == nullptr) setTensorClass(held, makeIntrusive<LeftOfObject>());
  } else if (hasPythonKey(held) && tensorClassOf(held) == nullptr) {
    // A kernel gave a view of such a tensor its keys: it is plain until a class takes it.
    impl.set_key_set(impl.key_set().remove(DispatchKey::Python));
  }
  return object;
}

PyObject* wrapTensor(Tensor tensor) {
  if (!tensor.defined()) return Py_NewRef(Py_None);
  // An object holds its tensor, so there is none of a tensor that only the caller holds.
  if (tensor.unsafeGetTensorImpl()->useCount() > 1) {
    const auto found = objects().find(tensor.unsafeGetTensorImpl());
    if (found != objects().end()) return Py_NewRef(found->second);
  }
  if (hasPythonKey(tensor)) [[unlikely]] {
    LeftOfObject* const left = leftOf(tensor);
    if (left != nullptr && left->type() != nullptr) {
      const auto [type, attributes] = left->take();
      PyObject* const object = newTensorObject(type, std::move(tensor));
      self(object)->attributes = attributes;
      Py_DECREF(type);
      return object;
    }
  }
  return newTensorObject(detail::tensor_type, std::move(tensor));
}

void addTensorType(PyObject* module) {
  std::vector<PyType_Slot> slots = {
      {Py_tp_new, reinterpret_cast<void*>(&make)},
      {Py_tp_dealloc, reinterpret_cast<void*>(&deallocate)},
      {Py_tp_traverse, reinterpret_cast<void*>(&traverse)},
      {Py_tp_clear, reinterpret_cast<void*>(&clear)},
      {Py_tp_members, kMembers},
      {Py_tp_doc, const_cast<char*>("Tensor(data)\n--\n\nAn array of numbers of one dtype, on one device. Tensor(data) "
                                    "has float32 unless `data` is a Tensor; tensor(data) keeps the dtype.")},
  };
  addProtocols(slots);
  slots.push_back({0, nullptr});
  PyType_Spec spec = {"boxcar.Tensor", sizeof(TensorObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots.data()};
  detail::tensor_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
  checkStatus(PyModule_AddType(module, detail::tensor_type));
}

}  // namespace boxcar::python
