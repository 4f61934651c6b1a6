#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/registry/tag.h>
#include <boxcar/interpreter/export/exported_graph.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/value_tensors.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace boxcar::interp::exported {
namespace {

constexpr int kPositional = 1;
constexpr int kByKeyword = 2;

// Operators of boxcar's namespace aten that PyTorch 2.15 does not have, or has for its own use alone.
constexpr auto kNotInPyTorch =
    std::to_array<std::string_view>({"aten::backward", "aten::cholesky", "aten::qr", "aten::register_hook"});

bool isInPyTorch(const OperatorHandle& op) {
  const std::string& name = op.operator_name().name;
  return name.starts_with("aten::") && !op.entry().schemaSite().is_script &&
         std::ranges::find(kNotInPyTorch, name) == kNotInPyTorch.end();
}

bool writesArgument(const OperatorHandle& op) {
  return std::ranges::any_of(op.schema().arguments(), &Argument::is_write);
}

bool holdsTensor(const IValue& value) {
  bool found = false;
  visitTensors(value, [&found](const Tensor&) { found = true; });
  return found;
}

// Whether a program needs the call: not if it only asks, such as item(), whose answer is a constant, or prints.
bool isNeeded(const TracedFunction::Call& call) {
  if (writesArgument(call.op) || std::ranges::any_of(call.results, holdsTensor)) return true;
  return call.op.hasTag(boxcar::Tag::io) && call.op.operator_name().name != "aten::_print";
}

// "digits.ops:4", without the folders of this machine.
std::string placeText(const CallFrame& place) {
  return fmt::format("{}:{}", place.site.file.substr(place.site.file.rfind('/') + 1), place.site.line);
}

// As Python shows a line of a program.
std::string stackTrace(const CallFrame& place) {
  return fmt::format("  File \"{}\", line {}, in {}\n    {}\n", place.site.file.substr(place.site.file.rfind('/') + 1),
                     place.site.line, place.function.empty() ? "<script>" : place.function, place.site.text);
}

void checkOperators(const TracedFunction& function) {
  std::vector<std::string> missing;
  for (const TracedFunction::Call& call : function.calls) {
    if (!isNeeded(call) || isInPyTorch(call.op)) continue;
    std::string line = toString(call.op.operator_name());
    if (call.place.site.line != 0) line += fmt::format(" ({})", placeText(call.place));
    if (std::ranges::find(missing, line) == missing.end()) missing.push_back(std::move(line));
  }
  BOXCAR_CHECK(missing.empty(),
               "{} cannot be exported, because PyTorch does not have\n  {}\nLet the function do without them, or call "
               "them outside of it and pass it what they give",
               function.schema.name(), fmt::join(missing, "\n  "));
}

}  // namespace

ExportedGraph::ExportedGraph(const TracedFunction& function, const ExportedWeights& weights, ValueNames& names)
    : function_(function), weights_(weights), names_(names) {}

std::string ExportedGraph::nameOf(const Tensor& tensor) const {
  const auto found = values_.find(tensor.unsafeGetTensorImpl());
  BOXCAR_CHECK(found != values_.end(), "{} cannot be exported: a tensor in it has no origin", function_.schema.name());
  return found->second;
}

void ExportedGraph::define(const Tensor& tensor, const std::string& name) {
  values_.insert_or_assign(tensor.unsafeGetTensorImpl(), name);
  tensors_[name] = tensorMeta(tensor);
}

// ---- Inputs ----

void ExportedGraph::addInput(const std::string& value, const Tensor& tensor, Json meta) {
  inputs_.push_back(tensorArgument(value));
  values_.insert_or_assign(tensor.unsafeGetTensorImpl(), value);
  tensors_[value] = std::move(meta);
}

void ExportedGraph::addWeights() {
  // Parameters are first, as in PyTorch's own programs.
  for (const bool are_parameters : {true, false}) {
    for (const ExportedWeight& each : weights_.weights) {
      if (each.is_parameter != are_parameters) continue;
      const TracedFunction::Weight& weight = *each.weight;
      addInput(each.value, weight.tensor,
               tensorMeta(weight.tensor, weight.sizes, weight.strides, weight.offset, each.is_parameter));
      Json spec;
      spec["arg"]["name"] = each.value;
      spec[each.is_parameter ? "parameter_name" : "buffer_name"] = each.key;
      if (!each.is_parameter) spec["persistent"] = true;
      Json entry;
      entry[each.is_parameter ? "parameter" : "buffer"] = std::move(spec);
      input_specs_.push_back(std::move(entry));
    }
  }
}

void ExportedGraph::addArguments() {
  Json positional = Json::array();
  Json keywords = Json::array();
  Json by_keyword = Json::array();
  bool is_behind = false;
  for (size_t i = 0; i < function_.arguments.size(); ++i) {
    const Argument& parameter = function_.schema.arguments()[i];
    const IValue& value = function_.arguments[i];
    // PyTorch's programs have no defaults: what has its default is left out, and is constant.
    if (!holdsTensor(value) && parameter.default_value() && *parameter.default_value() == value) {
      is_behind = true;
      continue;
    }
    Flattened parts = flatten(value, parameter.name());
    for (size_t leaf = 0; leaf < parts.leaves.size(); ++leaf) {
      const IValue& part = parts.leaves[leaf];
      const std::string name = names_.take(parts.names[leaf]);
      Json entry;
      if (part.isTensor() && part.toTensor().defined()) {
        addInput(name, part.toTensor(), tensorMeta(part.toTensor()));
        entry["user_input"]["arg"] = tensorArgument(name);
      } else {
        try {
          inputs_.push_back(constantArgument(part));
        } catch (const Error& error) {
          BOXCAR_FAIL("{} cannot be exported: argument '{}' has {}; a program takes tensors, numbers and texts",
                      function_.schema.name(), parameter.name(), error.message());
        }
        entry["constant_input"]["name"] = name;
        entry["constant_input"]["value"] = inputs_.back();
      }
      input_specs_.push_back(std::move(entry));
    }
    argument_names_.push_back(parameter.name());
    is_behind = is_behind || parameter.kwarg_only();
    if (is_behind) keywords.push_back(parameter.name());
    (is_behind ? by_keyword : positional).push_back(std::move(parts.tree));
  }
  arguments_tree_ = treeOf("builtins.tuple", nullptr,
                           Json::array({treeOf("builtins.tuple", nullptr, std::move(positional)),
                                        treeOf("builtins.dict", keywords, std::move(by_keyword))}));
}

// ---- Calls ----

Json ExportedGraph::node(const OperatorHandle& op, Json inputs, Json outputs, const std::string& name,
                         const CallFrame& place) const {
  const OperatorName& called = op.operator_name();
  Json node;
  node["target"] = fmt::format("torch.ops.aten.{}.{}", called.name.substr(called.name.rfind(':') + 1),
                               called.overload_name.empty() ? "default" : called.overload_name);
  node["inputs"] = std::move(inputs);
  node["outputs"] = std::move(outputs);
  // The function is the program's only module.
  node["metadata"]["nn_module_stack"] = "L__self__,,torch.nn.modules.module.Module";
  if (place.site.line != 0) node["metadata"]["stack_trace"] = stackTrace(place);
  node["is_hop_single_tensor_return"] = nullptr;
  node["name"] = name;
  return node;
}

// Returns a result as a node gives it; a tensor is called [name], or like PyTorch's getitem() if that is empty.
Json ExportedGraph::resultJson(const IValue& result, const TracedFunction::Call& call, std::string name) {
  const auto named = [&](const Tensor& tensor) {
    if (name.empty()) name = names_.take("getitem");
    define(tensor, name);
    Json json;
    json["name"] = std::exchange(name, std::string());
    return json;
  };
  Json json;
  if (result.isNone() || (result.isTensor() && !result.toTensor().defined())) {
    json["as_none"] = true;
  } else if (result.isTensor()) {
    json["as_tensor"] = named(result.toTensor());
  } else if (result.isList()) {
    json["as_tensors"] = Json::array();
    for (size_t i = 0; i < result.length(); ++i) {
      const IValue& element = result.elementAt(i);
      BOXCAR_CHECK(element.isTensor() && element.toTensor().defined(),
                   "{} cannot be exported: {} gives a list with a value of kind {} in it", function_.schema.name(),
                   call.op, element.tagKind());
      json["as_tensors"].push_back(named(element.toTensor()));
    }
  } else {
    BOXCAR_FAIL("{} cannot be exported: {} gives a value of kind {} besides tensors", function_.schema.name(), call.op,
                result.tagKind());
  }
  return json;
}

void ExportedGraph::addCall(const TracedFunction::Call& call) {
  const std::vector<Argument>& parameters = call.op.schema().arguments();
  Json inputs = Json::array();
  bool by_keyword = false;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Argument& parameter = parameters[i];
    const IValue& value = call.arguments[i];
    const bool is_default = parameter.default_value() && *parameter.default_value() == value;
    by_keyword = by_keyword || is_default || parameter.kwarg_only();
    if (is_default || parameter.type()->kind() == TypeKind::Generator) continue;
    Json input;
    input["name"] = parameter.name();
    try {
      input["arg"] = operatorArgument(value, parameter.type(), [this](const Tensor& tensor) { return nameOf(tensor); });
    } catch (const Error& error) {
      BOXCAR_FAIL("{} cannot be exported: argument '{}' of {} is {}", function_.schema.name(), parameter.name(),
                  call.op, error.message());
    }
    input["kind"] = by_keyword ? kByKeyword : kPositional;
    inputs.push_back(std::move(input));
  }
  const std::string& called = call.op.operator_name().name;
  const std::string name = names_.take(called.substr(called.rfind(':') + 1));
  const bool is_tensor = call.results.size() == 1 && call.results[0].isTensor();
  Json outputs = Json::array();
  for (const IValue& result : call.results) outputs.push_back(resultJson(result, call, is_tensor ? name : ""));
  nodes_.push_back(node(call.op, std::move(inputs), std::move(outputs), name, call.place));
}

void ExportedGraph::addCalls() {
  const OperatorHandle clone = Dispatcher::singleton().findSchemaOrThrow("aten::clone", "");
  for (const ExportedWeight& each : weights_.weights) {
    if (!each.is_copied) continue;
    Json input;
    input["name"] = "self";
    input["arg"] = tensorArgument(each.value);
    input["kind"] = kPositional;
    const std::string name = names_.take("clone");
    nodes_.push_back(node(clone, Json::array({input}), Json::array({tensorArgument(name)}), name, {}));
    define(each.weight->tensor, name);
  }
  for (const TracedFunction::Call& call : function_.calls) {
    if (isNeeded(call)) addCall(call);
  }
}

// ---- Outputs ----

void ExportedGraph::addResults() {
  const bool is_one = function_.results.size() == 1;
  Flattened parts;
  try {
    parts = flatten(is_one ? function_.results[0] : IValue(Tuple(std::vector<IValue>(function_.results))), "");
    for (const IValue& part : parts.leaves) {
      const bool is_tensor = part.isTensor() && part.toTensor().defined();
      // PyTorch writes such results, but does not read them.
      if (part.isString()) throw RuntimeError(fmt::format("the text {}", textOf(constantArgument(part)["as_string"])));
      outputs_.push_back(is_tensor ? tensorArgument(nameOf(part.toTensor())) : constantArgument(part));
      Json spec;
      spec["user_output"]["arg"] = outputs_.back();
      output_specs_.push_back(std::move(spec));
    }
  } catch (const Error& error) {
    BOXCAR_FAIL(
        "{} cannot be exported: it returns {}; a program returns tensors and numbers, alone or in lists, "
        "tuples and dicts",
        function_.schema.name(), error.message());
  }
  results_tree_ = std::move(parts.tree);
}

Json ExportedGraph::graphModule() {
  checkOperators(function_);
  BOXCAR_CHECK(function_.rewritten_before.empty(),
               "{} cannot be exported: something that is no operator wrote to a tensor before {} ({})",
               function_.schema.name(), function_.calls[function_.rewritten_before[0]].op,
               placeText(function_.calls[function_.rewritten_before[0]].place));
  addWeights();
  addArguments();
  addCalls();
  addResults();
  Json graph;
  graph["inputs"] = std::move(inputs_);
  graph["outputs"] = std::move(outputs_);
  graph["nodes"] = std::move(nodes_);
  graph["tensor_values"] = std::move(tensors_);
  for (const char* table : {"sym_int_values", "sym_bool_values"}) graph[table] = Json::object();
  graph["is_single_tensor_return"] = false;
  for (const char* table : {"custom_obj_values", "sym_float_values"}) graph[table] = Json::object();

  Json signature;
  signature["inputs"] = Json::array();
  signature["outputs"] = Json::array();
  signature["in_spec"] = treeText(arguments_tree_);
  signature["out_spec"] = treeText(results_tree_);
  signature["forward_arg_names"] = std::move(argument_names_);
  Json whole;
  whole["fqn"] = "";
  whole["signature"] = std::move(signature);

  Json module;
  module["graph"] = std::move(graph);
  module["signature"]["input_specs"] = std::move(input_specs_);
  module["signature"]["output_specs"] = std::move(output_specs_);
  module["module_call_graph"] = Json::array({std::move(whole)});
  module["metadata"] = Json::object();
  module["treespec_namedtuple_fields"] = Json::object();
  return module;
}

}  // namespace boxcar::interp::exported
