#include <boxcar/interpreter/runtime/conversion.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/python/callable.h>
#include <boxcar/python/error.h>
#include <boxcar/python/operators.h>
#include <boxcar/python/reference.h>
#include <boxcar/python/results.h>
#include <boxcar/python/served_call.h>
#include <boxcar/python/values.h>
#include <boxcar/python/wait.h>
#include <fmt/format.h>

#include <string>
#include <vector>

namespace boxcar::python {
namespace {

struct ServedCall {
  const OperatorHandle& op;
  DispatchKeySet keys;
  GoOn go_on;
  ServedCall* outer;
};
thread_local ServedCall* served = nullptr;

// The call is the innermost one of its thread while this lives.
class Serving final {
 public:
  explicit Serving(const OperatorHandle& op, DispatchKeySet keys, GoOn go_on) noexcept
      : call_{op, keys, go_on, served} {
    served = &call_;
  }
  ~Serving() { served = call_.outer; }
  Serving(const Serving&) = delete;
  Serving& operator=(const Serving&) = delete;

 private:
  ServedCall call_;
};

void goOnByRedispatch(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) { op.redispatchBoxed(keys, stack); }

Reference callWithList(PyObject* function, const OperatorHandle& op, PyObject* values) {
  const Reference callable = Reference::steal(wrapOperator(op));
  PyObject* const arguments[] = {callable.get(), values};
  return Reference::steal(checked(PyObject_Vectorcall(function, arguments, 2, nullptr)));
}

Reference callHandler(PyObject* function, const OperatorHandle& op, Stack& stack) {
  const Reference values = Reference::steal(argumentList(op, stack));
  drop(stack, op.schema().arguments().size());
  return callWithList(function, op, values.get());
}

Reference callKernel(PyObject* function, const OperatorHandle& op, Stack& stack) {
  const std::vector<Argument>& parameters = op.schema().arguments();
  const size_t count = parameters.size();
  std::vector<Reference> values;
  std::vector<PyObject*> arguments;
  values.reserve(count);
  Reference names;
  size_t positional = 0;
  while (positional < count && !parameters[positional].kwarg_only()) ++positional;
  if (positional < count) names = Reference::steal(checked(PyTuple_New(static_cast<Py_ssize_t>(count - positional))));
  for (size_t i = 0; i < count; ++i) {
    values.push_back(Reference::steal(toPython(std::move(peek(stack, i, count)), parameters[i].type())));
    arguments.push_back(values.back().get());
    if (i >= positional) {
      PyTuple_SET_ITEM(names.get(), static_cast<Py_ssize_t>(i - positional),
                       checked(PyUnicode_InternFromString(parameters[i].name().c_str())));
    }
  }
  drop(stack, count);
  return Reference::steal(checked(PyObject_Vectorcall(function, arguments.data(), positional, names.get())));
}

PyObject* redispatch(PyObject* /*module*/, PyObject* args) {
  try {
    PyObject *op = nullptr, *values = nullptr;
    if (PyArg_ParseTuple(args, "OO:redispatch", &op, &values) == 0) return nullptr;
    BOXCAR_CHECK(
        served != nullptr,
        "redispatch() continues the call that a handler or a kernel serves, and none is running on this thread");
    const ServedCall call = *served;
    const Target* const target = targetOf(op);
    const std::string name = toString(call.op.operator_name());
    if (target == nullptr || target->name() != name) {
      throwPython(PyExc_ValueError, fmt::format("redispatch() continues the call of {}: pass that operator", name));
    }
    const FunctionSchema& schema = call.op.schema();
    Stack stack = stackOf(call.op, values, "redispatch");
    {
      const WithoutGil without_gil;
      call.go_on(call.op, call.keys, stack);
    }
    return resultsToPython(schema, stack);
  } catch (...) {
    return setPythonException();
  }
}

PyMethodDef kFunctions[] = {{"redispatch", redispatch, METH_VARARGS,
                             "redispatch(op, args)\n--\n\nContinues the call of `op` that a handler or a kernel "
                             "serves, at the keys below it, with "
                             "`args`, all arguments in the order of the schema; returns the result."},
                            {}};

}  // namespace

PyObject* argumentList(const OperatorHandle& op, const Stack& stack) {
  const std::vector<Argument>& parameters = op.schema().arguments();
  const size_t count = parameters.size();
  Reference values = Reference::steal(checked(PyList_New(static_cast<Py_ssize_t>(count))));
  for (size_t i = 0; i < count; ++i) {
    PyList_SET_ITEM(values.get(), static_cast<Py_ssize_t>(i), toPython(peek(stack, i, count), parameters[i].type()));
  }
  return values.release();
}

PyObject* callForOperator(PyObject* function, const OperatorHandle& op, DispatchKeySet keys, PyObject* args) {
  const Serving serving(op, keys, &goOnByRedispatch);
  return callWithList(function, op, args).release();
}

Stack stackOf(const OperatorHandle& op, PyObject* values, const char* name) {
  const std::vector<Argument>& parameters = op.schema().arguments();
  const Reference items = Reference::steal(checked(PySequence_Tuple(values)));
  const auto count = static_cast<size_t>(PyTuple_GET_SIZE(items.get()));
  if (count != parameters.size()) {
    throwPython(PyExc_TypeError, fmt::format("{}() of {} takes all of its {} arguments, not {}", name,
                                             op.operator_name(), parameters.size(), count));
  }
  Stack stack;
  stack.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    PyObject* const item = PyTuple_GET_ITEM(items.get(), static_cast<Py_ssize_t>(i));
    stack.push_back(interp::convertValue(toValue(item), interp::targetOf(parameters[i])));
  }
  return stack;
}

void serveCallThen(GoOn go_on, PyObject* function, CallForm form, const OperatorHandle& op, DispatchKeySet keys,
                   Stack& stack) {
  const Reference held = Reference::share(function);  // it may be unregistered meanwhile, and the operator, too
  const FunctionSchema& schema = op.schema();
  Reference result;
  {
    const Serving serving(op, keys, go_on);
    result = form == CallForm::kHandler ? callHandler(function, op, stack) : callKernel(function, op, stack);
  }
  pushResults(schema, result.get(), form == CallForm::kHandler ? "a handler" : "a kernel", stack);
}

void serveCall(PyObject* function, CallForm form, const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  const WithGil with_gil;
  serveCallThen(&goOnByRedispatch, function, form, op, keys, stack);
}

void addRedispatch(PyObject* module) { checkStatus(PyModule_AddFunctions(module, kFunctions)); }

}  // namespace boxcar::python
