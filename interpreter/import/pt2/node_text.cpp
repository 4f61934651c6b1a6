#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/interpreter/import/operator_call.h>
#include <boxcar/interpreter/import/pt2/node_text.h>
#include <boxcar/interpreter/import/script_words.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/exported_dtypes.h>
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
  Precedence binding;
};

// Operators of two tensors, or a tensor and a number, that have a sign.
constexpr std::array kSigns = std::to_array<Sign>({
    {"aten::add.Tensor", "+", Precedence::Add},
    {"aten::add.Scalar", "+", Precedence::Add},
    {"aten::sub.Tensor", "-", Precedence::Add},
    {"aten::sub.Scalar", "-", Precedence::Add},
    {"aten::mul.Tensor", "*", Precedence::Multiply},
    {"aten::mul.Scalar", "*", Precedence::Multiply},
    {"aten::div.Tensor", "/", Precedence::Multiply},
    {"aten::div.Scalar", "/", Precedence::Multiply},
    {"aten::floor_divide", "//", Precedence::Multiply},
    {"aten::remainder.Tensor", "%", Precedence::Multiply},
    {"aten::remainder.Scalar", "%", Precedence::Multiply},
    {"aten::matmul", "@", Precedence::Multiply},
    {"aten::pow.Tensor_Scalar", "**", Precedence::Power},
    {"aten::pow.Tensor_Tensor", "**", Precedence::Power},
    {"aten::bitwise_and.Tensor", "&", Precedence::BitAnd},
    {"aten::__and__.Tensor", "&", Precedence::BitAnd},
    {"aten::__or__.Tensor", "|", Precedence::BitOr},
    {"aten::__xor__.Tensor", "^", Precedence::BitXor},
    {"aten::bitwise_or.Tensor", "|", Precedence::BitOr},
    {"aten::bitwise_xor.Tensor", "^", Precedence::BitXor},
    {"aten::eq.Tensor", "==", Precedence::Compare},
    {"aten::eq.Scalar", "==", Precedence::Compare},
    {"aten::ne.Tensor", "!=", Precedence::Compare},
    {"aten::ne.Scalar", "!=", Precedence::Compare},
    {"aten::lt.Tensor", "<", Precedence::Compare},
    {"aten::lt.Scalar", "<", Precedence::Compare},
    {"aten::le.Tensor", "<=", Precedence::Compare},
    {"aten::le.Scalar", "<=", Precedence::Compare},
    {"aten::gt.Tensor", ">", Precedence::Compare},
    {"aten::gt.Scalar", ">", Precedence::Compare},
    {"aten::ge.Tensor", ">=", Precedence::Compare},
    {"aten::ge.Scalar", ">=", Precedence::Compare},
});

constexpr std::array kAssignments = std::to_array<Sign>({
    {"aten::add_.Tensor", "+=", Precedence::Add},
    {"aten::sub_.Tensor", "-=", Precedence::Add},
    {"aten::mul_.Tensor", "*=", Precedence::Multiply},
    {"aten::div_.Tensor", "/=", Precedence::Multiply},
});

// Functions of numbers: "_operator.add" and the like, by their last word.
constexpr std::array kNumberSigns = std::to_array<Sign>({
    {"add", "+", Precedence::Add},
    {"sub", "-", Precedence::Add},
    {"mul", "*", Precedence::Multiply},
    {"truediv", "/", Precedence::Multiply},
    {"floordiv", "//", Precedence::Multiply},
    {"mod", "%", Precedence::Multiply},
    {"pow", "**", Precedence::Power},
    {"lshift", "<<", Precedence::Shift},
    {"rshift", ">>", Precedence::Shift},
    {"eq", "==", Precedence::Compare},
    {"ne", "!=", Precedence::Compare},
    {"lt", "<", Precedence::Compare},
    {"le", "<=", Precedence::Compare},
    {"gt", ">", Precedence::Compare},
    {"ge", ">=", Precedence::Compare},
    {"and_", "and", Precedence::And},
    {"or_", "or", Precedence::Or},
});

constexpr std::string_view kNumberFunctions[] = {
    "neg", "pos", "trunc", "sym_not", "sym_int", "sym_float", "sym_ite", "sym_max", "sym_min", "sym_sqrt",
};

std::string_view lastWord(std::string_view target) { return target.substr(target.rfind('.') + 1); }

const Sign* findSign(std::span<const Sign> signs, std::string_view op) {
  const auto found = std::ranges::find(signs, op, &Sign::op);
  return found != signs.end() ? &*found : nullptr;
}

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

std::optional<OperatorHandle> operatorOf(std::string_view target) {
  constexpr std::string_view kStart = "torch.ops.";
  if (!target.starts_with(kStart)) return std::nullopt;
  target.remove_prefix(kStart.size());
  const size_t space = target.find('.');
  const size_t overload = target.rfind('.');
  if (space == std::string_view::npos || overload == space) return std::nullopt;
  // A model reads and writes no files.
  if (target.substr(0, space) == "io") return std::nullopt;
  OperatorName name{fmt::format("{}::{}", target.substr(0, space), target.substr(space + 1, overload - space - 1)),
                    std::string(target.substr(overload + 1))};
  if (name.overload_name == "default") name.overload_name.clear();
  return Dispatcher::singleton().findSchema(name);
}

std::string describedNode(const Node& node) {
  return node.source.empty() ? node.target : fmt::format("{} ({})", node.target, node.source);
}

std::string missingOf(const Node& node) {
  for (const NamedArgument& input : node.inputs) {
    if (input.value.kind != Kind::ScalarType) continue;
    const ExportedDtype* const dtype = findExportedDtype(input.value.integer);
    if (dtype != nullptr && dtype->dtype == ScalarType::Undefined) {
      return fmt::format("the dtype {} for {}", dtype->name, describedNode(node));
    }
  }
  return {};
}

bool isNumberFunction(std::string_view target) {
  if (target.starts_with("torch.ops.")) return false;
  const std::string_view word = lastWord(target);
  return findSign(kNumberSigns, word) != nullptr ||
         std::ranges::find(kNumberFunctions, word) != std::end(kNumberFunctions);
}

std::string_view dtypeName(int64_t number) {
  const ExportedDtype* const found = findExportedDtype(number);
  return found != nullptr ? found->name : std::string_view();
}

std::optional<int64_t> numberOfMemoryFormat(std::string_view name) { return numberOf(kMemoryFormats, name); }

const Argument* NodeText::find(const Node& node, std::string_view name) {
  const auto found = std::ranges::find(node.inputs, name, &NamedArgument::name);
  return found != node.inputs.end() ? &found->value : nullptr;
}

Expression NodeText::numberText(std::string_view name, std::string text, bool is_negative, TypePtr type) const {
  if (number_) text = number_(name, std::move(text), type);
  return {std::move(text), is_negative ? Precedence::Unary : Precedence::Atom, type};
}

Expression NodeText::argument(const Argument& value, TypePtr type, std::optional<int32_t> length,
                              std::string_view name) const {
  const auto named = [&](std::string_view word, TypePtr of) {
    BOXCAR_CHECK(!word.empty(), "the archive's number {} stands for no {} that boxcar has", value.integer, of->text());
    return Expression{std::string(word), Precedence::Atom, of};
  };
  switch (value.kind) {
    case Kind::None: return {"None", Precedence::Atom, Type::none()};
    case Kind::Value: return lookup_(value.text);
    case Kind::Int: return numberText(name, std::to_string(value.integer), value.integer < 0, Type::integer());
    case Kind::Float: return numberText(name, pythonFloat(value.number), value.number < 0, Type::floating());
    case Kind::Bool: return {std::string(pythonBool(value.integer != 0)), Precedence::Atom, Type::boolean()};
    case Kind::Complex: return {pythonComplex({value.number, value.imaginary}), Precedence::Atom, Type::complex()};
    case Kind::String: return {scriptString(value.text), Precedence::Atom, Type::string()};
    case Kind::ScalarType: return named(dtypeName(value.integer), Type::scalarType());
    case Kind::MemoryFormat: return named(nameOf(kMemoryFormats, value.integer), Type::memoryFormat());
    case Kind::Layout:
      BOXCAR_CHECK(value.integer == kStrided,
                   "it has a tensor of a layout that boxcar does not have (the archive's "
                   "number {})",
                   value.integer);
      return {"strided", Precedence::Atom, Type::layout()};
    case Kind::Device: return {fmt::format("\"{}\"", value.text), Precedence::Atom, Type::string()};
    case Kind::List: break;
    case Kind::Dict:
    case Kind::Graph:
    case Kind::Operator:
    case Kind::CustomObject: BOXCAR_FAIL("it has an argument of a kind that scripts do not have: '{}'", value.text);
  }
  if (list_) {
    if (std::optional<Expression> variable = list_(value.items)) return std::move(*variable);
  }
  const TypePtr list = type != nullptr && type->isOptional() ? type->element() : type;
  const TypePtr element = list != nullptr && list->isList() ? list->element() : nullptr;
  const bool are_equal = !value.items.empty() && std::ranges::all_of(value.items, [&](const Argument& item) {
    return item.kind == Kind::Int && item.integer == value.items[0].integer;
  });
  // `int[2] stride` takes one int for both.
  if (length.has_value() && *length > 1 && are_equal && value.items.size() == static_cast<size_t>(*length)) {
    return argument(value.items[0], nullptr, {}, name);
  }
  std::vector<std::string> texts;
  TypePtr common = nullptr;
  bool is_mixed = false;
  for (const Argument& item : value.items) {
    const Expression part = argument(item, element, {}, name);
    is_mixed |= common != nullptr && common != part.type;
    common = part.type;
    texts.push_back(part.text);
  }
  const TypePtr found = common == nullptr || is_mixed ? (list != nullptr ? list : Type::any()) : Type::listOf(common);
  return {fmt::format("[{}]", fmt::join(texts, ", ")), Precedence::Atom, found};
}

Expression NodeText::binary(const Argument& left, std::string_view sign, const Argument& right, Precedence binding,
                            TypePtr type) const {
  return binaryExpression(argument(left), sign, argument(right), binding, type);
}

std::optional<Expression> NodeText::sign(const Node& node, const OperatorHandle& op) const {
  const std::string name = toString(op.operator_name());
  if (node.inputs.size() == 1 && name == "aten::neg") {
    return Expression{"-" + within(argument(node.inputs[0].value), Precedence::Unary), Precedence::Unary};
  }
  if (node.inputs.size() == 1 && name == "aten::bitwise_not") {
    return Expression{"~" + within(argument(node.inputs[0].value), Precedence::Unary), Precedence::Unary};
  }
  if (node.inputs.size() != 2 || node.inputs[0].name != "self") return std::nullopt;
  if (name == "aten::rsub.Scalar") {
    return binary(node.inputs[1].value, "-", node.inputs[0].value, Precedence::Add, Type::tensor());
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
    return Expression{fmt::format("{}[{}]", within(argument(*self), Precedence::Atom), *index)};
  };
  const Argument* const dim_argument = find(node, "dim");
  if (dim_argument != nullptr && dim_argument->kind != Kind::Int) return std::nullopt;
  const int64_t dim = dim_argument != nullptr ? dim_argument->integer : 0;
  if (name == "aten::select.int") {
    const Argument* const index = find(node, "index");
    return index != nullptr ? indexed(indexAt(dim, argument(*index, nullptr, {}, "index").text)) : std::nullopt;
  }
  if (name == "aten::slice.Tensor") {
    const auto bound = [&](std::string_view of, int64_t none) -> std::string {
      const Argument* const value = find(node, of);
      return value == nullptr || value->kind == Kind::None || value->isInt(none)
                 ? ""
                 : argument(*value, nullptr, {}, of).text;
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
        sign->binding == Precedence::Compare || sign->binding == Precedence::And || sign->binding == Precedence::Or;
    return binary(inputs[0].value, sign->sign, inputs[1].value, sign->binding, is_truth ? Type::boolean() : type());
  }
  const auto called = [&](std::string_view function) {
    std::vector<std::string> texts;
    for (const NamedArgument& input : inputs) texts.push_back(argument(input.value).text);
    return Expression{fmt::format("{}({})", function, fmt::join(texts, ", ")), Precedence::Atom, type()};
  };
  if (word == "neg" && inputs.size() == 1) {
    return {"-" + within(argument(inputs[0].value), Precedence::Unary), Precedence::Unary, type()};
  }
  if (word == "pos" && inputs.size() == 1) return argument(inputs[0].value);
  if (word == "sym_not" && inputs.size() == 1) {
    return {"not " + within(argument(inputs[0].value), Precedence::Not), Precedence::Not, Type::boolean()};
  }
  if (word == "sym_ite" && inputs.size() == 3) {
    return {fmt::format("{} if {} else {}", within(argument(inputs[1].value), Precedence::Or),
                        within(argument(inputs[0].value), Precedence::Or),
                        within(argument(inputs[2].value), Precedence::Or)),
            Precedence::Conditional, argument(inputs[1].value).type};
  }
  if (word == "sym_int" || word == "trunc") return called("int");
  if (word == "sym_float") return called("float");
  if (word == "sym_max") return called("max");
  if (word == "sym_min") return called("min");
  if (word == "sym_sqrt") return called("math::sqrt");
  BOXCAR_FAIL("{} with {} arguments has no form in a script", node.target, inputs.size());
}

Expression NodeText::callOf(const Node& node, const OperatorHandle& op) const {
  const FunctionSchema& schema = op.schema();
  std::vector<GivenArgument> given;
  for (const boxcar::Argument& parameter : schema.arguments()) {
    const Argument* const value = find(node, parameter.name());
    if (value == nullptr || isDefault(*value, parameter)) continue;
    given.push_back(
        {&parameter, argument(*value, parameter.type(), parameter.N(), parameter.name()), value->kind != Kind::Value});
  }
  for (const NamedArgument& input : node.inputs) {
    BOXCAR_CHECK(schema.argumentIndexWithName(input.name).has_value(), "it calls {} with '{}', which it does not have",
                 schema.name(), input.name);
  }
  return operatorCall(op, given);
}

Expression NodeText::call(const Node& node) const {
  if (isNumberFunction(node.target)) return numberFunction(node);
  if (node.target == "torch.ops.aten.sym_size.int" && node.inputs.size() == 2) {
    return {fmt::format("{}.size({})", within(argument(node.inputs[0].value), Precedence::Atom),
                        argument(node.inputs[1].value).text),
            Precedence::Atom, Type::integer()};
  }
  const std::optional<OperatorHandle> op = operatorOf(node.target);
  // Only a program that is imported leniently has such nodes.
  if (!op.has_value() || !missingOf(node).empty())
    return {fmt::format("missing({})", scriptString(describedNode(node))), Precedence::Atom, Type::any()};
  if (std::optional<Expression> text = sign(node, *op)) return std::move(*text);
  if (std::optional<Expression> text = indexing(node, *op)) return std::move(*text);
  return callOf(node, *op);
}

}  // namespace boxcar::interp::pt2
