#include <boxcar/interpreter/import/pt2/value_table.h>
#include <boxcar/schema/function_schema.h>

#include <algorithm>
#include <limits>

namespace boxcar::interp::pt2 {
namespace {

constexpr std::string_view kAten = "torch.ops.aten.";

std::string_view atenName(const Node& node) {
  const std::string_view target = node.target;
  return target.starts_with(kAten) ? target.substr(kAten.size()) : std::string_view();
}

bool isSetTo(const Argument* argument, bool value) { return argument != nullptr && argument->isBool(value); }

// Whether to() is asked for the dtype and the device that its tensor has, and for nothing else.
bool keepsTensor(const Graph& graph, const Node& node) {
  const Argument* const self = NodeText::find(node, "self");
  const Argument* const dtype = NodeText::find(node, "dtype");
  const Argument* const device = NodeText::find(node, "device");
  const Argument* const format = NodeText::find(node, "memory_format");
  if (self == nullptr || dtype == nullptr || isSetTo(NodeText::find(node, "copy"), true)) return false;
  const auto tensor = graph.tensors.find(self->text);
  if (tensor == graph.tensors.end()) return false;
  const bool is_there =
      device == nullptr || device->kind == Argument::Kind::None || device->text == tensor->second.device;
  return is_there && dtype->kind == Argument::Kind::ScalarType && dtype->integer == tensor->second.dtype &&
         (format == nullptr || format->kind == Argument::Kind::None);
}

// Returns the value that the call returns as it is; null if it computes something.
const Argument* returnedAsItIs(const Graph& graph, const Node& node) {
  const std::string_view name = atenName(node);
  if (name == "to.dtype" || name == "to.dtype_layout" || name == "to.device") {
    return keepsTensor(graph, node) ? NodeText::find(node, "self") : nullptr;
  }
  if (name == "dropout.default" && isSetTo(NodeText::find(node, "train"), false)) return NodeText::find(node, "input");
  if (name == "dropout_.default" && isSetTo(NodeText::find(node, "train"), false)) return NodeText::find(node, "self");
  if (name == "feature_dropout.default" && isSetTo(NodeText::find(node, "train"), false))
    return NodeText::find(node, "input");
  if (name == "alias.default") return NodeText::find(node, "self");
  if (name == "slice.Tensor") {
    const auto isInt = [&](std::string_view argument, int64_t value) {
      const Argument* const found = NodeText::find(node, argument);
      return found == nullptr || found->kind == Argument::Kind::None || found->isInt(value);
    };
    const bool is_whole = isInt("start", 0) && isInt("end", std::numeric_limits<int64_t>::max()) && isInt("step", 1);
    return is_whole ? NodeText::find(node, "self") : nullptr;
  }
  return nullptr;
}

// Whether a node only checks what holds for every input that the model takes.
bool onlyChecks(const Node& node) {
  const std::string_view name = atenName(node);
  return name == "_assert_tensor_metadata.default" || name.starts_with("sym_constrain_range");
}

bool hasEffect(const Node& node) {
  const std::string_view name = atenName(node);
  return name.starts_with("_assert") || name.starts_with("_linalg_check_errors") || name.starts_with("_print") ||
         node.target.find("higher_order") != std::string::npos || ValueTable::writes(node);
}

}  // namespace

bool ValueTable::writes(const Node& node) {
  const auto op = operatorOf(node.target);
  return op.has_value() && op->schema().is_mutable();
}

const Argument* ValueTable::writtenResult(const Node& node) {
  const auto op = operatorOf(node.target);
  if (!op.has_value()) return nullptr;
  const FunctionSchema& schema = op->schema();
  if (schema.returns().size() != 1 || !schema.returns()[0].is_write()) return nullptr;
  const auto written = std::ranges::find_if(schema.arguments(), &boxcar::Argument::is_write);
  if (written == schema.arguments().end()) return nullptr;
  const Argument* const value = NodeText::find(node, written->name());
  return value != nullptr && value->kind == Argument::Kind::Value ? value : nullptr;
}

ValueTable::ValueTable(const Graph& graph)
    : graph_(graph), uses_(graph.nodes.size()), definitions_(graph.nodes.size()), is_needed_(graph.nodes.size(), true) {
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    const Argument* const same = returnedAsItIs(graph, node);
    if (same != nullptr && same->kind == Argument::Kind::Value && node.outputs.size() == 1) {
      same_.emplace(node.outputs[0].text, resolve(same->text));
      is_needed_[i] = false;
      continue;
    }
    is_needed_[i] = !onlyChecks(node) && !checksSize(node);
    for (const NamedArgument& input : node.inputs) {
      forEachValue(input.value, [&](const std::string& value) { uses_[i].push_back(resolve(value)); });
    }
    for (const Argument& output : node.outputs) {
      forEachValue(output, [&](const std::string& value) {
        definitions_[i].push_back(value);
        defined_by_.emplace(value, i);
      });
    }
  }
  for (const Argument& output : graph.outputs) {
    forEachValue(output, [&](const std::string& value) { users_[resolve(value)].push_back(graph.nodes.size()); });
  }
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    if (!is_needed_[i]) continue;
    bool is_used = hasEffect(graph.nodes[i]);
    for (const std::string& value : definitions_[i]) is_used |= users_.contains(value);
    is_needed_[i] = is_used;
    if (!is_used) continue;
    for (const std::string& value : uses_[i]) {
      users_[value].push_back(i);
    }
  }
  for (auto& [value, users] : users_) std::ranges::reverse(users);
}

// Whether it only checks that a size is not negative.
bool ValueTable::checksSize(const Node& node) const {
  const Argument* const condition = atenName(node) == "_assert_scalar.default" ? NodeText::find(node, "self") : nullptr;
  const auto defined = condition != nullptr ? defined_by_.find(condition->text) : defined_by_.end();
  if (defined == defined_by_.end()) return false;
  const Node& comparison = graph_.nodes[defined->second];
  return comparison.target == "_operator.ge" && comparison.inputs.size() == 2 && comparison.inputs[1].value.isInt(0);
}

const std::string& ValueTable::resolve(const std::string& value) const {
  const auto found = same_.find(value);
  return found != same_.end() ? found->second : value;
}

size_t ValueTable::useCount(const std::string& value) const { return users(value).size(); }

const std::vector<size_t>& ValueTable::users(const std::string& value) const {
  static const std::vector<size_t> none;
  const auto found = users_.find(value);
  return found != users_.end() ? found->second : none;
}

std::optional<size_t> ValueTable::definedBy(const std::string& value) const {
  const auto found = defined_by_.find(value);
  return found != defined_by_.end() ? std::optional(found->second) : std::nullopt;
}

std::string_view ValueTable::roleOf(const std::string& value) const {
  constexpr std::string_view kAttention = "torch.ops.aten.scaled_dot_product_attention.default";
  constexpr std::pair<std::string_view, std::string_view> kRoles[] = {
      {"query", "query"}, {"key", "key"}, {"value", "value"}, {"attn_mask", "mask"}};
  constexpr int kMostSteps = 8;
  std::string at = value;
  // The role in the attention that node [index] is; empty if it is another node.
  const auto roleIn = [&](size_t index) -> std::string_view {
    if (index >= graph_.nodes.size() || graph_.nodes[index].target != kAttention) return {};
    for (const auto& [argument, role] : kRoles) {
      const Argument* const found = NodeText::find(graph_.nodes[index], argument);
      if (found != nullptr && found->kind == Argument::Kind::Value && resolve(found->text) == at) return role;
    }
    return {};
  };
  for (int step = 0; step < kMostSteps; ++step) {
    const std::vector<size_t>& users = this->users(at);
    if (users.empty() || users[0] >= graph_.nodes.size()) return {};
    const Node& node = graph_.nodes[users[0]];
    // All layers take the same mask.
    const std::string_view role = roleIn(users[0]);
    if (!role.empty() && std::ranges::all_of(users, [&](size_t user) { return roleIn(user) == role; })) return role;
    if (users.size() != 1 || node.target == kAttention) return {};
    // Only the shape changes.
    const auto op = operatorOf(node.target);
    const bool is_view =
        op.has_value() && (atenName(node).starts_with("reshape") || atenName(node).starts_with("contiguous") ||
                           (op->schema().hasAnyAliasInfo() && !op->schema().is_mutable()));
    if (!is_view || definitions_[users[0]].size() != 1) return {};
    at = definitions_[users[0]][0];
  }
  return {};
}

TypePtr ValueTable::typeOf(const std::string& value) const {
  const auto found = graph_.numbers.find(value);
  if (found == graph_.numbers.end()) return Type::tensor();
  if (found->second == "int") return Type::integer();
  return found->second == "float" ? Type::floating() : Type::boolean();
}

}  // namespace boxcar::interp::pt2
