#include <boxcar/dispatcher/handlers/dot_text.h>
#include <boxcar/dispatcher/handlers/report_table.h>
#include <boxcar/dispatcher/handlers/trace/trace_graph.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace boxcar::detail {
namespace {

constexpr size_t kMostBoxes = 60;
constexpr size_t kMostWeights = 8;

// Escapes text for use between the tags of Graphviz's labels.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '&': result += "&amp;"; break;
      case '"': result += "&quot;"; break;
      case '\n': result += "<br align=\"left\"/>"; break;
      default: result += c;
    }
  }
  return result;
}

std::string placeText(const std::vector<CallFrame>& path) {
  return path.empty() ? std::string() : fmt::format("{}: {}", toString(path.back().site), path.back().site.text);
}

// Draws items: boxes, with frames around those of a function.
class Drawing final {
 public:
  explicit Drawing(const std::vector<TraceNode>& nodes) : nodes_(nodes), drawn_as_(nodes.size()) {
    for (size_t i = 0; i < nodes.size(); ++i) drawn_as_[i] = i;
  }

  void draw(const TraceItem& item, bool is_root = false) {
    if (item.kind == TraceItem::Kind::Call) return drawCall(item);
    if (item.is_closed) return drawClosed(item);
    if (!is_root) {
      const bool is_function = item.kind == TraceItem::Kind::Function;
      text_ += fmt::format("  subgraph cluster_{} {{ label={}; tooltip={}; style={};\n", clusters_++,
                           dotText((is_function ? item.title : "repeated") + item.countText()),
                           dotText(is_function ? item.title : placeText(nodes_[item.node].path)),
                           is_function ? "\"rounded,filled\"" : "\"rounded,dashed\"");
    }
    for (const TraceItem& inner : item.inner) draw(inner);
    if (!is_root) text_ += "  }\n";
  }

  const std::string& text() const noexcept { return text_; }
  // Returns the node that stands for a node that repeats it.
  size_t firstOf(size_t node) const {
    while (nodes_[node].stands_for != node) node = nodes_[node].stands_for;
    return node;
  }
  // Returns the box that a node is drawn as, or in.
  size_t boxOf(size_t node) const { return drawn_as_[firstOf(node)]; }

 private:
  void drawBox(size_t number, std::string_view title, std::span<const std::string> rows, std::string_view style) {
    std::string label =
        fmt::format("<table border=\"0\" cellspacing=\"0\" cellpadding=\"1\"><tr><td>{}</td></tr>", escaped(title));
    for (const std::string& row : rows)
      label += fmt::format("<tr><td align=\"left\"><font point-size=\"9\" color=\"#51606e\">{}</font></td></tr>",
                           escaped(row));
    text_ += fmt::format("  n{} [label=<{}</table>>, tooltip={}{}];\n", number, label,
                         dotText(placeText(nodes_[number].path)), style);
  }

  void drawCall(const TraceItem& item) {
    const TraceNode& node = nodes_[item.node];
    const size_t shown = node.weights.size() > kMostWeights ? kMostWeights - 1 : node.weights.size();
    std::vector<std::string> rows;
    for (size_t i = 0; i < shown; ++i)
      rows.push_back(fmt::format("{}  {}", node.weights[i].name, node.weights[i].kind));
    if (shown < node.weights.size()) rows.push_back(fmt::format("… and {} more", node.weights.size() - shown));
    drawBox(item.node, node.title + item.countText(), rows, node.is_effect ? ", shape=note, style=solid" : "");
  }

  void drawClosed(const TraceItem& item) {
    size_t weights = 0;
    const auto enclose = [&](auto& self, const TraceItem& inner) -> void {
      if (inner.kind == TraceItem::Kind::Call) {
        drawn_as_[inner.node] = item.node;
        weights += nodes_[inner.node].weights.size();
      }
      for (const TraceItem& one : inner.inner) self(self, one);
    };
    enclose(enclose, item);
    std::vector<std::string> rows = {plural(item.calls(), "operator")};
    if (weights != 0) rows.back() += fmt::format(", {} from outside", plural(weights, "tensor"));
    drawBox(item.node, item.title + item.countText(), rows, ", fillcolor=\"#dcebdd\"");
  }

  const std::vector<TraceNode>& nodes_;
  std::vector<size_t> drawn_as_;
  size_t clusters_ = 0;
  std::string text_;
};

}  // namespace

size_t TraceGraph::addNode(const Call& call, bool is_effect, std::span<const Use> uses) {
  const size_t number = nodes_.size();
  TraceNode& node = nodes_.emplace_back(
      TraceNode{.title = call.op, .path = call.path, .is_effect = is_effect, .weights = {}, .stands_for = number});
  for (size_t i = 0; i < uses.size(); ++i) {
    const Use& use = uses[i];
    const auto maker = makers_.find(use.name);
    if (maker == makers_.end()) continue;
    if (maker->second.is_outside) {
      node.weights.push_back({i, maker->second.title, use.label});
    } else {
      edges_.push_back({maker->second.node, number, use.label});
    }
  }
  return number;
}

void TraceGraph::addOutside(const std::string& name, const std::string& title) {
  makers_.insert_or_assign(name, Maker{true, 0, title});
}

void TraceGraph::addCall(const Call& call, std::span<const Use> uses, std::span<const std::string> results) {
  if (call.is_view && uses.size() == 1 && !uses[0].is_written && results.size() == 1) {
    const auto maker = makers_.find(uses[0].name);
    if (maker != makers_.end() && maker->second.is_outside) {
      // A view of a tensor that is shown inside the calls that take it; it is shown there too.
      const std::string_view op = std::string_view(call.op).substr(call.op.rfind(':') + 1);
      return addOutside(results[0], fmt::format("{}({})", op, maker->second.title));
    }
  }
  const size_t number = addNode(call, false, uses);
  for (const Use& use : uses) {
    if (use.is_written) makers_.insert_or_assign(use.name, Maker{false, number, {}});
  }
  for (const std::string& result : results) makers_.insert_or_assign(result, Maker{false, number, {}});
  nodes_[number].gives_nothing = results.empty() && std::ranges::none_of(uses, &Use::is_written);
}

void TraceGraph::addEffect(const Call& call, std::span<const Use> uses) { addNode(call, true, uses); }

std::string TraceGraph::dot(bool folds) const {
  std::vector<TraceNode> nodes = nodes_;
  TraceItem root = groupByFunction(nodes, !folds);
  if (folds) {
    foldRepeats(root, nodes);
    closeFunctions(root, kMostBoxes);
  }
  Drawing drawing(nodes);
  drawing.draw(root, true);
  std::map<std::pair<size_t, size_t>, std::string> edges;
  for (const Edge& edge : edges_) {
    if (folds && nodes[edge.to].gives_nothing) continue;
    const std::pair between(drawing.boxOf(edge.from), drawing.boxOf(edge.to));
    // Inside a box, only edges from a call to its own next repeat are shown.
    if (between.first == between.second && drawing.firstOf(edge.from) != drawing.firstOf(edge.to)) continue;
    const auto [place, is_new] = edges.try_emplace(between, edge.label);
    if (!is_new) place->second = commonText(place->second, edge.label);
  }
  std::string lines;
  for (const auto& [between, label] : edges) {
    // An edge from one repeat to the next.
    const bool is_back = between.first >= between.second;
    lines += fmt::format("  n{} -> n{} [label={}{}];\n", between.first, between.second, dotText(label),
                         is_back ? ", style=dashed, constraint=false" : "");
  }
  return "digraph trace {\n"
         "  graph [fontname=\"Helvetica\", fontsize=11, color=\"#c3ccd6\", fillcolor=\"#00000008\", nodesep=0.2, "
         "ranksep=0.3];\n"
         "  node [shape=box, style=\"rounded,filled\", fillcolor=\"#e8eef7\", fontname=\"Helvetica\", fontsize=11, "
         "height=0.3];\n"
         "  edge [fontname=\"Helvetica\", fontsize=9, color=\"#555555\"];\n" +
         drawing.text() + lines + "}\n";
}

}  // namespace boxcar::detail
