#include <boxcar/interpreter/import/pt2/list_inputs.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace boxcar::interp::pt2 {
namespace {

// The operators that take lists of tensors call them so: cat, stack, einsum.
constexpr std::string_view kList = "tensors";

size_t usesWithin(const ValueTable& values, const std::string& value, size_t begin, size_t end) {
  const std::vector<size_t>& users = values.users(value);
  const auto first = std::ranges::lower_bound(users, begin);
  return static_cast<size_t>(std::ranges::lower_bound(users, end) - first);
}

void collectLengths(const Graph& graph, const ValueTable& values, const ModuleCall& call,
                    const std::function<bool(const std::string&)>& is_weight,
                    std::map<std::string, std::set<size_t>, std::less<>>& lengths) {
  for (const CallItem& item : call.items) {
    if (item.call == nullptr) continue;
    collectLengths(graph, values, *item.call, is_weight, lengths);
    const size_t length = listInput(graph, values, *item.call, is_weight).size();
    if (length > 0) lengths[item.call->type].insert(length);
  }
}

}  // namespace

std::vector<std::string> listInput(const Graph& graph, const ValueTable& values, const ModuleCall& call,
                                   const std::function<bool(const std::string&)>& is_weight) {
  for (const CallItem& item : call.items) {
    if (item.call != nullptr) continue;
    const Argument* const list = NodeText::find(graph.nodes[item.node], kList);
    if (list == nullptr || list->kind != Argument::Kind::List) continue;
    std::vector<std::string> found;
    for (const Argument& each : list->items) {
      if (each.kind == Argument::Kind::Value) found.push_back(values.resolve(each.text));
    }
    const bool fits = !found.empty() && found.size() == list->items.size() &&
                      std::ranges::all_of(found, [&](const std::string& value) {
                        const std::optional<size_t> defined = values.definedBy(value);
                        return (!defined.has_value() || *defined < call.begin) && !is_weight(value) &&
                               values.typeOf(value) == Type::tensor() &&
                               usesWithin(values, value, call.begin, call.end) == 1;
                      });
    if (fits) return found;
  }
  return {};
}

std::set<std::string, std::less<>> typesOfListInputs(const Graph& graph, const ValueTable& values,
                                                     const ModuleCall& root,
                                                     const std::function<bool(const std::string&)>& is_weight) {
  std::map<std::string, std::set<size_t>, std::less<>> lengths;
  collectLengths(graph, values, root, is_weight, lengths);
  std::set<std::string, std::less<>> types;
  for (const auto& [type, different] : lengths) {
    if (different.size() > 1) types.insert(type);
  }
  return types;
}

}  // namespace boxcar::interp::pt2
