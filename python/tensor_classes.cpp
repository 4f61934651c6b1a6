#include <boxcar/dispatcher/call/local_dispatch_key_set.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/registry/runtime_table.h>
#include <boxcar/ivalue/value_tensors.h>
#include <boxcar/python/dispatch_keys.h>
#include <boxcar/python/error.h>
#include <boxcar/python/operators.h>
#include <boxcar/python/reference.h>
#include <boxcar/python/results.h>
#include <boxcar/python/served_call.h>
#include <boxcar/python/tensor_classes.h>
#include <boxcar/python/tensor_object.h>
#include <boxcar/python/wait.h>
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;

namespace boxcar::python {
namespace {

bool isSubclass(const Reference& a, const Reference& b) {
  return PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(a.get()), reinterpret_cast<PyTypeObject*>(b.get())) != 0;
}

// The classes of the tensors among the arguments that answer operators, each once: from left to right, but a class
// before those that it is derived from.
std::vector<Reference> classesOf(const OperatorHandle& op, const Stack& stack) {
  std::vector<Reference> classes;
  const size_t count = op.schema().arguments().size();
  for (size_t i = 0; i < count; ++i) {
    visitTensors(peek(stack, i, count), [&](const Tensor& tensor) {
      const Reference found = Reference::share(reinterpret_cast<PyObject*>(dispatchingClassOf(tensor)));
      if (found.get() == nullptr) return;
      if (std::any_of(classes.begin(), classes.end(), [&](const Reference& c) { return c.get() == found.get(); }))
        return;
      const auto place =
          std::find_if(classes.begin(), classes.end(), [&](const Reference& c) { return isSubclass(found, c); });
      classes.insert(place, found);
    });
  }
  return classes;
}

// Returns what the classes answer; null if all of them leave the call to others.
Reference askClasses(const std::vector<Reference>& classes, const OperatorHandle& op, DispatchKeySet below,
                     const Stack& stack) {
  for (const Reference& type : classes) {
    const Reference method = Reference::steal(checked(PyObject_GetAttrString(type.get(), "__boxcar_dispatch__")));
    const Reference args = Reference::steal(argumentList(op, stack));
    Reference result = Reference::steal(callForOperator(method.get(), op, below, args.get()));
    if (result.get() != Py_NotImplemented) return result;
  }
  return {};
}

// The dicts of the PythonDispatchers that are on, the innermost last: from pairOf() to kernels.
thread_local std::vector<PyObject*> dispatchers;
thread_local bool key_was_included = false;

// An operator and a key in one number: the upper bits of addresses are free.
uint64_t pairOf(const OperatorHandle& op, DispatchKey key) noexcept {
  return reinterpret_cast<uintptr_t>(&op.entry()) | uint64_t{static_cast<uint16_t>(key)} << 48U;
}

constexpr DispatchKeySet kPythonDispatcher(DispatchKey::PythonDispatcher);

// Calls the kernel in C++ of the highest key of [keys] but PythonDispatcher, which keys below come back to.
void runOtherKernel(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  const DispatchKeySet rest = keys - kPythonDispatcher;
  const Kernel* const kernel = op.entry().lookup(rest);
  kernel->boxed(kernel, op, kernel->kind == KernelKind::Missing ? rest : keys, stack);
}

// The kernel of a PythonDispatcher for the highest key of [keys]; null if there is none.
Reference kernelIn(const OperatorHandle& op, DispatchKeySet keys) {
  const Reference pair =
      Reference::steal(checked(PyLong_FromUnsignedLongLong(pairOf(op, boxcar::detail::runtimeKeyOf(keys)))));
  for (size_t i = dispatchers.size(); i-- > 0;) {
    if (PyObject* const found = PyDict_GetItemWithError(dispatchers[i], pair.get())) return Reference::share(found);
    if (PyErr_Occurred() != nullptr) throwPythonError();
  }
  return {};
}

void serveByDispatcher(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  if (!dispatchers.empty()) {
    const WithGil with_gil;
    DispatchKeySet rest = keys - kPythonDispatcher;
    for (;;) {
      const Reference kernel = kernelIn(op, rest);
      // redispatch() in it goes on to the kernel in C++ of its key.
      if (kernel.get() != nullptr)
        return serveCallThen(&runOtherKernel, kernel.get(), CallForm::kKernel, op, rest | kPythonDispatcher, stack);
      if (rest.highestFunctionalityKey() == DispatchKey::Undefined || !op.entry().lookup(rest)->isFallthrough()) break;
      rest = rest.remove(rest.highestFunctionalityKey());
    }
  }
  runOtherKernel(op, keys, stack);
}

uint64_t pairNamed(const nb::object& op, const std::string& key) {
  const DispatchKey place = keyNamed(key);
  if (!isRuntimeDispatchKey(place) || place == DispatchKey::PythonDispatcher) {
    throwPython(
        PyExc_ValueError,
        fmt::format("a call does not stop at {}: name a key that has a kernel, such as CPU or AutogradCPU", key));
  }
  return pairOf(onlyOperatorOf(op.ptr()), place);
}

void enterDispatcher(const nb::dict& kernels) {
  // Never removed: it costs nothing while no thread includes the key.
  static auto* const fallback = new RegistrationHandleRAII(Dispatcher::singleton().registerFallback(
      DispatchKey::PythonDispatcher, KernelFunction::makeFromBoxedFunctor(&serveByDispatcher), {}));
  static_cast<void>(fallback);
  if (dispatchers.empty()) {
    key_was_included = tls_is_dispatch_key_included(DispatchKey::PythonDispatcher);
    tls_set_dispatch_key_included(DispatchKey::PythonDispatcher, true);
  }
  dispatchers.push_back(Py_NewRef(kernels.ptr()));
}

void leaveDispatcher(const nb::dict& kernels) {
  const auto found = std::find(dispatchers.rbegin(), dispatchers.rend(), kernels.ptr());
  if (found == dispatchers.rend()) throwPython(PyExc_RuntimeError, "this PythonDispatcher is not on, on this thread");
  PyObject* const left = *found;
  dispatchers.erase(std::next(found).base());
  if (dispatchers.empty() && !key_was_included) tls_set_dispatch_key_included(DispatchKey::PythonDispatcher, false);
  Py_DECREF(left);
}

}  // namespace

bool answerByPython(const OperatorHandle& op, DispatchKeySet below, Stack& stack) {
  if (Py_IsInitialized() == 0) {
    op.redispatchBoxed(below, stack);
    return true;
  }
  const WithGil with_gil;
  const FunctionSchema& schema = op.schema();  // the operator may be removed meanwhile
  const Reference result = askClasses(classesOf(op, stack), op, below, stack);
  if (result.get() == nullptr) return false;
  drop(stack, schema.arguments().size());
  pushResults(schema, result.get(), "__boxcar_dispatch__", stack);
  return true;
}

void addTensorClasses(nb::module_& module) {
  module.def("_pair", &pairNamed);
  module.def("_enter_dispatcher", &enterDispatcher);
  module.def("_leave_dispatcher", &leaveDispatcher);
}

}  // namespace boxcar::python
