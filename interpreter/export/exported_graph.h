#pragma once

#include <boxcar/dispatcher/handlers/trace/traced_function.h>
#include <boxcar/interpreter/export/exported_weights.h>
#include <boxcar/interpreter/export/program_json.h>
#include <boxcar/interpreter/export/value_names.h>

#include <string>
#include <unordered_map>

namespace boxcar::interp::exported {

// Writes the graph of a program, and the signature that says what its inputs and outputs are.
class ExportedGraph final {
 public:
  ExportedGraph(const TracedFunction& function, const ExportedWeights& weights, ValueNames& names);

  // The members of the program's "graph_module".
  Json graphModule();

 private:
  void addWeights();
  void addArguments();
  void addCalls();
  void addResults();

  void addInput(const std::string& value, const Tensor& tensor, Json meta);
  void addCall(const TracedFunction::Call& call);
  // Returns a node with the names of its results.
  Json node(const OperatorHandle& op, Json inputs, Json outputs, const std::string& name, const CallFrame& place) const;
  Json resultJson(const IValue& result, const TracedFunction::Call& call, std::string name);
  // Names a tensor that a node gives.
  void define(const Tensor& tensor, const std::string& name);
  std::string nameOf(const Tensor& tensor) const;

  const TracedFunction& function_;
  const ExportedWeights& weights_;
  ValueNames& names_;
  std::unordered_map<const TensorImpl*, std::string> values_;
  Json inputs_ = Json::array();
  Json outputs_ = Json::array();
  Json nodes_ = Json::array();
  Json tensors_ = Json::object();
  Json input_specs_ = Json::array();
  Json output_specs_ = Json::array();
  Json argument_names_ = Json::array();
  Json arguments_tree_;
  Json results_tree_;
};

}  // namespace boxcar::interp::exported
