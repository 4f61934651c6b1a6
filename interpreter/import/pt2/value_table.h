#pragma once

#include <boxcar/interpreter/import/pt2/exported_program.h>
#include <boxcar/interpreter/import/pt2/node_text.h>

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace boxcar::interp::pt2 {

// What is known about the values of a graph, and which of its nodes a script needs.
class ValueTable final {
 public:
  explicit ValueTable(const Graph& graph);

  // What stands for a value: itself, or the argument of a call that returns its argument, such as dropout() without
  // training.
  const std::string& resolve(const std::string& value) const;
  // The values that node [index] reads and gives, each as often as it does, resolved.
  const std::vector<std::string>& uses(size_t index) const { return uses_[index]; }
  const std::vector<std::string>& definitions(size_t index) const { return definitions_[index]; }
  // Whether a script needs the node: not if it only checks what is known, or if nothing uses what it gives.
  bool isNeeded(size_t index) const { return is_needed_[index]; }
  // How often nodes that are needed, and the graph's outputs, read a value.
  size_t useCount(const std::string& value) const;
  // The positions of those nodes, in order; the number of nodes stands for the outputs.
  const std::vector<size_t>& users(const std::string& value) const;
  // The position of the node that gives [value]; nothing for an input of the graph.
  std::optional<size_t> definedBy(const std::string& value) const;

  // Returns what attention takes [value] as, perhaps in another shape: "query", "key", "value" or "mask"; empty if it
  // does not.
  std::string_view roleOf(const std::string& value) const;

  TypePtr typeOf(const std::string& value) const;
  // Whether the node writes to its arguments.
  static bool writes(const Node& node);
  // The argument that the node writes and returns: `self` of add_(), `out` of an out= form. Null if there is none.
  static const Argument* writtenResult(const Node& node);

 private:
  bool checksSize(const Node& node) const;

  const Graph& graph_;
  std::unordered_map<std::string, std::string> same_;
  std::vector<std::vector<std::string>> uses_;
  std::vector<std::vector<std::string>> definitions_;
  std::vector<bool> is_needed_;
  std::unordered_map<std::string, std::vector<size_t>> users_;
  std::unordered_map<std::string, size_t> defined_by_;
};

// Calls [visit] with the name of each value in [argument].
template <class Visit>
void forEachValue(const Argument& argument, Visit&& visit) {
  if (argument.kind == Argument::Kind::Value) visit(argument.text);
  for (const Argument& item : argument.items) forEachValue(item, visit);
}

}  // namespace boxcar::interp::pt2
