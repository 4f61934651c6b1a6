#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/interpreter/prepare/block_flow.h>
#include <boxcar/interpreter/prepare/block_pass.h>
#include <boxcar/interpreter/prepare/effects.h>
#include <boxcar/interpreter/prepare/expression_text.h>
#include <boxcar/interpreter/prepare/matcher.h>
#include <boxcar/interpreter/prepare/pointwise_groups.h>
#include <boxcar/ivalue/scalar.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace boxcar::interp {

using boost::variant2::get_if;

namespace {

// How the expression of fused::pointwise writes an operator. The operator's arguments after the operands must have the
// values of [rest].
struct Spelling {
  std::string_view name;
  std::string_view overload;
  size_t operands;
  std::string_view sign;  // between two operands; empty for a function
  std::string_view function;
  std::string_view rest;  // as a script writes them
};

constexpr Spelling kSpellings[] = {
    {"aten::add", "Tensor", 2, "+", "", "1"},
    {"aten::add", "Scalar", 2, "+", "", "1"},
    {"aten::sub", "Tensor", 2, "-", "", "1"},
    {"aten::sub", "Scalar", 2, "-", "", "1"},
    {"aten::mul", "Tensor", 2, "*", "", ""},
    {"aten::mul", "Scalar", 2, "*", "", ""},
    {"aten::div", "Tensor", 2, "/", "", ""},
    {"aten::div", "Scalar", 2, "/", "", ""},
    {"aten::pow", "Tensor_Scalar", 2, "**", "", ""},
    {"aten::neg", "", 1, "-", "", ""},
    {"aten::maximum", "", 2, "", "maximum", ""},
    {"aten::minimum", "", 2, "", "minimum", ""},
    {"aten::where", "self", 3, "", "where", ""},
    {"aten::masked_fill", "Scalar", 3, "", "masked_fill", ""},
    {"aten::exp", "", 1, "", "exp", ""},
    {"aten::log", "", 1, "", "log", ""},
    {"aten::sqrt", "", 1, "", "sqrt", ""},
    {"aten::rsqrt", "", 1, "", "rsqrt", ""},
    {"aten::square", "", 1, "", "square", ""},
    {"aten::abs", "", 1, "", "abs", ""},
    {"aten::reciprocal", "", 1, "", "reciprocal", ""},
    {"aten::sin", "", 1, "", "sin", ""},
    {"aten::cos", "", 1, "", "cos", ""},
    {"aten::tanh", "", 1, "", "tanh", ""},
    {"aten::sigmoid", "", 1, "", "sigmoid", ""},
    {"aten::erf", "", 1, "", "erf", ""},
    {"aten::relu", "", 1, "", "relu", ""},
    {"aten::relu6", "", 1, "", "relu6", ""},
    {"aten::silu", "", 1, "", "silu", ""},
    {"aten::gelu", "", 1, "", "gelu", "\"none\""},
    {"aten::gelu", "", 1, "", "gelu_tanh", "\"tanh\""},
    {"aten::hardswish", "", 1, "", "hardswish", ""},
    {"aten::hardsigmoid", "", 1, "", "hardsigmoid", ""},
    {"aten::leaky_relu", "", 2, "", "leaky_relu", ""},
    {"aten::hardtanh", "", 3, "", "hardtanh", ""},
};

// A reduction that may be the end of a group.
struct Reduction {
  std::string_view name;
  std::string_view overload;
  bool has_dim;  // and whether to keep it; else all dimensions are reduced
  bool has_dtype;
  std::string_view spelling;
};

constexpr Reduction kReductions[] = {
    {"aten::sum", "", false, true, "sum"},   {"aten::sum", "dim_IntList", true, true, "sum"},
    {"aten::mean", "", false, true, "mean"}, {"aten::mean", "dim", true, true, "mean"},
    {"aten::amax", "", true, false, "amax"}, {"aten::amin", "", true, false, "amin"},
};

// How tightly the parts of an expression bind, the loosest first.
enum class Tightness : uint8_t { Sum, Product, Sign, Power, Whole };

struct Part {
  std::string text;
  Tightness tightness = Tightness::Whole;
};

constexpr size_t kMostInputs = 26;

// A group that is being collected from its last operator.
class Group final {
 public:
  Group(const Matcher& matcher, const SourcePtr& source) : matcher_(matcher), source_(source) {}

  std::optional<Part> read(Place place) {
    std::set<size_t> passed;
    const Place value = matcher_.resolved(place, passed);
    const size_t inputs_before = inputs.size();
    const std::set<size_t> consumed_before = consumed;
    consumed.insert(passed.begin(), passed.end());
    if (auto part = readOperator(value)) return part;
    inputs.resize(inputs_before);
    consumed = consumed_before;
    return readInput(place);
  }

  // The operator at the group's end, or nothing.
  std::optional<Part> readOperator(Place place) {
    const auto* call = get_if<typed::CallOperator>(&place.expr->node);
    if (call == nullptr) return std::nullopt;
    const bool is_in_place = isInPlaceName(call->name.name);
    const std::string_view name = functionalName(call->name.name);
    for (const Spelling& spelling : kSpellings) {
      if (spelling.name != name || spelling.overload != call->name.overload_name) continue;
      if (restOf(*call, spelling.operands) != spelling.rest) continue;
      if (is_in_place && !matcher_.isFresh({call->arguments[0].get(), place.statement})) return std::nullopt;
      return readSpelled(*call, spelling, place.statement);
    }
    return std::nullopt;
  }

  std::vector<Place> inputs;
  std::set<size_t> consumed;
  size_t operators = 0;

 private:
  static std::string restOf(const typed::CallOperator& call, size_t operands) {
    std::vector<std::string> texts;
    for (size_t i = operands; i < call.arguments.size(); ++i) {
      const auto value = constantValue(*call.arguments[i]);
      texts.push_back(value ? constantText(*value).value_or("?") : "?");
    }
    return fmt::format("{}", fmt::join(texts, ", "));
  }

  std::optional<Part> readInput(Place place) {
    if (const typed::Expr* number = wrappedNumber(*place.expr)) place.expr = number;
    if (const auto number = constantValue(*place.expr)) {
      if (number->isBool() || !(number->isInt() || number->isDouble())) return std::nullopt;
      const std::string text = *constantText(*number);
      const bool is_plain = std::ranges::all_of(
          text, [](char c) { return std::string_view("0123456789.e+-").find(c) != std::string_view::npos; });
      if (!is_plain) return std::nullopt;
      return Part{text, text.starts_with('-') ? Tightness::Sign : Tightness::Whole};
    }
    if (place.expr->type->kind() != TypeKind::Tensor || !textOf(*place.expr, source_)) return std::nullopt;
    size_t number = 0;
    while (number < inputs.size() && !matcher_.isSame(inputs[number], place)) ++number;
    if (number == inputs.size()) inputs.push_back(place);
    if (number >= kMostInputs) return std::nullopt;
    return Part{std::string(1, static_cast<char>('a' + number)), Tightness::Whole};
  }

  static std::string inside(const Part& part, Tightness least) {
    return part.tightness < least ? fmt::format("({})", part.text) : part.text;
  }

  std::optional<Part> readSpelled(const typed::CallOperator& call, const Spelling& spelling, size_t statement) {
    std::vector<Part> parts;
    for (size_t i = 0; i < spelling.operands; ++i) {
      const auto part = read({call.arguments[i].get(), statement});
      if (!part) return std::nullopt;
      parts.push_back(*part);
    }
    ++operators;
    if (!spelling.function.empty()) {
      std::vector<std::string> texts;
      for (const Part& part : parts) texts.push_back(part.text);
      return Part{fmt::format("{}({})", spelling.function, fmt::join(texts, ", ")), Tightness::Whole};
    }
    if (parts.size() == 1) return Part{fmt::format("-{}", inside(parts[0], Tightness::Power)), Tightness::Sign};
    const bool is_power = spelling.sign == "**";
    const Tightness tightness = is_power                                       ? Tightness::Power
                                : spelling.sign == "+" || spelling.sign == "-" ? Tightness::Sum
                                                                               : Tightness::Product;
    const auto above = static_cast<Tightness>(static_cast<uint8_t>(tightness) + 1);
    const std::string left = inside(parts[0], is_power ? Tightness::Whole : tightness);
    const std::string right = inside(parts[1], is_power ? Tightness::Sign : above);
    return Part{fmt::format("{} {} {}", left, spelling.sign, right), tightness};
  }

  const Matcher& matcher_;
  const SourcePtr& source_;
};

class GroupPass final : public BlockPass {
 public:
  using BlockPass::BlockPass;

 private:
  bool replace(Place root) override { return replaceReduction(root) || replaceGroup(root); }

  bool replaceReduction(Place root) {
    const auto* call = get_if<typed::CallOperator>(&root.expr->node);
    if (call == nullptr) return false;
    for (const Reduction& reduction : kReductions) {
      if (call->name.name == reduction.name && call->name.overload_name == reduction.overload)
        return replaceReduction(root, *call, reduction);
    }
    return false;
  }

  bool replaceReduction(Place root, const typed::CallOperator& call, const Reduction& reduction) {
    const auto& arguments = call.arguments;
    if (reduction.has_dtype) {
      const auto dtype = constantValue(*arguments.back());
      if (!dtype || !dtype->isNone()) return false;
    }
    const Matcher matcher(script(), flow(), effects(), touched());
    Group group(matcher, script().source());
    const Place value = matcher.resolved({arguments[0].get(), root.statement}, group.consumed);
    const auto part = group.readOperator(value);
    if (!part || group.inputs.empty()) return false;
    const auto op = Dispatcher::singleton().findSchema({"fused::pointwise_reduce", ""});
    if (!op) return false;
    const auto& parameters = op->schema().arguments();
    std::vector<ArgumentText> texts = {{parameters[0].name(), fmt::format("\"{}\"", reduction.spelling)},
                                       {parameters[1].name(), fmt::format("\"{}\"", part->text)},
                                       {parameters[2].name(), inputsText(group)}};
    std::vector<Place> leaves = group.inputs;
    for (const size_t i : {1, 2}) {
      if (!reduction.has_dim) break;
      const Argument& parameter = parameters[i + 2];
      leaves.push_back({arguments[i].get(), root.statement});
      const auto constant = constantValue(*arguments[i]);
      ArgumentText& each = texts.emplace_back(parameter.name(), std::nullopt);
      if (constant && *constant == *parameter.default_value()) continue;
      each.text = textOf(*arguments[i], script().source(), parameter.N());
      if (!each.text) return false;
    }
    if (!matcher.canMove(leaves, group.consumed, root)) return false;
    apply(root, group.consumed, callText("fused::pointwise_reduce", op->schema(), texts));
    return true;
  }

  std::string inputsText(const Group& group) const {
    std::vector<std::string> inputs;
    for (const Place& input : group.inputs) inputs.push_back(*textOf(*input.expr, script().source()));
    return fmt::format("[{}]", fmt::join(inputs, ", "));
  }

  bool replaceGroup(Place root) {
    const Matcher matcher(script(), flow(), effects(), touched());
    Group group(matcher, script().source());
    const auto part = group.readOperator(root);
    if (!part || group.operators < 2 || group.inputs.empty()) return false;
    if (!matcher.canMove(group.inputs, group.consumed, root)) return false;
    apply(root, group.consumed, fmt::format("fused::pointwise(\"{}\", {})", part->text, inputsText(group)));
    return true;
  }
};

}  // namespace

std::vector<Edit> groupPointwise(const TypedScript& script) { return changesOf<GroupPass>(script); }

}  // namespace boxcar::interp
