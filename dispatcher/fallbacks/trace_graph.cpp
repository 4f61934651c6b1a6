#include <boxcar/dispatcher/fallbacks/trace_graph.h>
#include <fmt/format.h>

#include <string_view>

namespace boxcar::detail {
namespace {

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '\n') {
      result += "\\n";
    } else {
      result += c;
    }
  }
  return result += '"';
}

}  // namespace

size_t TraceGraph::addNode(const std::string& label, const std::string& style) {
  body_ += fmt::format("  n{} [label={}{}];\n", count_, quoted(label), style);
  return count_++;
}

void TraceGraph::addEdges(size_t node, std::span<const Use> uses) {
  for (const Use& use : uses) {
    const auto maker = makers_.find(use.name);
    if (maker == makers_.end()) continue;
    body_ += fmt::format("  n{} -> n{} [label={}];\n", maker->second, node, quoted(use.label));
  }
}

void TraceGraph::addOutside(const std::string& name, const std::string& label) {
  makers_.insert_or_assign(name, addNode(name + "\n" + label, ", shape=ellipse, style=solid"));
}

void TraceGraph::addCall(const std::string& op, std::span<const Use> uses, std::span<const std::string> results) {
  const size_t node = addNode(op, "");
  addEdges(node, uses);
  for (const Use& use : uses) {
    if (use.is_written) makers_.insert_or_assign(use.name, node);
  }
  for (const std::string& result : results) makers_.insert_or_assign(result, node);
}

void TraceGraph::addEffect(const std::string& text, std::span<const Use> uses) {
  addEdges(addNode(text, ", shape=note, style=solid"), uses);
}

std::string TraceGraph::dot() const {
  return "digraph trace {\n"
         "  node [shape=box, style=\"rounded,filled\", fillcolor=\"#e8eef7\", fontname=\"Helvetica\", fontsize=11];\n"
         "  edge [fontname=\"Helvetica\", fontsize=9, color=\"#555555\"];\n" +
         body_ + "}\n";
}

}  // namespace boxcar::detail
