#include <boxcar/backends/autograd/gradient_rule.h>
#include <boxcar/backends/transforms/autocast.h>
#include <boxcar/dispatcher/registry/entry_text.h>
#include <boxcar/dispatcher/registry/explanation.h>
#include <boxcar/python/dispatch_keys.h>
#include <boxcar/python/operator_facts.h>
#include <boxcar/python/operators.h>
#include <boxcar/python/results.h>
#include <boxcar/python/served_call.h>
#include <boxcar/python/wait.h>
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;

namespace boxcar::python {
namespace {

bool hasKernel(const nb::object& op, const std::string& key) {
  return onlyOperatorOf(op.ptr()).hasKernelForDispatchKey(keyNamed(key));
}

std::vector<std::string> tags(const nb::object& op) {
  std::vector<std::string> names;
  for (const Tag tag : onlyOperatorOf(op.ptr()).getTags()) names.emplace_back(toString(tag));
  return names;
}

std::vector<std::string> argumentNames(const nb::object& op) {
  std::vector<std::string> names;
  const OperatorHandle only = onlyOperatorOf(op.ptr());
  for (const Argument& argument : only.schema().arguments()) names.push_back(argument.name());
  return names;
}

nb::object callAt(const nb::object& op, const std::string& key, const nb::object& args) {
  const OperatorHandle only = onlyOperatorOf(op.ptr());
  const DispatchKey place = keyNamed(key);
  Stack stack = stackOf(only, args.ptr(), "call_at");
  {
    const WithoutGil without_gil;
    only.callBoxedForDispatchKey(place, stack);
  }
  return nb::steal(resultsToPython(only.schema(), stack));
}

// The parts of an operator's page: its schema, where it is defined, its gradient, the rows of its table, and how many
// keys have their default or nothing.
nb::tuple table(const nb::object& op, bool every) {
  const OperatorHandle only = onlyOperatorOf(op.ptr());
  const std::string gradient = autograd::describeGradient(only);  // this comes first: it registers kernels
  autocast::registerAutocastKernels();
  const TableRows table = tableRowsOf(only, every);
  return nb::make_tuple(toString(only.schema()), fmt::format("{}", only.entry().schemaSite()), gradient, table.rows,
                        table.defaults, table.missing);
}

// The text of `boxcar explain`, and the name of the overload.
nb::tuple explain(const nb::object& op, const nb::tuple& args, const nb::dict& keywords) {
  std::vector<PyObject*> arguments;
  for (const nb::handle each : args) arguments.push_back(each.ptr());
  nb::list names;
  for (const auto& [name, value] : keywords) {
    names.append(name);
    arguments.push_back(value.ptr());
  }
  const nb::tuple named(names);
  Stack stack;
  const OperatorHandle chosen =
      chooseOperator(op.ptr(), {arguments.data(), arguments.size()}, named.size() == 0 ? nullptr : named.ptr(), stack);
  const std::string gradient = autograd::describeGradient(chosen);
  std::string text = toString(explainDispatch(chosen, stack));
  const std::string casts = autocast::describeCast(chosen);
  text.insert(text.find('\n') + 1,
              fmt::format("gradient: {}\n", gradient) + (casts.empty() ? "" : fmt::format("autocast: {}\n", casts)));
  return nb::make_tuple(text, toString(chosen.operator_name()));
}

}  // namespace

void addOperatorFacts(nb::module_& module) {
  module.def("_has_kernel", &hasKernel);
  module.def("_tags", &tags);
  module.def("_arg_names", &argumentNames);
  module.def("_call_at", &callAt);
  module.def("_table", &table);
  module.def("_explain", &explain);
}

}  // namespace boxcar::python
