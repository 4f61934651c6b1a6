#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/interpreter/prepare/absorption.h>
#include <boxcar/interpreter/prepare/block_pass.h>
#include <boxcar/interpreter/prepare/expression_text.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace boxcar::interp {

using boost::variant2::get_if;

namespace {

// An activation of the fused operators, and the operator of aten that it is. The operator's arguments after the first
// must be [rest], as a script writes them; "…" stands for the activation's parameters.
struct Activation {
  std::string_view op;
  std::string_view rest;
  std::string_view name;
  std::string_view parameters;  // where they are not the operator's arguments
};

constexpr std::string_view kAny = "…";
constexpr Activation kActivations[] = {
    {"aten::relu", "", "relu", ""},
    {"aten::relu6", "", "clamp", "[0.0, 6.0]"},
    {"aten::hardtanh", kAny, "clamp", ""},
    {"aten::leaky_relu", kAny, "leaky_relu", ""},
    {"aten::silu", "", "silu", ""},
    {"aten::hardswish", "", "hardswish", ""},
    {"aten::hardsigmoid", "", "hardsigmoid", ""},
    {"aten::sigmoid", "", "sigmoid", ""},
    {"aten::tanh", "", "tanh", ""},
    {"aten::gelu", "\"none\"", "gelu", ""},
    {"aten::gelu", "\"tanh\"", "gelu_tanh", ""},
};

// A call of a fused operator or layer.
struct FusedCall {
  std::string_view callee;
  const FunctionSchema* schema;
  const std::vector<typed::ExprPtr>* arguments;
  size_t statement;

  std::optional<size_t> parameter(std::string_view name) const {
    const auto& parameters = schema->arguments();
    const auto found = std::ranges::find(parameters, name, &Argument::name);
    if (found == parameters.end()) return std::nullopt;
    return static_cast<size_t>(found - parameters.begin());
  }
  bool hasDefault(std::string_view name) const {
    const auto place = parameter(name);
    if (!place) return false;
    const auto value = constantValue(*(*arguments)[*place]);
    const auto& initial = schema->arguments()[*place].default_value();
    return value && initial && *value == *initial;
  }
};

class AbsorptionPass final : public BlockPass {
 public:
  using BlockPass::BlockPass;

 private:
  bool replace(Place root) override {
    const auto* call = get_if<typed::CallOperator>(&root.expr->node);
    if (call == nullptr || call->arguments.empty()) return false;
    const bool is_in_place = isInPlaceName(call->name.name);
    const std::string_view name = functionalName(call->name.name);
    if (name == "aten::add" && call->name.overload_name == "Tensor") return replaceSum(root, *call, is_in_place);
    for (const Activation& activation : kActivations) {
      if (activation.op == name && replaceActivation(root, *call, activation)) return true;
    }
    return false;
  }

  bool replaceActivation(Place root, const typed::CallOperator& call, const Activation& activation) {
    std::vector<std::string> rest;
    for (size_t i = 1; i < call.arguments.size(); ++i) {
      const auto value = constantValue(*call.arguments[i]);
      const auto text = value ? constantText(*value) : std::nullopt;
      if (!text) return false;
      rest.push_back(*text);
    }
    const std::string written = fmt::format("{}", fmt::join(rest, ", "));
    if (activation.rest != kAny && activation.rest != written) return false;
    std::set<size_t> consumed;
    const auto fused = fusedCall({call.arguments[0].get(), root.statement}, consumed);
    if (!fused || !fused->hasDefault("activation") || !fused->hasDefault("parameters")) return false;
    std::vector<std::pair<std::string_view, std::string>> added = {
        {"activation", fmt::format("\"{}\"", activation.name)}};
    if (!activation.parameters.empty()) added.emplace_back("parameters", activation.parameters);
    if (activation.rest == kAny) added.emplace_back("parameters", fmt::format("[{}]", written));
    return put(root, *fused, consumed, {}, added);
  }

  // [call] is `a + b` or `a.add_(b)`, either of which may be the fused one.
  bool replaceSum(Place root, const typed::CallOperator& call, bool is_in_place) {
    const auto factor = constantValue(*call.arguments[2]);
    if (!factor || !factor->isInt() || factor->toInt() != 1) return false;
    const Matcher matcher(script(), flow(), effects(), touched());
    if (is_in_place && !matcher.isFresh({call.arguments[0].get(), root.statement})) return false;
    for (const size_t side : {0, 1}) {
      std::set<size_t> consumed;
      const auto fused = fusedCall({call.arguments[side].get(), root.statement}, consumed);
      if (!fused || !fused->hasDefault("add") || !fused->hasDefault("activation")) continue;
      const Place other{call.arguments[1 - side].get(), root.statement};
      const auto text = textOf(*other.expr, script().source());
      if (text && put(root, *fused, consumed, {other}, {{"add", *text}})) return true;
    }
    return false;
  }

  std::optional<FusedCall> fusedCall(Place place, std::set<size_t>& consumed) const {
    const Place value = Matcher(script(), flow(), effects(), touched()).resolved(place, consumed);
    if (const auto* call = get_if<typed::CallFunction>(&value.expr->node)) {
      const CalledFunction function = script().called(*call);
      if (function.module != "fused.ops") return std::nullopt;
      return FusedCall{function.name, function.schema, &call->arguments, value.statement};
    }
    const auto* call = get_if<typed::CallOperator>(&value.expr->node);
    if (call == nullptr || !call->name.name.starts_with("fused::")) return std::nullopt;
    const auto op = Dispatcher::singleton().findSchema(call->name);
    if (!op) return std::nullopt;
    return FusedCall{call->name.name, &op->schema(), &call->arguments, value.statement};
  }

  // Writes the fused call, with arguments [added], at [root]. [leaves]: what else moves there.
  bool put(Place root, const FusedCall& fused, const std::set<size_t>& consumed, std::vector<Place> leaves,
           const std::vector<std::pair<std::string_view, std::string>>& added) {
    std::vector<ArgumentText> texts;
    for (size_t i = 0; i < fused.arguments->size(); ++i) {
      const Argument& parameter = fused.schema->arguments()[i];
      const typed::Expr& value = *(*fused.arguments)[i];
      ArgumentText& each = texts.emplace_back(parameter.name(), std::nullopt);
      const auto given = std::ranges::find(added, parameter.name(), [](const auto& pair) { return pair.first; });
      if (given != added.end()) {
        each.text = given->second;
        continue;
      }
      leaves.push_back({&value, fused.statement});
      const auto constant = constantValue(value);
      if (constant && parameter.default_value() && *constant == *parameter.default_value()) continue;
      each.text = textOf(value, script().source(), parameter.N());
      if (!each.text) return false;
    }
    if (!Matcher(script(), flow(), effects(), touched()).canMove(leaves, consumed, root)) return false;
    apply(root, consumed, callText(fused.callee, *fused.schema, texts));
    return true;
  }
};

}  // namespace

std::vector<Edit> absorb(const TypedScript& script) { return changesOf<AbsorptionPass>(script); }

}  // namespace boxcar::interp
