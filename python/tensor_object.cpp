#include <boxcar/python/error.h>
#include <boxcar/python/reference.h>
#include <boxcar/python/tensor_object.h>
#include <boxcar/python/tensor_protocols.h>

#include <structmember.h>

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <new>
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

TensorObject* self(PyObject* object) noexcept { return reinterpret_cast<TensorObject*>(object); }

int traverse(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(object));
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
  clear(object);
  objects().erase(tensor->tensor.unsafeGetTensorImpl());
  PyTypeObject* const type = Py_TYPE(object);
  tensor->tensor.~Tensor();
  type->tp_free(object);
  Py_DECREF(type);
}

PyObject* make(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  try {
    PyObject* data = nullptr;
    static const char* const kNames[] = {"data", nullptr};
    checkStatus(PyArg_ParseTupleAndKeywords(args, keywords, "O:Tensor", const_cast<char**>(kNames), &data) != 0 ? 0
                                                                                                                : -1);
    const Reference tensor = isTensor(data) ? Reference::share(data) : Reference::steal(tensorFromData(data));
    return newTensorObject(type, tensorOf(tensor.get()).shallowCopy());
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

PyObject* newTensorObject(PyTypeObject* type, Tensor tensor) {
  // Tracked by the garbage collector from the first attribute on would be enough, but Python offers no hook for that.
  PyObject* const object = checked(type->tp_alloc(type, 0));
  new (&self(object)->tensor) Tensor(std::move(tensor));
  self(object)->attributes = nullptr;
  self(object)->weak_references = nullptr;
  objects().insert_or_assign(tensorOf(object).unsafeGetTensorImpl(), object);
  return object;
}

PyObject* wrapTensor(Tensor tensor) {
  if (!tensor.defined()) return Py_NewRef(Py_None);
  const auto found = objects().find(tensor.unsafeGetTensorImpl());
  if (found != objects().end()) return Py_NewRef(found->second);
  return newTensorObject(detail::tensor_type, std::move(tensor));
}

void addTensorType(PyObject* module) {
  std::vector<PyType_Slot> slots = {
      {Py_tp_new, reinterpret_cast<void*>(&make)},
      {Py_tp_dealloc, reinterpret_cast<void*>(&deallocate)},
      {Py_tp_traverse, reinterpret_cast<void*>(&traverse)},
      {Py_tp_clear, reinterpret_cast<void*>(&clear)},
      {Py_tp_members, kMembers},
      {Py_tp_doc, const_cast<char*>("Tensor(data)\n--\n\nAn array of numbers of one dtype, on one device.")},
  };
  addProtocols(slots);
  slots.push_back({0, nullptr});
  PyType_Spec spec = {"boxcar.Tensor", sizeof(TensorObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots.data()};
  detail::tensor_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
  checkStatus(PyModule_AddType(module, detail::tensor_type));
}

}  // namespace boxcar::python
