#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/interpreter/import/pt2/node_text.h>
#include <boxcar/interpreter/import/pt2/word.h>
#include <boxcar/interpreter/runtime/overload.h>
#include <boxcar/interpreter/syntax/token.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/python_text.h>
#include <boxcar/ivalue/scalar_type.h>
#include <boxcar/schema/function_schema.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace boxcar::interp::pt2 {
namespace {

using Kind = Argument::Kind;

struct NumberedName {
  int64_t number;
  std::string_view name;
};

constexpr std::array kDtypes = std::to_array<NumberedName>({{1, "uint8"},
                                                            {2, "int8"},
                                                            {3, "int16"},
                                                            {4, "int32"},
                                                            {5, "int64"},
                                                            {6, "float16"},
                                                            {7, "float32"},
                                                            {8, "float64"},
                                                            {9, "complex32"},
                                                            {10, "complex64"},
                                                            {11, "complex128"},
                                                            {12, "bool"},
                                                            {13, "bfloat16"},
                                                            {28, "uint16"},
                                                            {29, "float8_e4m3fn"},
                                                            {30, "float8_e5m2"},
                                                            {34, "uint32"},
                                                            {35, "uint64"}});
constexpr std::array kMemoryFormats = std::to_array<NumberedName>(
    {{1, "contiguous_format"}, {2, "channels_last"}, {3, "channels_last_3d"}, {4, "preserve_format"}});
constexpr int64_t kStrided = 7;

std::string_view nameOf(std::span<const NumberedName> names, int64_t number) {
  const auto found = std::ranges::find(names, number, &NumberedName::number);
  return found != names.end() ? found->name : std::string_view();
}

std::optional<int64_t> numberOf(std::span<const NumberedName> names, std::string_view name) {
  const auto found = std::ranges::find(names, name, &NumberedName::name);
  return found != names.end() ? std::optional(found->number) : std::nullopt;
}

struct Sign {
  std::string_view op;
  std::string_view sign;
  Binding binding;
};

// Operators of two tensors, or a tensor and a number, that have a sign.
constexpr std::array kSigns = std::to_array<Sign>({
    {"aten::add.Tensor", "+", Binding::Add},
    {"aten::add.Scalar", "+", Binding::Add},
    {"aten::sub.Tensor", "-", Binding::Add},
    {"aten::sub.Scalar", "-", Binding::Add},
    {"aten::mul.Tensor", "*", Binding::Multiply},
    {"aten::mul.Scalar", "*", Binding::Multiply},
    {"aten::div.Tensor", "/", Binding::Multiply},
    {"aten::div.Scalar", "/", Binding::Multiply},
    {"aten::floor_divide", "//", Binding::Multiply},
    {"aten::remainder.Tensor", "%", Binding::Multiply},
    {"aten::remainder.Scalar", "%", Binding::Multiply},
    {"aten::matmul", "@", Binding::Multiply},
    {"aten::pow.Tensor_Scalar", "**", Binding::Power},
    {"aten::pow.Tensor_Tensor", "**", Binding::Power},
    {"aten::bitwise_and.Tensor", "&", Binding::BitAnd},
    {"aten::__and__.Tensor", "&", Binding::BitAnd},
    {"aten::__or__.Tensor", "|", Binding::BitOr},
    {"aten::__xor__.Tensor", "^", Binding::BitXor},
    {"aten::bitwise_or.Tensor", "|", Binding::BitOr},
    {"aten::bitwise_xor.Tensor", "^", Binding::BitXor},
    {"aten::eq.Tensor", "==", Binding::Compare},
    {"aten::eq.Scalar", "==", Binding::Compare},
    {"aten::ne.Tensor", "!=", Binding::Compare},
    {"aten::ne.Scalar", "!=", Binding::Compare},
    {"aten::lt.Tensor", "<", Binding::Compare},
    {"aten::lt.Scalar", "<", Binding::Compare},
    {"aten::le.Tensor", "<=", Binding::Compare},
    {"aten::le.Scalar", "<=", Binding::Compare},
    {"aten::gt.Tensor", ">", Binding::Compare},
    {"aten::gt.Scalar", ">", Binding::Compare},
    {"aten::ge.Tensor", ">=", Binding::Compare},
    {"aten::ge.Scalar", ">=", Binding::Compare},
});

constexpr std::array kAssignments = std::to_array<Sign>({
    {"aten::add_.Tensor", "+=", Binding::Add},
    {"aten::sub_.Tensor", "-=", Binding::Add},
    {"aten::mul_.Tensor", "*=", Binding::Multiply},
    {"aten::div_.Tensor", "/=", Binding::Multiply},
});

// Functions of numbers: "_operator.add" and the like, by their last word.
constexpr std::array kNumberSigns = std::to_array<Sign>({
    {"add", "+", Binding::Add},
    {"sub", "-", Binding::Add},
    {"mul", "*", Binding::Multiply},
    {"truediv", "/", Binding::Multiply},
    {"floordiv", "//", Binding::Multiply},
    {"mod", "%", Binding::Multiply},
    {"pow", "**", Binding::Power},
    {"lshift", "<<", Binding::Shift},
    {"rshift", ">>", Binding::Shift},
    {"eq", "==", Binding::Compare},
    {"ne", "!=", Binding::Compare},
    {"lt", "<", Binding::Compare},
    {"le", "<=", Binding::Compare},
    {"gt", ">", Binding::Compare},
    {"ge", ">=", Binding::Compare},
    {"and_", "and", Binding::And},
    {"or_", "or", Binding::Or},
});

constexpr std::string_view kNumberFunctions[] = {
    "neg", "pos", "trunc", "sym_not", "sym_int", "sym_float", "sym_ite", "sym_max", "sym_min", "sym_sqrt",
};

std::string_view lastWord(std::string_view target) { return target.substr(target.rfind('.') + 1); }

const Sign* findSign(std::span<const Sign> signs, std::string_view op) {
  const auto found = std::ranges::find(signs, op, &Sign::op);
  return found != signs.end() ? &*found : nullptr;
}

bool isInt(const Argument& argument, int64_t value) { return argument.kind == Kind::Int && argument.integer == value; }

// Whether an argument is its parameter's default, or what that stands for on the CPU.
bool isDefault(const Argument& value, const boxcar::Argument& parameter) {
  const std::optional<IValue>& normal = parameter.default_value();
  if (!normal.has_value()) return false;
  // They choose a library, which PyTorch switches off for export.
  if (parameter.name() == "cudnn_enabled" || parameter.name() == "cudnn_enable") return true;
  switch (value.kind) {
    case Kind::None: return normal->isNone();
    case Kind::Bool:
      if (normal->isNone()) return value.integer == 0 && parameter.name() == "pin_memory";
      return normal->isBool() && normal->toBool() == (value.integer != 0);
    case Kind::Int: return normal->isInt() && normal->toInt() == value.integer;
    case Kind::Float: return normal->isDouble() && normal->toDouble() == value.number;
    case Kind::Layout: return normal->isNone() && value.integer == kStrided;
    case Kind::Device: return normal->isNone() && value.text == "cpu";
    default: return false;
  }
}

// Writes positions 0 to [dim] of an index: ":" for those before [dim], which counts from the end if it is negative.
std::optional<std::string> indexAt(int64_t dim, std::string_view position) {
  constexpr int64_t kMostColons = 4;
  if (dim == -1) return fmt::format("..., {}", position);
  if (dim < 0 || dim > kMostColons) return std::nullopt;
  std::string text;
  for (int64_t i = 0; i < dim; ++i) text += ":, ";
  return text + std::string(position);
}

}  // namespace

std::string within(const Expression& expression, Binding least) {
  return expression.binding < least ? fmt::format("({})", expression.text) : expression.text;
}

std::optional<OperatorHandle> operatorOf(std::string_view target) {
  constexpr std::string_view kStart = "torch.ops.";
  if (!target.starts_with(kStart)) return std::nullopt;
  target.remove_prefix(kStart.size());
  const size_t space = target.find('.');
  const size_t overload = target.rfind('.');
  if (space == std::string_view::npos || overload == space) return std::nullopt;
  OperatorName name{fmt::format("{}::{}", target.substr(0, space), target.substr(space + 1, overload - space - 1)),
                    std::string(target.substr(overload + 1))};
  if (name.overload_name == "default") name.overload_name.clear();
  return Dispatcher::singleton().findSchema(name);
}

std::string describedNode(const Node& node) {
  return node.source.empty() ? node.target : fmt::format("{} ({})", node.target, node.source);
}

bool isNumberFunction(std::string_view target) {
  if (target.starts_with("torch.ops.")) return false;
  const std::string_view word = lastWord(target);
  return findSign(kNumberSigns, word) != nullptr ||
         std::ranges::find(kNumberFunctions, word) != std::end(kNumberFunctions);
}

std::string_view dtypeName(int64_t number) { return nameOf(kDtypes, number); }

std::optional<int64_t> numberOfDtype(std::string_view name) { return numberOf(kDtypes, name); }

std::optional<int64_t> numberOfMemoryFormat(std::string_view name) { return numberOf(kMemoryFormats, name); }

const Argument* NodeText::find(const Node& node, std::string_view name) {
  const auto found = std::ranges::find(node.inputs, name, &NamedArgument::name);
  return found != node.inputs.end() ? &found->value : nullptr;
}

Expression NodeText::argument(const Argument& value, TypePtr type, std::optional<int32_t> length) const {
  const auto named = [&](std::span<const NumberedName> names, TypePtr of) {
    const std::string_view name = nameOf(names, value.integer);
    BOXCAR_CHECK(!name.empty(), "the archive's number {} stands for no {} that boxcar has", value.integer, of->text());
    return Expression{std::string(name), Binding::Atom, of};
  };
  switch (value.kind) {
    case Kind::None: return {"None", Binding::Atom, Type::none()};
    case Kind::Value: return lookup_(value.text);
    case Kind::Int:
      return {std::to_string(value.integer), value.integer < 0 ? Binding::Unary : Binding::Atom, Type::integer()};
    case Kind::Float:
      return {pythonFloat(value.number), value.number < 0 ? Binding::Unary : Binding::Atom, Type::floating()};
    case Kind::Bool: return {std::string(pythonBool(value.integer != 0)), Binding::Atom, Type::boolean()};
    case Kind::Complex: return {pythonComplex({value.number, value.imaginary}), Binding::Atom, Type::complex()};
    case Kind::String: return {scriptString(value.text), Binding::Atom, Type::string()};
    case Kind::ScalarType: return named(kDtypes, Type::scalarType());
    case Kind::MemoryFormat: return named(kMemoryFormats, Type::memoryFormat());
    case Kind::Layout:
      BOXCAR_CHECK(value.integer == kStrided,
                   "it has a tensor of a layout that boxcar does not have (the archive's "
                   "number {})",
                   value.integer);
      return {"strided", Binding::Atom, Type::layout()};
    case Kind::Device: return {fmt::format("\"{}\"", value.text), Binding::Atom, Type::string()};
    case Kind::List: break;
    case Kind::Dict:
    case Kind::Graph:
    case Kind::Operator:
    case Kind::CustomObject: BOXCAR_FAIL("it has an argument of a kind that scripts do not have: '{}'", value.text);
  }
  const TypePtr list = type != nullptr && type->isOptional() ? type->element() : type;
  const TypePtr element = list != nullptr && list->isList() ? list->element() : nullptr;
  const bool are_equal = !value.items.empty() && std::ranges::all_of(value.items, [&](const Argument& item) {
    return item.kind == Kind::Int && item.integer == value.items[0].integer;
  });
  // `int[2] stride` takes one int for both.
  if (length.has_value() && *length > 1 && are_equal && value.items.size() == static_cast<size_t>(*length)) {
    return argument(value.items[0]);
  }
  std::vector<std::string> texts;
  TypePtr common = nullptr;
  bool is_mixed = false;
  for (const Argument& item : value.items) {
    const Expression part = argument(item, element);
    is_mixed |= common != nullptr && common != part.type;
    common = part.type;
    texts.push_back(part.text);
  }
  const TypePtr found = common == nullptr || is_mixed ? (list != nullptr ? list : Type::any()) : Type::listOf(common);
  return {fmt::format("[{}]", fmt::join(texts, ", ")), Binding::Atom, found};
}

Expression NodeText::binary(const Argument& left, std::string_view sign, const Argument& right, Binding binding,
                            TypePtr type) const {
  const bool is_power = binding == Binding::Power;
  const auto tighter = [](Binding than) { return static_cast<Binding>(static_cast<int>(than) + 1); };
  // Comparisons can be chained, so that their operands bind tighter on both sides.
  const Binding least_left = is_power || binding == Binding::Compare ? tighter(binding) : binding;
  const Binding least_right = is_power ? Binding::Unary : tighter(binding);
  return {fmt::format("{} {} {}", within(argument(left), least_left), sign, within(argument(right), least_right)),
          binding, type};
}

std::optional<Expression> NodeText::sign(const Node& node, const OperatorHandle& op) const {
  const std::string name = toString(op.operator_name());
  if (node.inputs.size() == 1 && name == "aten::neg") {
    return Expression{"-" + within(argument(node.inputs[0].value), Binding::Unary), Binding::Unary};
  }
  if (node.inputs.size() == 1 && name == "aten::bitwise_not") {
    return Expression{"~" + within(argument(node.inputs[0].value), Binding::Unary), Binding::Unary};
  }
  if (node.inputs.size() != 2 || node.inputs[0].name != "self") return std::nullopt;
  if (name == "aten::rsub.Scalar") {
    return binary(node.inputs[1].value, "-", node.inputs[0].value, Binding::Add, Type::tensor());
  }
  const Sign* const found = findSign(kSigns, name);
  if (found == nullptr) return std::nullopt;
  return binary(node.inputs[0].value, found->sign, node.inputs[1].value, found->binding, Type::tensor());
}

std::string NodeText::augmentedAssignment(const Node& node) const {
  const std::optional<OperatorHandle> op = operatorOf(node.target);
  if (!op.has_value() || node.inputs.size() != 2) return {};
  const Sign* const found = findSign(kAssignments, toString(op->operator_name()));
  if (found == nullptr) return {};
  return fmt::format("{} {} {}", argument(node.inputs[0].value).text, found->sign, argument(node.inputs[1].value).text);
}

std::optional<Expression> NodeText::indexing(const Node& node, const OperatorHandle& op) const {
  const std::string name = toString(op.operator_name());
  const Argument* const self = find(node, "self");
  if (self == nullptr) return std::nullopt;
  const auto indexed = [&](const std::optional<std::string>& index) -> std::optional<Expression> {
    if (!index.has_value()) return std::nullopt;
    return Expression{fmt::format("{}[{}]", within(argument(*self), Binding::Atom), *index)};
  };
  const Argument* const dim_argument = find(node, "dim");
  if (dim_argument != nullptr && dim_argument->kind != Kind::Int) return std::nullopt;
  const int64_t dim = dim_argument != nullptr ? dim_argument->integer : 0;
  if (name == "aten::select.int") {
    const Argument* const index = find(node, "index");
    return index != nullptr ? indexed(indexAt(dim, argument(*index).text)) : std::nullopt;
  }
  if (name == "aten::slice.Tensor") {
    const auto bound = [&](std::string_view of, int64_t none) -> std::string {
      const Argument* const value = find(node, of);
      return value == nullptr || value->kind == Kind::None || isInt(*value, none) ? "" : argument(*value).text;
    };
    const std::string step = bound("step", 1);
    return indexed(
        indexAt(dim, fmt::format("{}:{}{}{}", bound("start", 0), bound("end", std::numeric_limits<int64_t>::max()),
                                 step.empty() ? "" : ":", step)));
  }
  if (name == "aten::index.Tensor") {
    const Argument* const indices = find(node, "indices");
    if (indices == nullptr || indices->kind != Kind::List || indices->items.empty()) return std::nullopt;
    std::vector<std::string> parts;
    for (const Argument& index : indices->items) parts.push_back(index.kind == Kind::None ? ":" : argument(index).text);
    return indexed(fmt::format("{}", fmt::join(parts, ", ")));
  }
  return std::nullopt;
}

Expression NodeText::numberFunction(const Node& node) const {
  const std::string_view word = lastWord(node.target);
  const auto& inputs = node.inputs;
  const auto type = [&]() -> TypePtr {
    if (word == "truediv" || word == "sym_float" || word == "sym_sqrt") return Type::floating();
    if (word == "sym_int" || word == "trunc" || word == "floordiv") return Type::integer();
    for (const NamedArgument& input : inputs) {
      if (argument(input.value).type == Type::floating()) return Type::floating();
    }
    return Type::integer();
  };
  if (const Sign* const sign = findSign(kNumberSigns, word); sign != nullptr && inputs.size() == 2) {
    const bool is_truth =
        sign->binding == Binding::Compare || sign->binding == Binding::And || sign->binding == Binding::Or;
    return binary(inputs[0].value, sign->sign, inputs[1].value, sign->binding, is_truth ? Type::boolean() : type());
  }
  const auto called = [&](std::string_view function) {
    std::vector<std::string> texts;
    for (const NamedArgument& input : inputs) texts.push_back(argument(input.value).text);
    return Expression{fmt::format("{}({})", function, fmt::join(texts, ", ")), Binding::Atom, type()};
  };
  if (word == "neg" && inputs.size() == 1) {
    return {"-" + within(argument(inputs[0].value), Binding::Unary), Binding::Unary, type()};
  }
  if (word == "pos" && inputs.size() == 1) return argument(inputs[0].value);
  if (word == "sym_not" && inputs.size() == 1) {
    return {"not " + within(argument(inputs[0].value), Binding::Not), Binding::Not, Type::boolean()};
  }
  if (word == "sym_ite" && inputs.size() == 3) {
    return {fmt::format("{} if {} else {}", within(argument(inputs[1].value), Binding::Or),
                        within(argument(inputs[0].value), Binding::Or), within(argument(inputs[2].value), Binding::Or)),
            Binding::Conditional, argument(inputs[1].value).type};
  }
  if (word == "sym_int" || word == "trunc") return called("int");
  if (word == "sym_float") return called("float");
  if (word == "sym_max") return called("max");
  if (word == "sym_min") return called("min");
  if (word == "sym_sqrt") return called("math::sqrt");
  BOXCAR_FAIL("{} with {} arguments has no form in a script", node.target, inputs.size());
}

Expression NodeText::operatorCall(const Node& node, const OperatorHandle& op) const {
  const FunctionSchema& schema = op.schema();
  const std::string& name = schema.name();
  const std::string_view short_name = std::string_view(name).substr(name.find("::") + 2);
  std::vector<Expression> positional;
  std::vector<std::pair<std::string, Expression>> keywords;
  bool is_contiguous = true;
  for (const boxcar::Argument& parameter : schema.arguments()) {
    const Argument* const given = find(node, parameter.name());
    if (given == nullptr || isDefault(*given, parameter)) {
      is_contiguous = false;
      continue;
    }
    Expression value = argument(*given, parameter.type(), parameter.N());
    const bool is_plain = parameter.default_value().has_value() && given->kind != Kind::Value;
    if (is_contiguous && !parameter.kwarg_only() && !is_plain) {
      positional.push_back(std::move(value));
    } else {
      is_contiguous = false;
      keywords.emplace_back(parameter.name(), std::move(value));
    }
  }
  // Another dtype alone is what the short form means.
  if (name == "aten::to" && positional.size() == 1 && keywords.size() == 1 && keywords[0].first == "dtype") {
    return {fmt::format("{}.to({})", within(positional[0], Binding::Atom), keywords[0].second.text)};
  }
  const size_t count = positional.size() + keywords.size();
  BOXCAR_CHECK(count <= node.inputs.size(), "it calls {} with arguments that it does not have", name);
  for (const NamedArgument& input : node.inputs) {
    BOXCAR_CHECK(schema.argumentIndexWithName(input.name).has_value(), "it calls {} with '{}', which it does not have",
                 name, input.name);
  }
  // What the short form would call.
  std::vector<CallArgument> written;
  for (const Expression& each : positional) written.push_back({each.type, {}});
  for (const auto& [keyword, each] : keywords) written.push_back({each.type, keyword});
  const std::vector<OperatorHandle> overloads = Dispatcher::singleton().findOverloads(name);
  std::vector<const FunctionSchema*> candidates;
  for (const OperatorHandle& each : overloads) candidates.push_back(&each.schema());
  const Resolution resolution = resolveOverload(candidates, written, /*at_run_time=*/false);
  const bool is_short = name.starts_with("aten::") && syntax::keywordOrName(short_name) == syntax::TokenKind::Name &&
                        resolution.kind == Resolution::Kind::Chosen && candidates[resolution.candidate] == &schema;
  // `addmm(bias, x, w)` is a product, and not something that is done with the bias.
  const bool is_method = is_short && !short_name.starts_with("addmm") && short_name != "baddbmm" &&
                         !schema.arguments().empty() && schema.arguments()[0].name() == "self" && !positional.empty() &&
                         positional[0].type == Type::tensor();
  std::vector<std::string> texts;
  for (size_t i = is_method ? 1 : 0; i < positional.size(); ++i) {
    std::string text = positional[i].text;
    // Ints without their list, if they are all there is.
    const bool is_list = is_method && schema.arguments().size() == 2 && text.starts_with('[') && text != "[]" &&
                         positional[i].type == Type::listOf(Type::integer());
    texts.push_back(is_list ? text.substr(1, text.size() - 2) : std::move(text));
  }
  for (const auto& [keyword, each] : keywords) texts.push_back(fmt::format("{}={}", keyword, each.text));
  const std::string arguments = fmt::format("{}", fmt::join(texts, ", "));
  TypePtr type = Type::any();
  if (schema.returns().size() == 1) type = schema.returns()[0].type();
  if (type == Type::symInt()) type = Type::integer();
  if (is_method) {
    return {fmt::format("{}.{}({})", within(positional[0], Binding::Atom), short_name, arguments), Binding::Atom, type};
  }
  if (is_short) return {fmt::format("{}({})", short_name, arguments), Binding::Atom, type};
  const bool is_only = candidates.size() == 1;
  return {fmt::format("{}{}{}({})", name, is_only ? "" : ".",
                      is_only                          ? ""
                      : schema.overload_name().empty() ? "default"
                                                       : schema.overload_name(),
                      arguments),
          Binding::Atom, type};
}

Expression NodeText::call(const Node& node) const {
  if (isNumberFunction(node.target)) return numberFunction(node);
  if (node.target == "torch.ops.aten.sym_size.int" && node.inputs.size() == 2) {
    return {fmt::format("{}.size({})", within(argument(node.inputs[0].value), Binding::Atom),
                        argument(node.inputs[1].value).text),
            Binding::Atom, Type::integer()};
  }
  const std::optional<OperatorHandle> op = operatorOf(node.target);
  // Only a program that is imported leniently has such nodes.
  if (!op.has_value())
    return {fmt::format("missing({})", scriptString(describedNode(node))), Binding::Atom, Type::any()};
  if (std::optional<Expression> text = sign(node, *op)) return std::move(*text);
  if (std::optional<Expression> text = indexing(node, *op)) return std::move(*text);
  return operatorCall(node, *op);
}

}  // namespace boxcar::interp::pt2
