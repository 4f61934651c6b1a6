#include <boxcar/interpreter/import/pt2/function_sizes.h>
#include <boxcar/interpreter/import/pt2/module_calls.h>
#include <boxcar/interpreter/import/pt2/node_text.h>
#include <boxcar/interpreter/import/pt2/value_table.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace boxcar::interp::pt2 {
namespace {

constexpr std::string_view kSize = "torch.ops.aten.sym_size.int";
// Numbers computed from numbers computed from numbers.
constexpr int kMostSteps = 64;

// Whether it has a symbol that data decide, such as "u0": the count of what is not zero.
bool comesFromData(std::string_view expression) {
  for (size_t i = 0; i + 1 < expression.size(); ++i) {
    const bool begins =
        i == 0 || (expression[i - 1] != '_' && !std::isalnum(static_cast<unsigned char>(expression[i - 1])));
    if (begins && expression[i] == 'u' && std::isdigit(static_cast<unsigned char>(expression[i + 1]))) return true;
  }
  return false;
}

class SizePlacer final {
 public:
  SizePlacer(ExportedProgram& program, const ValueTable& values)
      : program_(program), graph_(program.graph), values_(values), places_(graph_.nodes.size() + 1) {
    for (const InputSpec& input : program.inputs) {
      if (input.kind == InputSpec::Kind::Weight) weights_.insert(input.value);
    }
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      addIfSize(i);
      if (ValueTable::writes(graph_.nodes[i])) addReshaped(i);
    }
  }

  void run(const ModuleCall& root) {
    if (sizes_.empty()) return;
    place(root, 0);
    rewrite();
  }

 private:
  // A number that a node reads.
  struct Use {
    size_t node;                       // the number of nodes stands for the outputs
    std::string value;                 // in the graph
    std::string now;                   // what is to be read
    size_t item;                       // where the item of the function begins that the node is in
    std::optional<size_t> added = {};  // which of the nodes that are added there, if it is one
  };
  struct Dimension {
    std::string tensor;
    int64_t dim;
    size_t number;  // among those of the function
  };
  struct Function {
    const ModuleCall& call;
    size_t depth;
    std::vector<ModuleFrame> frames;
    // The dimensions that have a size.
    std::unordered_map<std::string, Dimension> dimensions;
    // What stands for a number, by its key; nothing if it cannot be had.
    std::unordered_map<std::string, std::optional<std::string>> found;
    std::vector<Use> open;  // what its added nodes read of its callers
  };
  struct Added {
    size_t depth;   // of the function
    size_t number;  // sizes stand in the order of the tensors
    Node node;
  };
  struct Place {
    std::vector<Added> nodes;                                    // what goes before the node
    std::vector<std::pair<std::string, std::string>> renamings;  // of what the node reads
  };

  // What unsqueeze_ and the like write to has two shapes, one after the other.
  void addReshaped(size_t index) {
    const std::vector<std::string>& uses = values_.uses(index);
    const std::vector<std::string>& definitions = values_.definitions(index);
    if (uses.empty()) return;
    const auto before = graph_.tensors.find(uses[0]);
    const auto after = definitions.size() == 1 ? graph_.tensors.find(definitions[0]) : graph_.tensors.end();
    const bool keeps =
        before != graph_.tensors.end() && after != graph_.tensors.end() && before->second.sizes == after->second.sizes;
    if (!keeps) reshaped_.insert(uses[0]);
  }

  void addIfSize(size_t index) {
    const Node& node = graph_.nodes[index];
    if (node.outputs.size() != 1 || node.outputs[0].kind != Argument::Kind::Value) return;
    const std::string& value = node.outputs[0].text;
    if (!graph_.numbers.contains(value)) return;
    const auto expression = graph_.expressions.find(value);
    const bool has_expression = expression != graph_.expressions.end();
    if (has_expression && comesFromData(expression->second)) return;
    if (node.target == kSize) {
      if (has_expression) sizes_.insert(value);
      return;
    }
    if (!isNumberFunction(node.target)) return;
    const std::vector<std::string>& uses = values_.uses(index);
    if (uses.empty() || !std::ranges::all_of(uses, [&](const std::string& use) { return sizes_.contains(use); }))
      return;
    sizes_.insert(value);
  }

  std::string keyOf(const std::string& value) const {
    const auto expression = graph_.expressions.find(value);
    return expression != graph_.expressions.end() ? expression->second : value + "'";
  }

  bool isLeaf(const std::string& value) const {
    const std::optional<size_t> defined = values_.definedBy(value);
    return defined.has_value() && graph_.nodes[*defined].target == kSize;
  }

  void addDimensions(Function& function, const std::string& value) const {
    const auto tensor = graph_.tensors.find(value);
    if (tensor == graph_.tensors.end() || weights_.contains(value) || reshaped_.contains(value)) return;
    for (size_t dim = 0; dim < tensor->second.sizes.size(); ++dim) {
      const Size& size = tensor->second.sizes[dim];
      if (!size.number.has_value()) {
        function.dimensions.try_emplace(size.expression,
                                        Dimension{value, static_cast<int64_t>(dim), function.dimensions.size()});
      }
    }
  }

  Function functionOf(const ModuleCall& call, size_t depth) const {
    Function function{.call = call, .depth = depth, .frames = {}, .dimensions = {}, .found = {}, .open = {}};
    if (depth == 0) {
      function.frames = {{"", call.type}};
      for (const InputSpec& input : program_.inputs) {
        if (input.kind == InputSpec::Kind::User) addDimensions(function, input.value);
      }
      return function;
    }
    for (size_t i = call.begin; i < call.end; ++i) {
      const std::vector<ModuleFrame>& frames = graph_.nodes[i].modules;
      const auto own = std::ranges::find(frames, call.path, &ModuleFrame::path);
      if (function.frames.empty() && own != frames.end()) function.frames.assign(frames.begin(), own + 1);
      if (!values_.isNeeded(i) || isSizeNode(i)) continue;
      for (const std::string& value : values_.uses(i)) {
        const std::optional<size_t> defined = values_.definedBy(value);
        if (!defined.has_value() || *defined < call.begin) addDimensions(function, value);
      }
    }
    return function;
  }

  bool isSizeNode(size_t index) const {
    const std::vector<std::string>& definitions = values_.definitions(index);
    return definitions.size() == 1 && sizes_.contains(definitions[0]);
  }

  // Returns what the function needs and cannot have.
  std::vector<Use> place(const ModuleCall& call, size_t depth) {
    std::vector<Use> uses;
    for (const CallItem& item : call.items) {
      if (item.call != nullptr) {
        for (Use& use : place(*item.call, depth + 1)) {
          use.item = item.call->begin;
          uses.push_back(std::move(use));
        }
      } else if (!isSizeNode(item.node)) {
        for (const std::string& value : values_.uses(item.node)) {
          if (sizes_.contains(value)) uses.push_back({item.node, value, value, item.node});
        }
      }
    }
    if (depth == 0) {
      const size_t end = graph_.nodes.size();
      for (const OutputSpec& output : program_.outputs) {
        forEachValue(output.value, [&](const std::string& value) {
          if (sizes_.contains(value)) uses.push_back({end, value, value, end});
        });
      }
    }
    if (uses.empty()) return {};
    Function function = functionOf(call, depth);
    // What is computed from a size that must be a parameter is computed from the parameter.
    for (const Use& use : uses) {
      const std::optional<size_t> defined = values_.definedBy(use.now);
      if (isLeaf(use.now) && !function.dimensions.contains(keyOf(use.now)) && *defined < call.begin) {
        function.found.try_emplace(keyOf(use.now), use.now);
      }
    }
    std::vector<Use> left;
    for (Use& use : uses) {
      const std::optional<std::string> found = find(function, use.now, use.item, 0);
      if (found.has_value()) rename(use, *found);
      if (!found.has_value() || sizes_.contains(*found)) left.push_back(std::move(use));
    }
    std::ranges::move(function.open, std::back_inserter(left));
    return left;
  }

  void rename(Use& use, const std::string& to) {
    if (to == use.now) return;
    if (use.added.has_value()) {
      for (NamedArgument& input : places_[use.node].nodes[*use.added].node.inputs) {
        renameIn(input.value, {{use.now, to}});
      }
      use.now = to;
      return;
    }
    use.now = to;
    auto& renamings = places_[use.node].renamings;
    const auto known = std::ranges::find(renamings, use.value, &std::pair<std::string, std::string>::first);
    if (known != renamings.end()) {
      known->second = to;
    } else {
      renamings.emplace_back(use.value, to);
    }
  }

  // Returns the value that stands for a number in the function, which is added if there is none yet.
  std::optional<std::string> find(Function& function, const std::string& value, size_t item, int step) {
    std::string key = keyOf(value);
    if (const auto known = function.found.find(key); known != function.found.end()) return known->second;
    function.found.emplace(key, std::nullopt);
    const std::optional<size_t> defined = values_.definedBy(value);
    if (!defined.has_value() || step > kMostSteps) return std::nullopt;
    Node node{.target = std::string(kSize), .modules = function.frames, .source = graph_.nodes[*defined].source};
    size_t place = function.call.begin;
    size_t number = graph_.nodes.size();
    if (const auto dimension = function.dimensions.find(key); dimension != function.dimensions.end()) {
      node.inputs = {{"self", {.kind = Argument::Kind::Value, .text = dimension->second.tensor}},
                     {"dim", {.kind = Argument::Kind::Int, .integer = dimension->second.dim}}};
      number = dimension->second.number;
    } else {
      if (isLeaf(value)) return std::nullopt;
      node.target = graph_.nodes[*defined].target;
      node.inputs = graph_.nodes[*defined].inputs;
      place = item;
      for (NamedArgument& input : node.inputs) {
        if (!input.value.items.empty()) return std::nullopt;
        if (input.value.kind != Argument::Kind::Value) continue;
        std::optional<std::string> found = find(function, input.value.text, item, step + 1);
        if (!found.has_value()) return std::nullopt;
        input.value.text = std::move(*found);
      }
    }
    for (const NamedArgument& input : node.inputs) {
      if (!sizes_.contains(input.value.text)) continue;
      function.open.push_back({place, input.value.text, input.value.text, place, places_[place].nodes.size()});
    }
    std::string name = freshName(value);
    node.outputs = {{.kind = Argument::Kind::Value, .text = name}};
    added_.emplace_back(name, value);
    places_[place].nodes.push_back({function.depth, number, std::move(node)});
    function.found[key] = name;
    return name;
  }

  std::string freshName(std::string_view value) {
    value = value.substr(0, value.find_last_not_of("0123456789_") + 1);
    std::string name;
    do {
      name = fmt::format("{}_{}", value, ++last_number_);
    } while (graph_.numbers.contains(name) || graph_.tensors.contains(name));
    return name;
  }

  static void renameIn(Argument& argument, const std::vector<std::pair<std::string, std::string>>& renamings) {
    if (argument.kind == Argument::Kind::Value) {
      const auto found = std::ranges::find(renamings, argument.text, &std::pair<std::string, std::string>::first);
      if (found != renamings.end()) argument.text = found->second;
    }
    for (Argument& item : argument.items) renameIn(item, renamings);
  }

  void rewrite() {
    for (const auto& [name, value] : added_) {
      graph_.numbers.emplace(name, graph_.numbers.at(value));
      if (const auto found = graph_.expressions.find(value); found != graph_.expressions.end()) {
        graph_.expressions.emplace(name, std::string(found->second));
      }
    }
    std::vector<Node> nodes;
    nodes.reserve(graph_.nodes.size() + added_.size());
    for (size_t i = 0; i < places_.size(); ++i) {
      Place& place = places_[i];
      // A function that begins here is called after what its caller computes for it.
      std::ranges::stable_sort(place.nodes, {},
                               [](const Added& added) { return std::pair(added.depth, added.number); });
      for (Added& added : place.nodes) nodes.push_back(std::move(added.node));
      if (i == graph_.nodes.size()) break;
      nodes.push_back(std::move(graph_.nodes[i]));
      if (place.renamings.empty()) continue;
      for (NamedArgument& input : nodes.back().inputs) renameIn(input.value, place.renamings);
    }
    const auto& renamings = places_.back().renamings;
    for (Argument& output : graph_.outputs) renameIn(output, renamings);
    for (OutputSpec& output : program_.outputs) renameIn(output.value, renamings);
    graph_.nodes = std::move(nodes);
  }

  ExportedProgram& program_;
  Graph& graph_;
  const ValueTable& values_;
  std::unordered_set<std::string> weights_;
  std::unordered_set<std::string> reshaped_;
  std::unordered_set<std::string> sizes_;                   // the numbers that are functions of sizes
  std::vector<Place> places_;                               // by the positions of nodes
  std::vector<std::pair<std::string, std::string>> added_;  // the values that are new, and what they stand for
  size_t last_number_ = 0;
};

}  // namespace

void placeSizes(ExportedProgram& program) {
  const ValueTable values(program.graph);
  const ModuleCall root = moduleCalls(program.graph, values);
  SizePlacer(program, values).run(root);
}

}  // namespace boxcar::interp::pt2
