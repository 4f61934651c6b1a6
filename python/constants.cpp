#include <boxcar/python/constants.h>
#include <boxcar/python/error.h>
#include <boxcar/python/reference.h>

#include <array>
#include <functional>
#include <map>
#include <string>
#include <utility>

namespace boxcar::python {

PyTypeObject* detail::constant_types[3] = {};
PyTypeObject* detail::device_type = nullptr;

namespace {

std::map<std::pair<ConstantKind, int8_t>, PyObject*>& made() {
  static auto* const all = new std::map<std::pair<ConstantKind, int8_t>, PyObject*>();
  return *all;
}

const ConstantObject& self(PyObject* object) { return *reinterpret_cast<ConstantObject*>(object); }

std::string nameOf(const ConstantObject& constant) {
  switch (constant.kind) {
    case ConstantKind::kDtype: return std::string(dtypeName(static_cast<ScalarType>(constant.number)));
    case ConstantKind::kLayout: return std::string(layoutName(static_cast<Layout>(constant.number)));
    default: return std::string(memoryFormatName(static_cast<MemoryFormat>(constant.number)));
  }
}

PyObject* show(PyObject* object) { return PyUnicode_FromString(("boxcar." + nameOf(self(object))).c_str()); }
// Pickles as the name in the module.
PyObject* reduce(PyObject* object, PyObject* /*unused*/) { return PyUnicode_FromString(nameOf(self(object)).c_str()); }

PyObject* itemsize(PyObject* object, void* /*unused*/) { return PyLong_FromSize_t(elementSize(dtypeOf(object))); }
PyObject* isFloatingPoint(PyObject* object, void* /*unused*/) {
  return PyBool_FromLong(static_cast<long>(isFloatingType(dtypeOf(object))));
}
PyObject* isComplex(PyObject* object, void* /*unused*/) {
  return PyBool_FromLong(static_cast<long>(isComplexType(dtypeOf(object))));
}

PyMethodDef kMethods[] = {{"__reduce__", reduce, METH_NOARGS, nullptr}, {}};
PyGetSetDef kNone[] = {{}};
PyGetSetDef kOfDtypes[] = {{"itemsize", itemsize, nullptr, "The bytes of an element.", nullptr},
                           {"is_floating_point", isFloatingPoint, nullptr, "Whether elements are floats.", nullptr},
                           {"is_complex", isComplex, nullptr, "Whether elements are complex numbers.", nullptr},
                           {}};

void addKind(PyObject* module, ConstantKind kind, const char* name, const char* doc, PyGetSetDef* fields) {
  PyType_Slot slots[] = {{Py_tp_repr, reinterpret_cast<void*>(&show)},
                         {Py_tp_methods, kMethods},
                         {Py_tp_getset, fields},
                         {Py_tp_doc, const_cast<char*>(doc)},
                         {0, nullptr}};
  PyType_Spec spec = {name, sizeof(ConstantObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  auto*& type = detail::constant_types[static_cast<size_t>(kind)];
  type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
  checkStatus(PyModule_AddType(module, type));
}

void addConstant(PyObject* module, ConstantKind kind, int8_t number) {
  PyTypeObject* const type = detail::constant_types[static_cast<size_t>(kind)];
  PyObject* const object = checked(type->tp_alloc(type, 0));
  auto& constant = *reinterpret_cast<ConstantObject*>(object);
  constant.kind = kind;
  constant.number = number;
  made()[{kind, number}] = object;
  checkStatus(PyModule_AddObjectRef(module, nameOf(constant).c_str(), object));
}

PyObject* constantOf(ConstantKind kind, int8_t number) {
  const auto found = made().find({kind, number});
  BOXCAR_CHECK(found != made().end(), "there is no dtype, layout or memory format of number {}", number);
  return Py_NewRef(found->second);
}

// ---- Devices ----

PyObject* makeDevice(PyTypeObject* /*type*/, PyObject* args, PyObject* keywords) {
  try {
    const char* text = nullptr;
    int index = -1;
    static const char* const kNames[] = {"type", "index", nullptr};
    if (PyTuple_GET_SIZE(args) == 1 && isDevice(PyTuple_GET_ITEM(args, 0))) return Py_NewRef(PyTuple_GET_ITEM(args, 0));
    if (PyArg_ParseTupleAndKeywords(args, keywords, "s|i:device", const_cast<char**>(kNames), &text, &index) == 0)
      return nullptr;
    const Device device(text);
    if (index < 0) return wrapDevice(device);
    if (device.has_index())
      throwPython(PyExc_ValueError, "device(): the index is in the text already; leave out `index`");
    if (index > INT8_MAX)
      throwPython(PyExc_ValueError, "device(): the index is 0 to 127, not " + std::to_string(index));
    return wrapDevice(Device(device.type(), static_cast<DeviceIndex>(index)));
  } catch (...) {
    return setPythonException();
  }
}

PyObject* showDevice(PyObject* object) {
  const Device device = deviceOf(object);
  std::string text = "device(type='" + std::string(toString(device.type())) + "'";
  if (device.has_index()) text += ", index=" + std::to_string(device.index());
  return PyUnicode_FromString((text + ")").c_str());
}
PyObject* textOfDevice(PyObject* object) { return PyUnicode_FromString(toString(deviceOf(object)).c_str()); }

PyObject* compareDevices(PyObject* a, PyObject* b, int operation) {
  if (operation != Py_EQ && operation != Py_NE) Py_RETURN_NOTIMPLEMENTED;
  bool equal = false;
  if (isDevice(b)) {
    equal = deviceOf(a) == deviceOf(b);
  } else if (PyUnicode_Check(b) != 0) {
    equal = PyUnicode_CompareWithASCIIString(b, toString(deviceOf(a)).c_str()) == 0;
  } else {
    Py_RETURN_NOTIMPLEMENTED;
  }
  return PyBool_FromLong(static_cast<long>(equal == (operation == Py_EQ)));
}
Py_hash_t hashDevice(PyObject* object) { return static_cast<Py_hash_t>(std::hash<Device>()(deviceOf(object))); }

PyObject* typeOfDevice(PyObject* object, void* /*unused*/) {
  return PyUnicode_FromString(std::string(toString(deviceOf(object).type())).c_str());
}
PyObject* indexOfDevice(PyObject* object, void* /*unused*/) {
  const Device device = deviceOf(object);
  return device.has_index() ? PyLong_FromLong(device.index()) : Py_NewRef(Py_None);
}
PyObject* reduceDevice(PyObject* object, PyObject* /*unused*/) {
  return Py_BuildValue("(O(s))", reinterpret_cast<PyObject*>(detail::device_type), toString(deviceOf(object)).c_str());
}

PyGetSetDef kOfDevices[] = {{"type", typeOfDevice, nullptr, "The kind, such as 'cpu'.", nullptr},
                            {"index", indexOfDevice, nullptr, "The number among its kind, or None.", nullptr},
                            {}};
PyMethodDef kDeviceMethods[] = {{"__reduce__", reduceDevice, METH_NOARGS, nullptr}, {}};

void addDevices(PyObject* module) {
  PyType_Slot slots[] = {
      {Py_tp_new, reinterpret_cast<void*>(&makeDevice)},
      {Py_tp_repr, reinterpret_cast<void*>(&showDevice)},
      {Py_tp_str, reinterpret_cast<void*>(&textOfDevice)},
      {Py_tp_richcompare, reinterpret_cast<void*>(&compareDevices)},
      {Py_tp_hash, reinterpret_cast<void*>(&hashDevice)},
      {Py_tp_getset, kOfDevices},
      {Py_tp_methods, kDeviceMethods},
      {Py_tp_doc,
       const_cast<char*>("device(type, index=None)\n--\n\nWhere tensors are: device('cpu'), device('cuda:0').")},
      {0, nullptr}};
  PyType_Spec spec = {"boxcar.device", sizeof(DeviceObject), 0, Py_TPFLAGS_DEFAULT, slots};
  detail::device_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
  checkStatus(PyModule_AddType(module, detail::device_type));
}

}  // namespace

PyObject* wrapDtype(ScalarType dtype) { return constantOf(ConstantKind::kDtype, static_cast<int8_t>(dtype)); }
PyObject* wrapLayout(Layout layout) { return constantOf(ConstantKind::kLayout, static_cast<int8_t>(layout)); }
PyObject* wrapMemoryFormat(MemoryFormat format) {
  return constantOf(ConstantKind::kMemoryFormat, static_cast<int8_t>(format));
}

PyObject* wrapDevice(Device device) {
  PyObject* const object = checked(detail::device_type->tp_alloc(detail::device_type, 0));
  reinterpret_cast<DeviceObject*>(object)->device = device;
  return object;
}

void addConstants(PyObject* module) {
  addKind(module, ConstantKind::kDtype, "boxcar.dtype", "The type of a tensor's elements.", kOfDtypes);
  addKind(module, ConstantKind::kLayout, "boxcar.layout", "How a tensor's elements are stored.", kNone);
  addKind(module, ConstantKind::kMemoryFormat, "boxcar.memory_format", "The order of a tensor's dimensions in memory.",
          kNone);
  for (int number = 0; number < static_cast<int>(ScalarType::NumOptions); ++number) {
    const auto dtype = static_cast<ScalarType>(number);
    if (elementSize(dtype) != 0 && dtype != ScalarType::ComplexHalf)
      addConstant(module, ConstantKind::kDtype, static_cast<int8_t>(number));
  }
  for (const Layout layout : {Layout::Strided, Layout::Mkldnn})
    addConstant(module, ConstantKind::kLayout, static_cast<int8_t>(layout));
  for (int number = 0; number < static_cast<int>(MemoryFormat::NumOptions); ++number)
    addConstant(module, ConstantKind::kMemoryFormat, static_cast<int8_t>(number));
  addDevices(module);
}

}  // namespace boxcar::python
