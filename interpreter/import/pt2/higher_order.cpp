#include <boxcar/interpreter/import/pt2/body_text.h>
#include <boxcar/interpreter/import/pt2/higher_order.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

// Operators that take graphs: their graphs become functions, and the operators statements.

namespace boxcar::interp::pt2 {
namespace {

constexpr std::string_view kSpace = "torch.ops.higher_order.";

std::string_view nameOf(const Node& node) {
  const std::string_view target = node.target;
  return target.starts_with(kSpace) ? target.substr(kSpace.size()) : std::string_view();
}

}  // namespace

bool isHigherOrder(const Node& node) { return !nameOf(node).empty(); }

bool hasHigherOrderText(const Node& node) {
  constexpr std::string_view kKnown[] = {
      "cond", "while_loop", "map_impl", "scan", "wrap_with_set_grad_enabled", "wrap_with_autocast"};
  const std::string_view name = nameOf(node);
  return std::ranges::find(kKnown, name) != std::end(kKnown);
}

std::string FunctionTexts::useGraph(const Argument& graph) {
  const ValueTable values(*graph.graph);
  FunctionTexts inner(*graph.graph, values, {}, {});
  inner.names_ = names_;
  ModuleCall whole;
  whole.end = graph.graph->nodes.size();
  for (size_t i = 0; i < whole.end; ++i) {
    if (values.isNeeded(i)) whole.items.push_back({i, nullptr});
  }
  std::vector<std::string> outputs;
  for (const Argument& output : graph.graph->outputs) {
    forEachValue(output, [&](const std::string& value) { outputs.push_back(values.resolve(value)); });
  }
  BodyText body(inner, "", outputs);
  std::vector<std::string> parameters;
  for (const Argument& input : graph.graph->inputs) {
    const TypePtr type = values.typeOf(input.text);
    parameters.push_back(fmt::format("{} {}", typeText(type), body.addParameter(input.text, type)));
  }
  body.addItems(whole);
  std::vector<std::string> results;
  std::vector<std::string_view> types;
  for (const Argument& output : graph.graph->outputs) {
    const NodeText literal([&](const std::string& value) { return Expression{body.resultText(value)}; });
    results.push_back(literal.argument(output).text);
    types.push_back(output.kind == Argument::Kind::Value ? typeText(values.typeOf(output.text)) : "Any");
  }
  body.addLine(fmt::format("return {}", fmt::join(results, ", ")));
  const auto [lines, numbers] = body.takeLines();
  std::string result = types.size() == 1 ? std::string(types[0]) : fmt::format("({})", fmt::join(types, ", "));
  names_ = inner.names_;
  for (const FunctionText& function : inner.functions_) functions_.push_back(function);
  std::string name = uniqueName(graph.text);
  functions_.push_back({.name = name,
                        .parameters = std::move(parameters),
                        .result = std::move(result),
                        .lines = inner.finished(lines, numbers),
                        .type = {},
                        .paths = {},
                        .takes_name = false,
                        .key = {},
                        .numbers = {},
                        .number_parameters = {},
                        .is_given = {}});
  return name;
}

void BodyText::addHigherOrder(size_t index, size_t end) {
  flush();
  const Node& node = functions_.graph().nodes[index];
  const std::string_view name = nameOf(node);
  BOXCAR_CHECK(hasHigherOrderText(node), "{} has no form in a script", node.target);
  const auto& inputs = node.inputs;
  const auto input = [&](size_t i) -> const Argument& {
    BOXCAR_CHECK(i < inputs.size(), "{} lacks an argument", node.target);
    return inputs[i].value;
  };
  const NodeText text([this](const std::string& value) { return expressionOf(value); });
  // Lists of tensors as separate arguments.
  const auto expanded = [&](size_t first, size_t last) {
    std::vector<std::string> texts;
    for (size_t i = first; i < last; ++i) {
      const Argument& each = input(i);
      if (each.kind == Argument::Kind::List) {
        for (const Argument& item : each.items) texts.push_back(text.argument(item).text);
      } else {
        texts.push_back(text.argument(each).text);
      }
    }
    return texts;
  };
  const auto graphAt = [&](size_t i) {
    BOXCAR_CHECK(input(i).kind == Argument::Kind::Graph, "{} lacks a graph", node.target);
    return functions_.useGraph(input(i));
  };
  const std::vector<std::string>& values = functions_.values().definitions(index);
  // Arguments before names: a variable that ends here may be one of the results.
  std::vector<std::string> targets;
  const auto assigned = [&](std::string_view base) {
    release(functions_.values().uses(index), index + 1, end);
    for (const std::string& value : values) {
      std::string variable = freshName(base);
      hold(variable, value);
      targets.push_back(std::move(variable));
    }
    return fmt::format("{}", fmt::join(targets, ", "));
  };
  if (name == "cond") {
    const std::string condition = text.argument(input(0)).text;
    const std::string arguments = fmt::format("{}", fmt::join(expanded(3, inputs.size()), ", "));
    const std::string yes = graphAt(1);
    const std::string no = graphAt(2);
    const std::string results = assigned("y");
    lines_.push_back(fmt::format("if {} {{\n{} = {}({})\n}} else {{\n{} = {}({})\n}}", condition, results, yes,
                                 arguments, results, no, arguments));
  } else if (name == "while_loop") {
    const std::vector<std::string> starts = expanded(2, 3);
    std::vector<std::string> constants = expanded(3, inputs.size());
    const std::string condition = graphAt(0);
    const std::string body = graphAt(1);
    // What the loop does not change must stay what it is.
    for (const std::string& value : values) {
      std::string variable = freshName("state");
      hold(variable, value);
      targets.push_back(std::move(variable));
    }
    BOXCAR_CHECK(targets.size() == starts.size(), "{} has other results than it begins with", node.target);
    for (size_t i = 0; i < targets.size(); ++i) lines_.push_back(fmt::format("{} = {}", targets[i], starts[i]));
    std::vector<std::string> arguments = targets;
    arguments.insert(arguments.end(), constants.begin(), constants.end());
    lines_.push_back(fmt::format("while {0}({1}) {{\n{2} = {3}({1})\n}}", condition, fmt::join(arguments, ", "),
                                 fmt::join(targets, ", "), body));
    release(functions_.values().uses(index), index + 1, end);
  } else if (name == "map_impl" || name == "scan") {
    const bool carries = name == "scan";
    const std::vector<std::string> starts = carries ? expanded(1, 2) : std::vector<std::string>();
    const std::vector<std::string> over = expanded(carries ? 2 : 1, carries ? 3 : 2);
    const std::vector<std::string> constants = expanded(carries ? 3 : 2, inputs.size());
    BOXCAR_CHECK(!over.empty() && values.size() >= starts.size(), "{} goes over nothing", node.target);
    const std::string function = graphAt(0);
    std::vector<std::string> lists;
    for (size_t i = 0; i < values.size(); ++i) {
      std::string variable = freshName(i < starts.size() ? "state" : "y");
      hold(variable, values[i]);
      targets.push_back(variable);
      if (i < starts.size()) {
        lines_.push_back(fmt::format("{} = {}", variable, starts[i]));
      } else {
        lists.push_back(freshName("ys"));
        held_[lists.back()].insert("");
        lines_.push_back(fmt::format("{}: Tensor[] = []", lists.back()));
      }
    }
    const std::string position = freshName("i");
    std::vector<std::string> arguments(targets.begin(), targets.begin() + static_cast<ptrdiff_t>(starts.size()));
    for (const std::string& each : over) arguments.push_back(fmt::format("{}[{}]", each, position));
    arguments.insert(arguments.end(), constants.begin(), constants.end());
    std::string loop = fmt::format("for {} in range({}.size(0)) {{\n{} = {}({})\n", position, over[0],
                                   fmt::join(targets, ", "), function, fmt::join(arguments, ", "));
    for (size_t i = 0; i < lists.size(); ++i)
      loop += fmt::format("{}.append({})\n", lists[i], targets[starts.size() + i]);
    lines_.push_back(loop + "}");
    for (size_t i = 0; i < lists.size(); ++i) {
      lines_.push_back(fmt::format("{} = stack({})", targets[starts.size() + i], lists[i]));
      held_.erase(lists[i]);
    }
    release(functions_.values().uses(index), index + 1, end);
  } else {
    // The graph's arguments follow it.
    const auto graph =
        std::ranges::find_if(inputs, [](const auto& each) { return each.value.kind == Argument::Kind::Graph; });
    BOXCAR_CHECK(graph != inputs.end(), "{} lacks a graph", node.target);
    const auto position = static_cast<size_t>(graph - inputs.begin());
    const std::string arguments = fmt::format("{}", fmt::join(expanded(position + 1, inputs.size()), ", "));
    const std::string function = graphAt(position);
    const std::string results = assigned("y");
    const std::string call = fmt::format("{} = {}({})", results, function, arguments);
    if (name == "wrap_with_set_grad_enabled") {
      const bool is_enabled = input(0).integer != 0;
      lines_.push_back(fmt::format("with {}() {{\n{}\n}}", is_enabled ? "enable_grad" : "no_grad", call));
    } else if (name == "wrap_with_autocast" && position == 4) {
      std::vector<std::string> region;
      for (size_t i = 0; i < position; ++i) region.push_back(text.argument(input(i)).text);
      lines_.push_back(fmt::format("with autocast({}) {{\n{}\n}}", fmt::join(region, ", "), call));
    } else {
      lines_.push_back(call);
    }
  }
}

}  // namespace boxcar::interp::pt2
