#include <boxcar/ivalue/error.h>
#include <boxcar/python/error.h>
#include <boxcar/python/functions.h>
#include <boxcar/python/operators.h>
#include <boxcar/python/reference.h>
#include <boxcar/python/results.h>
#include <boxcar/python/values.h>
#include <boxcar/python/wait.h>
#include <boxcar/schema/function_object.h>
#include <boxcar/schema/parse_schema.h>

#include <new>
#include <string>
#include <utility>

namespace boxcar::python {
namespace {

PyTypeObject* function_type = nullptr;
PyTypeObject* object_type = nullptr;

// A Function that an operator or a script returned.
class FunctionTarget final : public Target {
 public:
  explicit FunctionTarget(IValue function)
      : held_(std::move(function)),
        function_(*functionIn(held_)),
        schema_(&function_.schema()),
        name_(function_.text()) {}

  const std::string& name() const override { return name_; }
  std::span<const FunctionSchema* const> candidates() override { return {&schema_, 1}; }
  void call(size_t /*index*/, const void* /*picked*/, Stack& stack) override { function_.call(stack); }
  bool isShort(size_t /*index*/, int64_t /*elements*/) const noexcept override { return false; }
  const IValue& held() const noexcept { return held_; }

 private:
  const IValue held_;
  const FunctionObject& function_;
  const FunctionSchema* const schema_;
  const std::string name_;
};

// The schema of a callable: its parameters by name where Python knows them, as of a function; otherwise any number.
FunctionSchema schemaOf(PyObject* callable) {
  const bool is_method = PyMethod_Check(callable) != 0;
  PyObject* const function = is_method ? PyMethod_GET_FUNCTION(callable) : callable;
  if (PyFunction_Check(function) == 0) return parseSchema("python(...) -> Any");
  auto* const code = reinterpret_cast<PyCodeObject*>(PyFunction_GET_CODE(function));
  if ((code->co_flags & (CO_VARARGS | CO_VARKEYWORDS)) != 0 || code->co_kwonlyargcount != 0 ||
      PyFunction_GET_DEFAULTS(function) != nullptr)
    return parseSchema("python(...) -> Any");
  const Reference names = Reference::steal(checked(PyCode_GetVarnames(code)));
  std::string text = "python(";
  for (Py_ssize_t i = is_method ? 1 : 0; i < code->co_argcount; ++i) {
    const char* const name = PyUnicode_AsUTF8(PyTuple_GET_ITEM(names.get(), i));
    if (name == nullptr) throwPythonError();
    text += std::string(text.ends_with('(') ? "" : ", ") + "Any " + name;
  }
  return parseSchema(text + ") -> Any");
}

// A callable of Python. It is called on any thread.
class PythonFunction final : public FunctionObject {
 public:
  explicit PythonFunction(PyObject* callable) : callable_(Py_NewRef(callable)), schema_(schemaOf(callable)) {}
  ~PythonFunction() override { releaseAnywhere(callable_); }

  std::string text() const override { return "a function of Python"; }
  const FunctionSchema& schema() const override { return schema_; }
  void call(Stack& stack) const override {
    const WithGil with_gil;
    run(stack);
  }
  PyObject* callable() const noexcept { return callable_; }

 private:
  void run(Stack& stack) const {
    Reference arguments = Reference::steal(checked(PyTuple_New(static_cast<Py_ssize_t>(stack.size()))));
    for (size_t i = 0; i < stack.size(); ++i) {
      PyTuple_SET_ITEM(arguments.get(), static_cast<Py_ssize_t>(i), toPython(std::move(stack[i])));
    }
    stack.clear();
    const Reference result = Reference::steal(checked(PyObject_CallObject(callable_, arguments.get())));
    stack.push_back(toValue(result.get()));
  }

  PyObject* const callable_;
  const FunctionSchema schema_;
};

// What only operators look into: a generator, a storage, a capsule.
struct OpaqueObject {
  PyObject_HEAD;
  IValue value;
};

void deallocate(PyObject* object) {
  reinterpret_cast<OpaqueObject*>(object)->value.~IValue();
  PyTypeObject* const type = Py_TYPE(object);
  type->tp_free(object);
  Py_DECREF(type);
}

PyObject* show(PyObject* object) {
  try {
    return PyUnicode_FromString(toString(reinterpret_cast<OpaqueObject*>(object)->value).c_str());
  } catch (...) {
    return setPythonException();
  }
}

}  // namespace

IValue valueIn(PyObject* object) {
  if (Py_TYPE(object) == object_type) return reinterpret_cast<OpaqueObject*>(object)->value;
  if (Py_TYPE(object) == function_type) {
    if (const auto* function = dynamic_cast<FunctionTarget*>(targetOf(object))) return function->held();
  }
  return {};
}

PyObject* wrapObject(IValue value) {
  if (const FunctionObject* function = functionIn(value)) {
    if (const auto* own = dynamic_cast<const PythonFunction*>(function)) return Py_NewRef(own->callable());
    return newCallable(function_type, std::make_unique<FunctionTarget>(std::move(value)));
  }
  PyObject* const object = checked(object_type->tp_alloc(object_type, 0));
  new (&reinterpret_cast<OpaqueObject*>(object)->value) IValue(std::move(value));
  return object;
}

IValue functionOf(PyObject* callable) {
  return IValue(IntrusivePtr<CustomClassHolder>(makeIntrusive<PythonFunction>(callable)));
}

PyObject* newFunction(std::unique_ptr<Target> target) { return newCallable(function_type, std::move(target)); }

void addFunctions(PyObject* module) {
  function_type = callableType(module, "boxcar.Function", /*binds=*/false, nullptr, nullptr);
  PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(&deallocate)},
                         {Py_tp_repr, reinterpret_cast<void*>(&show)},
                         {Py_tp_doc, const_cast<char*>("A value that only operators look into.")},
                         {0, nullptr}};
  PyType_Spec spec = {"boxcar.Object", sizeof(OpaqueObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                      slots};
  object_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
  checkStatus(PyModule_AddType(module, object_type));
}

}  // namespace boxcar::python
