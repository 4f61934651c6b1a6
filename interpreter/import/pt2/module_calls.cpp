#include <boxcar/interpreter/import/pt2/module_calls.h>
#include <boxcar/interpreter/import/pt2/node_text.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>

namespace boxcar::interp::pt2 {
namespace {

// A call with fewer steps is no function of its own.
constexpr ptrdiff_t kFewestItems = 4;
constexpr size_t kMostDepth = 64;

// The frames of a node within the model itself.
std::vector<ModuleFrame> framesOf(const Node& node) {
  std::vector<ModuleFrame> frames;
  for (const ModuleFrame& frame : node.modules) {
    if (!frame.path.empty() && frames.size() < kMostDepth) frames.push_back(frame);
  }
  return frames;
}

void add(ModuleCall& call, size_t node, const std::vector<ModuleFrame>& frames, size_t depth) {
  if (depth == frames.size()) {
    call.items.push_back({node, nullptr});
    return;
  }
  const bool goes_on =
      !call.items.empty() && call.items.back().call != nullptr && call.items.back().call->path == frames[depth].path;
  if (!goes_on) {
    auto inner = std::make_unique<ModuleCall>();
    inner->path = frames[depth].path;
    inner->type = frames[depth].type;
    inner->begin = node;
    call.items.push_back({node, std::move(inner)});
  }
  ModuleCall& inner = *call.items.back().call;
  inner.end = node + 1;
  add(inner, node, frames, depth + 1);
}

// Whether a module is no function of its own: a container, or one of PyTorch's layers that are a few operators.
bool isPartOfOther(std::string_view type) {
  if (type.ends_with(".Sequential") || type.ends_with(".ModuleList")) return true;
  constexpr std::string_view kWhole[] = {"torch.nn.modules.transformer.", "torch.nn.modules.rnn.",
                                         "torch.nn.modules.activation.MultiheadAttention"};
  return type.starts_with("torch.nn.modules.") &&
         std::ranges::none_of(kWhole, [&](std::string_view start) { return type.starts_with(start); });
}

// Whether it does more than compute a number, which each function does for itself.
bool isStep(const Graph& graph, const CallItem& item) {
  if (item.call != nullptr) return true;
  const std::string_view target = graph.nodes[item.node].target;
  return target != "torch.ops.aten.sym_size.int" && !isNumberFunction(target);
}

// Replaces calls that get no function by their items.
void flatten(const Graph& graph, ModuleCall& call) {
  std::vector<CallItem> items;
  for (CallItem& item : call.items) {
    if (item.call == nullptr) {
      items.push_back(std::move(item));
      continue;
    }
    flatten(graph, *item.call);
    const bool is_short = std::ranges::count_if(item.call->items, [&](const CallItem& inner) {
                            return isStep(graph, inner);
                          }) < kFewestItems;
    if (is_short || isPartOfOther(item.call->type)) {
      std::ranges::move(item.call->items, std::back_inserter(items));
    } else {
      items.push_back(std::move(item));
    }
  }
  call.items = std::move(items);
}

}  // namespace

std::string_view withoutCallNumber(std::string_view path) { return path.substr(0, path.find('@')); }

ModuleCall moduleCalls(const Graph& graph, const ValueTable& values) {
  ModuleCall root;
  root.end = graph.nodes.size();
  std::vector<ModuleFrame> frames;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!values.isNeeded(i)) continue;
    // A node without frames, such as one that PyTorch added for a size, belongs to where it stands.
    if (!graph.nodes[i].modules.empty()) frames = framesOf(graph.nodes[i]);
    if (!graph.nodes[i].modules.empty()) {
      const ModuleFrame& outermost = graph.nodes[i].modules.front();
      if (outermost.path.empty()) root.type = outermost.type;
    }
    add(root, i, frames, 0);
  }
  flatten(graph, root);
  return root;
}

}  // namespace boxcar::interp::pt2
