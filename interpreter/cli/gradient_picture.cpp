#include <boxcar/dispatcher/handlers/dot_text.h>
#include <boxcar/interpreter/cli/command.h>
#include <boxcar/interpreter/cli/gradient_picture.h>
#include <boxcar/interpreter/cli/graphviz.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace boxcar::cli {
namespace {

using autograd::GradientArrow;
using autograd::GradientGraph;
using autograd::GradientShape;
using autograd::GradientVertex;
using detail::dotText;

// Vertices and arrows of a picture, as many as `dot` draws within some seconds, and vertices of a .dot file.
constexpr size_t kMostDrawn = 1000;
constexpr size_t kMostVertices = 100'000;
constexpr size_t kMostShapes = 3;
constexpr size_t kMostUses = 4;
constexpr size_t kMostCharacters = 56;

// Cuts [text] after so many characters, each of which is some bytes of UTF-8.
std::string shortened(std::string_view text) {
  size_t characters = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U) continue;
    if (++characters > kMostCharacters) return std::string(text.substr(0, i)) + "…";
  }
  return std::string(text);
}

std::string shapeText(const GradientShape& shape) {
  return fmt::format("{} [{}]", dtypeName(shape.dtype), fmt::join(shape.sizes, ", "));
}

// The lines of a vertex: its title, its shapes, and the call that made it.
std::string labelOf(const GradientVertex& vertex, std::string title) {
  std::string label = std::move(title);
  const size_t shown = vertex.shapes.size() > kMostShapes ? kMostShapes - 1 : vertex.shapes.size();
  for (size_t i = 0; i < shown; ++i) label += "\n" + shapeText(vertex.shapes[i]);
  if (shown < vertex.shapes.size()) label += fmt::format("\nand {} more results", vertex.shapes.size() - shown);
  if (vertex.call.empty()) return label;
  // "aten::mul at train.ops:3: `x * y`": the line of the script has a line of its own.
  std::string_view call = vertex.call;
  const size_t text = call.find(": `");
  label += "\n" + shortened(call.substr(0, text));
  if (text == std::string_view::npos) return label;
  call.remove_prefix(text + 3);
  return label + "\n" + shortened(call.substr(0, call.size() - 1));
}

std::string_view colourOf(const GradientVertex& vertex) {
  if (vertex.name.empty()) return ", fillcolor=\"#dcebdd\"";
  if (vertex.name == "NotImplemented") return ", fillcolor=\"#f6d5d5\"";
  return vertex.is_root ? ", fillcolor=\"#f7e7cf\"" : "";
}

// Returns how many of the vertices, nearest first, make up [most] lines with the arrows between them.
size_t countWithin(const GradientGraph& graph, size_t most) {
  std::vector<size_t> lines(graph.vertices.size(), 1);
  for (const GradientArrow& arrow : graph.arrows) ++lines[std::max(arrow.from, arrow.to)];
  size_t all = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    all += lines[i];
    if (all > most) return i;
  }
  return lines.size();
}

// Draws the first [shown] vertices.
class GradientDrawing final {
 public:
  GradientDrawing(const GradientGraph& graph, size_t shown) : graph_(graph), uses_(shown), leads_on_(shown) {
    for (const GradientArrow& arrow : graph.arrows) {
      if (arrow.from >= shown) break;
      if (arrow.to < shown) {
        ++uses_[arrow.to];
      } else {
        leads_on_[arrow.from] = true;
      }
    }
    size_t leaves = 0;
    for (size_t i = 0; i < shown; ++i) {
      const GradientVertex& vertex = graph.vertices[i];
      labels_.push_back(labelOf(vertex, isLeaf(i) ? fmt::format("leaf {}", ++leaves) : vertex.name));
      if (leads_on_[i]) labels_[i] += "\n…";
    }
  }

  // In Graphviz's language, a line for each vertex and arrow.
  std::string text(const std::string& title) {
    std::string text = fmt::format(
        "digraph gradients {{\n"
        "  graph [fontname=\"Helvetica\", fontsize=11, nodesep=0.2, ranksep=0.3, labelloc=t, label={}];\n"
        "  node [shape=box, style=\"rounded,filled\", fillcolor=\"#e8eef7\", fontname=\"Helvetica\", fontsize=11, "
        "height=0.3];\n"
        "  edge [fontname=\"Helvetica\", fontsize=9, color=\"#555555\"];\n",
        dotText(title));
    for (size_t i = 0; i < labels_.size(); ++i) {
      if (!isDrawnAtUses(i)) text += box(fmt::format("n{}", i), i, "") + ";\n";
    }
    for (const GradientArrow& arrow : graph_.arrows) {
      if (arrow.from >= labels_.size()) break;
      if (arrow.to < labels_.size()) text += line(arrow);
    }
    return text + "}\n";
  }

 private:
  bool isLeaf(size_t vertex) const { return graph_.vertices[vertex].name.empty(); }
  // A leaf that much of the graph leads to would be a knot of arrows.
  bool isDrawnAtUses(size_t vertex) const { return isLeaf(vertex) && uses_[vertex] > kMostUses; }

  std::string box(std::string_view name, size_t vertex, std::string_view style) const {
    const std::string& call = graph_.vertices[vertex].call;
    return fmt::format("  {} [label={}, tooltip={}{}{}]", name, dotText(labels_[vertex]),
                       dotText(call.empty() ? labels_[vertex] : call), colourOf(graph_.vertices[vertex]), style);
  }

  std::string line(const GradientArrow& arrow) {
    if (isDrawnAtUses(arrow.to)) {
      const std::string copy = fmt::format("c{}", copies_++);
      return fmt::format("{}; n{} -> {};\n", box(copy, arrow.to, ", style=\"rounded,filled,dashed\""), arrow.from,
                         copy);
    }
    return fmt::format("  n{} -> n{}{};\n", arrow.from, arrow.to,
                       arrow.output_nr == 0 ? "" : fmt::format(" [label=\"result {}\"]", arrow.output_nr));
  }

  const GradientGraph& graph_;
  std::vector<size_t> uses_;
  std::vector<bool> leads_on_;
  std::vector<std::string> labels_;
  size_t copies_ = 0;
};

}  // namespace

std::string faultOfPicture(const std::string& path) {
  if (path.ends_with(".svg") || path.ends_with(".dot")) return {};
  return fmt::format("'{}' must end in .svg, for a picture, or in .dot, for Graphviz's language", path);
}

GradientPicture::GradientPicture(const std::string& path)
    : path_(path),
      is_svg_(path.ends_with(".svg")),
      file_((is_svg_ ? checkGraphviz() : void(), path)),
      observer_([this](TensorList roots) {
        if (!graph_.has_value()) graph_ = autograd::gradientGraph(roots, kMostVertices);
      }) {}

void GradientPicture::write() {
  BOXCAR_CHECK(
      graph_.has_value(),
      "'{}' was not written, because the script began no backward pass: --grad-graph draws what the first call "
      "of backward or autograd.grad differentiates",
      path_);
  const size_t shown = is_svg_ ? countWithin(*graph_, kMostDrawn) : graph_->vertices.size();
  std::string title;
  if (shown < graph_->all) {
    title =
        fmt::format("the graph has {} nodes; these are the {} nearest to where the pass begins", graph_->all, shown);
    printError(fmt::format("'{}': {}{}\n", path_, title,
                           is_svg_ ? fmt::format("; a .dot file has up to {}", kMostVertices) : ""));
  }
  std::string text = GradientDrawing(*graph_, shown).text(title);
  if (is_svg_) text = drawSvg(text);
  file_.write(std::as_bytes(std::span(text)));
  file_.commit();
}

}  // namespace boxcar::cli
