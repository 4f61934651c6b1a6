#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/interpreter/import/operator_call.h>
#include <boxcar/interpreter/import/script_words.h>
#include <boxcar/interpreter/import/torchscript/function_translator.h>
#include <boxcar/interpreter/runtime/overload.h>
#include <boxcar/interpreter/syntax/named_dimensions.h>
#include <boxcar/ivalue/python_text.h>
#include <boxcar/ivalue/scalar_type.h>
#include <boxcar/schema/function_schema.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace boxcar::interp::torchscript {
namespace {

struct SignOf {
  std::string_view name;
  std::string_view sign;
  Precedence binding;
};

constexpr auto kSignsOfTorch = std::to_array<SignOf>({
    {"add", "+", Precedence::Add},
    {"sub", "-", Precedence::Add},
    {"mul", "*", Precedence::Multiply},
    {"div", "/", Precedence::Multiply},
    {"floordiv", "//", Precedence::Multiply},
    {"floor_divide", "//", Precedence::Multiply},
    {"remainder", "%", Precedence::Multiply},
    {"matmul", "@", Precedence::Multiply},
    {"pow", "**", Precedence::Power},
    {"eq", "==", Precedence::Compare},
    {"ne", "!=", Precedence::Compare},
    {"lt", "<", Precedence::Compare},
    {"le", "<=", Precedence::Compare},
    {"gt", ">", Precedence::Compare},
    {"ge", ">=", Precedence::Compare},
    {"__and__", "&", Precedence::BitAnd},
    {"__or__", "|", Precedence::BitOr},
    {"__xor__", "^", Precedence::BitXor},
    {"__lshift__", "<<", Precedence::Shift},
    {"__rshift__", ">>", Precedence::Shift},
    {"__is__", "is", Precedence::Compare},
    {"__isnot__", "is not", Precedence::Compare},
});

constexpr std::string_view kMemoryFormatNames[] = {"contiguous_format", "preserve_format", "channels_last",
                                                   "channels_last_3d"};

bool isNumberType(TypePtr type) {
  switch (type->kind()) {
    case TypeKind::Bool:
    case TypeKind::Int:
    case TypeKind::Float:
    case TypeKind::Complex:
    case TypeKind::Scalar: return true;
    default: return false;
  }
}

// The type of the result of a sign.
TypePtr typeOfSign(const SignOf& sign, const Expression& left, const Expression& right) {
  const bool has_tensor = left.type == Type::tensor() || right.type == Type::tensor();
  if (sign.name.starts_with("__is")) return Type::boolean();
  if (has_tensor) return Type::tensor();
  if (sign.binding == Precedence::Compare) return Type::boolean();
  if (sign.name == "div") return left.type == Type::complex() ? left.type : Type::floating();
  if (left.type->isList()) return left.type;
  if (left.type == Type::string() || right.type == Type::string()) return Type::string();
  for (const TypePtr widest : {Type::any(), Type::scalar(), Type::complex(), Type::floating(), Type::integer()}) {
    if (left.type == widest || right.type == widest) return widest;
  }
  return left.type == Type::boolean() && sign.binding != Precedence::Add ? Type::boolean() : Type::integer();
}

// A type as the result of a call of a script.
TypePtr resultOf(const FunctionSchema& schema, const Fit& fit) {
  const TypePtr type = resultType(schema, fit);
  return type == Type::symInt() ? Type::integer() : type;
}

// Whether a literal is what a parameter is left to.
bool isDefaultLiteral(const Expr& literal, const Argument& parameter) {
  const std::optional<IValue>& normal = parameter.default_value();
  if (!normal.has_value()) return false;
  if (parameter.name() == "cudnn_enabled" || parameter.name() == "cudnn_enable") return true;
  const auto isItem = [](const Expr& item, const IValue& value) {
    switch (item.kind) {
      case Expr::Kind::Int: return value.isInt() && value.toInt() == item.integer;
      case Expr::Kind::Float: return value.isDouble() && value.toDouble() == item.number;
      case Expr::Kind::String: return value.isString() && value.toStringView() == item.text;
      case Expr::Kind::Name:
        if (item.text == "None") return value.isNone();
        return value.isBool() && value.toBool() == (item.text == "True");
      default: return false;
    }
  };
  if (literal.kind == Expr::Kind::List) {
    if (!normal->isList()) return false;
    const size_t length = normal->length();
    const bool is_repeated = length == 1 && parameter.N().has_value();
    if (literal.items.size() != length && !is_repeated) return false;
    for (size_t i = 0; i < literal.items.size(); ++i) {
      if (!isItem(*literal.items[i], normal->elementAt(is_repeated ? 0 : i))) return false;
    }
    return true;
  }
  if (parameter.name() == "pin_memory" && literal.text == "False") return true;
  return isItem(literal, *normal);
}

// Whether a text is a str as it is written, of characters that are the same in an f-string.
bool isLiteralText(std::string_view text) {
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return false;
  return text.substr(1, text.size() - 2).find_first_of("\"\\{}") == std::string_view::npos;
}

// Whether a call of PyTorch's operator gives names of dimensions: by what it is, by `names=`, or in the place of
// numbers.
bool givesNames(std::string_view name, const Expr& call, std::span<const Expression> values) {
  if (isAboutNames(name) || std::ranges::find(call.keywords, "names", &Keyword::name) != call.keywords.end())
    return true;
  const auto is_text = [](const Expression& value) {
    return value.type == Type::string() || value.type == Type::listOf(Type::string());
  };
  if (std::ranges::none_of(values, is_text)) return false;
  const auto takes_dimensions = [](const OperatorHandle& op) {
    return std::ranges::any_of(op.schema().arguments(),
                               [](const Argument& each) { return takesDimensions(each.name()); });
  };
  return std::ranges::any_of(Dispatcher::singleton().findOverloads(fmt::format("aten::{}", name)), takes_dimensions);
}

}  // namespace

std::string FunctionTranslator::OperatorArguments::text() const {
  std::vector<std::string> texts;
  for (const Expression& each : values) texts.push_back(each.text);
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::vector<Expression> FunctionTranslator::positional(const Expr& call) {
  std::vector<Expression> values;
  for (size_t i = 1; i < call.items.size(); ++i) values.push_back(expression(*call.items[i]));
  return values;
}

Expression FunctionTranslator::asNamed(Expression value, const Expr& source, TypePtr type) {
  if (type->isOptional()) type = type->element();
  const TypePtr given = value.type->isOptional() ? value.type->element() : value.type;
  if (given != Type::integer()) return value;
  const bool is_dtype = type->kind() == TypeKind::ScalarType;
  if (source.kind == Expr::Kind::Int) {
    const int64_t number = source.integer;
    if (is_dtype && number >= 0 && number < static_cast<int64_t>(ScalarType::Undefined)) {
      return {std::string(dtypeName(static_cast<ScalarType>(number))), Precedence::Atom, type};
    }
    if (type->kind() == TypeKind::Layout && number == 0) return {"strided", Precedence::Atom, type};
    if (type->kind() == TypeKind::MemoryFormat && number >= 0 && number < 4) {
      return {std::string(kMemoryFormatNames[number]), Precedence::Atom, type};
    }
    return value;
  }
  if (!is_dtype) return value;
  translation_.needs_library = true;
  if (!value.type->isOptional()) return {fmt::format("ts.as_dtype({})", value.text), Precedence::Atom, type};
  return {fmt::format("ts.dtype_or_none({})", value.text), Precedence::Atom, Type::optionalOf(type)};
}

Expression FunctionTranslator::callOperator(std::string_view space, const std::string& name, const Expr& call) {
  const OperatorArguments arguments{call, positional(call)};
  Found found;
  if (space == "prim") {
    found = primCall(name, arguments);
  } else {
    if (space == "aten") {
      const TypePtr first = arguments.count() > 0 ? arguments[0].type : Type::none();
      found = olderCall(name, arguments);
      if (!found.has_value()) found = generalCall(name, arguments);
      if (!found.has_value()) found = libraryCall(name, arguments);
      if (!found.has_value()) found = signCall(name, arguments);
      if (!found.has_value() && first == Type::string()) found = stringCall(name, arguments);
      if (!found.has_value() && first->isList()) found = listCall(name, arguments);
      if (!found.has_value() && first->kind() == TypeKind::Dict) found = dictCall(name, arguments);
      if (!found.has_value() && isNumberType(first)) found = numberCall(name, arguments);
    }
    if (space == "torchvision") found = libraryCall(name, arguments);
    if (space == "autograd" && name == "grad") found = gradientCall(arguments);
    // A model reads and writes no files.
    if (!found.has_value() && space != "io") found = tensorCall(space, name, arguments);
  }
  if (found.has_value()) return *std::move(found);
  std::vector<std::string_view> types;
  for (const Expression& each : arguments.values) types.push_back(each.type->text());
  const std::string_view module = space == "aten" ? "torch" : space;
  const bool gives_names = space == "aten" && givesNames(name, call, arguments.values);
  return missing(fmt::format("{}.{}({}){}", module, name, fmt::join(types, ", "),
                             gives_names ? fmt::format("; {}", kNoNames) : ""),
                 call.line);
}

// What is the same for values of several types.
FunctionTranslator::Found FunctionTranslator::generalCall(std::string_view name, const OperatorArguments& arguments) {
  const size_t count = arguments.count();
  const auto made = [](std::string text, TypePtr type) { return Expression{std::move(text), Precedence::Atom, type}; };
  if (name == "wait" && count == 1) return arguments[0];
  if (name == "len" && count == 1) return made(fmt::format("len({})", arguments[0].text), Type::integer());
  if (name == "__not__" && count == 1) {
    return Expression{"not " + within(arguments[0], Precedence::Not), Precedence::Not, Type::boolean()};
  }
  if (name == "__contains__" && count == 2) {
    return Expression{
        fmt::format("{} in {}", within(arguments[1], Precedence::BitOr), within(arguments[0], Precedence::BitOr)),
        Precedence::Compare, Type::boolean()};
  }
  if (name == "format") return formatted(arguments);
  if (name == "_convolution") return tracedConvolution(arguments);
  // to(device, None, non_blocking, copy): another device alone.
  const bool is_to_device = name == "to" && count >= 3 && arguments[2].text == "None" &&
                            (arguments[1].type == Type::device() || arguments[1].type == Type::string());
  if (is_to_device) {
    const bool copies = count > 4 && arguments[4].text == "True";
    return Expression{fmt::format("{}.to({}{})", within(arguments[0], Precedence::Atom), arguments[1].text,
                                  copies ? ", copy=True" : "")};
  }
  if (name == "warn") return made("", Type::none());
  if (name == "neg" && count == 1) {
    return Expression{"-" + within(arguments[0], Precedence::Unary), Precedence::Unary, arguments[0].type};
  }
  if (name == "__derive_index" && count == 3) {
    const Expression step = binaryExpression(arguments[0], "*", arguments[2], Precedence::Multiply, Type::integer());
    if (arguments[1].text == "0") return step;
    return binaryExpression(arguments[1], "+", step, Precedence::Add, Type::integer());
  }
  if (name == "__range_length" && count == 3) {
    return made(fmt::format("len(range({}, {}, {}))", arguments[0].text, arguments[1].text, arguments[2].text),
                Type::integer());
  }
  if (name == "_set_item" && count == 3) {
    return made(
        fmt::format("{}[{}] = {}", within(arguments[0], Precedence::Atom), arguments[1].text, arguments[2].text),
        Type::none());
  }
  if (name == "slice" && arguments[0].type != Type::tensor()) return sliceOf(arguments);
  if (name == "device" && count == 1) return made(arguments[0].text, arguments[0].type);
  if (name == "tensor" || name == "as_tensor" || name == "scalar_tensor") return makeTensor(arguments);
  if (name == "_unwrap_optional" && count == 1) {
    return cast(arguments.source(0),
                arguments[0].type->isOptional() ? arguments[0].type->element() : arguments[0].type);
  }
  if (name == "Complex" && count == 2) {
    return Expression{
        fmt::format("{} + {} * 1j", within(arguments[0], Precedence::Add), within(arguments[1], Precedence::Multiply)),
        Precedence::Add, Type::complex()};
  }
  if (name == "manual_seed" && count == 1) return made(fmt::format("manual_seed({})", arguments[0].text), Type::none());
  if (name == "cudnn_is_acceptable") return made("False", Type::boolean());
  if (name == "is_autocast_enabled" || name == "is_autocast_cpu_enabled") {
    const std::string device = count > 0 ? arguments[0].text : name == "is_autocast_enabled" ? "\"cuda\"" : "\"cpu\"";
    return made(fmt::format("autocast::is_autocast_enabled({})", device), Type::boolean());
  }
  if (name == "get_autocast_dtype" && count == 1) {
    return made(fmt::format("autocast::get_autocast_dtype({})", arguments[0].text), Type::scalarType());
  }
  if (name == "is_scripting") return made("True", Type::boolean());
  const bool is_item = name == "item" || name == "ScalarImplicit";
  if (is_item && count == 1)
    return made(fmt::format("{}.item()", within(arguments[0], Precedence::Atom)), Type::scalar());
  if ((name == "Int" || name == "IntImplicit") && count == 1) {
    return made(fmt::format("int({})", arguments[0].text), Type::integer());
  }
  if ((name == "Float" || name == "FloatImplicit") && count == 1) {
    return made(fmt::format("float({})", arguments[0].text), Type::floating());
  }
  if (name == "Bool" && count == 1) return made(fmt::format("bool({})", arguments[0].text), Type::boolean());
  if (name == "str" && count == 1) return made(fmt::format("str({})", arguments[0].text), Type::string());
  const bool is_tensor = count > 0 && arguments[0].type == Type::tensor();
  if (is_tensor && name == "size") {
    return made(fmt::format("{}.size({})", within(arguments[0], Precedence::Atom), count > 1 ? arguments[1].text : ""),
                count > 1 ? Type::integer() : Type::listOf(Type::integer()));
  }
  if (is_tensor && count == 1 && (name == "cpu" || name == "cuda")) {
    return made(fmt::format("{}.{}()", within(arguments[0], Precedence::Atom), name), Type::tensor());
  }
  if (is_tensor && count == 2 && name == "stride") {
    return made(fmt::format("sym_stride({})", arguments.text()), Type::integer());
  }
  if (is_tensor && name == "storage_offset") {
    return made(fmt::format("sym_storage_offset({})", arguments[0].text), Type::integer());
  }
  if (is_tensor && name == "is_contiguous" && arguments.call.keywords.empty()) {
    std::string format = count > 1 ? ", " + asNamed(arguments[1], arguments.source(1), Type::memoryFormat()).text : "";
    return made(fmt::format("sym_is_contiguous({}{})", arguments[0].text, format), Type::boolean());
  }
  if (is_tensor && name == "_no_grad_zero_") {
    return made(fmt::format("{}.detach().zero_()", within(arguments[0], Precedence::Atom)), Type::tensor());
  }
  if (is_tensor && count == 1 && (name == "dim" || name == "numel")) {
    return made(fmt::format("{}.{}()", within(arguments[0], Precedence::Atom), name), Type::integer());
  }
  return std::nullopt;
}

FunctionTranslator::Found FunctionTranslator::signCall(std::string_view name, const OperatorArguments& arguments) {
  if (arguments.count() != 2 || !arguments.call.keywords.empty()) return std::nullopt;
  const auto* const sign = std::ranges::find(kSignsOfTorch, name, &SignOf::name);
  if (sign == kSignsOfTorch.end()) return std::nullopt;
  Expression left = arguments[0];
  Expression right = arguments[1];
  const auto isPlain = [](TypePtr type) { return type == Type::integer() || type == Type::boolean(); };
  // A power of ints is a float there.
  if (name == "pow" && isPlain(left.type) && isPlain(right.type)) {
    left = {fmt::format("float({})", left.text), Precedence::Atom, Type::floating()};
  }
  // `torch.eq(ops.prim.dtype(x), 6)`
  if (sign->binding == Precedence::Compare) {
    if (left.type->kind() == TypeKind::ScalarType) right = asNamed(right, arguments.source(1), left.type);
    if (right.type->kind() == TypeKind::ScalarType) left = asNamed(left, arguments.source(0), right.type);
  }
  if (name == "floor_divide" && left.type != Type::tensor()) return std::nullopt;
  if (name == "add" && isLiteralText(left.text) && (right.text.starts_with('"') || right.text.starts_with("f\"")) &&
      right.binding == Precedence::Atom && right.type == Type::string()) {
    const size_t begin = right.text.find('"');
    return Expression{
        right.text.substr(0, begin + 1) + left.text.substr(1, left.text.size() - 2) + right.text.substr(begin + 1),
        Precedence::Atom, Type::string()};
  }
  return binaryExpression(left, sign->sign, right, sign->binding, typeOfSign(*sign, left, right));
}

FunctionTranslator::Found FunctionTranslator::makeTensor(const OperatorArguments& arguments) {
  if (arguments.count() == 0) return std::nullopt;
  const bool is_tensor = arguments[0].type == Type::tensor();
  std::vector<std::string> texts;
  if (!is_tensor) texts.push_back(arguments[0].text);
  for (const Keyword& keyword : arguments.call.keywords) {
    Expression value = expression(*keyword.value);
    if (keyword.name == "requires_grad" || value.text == "None") continue;
    if (keyword.name == "dtype") value = asNamed(value, *keyword.value, Type::scalarType());
    texts.push_back(fmt::format("{}={}", keyword.name, value.text));
  }
  if (is_tensor) {
    if (texts.empty()) return arguments[0];
    return Expression{fmt::format("{}.to({})", within(arguments[0], Precedence::Atom), fmt::join(texts, ", "))};
  }
  return Expression{fmt::format("tensor({})", fmt::join(texts, ", "))};
}

// Functions of torchscript.ops that stand for operators.
FunctionTranslator::Found FunctionTranslator::libraryCall(std::string_view name, const OperatorArguments& arguments) {
  const auto made = [&](std::string_view function, TypePtr type) {
    translation_.needs_library = true;
    return Expression{fmt::format("ts.{}({})", function, arguments.text()), Precedence::Atom, type};
  };
  if (name == "is_grad_enabled") return made(name, Type::boolean());
  if (name == "element_size" || name == "get_device") return made(name, Type::integer());
  if (name == "stride" && arguments.count() == 1) return made("strides", Type::listOf(Type::integer()));
  if (name == "promote_types" && arguments.count() == 2) {
    OperatorArguments dtypes = arguments;
    for (size_t i = 0; i < dtypes.count(); ++i) {
      dtypes.values[i] = asNamed(arguments[i], arguments.source(i), Type::scalarType());
    }
    translation_.needs_library = true;
    return Expression{fmt::format("ts.promote_types({})", dtypes.text()), Precedence::Atom, Type::scalarType()};
  }
  if (name == "nms" || name == "roi_align") return made(name, Type::tensor());
  if (name == "_nested_tensor_from_mask") return made("nested_from_mask", Type::tensor());
  if (name == "_nested_tensor_from_mask_left_aligned") return made("is_left_aligned", Type::boolean());
  if (name == "to_padded_tensor") return made(name, Type::tensor());
  if (name == "_transformer_encoder_layer_fwd") return made(name.substr(1), Type::tensor());
  const TypePtr pair[] = {Type::tensor(), Type::tensor()};
  if (name == "_native_multi_head_attention") return made(name.substr(1), Type::tupleOf(pair));
  return std::nullopt;
}

// What traces have for convolutions: with flags of libraries at its end.
FunctionTranslator::Found FunctionTranslator::tracedConvolution(const OperatorArguments& arguments) {
  constexpr size_t kArguments = 9;
  if (arguments.count() < kArguments) return std::nullopt;
  const Expr& stride = arguments.source(3);
  const bool is_plain = arguments[6].text == "False" && stride.kind == Expr::Kind::List && !stride.items.empty() &&
                        stride.items.size() <= 3;
  OperatorArguments kept{arguments.call, {arguments.values.begin(), arguments.values.begin() + kArguments}};
  if (!is_plain) return tensorCall("aten", "convolution", kept);
  // Without what only transposed convolutions have.
  kept.values.erase(kept.values.begin() + 6, kept.values.begin() + 8);
  kept.order = {0, 1, 2, 3, 4, 5, 8};
  return tensorCall("aten", fmt::format("conv{}d", stride.items.size()), kept);
}

FunctionTranslator::Found FunctionTranslator::olderCall(std::string_view name, const OperatorArguments& arguments) {
  // The versions in which an operator got the meaning that it has.
  constexpr int64_t kDiv = 4;
  constexpr int64_t kFull = 5;
  constexpr int64_t kLinspace = 8;
  constexpr int64_t kLogspace = 9;
  const int64_t version = unit_.formatVersion();
  const std::vector<Keyword>& keywords = arguments.call.keywords;
  const auto keyword = [&](std::string_view wanted) -> const Expr* {
    const auto found = std::ranges::find(keywords, wanted, &Keyword::name);
    return found == keywords.end() || found->value->text == "None" ? nullptr : found->value.get();
  };
  const size_t count = arguments.count();
  // Of ints, it rounded toward zero.
  const bool is_div = (name == "div" || name == "div_") && count == 2 && arguments[0].type == Type::tensor();
  if (version < kDiv && is_div && std::ranges::find(keywords, "rounding_mode", &Keyword::name) == keywords.end()) {
    const std::string_view other = arguments[1].type == Type::tensor() ? "" : "_number";
    const Expr* const out = keyword("out");
    std::string text = arguments.text();
    if (name == "div_") {
      text += fmt::format(", {}", arguments[0].text);
    } else if (out != nullptr) {
      text += fmt::format(", {}", expression(*out).text);
    }
    translation_.needs_library = true;
    return Expression{fmt::format("ts.old_div{}({})", other, text)};
  }
  // Without a dtype, it was of floats.
  const bool is_float = count == 2 && (arguments[1].type == Type::floating() || arguments[1].type == Type::complex());
  if (version < kFull && name == "full" && count == 2 && !is_float && keyword("dtype") == nullptr &&
      keyword("out") == nullptr) {
    OperatorArguments floats = arguments;
    floats.values[1] = {fmt::format("float({})", arguments[1].text), Precedence::Atom, Type::floating()};
    return tensorCall("aten", name, floats);
  }
  // Without a number of steps, it had 100.
  const bool is_old_space = (name == "linspace" && version < kLinspace) || (name == "logspace" && version < kLogspace);
  if (is_old_space && (count == 2 || (count > 2 && arguments[2].text == "None"))) {
    OperatorArguments steps = arguments;
    const Expression hundred{"100", Precedence::Atom, Type::integer()};
    if (count > 2) {
      steps.values[2] = hundred;
    } else {
      steps.values.push_back(hundred);
      steps.order = {0, 1, 1};
    }
    return tensorCall("aten", name, steps);
  }
  return std::nullopt;
}

// torch.autograd.grad(outputs, inputs, grad_outputs, retain_graph, create_graph, allow_unused)
FunctionTranslator::Found FunctionTranslator::gradientCall(const OperatorArguments& arguments) {
  constexpr std::string_view kNames[] = {"", "", "grad_outputs", "retain_graph", "create_graph", "allow_unused"};
  if (arguments.count() < 2 || arguments.count() > std::size(kNames)) return std::nullopt;
  std::string text = fmt::format("{}, {}", arguments[0].text, arguments[1].text);
  for (size_t i = 2; i < arguments.count(); ++i) {
    if (arguments[i].text == "None" || arguments[i].text == "False") continue;
    text += fmt::format(", {}={}", kNames[i], arguments[i].text);
  }
  return Expression{fmt::format("autograd::grad({})", text), Precedence::Atom,
                    Type::listOf(Type::optionalOf(Type::tensor()))};
}

// A call of an operator that boxcar, or a plugin, has.
FunctionTranslator::Found FunctionTranslator::tensorCall(std::string_view space, std::string_view name,
                                                         const OperatorArguments& arguments) {
  const std::vector<OperatorHandle> overloads =
      Dispatcher::singleton().findOverloads(fmt::format("{}::{}", space, name));
  std::vector<const FunctionSchema*> candidates;
  for (const OperatorHandle& each : overloads) candidates.push_back(&each.schema());
  std::vector<CallArgument> written;
  std::vector<Expression> values = arguments.values;
  // The newest PyTorch's has `align_to_window` at its end.
  constexpr size_t kOfStft = 8;
  if (name == "stft" && values.size() > kOfStft) values.resize(kOfStft);
  std::vector<const Expr*> sources;
  for (size_t i = 0; i < values.size(); ++i) {
    written.push_back({values[i].type, {}});
    sources.push_back(&arguments.source(i));
  }
  for (const Keyword& keyword : arguments.call.keywords) {
    values.push_back(expression(*keyword.value));
    written.push_back({values.back().type, keyword.name});
    sources.push_back(keyword.value.get());
  }
  // As at run time, so that ints stand for dtypes.
  const Resolution resolution = resolveOverload(candidates, written, TypesFrom::kValues);
  if (resolution.kind != Resolution::Kind::Chosen) return std::nullopt;
  const FunctionSchema& schema = *candidates[resolution.candidate];
  std::vector<GivenArgument> given;
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    const ParameterPlan& plan = resolution.fit.parameters[i];
    if (plan.from == ParameterPlan::From::Default) continue;
    if (plan.from == ParameterPlan::From::Rest) return std::nullopt;
    const Argument& parameter = schema.arguments()[i];
    Expression value = values[plan.first];
    const Expr* const source = sources[plan.first];
    const Expr* const literal = literalOf(*source);
    if (literal != nullptr && isDefaultLiteral(*literal, parameter)) continue;
    value = asNamed(std::move(value), *source, parameter.type());
    // `int[2] stride` takes one int for both.
    const bool is_repeated = literal != nullptr && literal->kind == Expr::Kind::List && parameter.N().has_value() &&
                             *parameter.N() > 1 && !literal->items.empty() &&
                             literal->items.size() == static_cast<size_t>(*parameter.N()) &&
                             std::ranges::all_of(literal->items, [&](const ExprPtr& item) {
                               return item->kind == Expr::Kind::Int && item->integer == literal->items[0]->integer;
                             });
    if (is_repeated) value = expression(*literal->items[0]);
    given.push_back({&parameter, std::move(value), literal != nullptr});
  }
  Expression call = operatorCall(overloads[resolution.candidate], given);
  call.type = resultOf(schema, resolution.fit);
  return call;
}

FunctionTranslator::Found FunctionTranslator::primCall(std::string_view name, const OperatorArguments& arguments) {
  const size_t count = arguments.count();
  const auto made = [](std::string text, TypePtr type) { return Expression{std::move(text), Precedence::Atom, type}; };
  const auto attributeOf = [&](std::string_view attribute, TypePtr type) {
    return made(fmt::format("{}.{}", within(arguments[0], Precedence::Atom), attribute), type);
  };
  if (name == "RaiseException" && count >= 1) return made("raise " + arguments[0].text, Type::none());
  if (name == "Print") return made(fmt::format("print({})", arguments.text()), Type::none());
  if (count == 0) return std::nullopt;
  if (name == "NumToTensor") return made(fmt::format("tensor({})", arguments[0].text), Type::tensor());
  if (name == "dtype") return attributeOf("dtype", Type::scalarType());
  if (name == "device") return attributeOf("device", Type::device());
  if (name == "layout") return attributeOf("layout", Type::layout());
  if (name == "shape") return attributeOf("shape", Type::listOf(Type::integer()));
  if (name == "data") return attributeOf("data", Type::tensor());
  if (name == "grad") return attributeOf("grad", Type::any());
  if (name == "requires_grad") return attributeOf("requires_grad", Type::boolean());
  if (name == "is_cuda") {
    return made(fmt::format("str({}.device).startswith(\"cuda\")", within(arguments[0], Precedence::Atom)),
                Type::boolean());
  }
  if (name.starts_with("is_")) return made("False", Type::boolean());
  if (name == "type") return made(fmt::format("str({}).split(\":\")[0]", arguments[0].text), Type::string());
  if (name == "index" && arguments[0].type == Type::device()) {
    translation_.needs_library = true;
    return made(fmt::format("ts.device_index({})", arguments[0].text), Type::optionalOf(Type::integer()));
  }
  if (name == "itemsize" || name == "nbytes") {
    translation_.needs_library = true;
    const std::string size = fmt::format("ts.element_size({})", arguments[0].text);
    if (name == "itemsize") return made(size, Type::integer());
    return Expression{fmt::format("{} * {}.numel()", size, within(arguments[0], Precedence::Atom)),
                      Precedence::Multiply, Type::integer()};
  }
  if (name == "name" && unit_.classOf(arguments[0].type) != nullptr) {
    return fieldOf(arguments[0], *unit_.classOf(arguments[0].type), "name");
  }
  if (name == "TupleUnpack") return arguments[0];
  if (name == "unchecked_unwrap_optional") {
    return cast(arguments.source(0),
                arguments[0].type->isOptional() ? arguments[0].type->element() : arguments[0].type);
  }
  if (name == "rangelist") {
    return made(fmt::format("list(range({}))", arguments[0].text), Type::listOf(Type::integer()));
  }
  if (name == "abs") return made(fmt::format("abs({})", arguments[0].text), arguments[0].type);
  if (name == "min" || name == "max") {
    TypePtr type = arguments[0].type->isList() && count == 1 ? arguments[0].type->element() : arguments[0].type;
    if (count > 1 && arguments[1].type == Type::floating()) type = Type::floating();
    return made(fmt::format("{}({})", name, arguments.text()), type);
  }
  if (name == "tolist") {
    return made(fmt::format("{}.tolist()", within(arguments[0], Precedence::Atom)), Type::any());
  }
  return std::nullopt;
}

}  // namespace boxcar::interp::torchscript
