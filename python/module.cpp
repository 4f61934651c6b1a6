#include <boxcar/interpreter/bytecode/builtins.h>
#include <boxcar/interpreter/syntax/named_dimensions.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/python/constants.h>
#include <boxcar/python/error.h>
#include <boxcar/python/functions.h>
#include <boxcar/python/operator_facts.h>
#include <boxcar/python/operators.h>
#include <boxcar/python/program.h>
#include <boxcar/python/registration.h>
#include <boxcar/python/scopes.h>
#include <boxcar/python/served_call.h>
#include <boxcar/python/sharing.h>
#include <boxcar/python/tensor_classes.h>
#include <boxcar/python/tensor_object.h>
#include <boxcar/python/tensor_protocols.h>
#include <boxcar/python/values.h>
#include <boxcar/version.h>
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <exception>
#include <string>
#include <string_view>
#include <vector>

// The module boxcar._core. boxcar/__init__.py makes the package of it.

namespace nb = nanobind;
using namespace nb::literals;

namespace boxcar::python {
namespace {

nb::object makeTensor(const nb::object& data, const nb::object& dtype, const nb::object& device, bool requires_grad,
                      const nb::object& names) {
  if (!names.is_none()) throw nb::type_error(fmt::format("tensor(): {}", interp::kNoNames).c_str());
  nb::object tensor = nb::steal(tensorFromData(data.ptr(), dtype.ptr(), device.ptr()));
  if (requires_grad) nb::setattr(tensor, "requires_grad", nb::bool_(true));
  return tensor;
}

// A function of the script language that is no operator.
nb::object callBuiltin(const std::string& name, const nb::args& args) {
  const auto found = interp::findBuiltin(name);
  BOXCAR_CHECK(found.has_value(), "there is no built-in function {}", name);
  const interp::Builtin& builtin = interp::builtins()[*found];
  std::vector<IValue> arguments;
  for (const nb::handle argument : args) arguments.push_back(toValue(argument.ptr()));
  const std::vector<Argument>& parameters = builtin.schema.arguments();
  for (size_t i = arguments.size(); i < parameters.size(); ++i)
    arguments.push_back(parameters[i].default_value().value_or(IValue()));
  return nb::steal(toPython(builtin.function(arguments)));
}

// Operators and their state belong to the process: a second interpreter would share them with the first.
void refuseSecondInterpreter() {
  static PyInterpreterState* first = nullptr;
  if (first == nullptr) first = PyInterpreterState_Get();
  if (first != PyInterpreterState_Get()) {
    throwPython(
        PyExc_ImportError,
        "boxcar cannot be imported into a second interpreter of a process; run the code in a process of its own");
  }
}

void fill(nb::module_& module) {
#ifdef Py_GIL_DISABLED
  throwPython(PyExc_ImportError,
              "boxcar does not support Python without the global interpreter lock; use a build of Python that has it");
#endif
  refuseSecondInterpreter();
  nb::set_leak_warnings(false);  // kernels that stay registered keep their modules
  nb::register_exception_translator([](const std::exception_ptr& error, void* /*unused*/) {
    try {
      std::rethrow_exception(error);
    } catch (const Error&) {
      setPythonException();
    }
  });
  addExceptions(module.ptr());
  addConstants(module.ptr());
  addTensorType(module.ptr());
  addOperators(module.ptr());
  addFunctions(module.ptr());
  addPrograms(module);
  addScopes(module);
  addRedispatch(module.ptr());
  addRegistration(module);
  addTensorClasses(module);
  addOperatorFacts(module);
  addSharing(module.ptr());
  module.def(
      "tensor", &makeTensor, "data"_a.none(), nb::kw_only(), "dtype"_a = nb::none(), "device"_a = nb::none(),
      "requires_grad"_a = false, "names"_a = nb::none(),
      "A new tensor of numbers and nested lists of them, or with the elements of an array. Floats give float32, ints "
      "int64.");
  module.def("_builtin", &callBuiltin);
  module.attr("_no_names") = std::string(interp::kNoNames);
  nb::list about_names;
  for (const std::string_view name : interp::kAboutNames) about_names.append(std::string(name));
  module.attr("_about_names") = about_names;
  module.attr("__version__") = BOXCAR_VERSION;
}

}  // namespace
}  // namespace boxcar::python

NB_MODULE(_core, module) { boxcar::python::fill(module); }
