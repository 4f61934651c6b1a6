#include <boxcar/dispatcher/call/local_dispatch_key_set.h>
#include <boxcar/dispatcher/call/mode_levels.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/interpreter/runtime/failed_call.h>
#include <boxcar/interpreter/runtime/run_stop.h>
#include <boxcar/interpreter/runtime/script_error.h>
#include <boxcar/interpreter/service/docstrings.h>
#include <boxcar/python/callable.h>
#include <boxcar/python/docstrings.h>
#include <boxcar/python/error.h>
#include <boxcar/python/operators.h>
#include <boxcar/python/reference.h>
#include <boxcar/python/tensor_object.h>
#include <fmt/format.h>

#include <atomic>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace boxcar::python {
namespace {

PyTypeObject* operator_type = nullptr;

// Calls on more elements may take long enough for other threads of Python to run meanwhile.
constexpr int64_t kMostElementsOfShortCalls = 4096;

// Counts the definitions of operators: what was found by name may be out of date after one.
std::atomic<uint64_t> definitions{0};

class CountDefinitions final : public OpRegistrationListener {
 public:
  void onOperatorRegistered(const OperatorHandle& /*op*/) override {
    definitions.fetch_add(1, std::memory_order_relaxed);
  }
  void onOperatorDeregistered(const OperatorHandle& /*op*/) override {
    definitions.fetch_add(1, std::memory_order_relaxed);
  }
};

// Whether calls with few elements are over at once and wait for no lock: not those of scripts and plugins, which may
// run anything, and not those that run a graph, read files or print.
bool isQuick(const OperatorHandle& op) {
  const std::string& name = op.operator_name().name;
  if (!name.starts_with("aten::") && !name.starts_with("prim::")) return false;
  return !op.hasTag(Tag::differentiation);
}

OperatorHandle pickedOperator(const void* picked) noexcept {
  return OperatorHandle(static_cast<OperatorEntry*>(const_cast<void*>(picked)));
}

// The keys at which a thread has modes.
constexpr DispatchKeySet kModes = DispatchKeySet(DispatchKey::PreDispatch) | DispatchKeySet(DispatchKey::Python);

class OperatorTarget final : public Target {
 public:
  // All overloads of a name, or with [only] this one.
  OperatorTarget(std::string name, std::optional<OperatorHandle> only) : name_(std::move(name)), only_(only) {
    if (only_.has_value() && !only_->operator_name().overload_name.empty()) {
      shown_ = name_ + "." + only_->operator_name().overload_name;
    } else {
      shown_ = name_;
    }
  }

  const std::string& name() const override { return shown_; }
  std::span<const FunctionSchema* const> candidates() override {
    if (found_ != edition()) find();
    return schemas_;
  }
  uint64_t edition() const noexcept override { return definitions.load(std::memory_order_relaxed); }
  const void* pick(size_t index) const noexcept override { return &operators_[index].entry(); }
  void call(size_t /*index*/, const void* picked, Stack& stack) override { pickedOperator(picked).callBoxed(stack); }
  bool isShort(size_t index, int64_t elements) const noexcept override {
    // A mode's handler may wait for another thread.
    return elements <= kMostElementsOfShortCalls && quick_[index] && !boxcar::detail::callsAreWatched() &&
           !raw_local_dispatch_key_set.included().has_any(kModes) && boxcar::detail::mode_levels == nullptr;
  }
  std::string describe(const void* picked, const Stack& stack, size_t height, const char* message) const override {
    return interp::describeFailedCall(pickedOperator(picked), stack, height, message);
  }
  std::string docstring() override {
    std::string text;
    for (const OperatorHandle& op : operators()) {
      const std::string_view found = docstrings().find(toString(op.operator_name()));
      if (!found.empty()) text = text.empty() ? std::string(found) : text;
    }
    return text;
  }

  const std::vector<OperatorHandle>& operators() {
    static_cast<void>(candidates());
    return operators_;
  }

 private:
  void find() {
    found_ = edition();
    operators_.clear();
    schemas_.clear();
    quick_.clear();
    if (only_.has_value()) {
      if (only_->hasSchema()) operators_.push_back(*only_);
    } else {
      operators_ = Dispatcher::singleton().findOverloads(name_);
    }
    for (const OperatorHandle& op : operators_) {
      schemas_.push_back(&op.schema());
      quick_.push_back(isQuick(op));
    }
  }

  const std::string name_;
  const std::optional<OperatorHandle> only_;
  std::string shown_;
  uint64_t found_ = ~uint64_t{0};
  std::vector<OperatorHandle> operators_;
  std::vector<const FunctionSchema*> schemas_;
  std::vector<bool> quick_;
};

OperatorTarget& self(PyObject* object) { return static_cast<OperatorTarget&>(*targetOf(object)); }

PyObject* overloadsOf(PyObject* object, void* /*unused*/) {
  try {
    Reference list = Reference::steal(checked(PyList_New(0)));
    for (const OperatorHandle& op : self(object).operators()) {
      const std::string& overload = op.operator_name().overload_name;
      const Reference name =
          Reference::steal(checked(PyUnicode_FromString(overload.empty() ? "default" : overload.c_str())));
      checkStatus(PyList_Append(list.get(), name.get()));
    }
    return list.release();
  } catch (...) {
    return setPythonException();
  }
}

// An attribute that the class does not have is an overload.
PyObject* attributeOf(PyObject* object, PyObject* name) {
  PyObject* const found = PyObject_GenericGetAttr(object, name);
  if (found != nullptr || PyErr_ExceptionMatches(PyExc_AttributeError) == 0) return found;
  try {
    const char* const text = PyUnicode_AsUTF8(name);
    if (text == nullptr || text[0] == '_') return nullptr;
    const std::string_view wanted = text;
    std::string known;
    for (const OperatorHandle& op : self(object).operators()) {
      const std::string& overload = op.operator_name().overload_name;
      const std::string_view shown = overload.empty() ? std::string_view("default") : overload;
      if (shown == wanted) {
        PyErr_Clear();
        return wrapOperator(op);
      }
      known += (known.empty() ? "" : ", ") + std::string(shown);
    }
    PyErr_Clear();
    throwPython(PyExc_AttributeError,
                fmt::format("{} has no overload '{}'; it has {}", self(object).name(), wanted, known));
  } catch (...) {
    return setPythonException();
  }
}

// The objects of all operators of a name, those that were asked for.
std::unordered_map<std::string, PyObject*>& operatorObjects() {
  static auto* const objects = new std::unordered_map<std::string, PyObject*>();
  return *objects;
}

PyObject* newOperators(const std::string& name) {
  return newCallable(operator_type, std::make_unique<OperatorTarget>(name, std::nullopt));
}

PyGetSetDef kFields[] = {{"overloads", overloadsOf, nullptr, "The names of the overloads, in order.", nullptr}, {}};

}  // namespace

PyObject* operatorsNamed(const std::string& name) {
  const auto found = operatorObjects().find(name);
  if (found != operatorObjects().end()) return found->second;
  if (Dispatcher::singleton().findOverloads(name).empty()) return nullptr;
  return operatorObjects()[name] = newOperators(name);
}

PyObject* wrapOperator(const OperatorHandle& op) {
  return newCallable(operator_type, std::make_unique<OperatorTarget>(op.operator_name().name, op));
}

namespace {

OperatorTarget& operatorsIn(PyObject* object) {
  if (Py_TYPE(object) != operator_type) {
    throwPython(PyExc_TypeError,
                fmt::format("an object of class '{}' is no operator; boxcar.ops has them", Py_TYPE(object)->tp_name));
  }
  return self(object);
}

}  // namespace

OperatorHandle onlyOperatorOf(PyObject* object) {
  const std::vector<OperatorHandle>& operators = operatorsIn(object).operators();
  for (const OperatorHandle& op : operators) {
    if (operators.size() == 1 || op.operator_name().overload_name.empty()) return op;
  }
  if (operators.empty()) {
    throwPython(PyExc_RuntimeError, self(object).name() + " is not defined any more: its library was unloaded");
  }
  std::string known;
  for (const OperatorHandle& op : operators) known += (known.empty() ? "" : ", ") + op.operator_name().overload_name;
  throwPython(PyExc_ValueError, fmt::format("{} has several overloads: take one of them by its attribute ({})",
                                            self(object).name(), known));
}

OperatorHandle chooseOperator(PyObject* object, std::span<PyObject* const> arguments, PyObject* keywords,
                              Stack& stack) {
  OperatorTarget& target = operatorsIn(object);
  const size_t chosen = chooseCandidate(target, arguments, keywords, stack);
  return target.operators()[chosen];
}

PyObject* callOperators(const char* name, std::span<PyObject* const> arguments) {
  PyObject* const operators = operatorsNamed(name);
  BOXCAR_CHECK(operators != nullptr, "the operator {} is not defined", name);
  return callTarget(operators, arguments);
}

namespace {

// _operators(name): all operators of a name, or None.
PyObject* findOperators(PyObject* /*module*/, PyObject* name) {
  try {
    const char* const text = PyUnicode_AsUTF8(name);
    if (text == nullptr) return nullptr;
    PyObject* const found = operatorsNamed(text);
    return Py_NewRef(found == nullptr ? Py_None : found);
  } catch (...) {
    return setPythonException();
  }
}

// _operator_names(): the full names of all operators, without overloads, each once.
PyObject* operatorNames(PyObject* /*module*/, PyObject* /*unused*/) {
  try {
    Reference names = Reference::steal(checked(PyDict_New()));
    for (const OperatorName& name : Dispatcher::singleton().getAllOpNames()) {
      checkStatus(PyDict_SetItemString(names.get(), name.name.c_str(), Py_None));
    }
    return PyDict_Keys(names.get());
  } catch (...) {
    return setPythonException();
  }
}

PyMethodDef kFunctions[] = {
    {"_operators", findOperators, METH_O, nullptr}, {"_operator_names", operatorNames, METH_NOARGS, nullptr}, {}};

// Operators of aten whose first argument is a tensor called self are methods of tensors.
void addMethods() {
  const Dispatcher& dispatcher = Dispatcher::singleton();
  PyObject* const methods = detail::tensor_type->tp_dict;
  constexpr std::string_view kNamespace = "aten::";
  for (const OperatorName& name : dispatcher.getAllOpNames()) {
    if (!name.name.starts_with(kNamespace)) continue;
    const std::vector<Argument>& parameters = dispatcher.findSchema(name)->schema().arguments();
    if (parameters.empty() || parameters[0].name() != "self" || parameters[0].type() != Type::tensor()) continue;
    PyObject*& object = operatorObjects()[name.name];
    if (object == nullptr) object = newOperators(name.name);
    const Reference key = Reference::steal(checked(PyUnicode_InternFromString(name.name.c_str() + kNamespace.size())));
    // What the class itself has stays: size(), is_complex().
    if (PyDict_SetDefault(methods, key.get(), object) == nullptr) throwPythonError();
  }
  PyType_Modified(detail::tensor_type);
}

}  // namespace

void addOperators(PyObject* module) {
  operator_type = callableType(module, "boxcar.Operator", /*binds=*/true, kFields, &attributeOf);
  checkStatus(PyModule_AddFunctions(module, kFunctions));
  // Never removed: operators may be called until the process ends.
  static auto* const counting =
      new RegistrationHandleRAII(Dispatcher::singleton().addRegistrationListener(std::make_unique<CountDefinitions>()));
  static_cast<void>(counting);
  addMethods();
}

}  // namespace boxcar::python
