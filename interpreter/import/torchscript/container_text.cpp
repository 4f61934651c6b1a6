#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/interpreter/import/script_words.h>
#include <boxcar/interpreter/import/torchscript/function_translator.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

// Calls with numbers, strs, lists and dicts, which are part of the language.

namespace boxcar::interp::torchscript {
namespace {

Expression madeCall(std::string text, TypePtr type) { return {std::move(text), Precedence::Atom, type}; }

// Methods that have the same name and arguments in a script.
struct SameMethod {
  std::string_view name;
  size_t least;
  size_t most;
  TypePtr (*result)() noexcept;  // null: the list, or None
};

constexpr auto kStringMethods = std::to_array<SameMethod>({
    {"upper", 1, 1, Type::string},
    {"lower", 1, 1, Type::string},
    {"strip", 1, 2, Type::string},
    {"startswith", 2, 2, Type::boolean},
    {"endswith", 2, 2, Type::boolean},
    {"find", 2, 2, Type::integer},
    {"replace", 3, 3, Type::string},
    {"join", 2, 2, Type::string},
});

constexpr auto kListMethods = std::to_array<SameMethod>({
    {"append", 2, 2, nullptr},
    {"extend", 2, 2, nullptr},
    {"insert", 3, 3, nullptr},
    {"reverse", 1, 1, nullptr},
    {"index", 2, 2, Type::integer},
    {"count", 2, 2, Type::integer},
});

// Functions of `math::`, which take floats.
constexpr std::string_view kMathFunctions[] = {"sqrt", "exp", "log", "sin", "cos", "tan", "tanh"};

}  // namespace

// "{} and {}" with its arguments is an f-string.
Expression FunctionTranslator::formatted(const OperatorArguments& arguments) {
  const Expr* const pattern = arguments.count() > 0 ? &arguments.source(0) : nullptr;
  std::string text = pattern != nullptr && pattern->kind == Expr::Kind::String ? pattern->text : std::string();
  if (pattern != nullptr && pattern->kind == Expr::Kind::Name) {
    // A message that is used once is in its place already, as a string.
    const std::string& known = arguments[0].text;
    const bool is_plain = known.size() > 1 && known.front() == '"' && known.find('\\') == std::string::npos;
    if (is_plain) text = known.substr(1, known.size() - 2);
  }
  const bool can_be_written = !text.empty() && std::ranges::none_of(text, [](char c) {
    return c == '\\' || c == '"' || static_cast<unsigned char>(c) < ' ';
  });
  if (can_be_written) {
    std::string out;
    size_t next = 1;
    bool is_simple = true;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text.compare(i, 2, "{}") == 0 && next < arguments.count()) {
        const std::string& value = arguments[next++].text;
        // A string in a string needs the other quotes.
        is_simple &= value.find('"') == std::string::npos && value.find('\\') == std::string::npos &&
                     value.find('{') == std::string::npos && value.find(':') == std::string::npos;
        out += fmt::format("{{{}}}", value);
        ++i;
      } else if (text[i] == '{' || text[i] == '}') {
        out += std::string(2, text[i]);
      } else {
        out += text[i];
      }
    }
    if (is_simple && next == arguments.count()) return {fmt::format("f\"{}\"", out), Precedence::Atom, Type::string()};
  }
  // Parts between the fields.
  translation_.needs_library = true;
  std::vector<std::string> values;
  for (size_t i = 1; i < arguments.count(); ++i) values.push_back(fmt::format("str({})", arguments[i].text));
  return madeCall(fmt::format("ts.formatted({}, [{}])", arguments[0].text, fmt::join(values, ", ")), Type::string());
}

// Of a list, a str or a tuple.
FunctionTranslator::Found FunctionTranslator::sliceOf(const OperatorArguments& arguments) {
  const auto bound = [&](size_t i, std::string_view none) {
    const bool is_default = i >= arguments.count() || arguments[i].text == "None" || arguments[i].text == none ||
                            arguments[i].text == "9223372036854775807";
    return is_default ? std::string() : within(arguments[i], Precedence::Conditional);
  };
  std::string step = bound(3, "1");
  if (!step.empty()) step = ":" + step;
  return Expression{
      fmt::format("{}[{}:{}{}]", within(arguments[0], Precedence::Atom), bound(1, "0"), bound(2, ""), step),
      Precedence::Atom, arguments[0].type};
}

FunctionTranslator::Found FunctionTranslator::stringCall(std::string_view name, const OperatorArguments& arguments) {
  const std::string self = within(arguments[0], Precedence::Atom);
  OperatorArguments rest{arguments.call, {arguments.values.begin() + 1, arguments.values.end()}};
  const auto* const same = std::ranges::find(kStringMethods, name, &SameMethod::name);
  if (same != kStringMethods.end() && arguments.count() >= same->least && arguments.count() <= same->most) {
    return madeCall(fmt::format("{}.{}({})", self, name, rest.text()), same->result());
  }
  if (name == "split" && arguments.count() <= 3) {
    return madeCall(fmt::format("{}.split({})", self, rest.text()), Type::listOf(Type::string()));
  }
  // find(x, start, end), with the whole of the str
  if (name == "find" && arguments.count() == 4 && arguments[2].text == "0" &&
      arguments[3].text == fmt::format("len({})", arguments[0].text)) {
    return madeCall(fmt::format("{}.find({})", self, arguments[1].text), Type::integer());
  }
  if (name == "ord") return madeCall(fmt::format("ord({})", arguments[0].text), Type::integer());
  if (name == "list") return madeCall(fmt::format("list({})", arguments[0].text), Type::listOf(Type::string()));
  return std::nullopt;
}

FunctionTranslator::Found FunctionTranslator::listCall(std::string_view name, const OperatorArguments& arguments) {
  const size_t count = arguments.count();
  const TypePtr type = arguments[0].type;
  const TypePtr element = type->element();
  const std::string self = within(arguments[0], Precedence::Atom);
  OperatorArguments rest{arguments.call, {arguments.values.begin() + 1, arguments.values.end()}};
  const auto* const same = std::ranges::find(kListMethods, name, &SameMethod::name);
  if (same != kListMethods.end() && count >= same->least && count <= same->most) {
    return madeCall(fmt::format("{}.{}({})", self, name, rest.text()),
                    same->result == nullptr ? Type::none() : same->result());
  }
  if (name == "pop") return madeCall(fmt::format("{}.pop({})", self, rest.text()), element);
  if (name == "sort") {
    const bool is_reversed = count > 1 && arguments[1].text != "False";
    return madeCall(fmt::format("{}.sort({})", self, is_reversed ? "reverse=" + arguments[1].text : ""), Type::none());
  }
  if (name == "sorted" && count == 1) return madeCall(fmt::format("sorted({})", arguments[0].text), type);
  if ((name == "copy" || name == "list") && count == 1) return madeCall(fmt::format("{}.copy()", self), type);
  if (name == "Delete" && count == 2) return madeCall(fmt::format("{}.pop({})", self, arguments[1].text), Type::none());
  if (name == "remove" && count == 2) {
    return madeCall(fmt::format("{}.pop({}.index({}))", self, self, arguments[1].text), Type::none());
  }
  if (name == "add_" && count == 2) {
    // Its value is the list.
    const bool is_name = arguments.source(0).kind == Expr::Kind::Name;
    Expression list = is_name ? arguments[0] : Expression{kept(arguments[0], "list"), Precedence::Atom, type};
    line(fmt::format("{}.extend({})", within(list, Precedence::Atom), arguments[1].text));
    return list;
  }
  if (name == "__getitem__" && count == 2) return madeCall(fmt::format("{}[{}]", self, arguments[1].text), element);
  if (name == "clear" && count == 1) {
    line(fmt::format("while len({}) > 0 {{", arguments[0].text));
    line(fmt::format("{}.pop()", self));
    line("}");
    return madeCall("", Type::none());
  }
  // A dict of pairs.
  if (name == "dict" && count == 1 && element->kind() == TypeKind::Tuple && element->contained().size() == 2) {
    const TypePtr made = Type::dictOf(element->contained()[0], element->contained()[1]);
    const std::string its_name = newName("dict");
    const std::string key = newName("key");
    const std::string value = newName("value");
    line(fmt::format("{}: {} = {{}}", its_name, translation_.typeText(made)));
    line(fmt::format("for {}, {} in {} {{", key, value, arguments[0].text));
    line(fmt::format("{}[{}] = {}", its_name, key, value));
    line("}");
    return madeCall(its_name, made);
  }
  if (name == "sum" && count == 1 && element != Type::tensor()) {
    return madeCall(fmt::format("sum({})", arguments[0].text), element == Type::boolean() ? Type::integer() : element);
  }
  if ((name == "any" || name == "all") && count == 1 && element != Type::tensor()) {
    return madeCall(fmt::format("{}({})", name, arguments[0].text), Type::boolean());
  }
  return std::nullopt;
}

FunctionTranslator::Found FunctionTranslator::dictCall(std::string_view name, const OperatorArguments& arguments) {
  const size_t count = arguments.count();
  const TypePtr type = arguments[0].type;
  const TypePtr key = type->contained()[0];
  const TypePtr value = type->contained()[1];
  const std::string self = within(arguments[0], Precedence::Atom);
  OperatorArguments rest{arguments.call, {arguments.values.begin() + 1, arguments.values.end()}};
  if (name == "keys") return madeCall(self + ".keys()", Type::listOf(key));
  if (name == "values") return madeCall(self + ".values()", Type::listOf(value));
  if (name == "items") {
    const TypePtr pair[] = {key, value};
    return madeCall(self + ".items()", Type::listOf(Type::tupleOf(pair)));
  }
  if (name == "get") {
    return madeCall(fmt::format("{}.get({})", self, rest.text()), count > 2 ? value : Type::optionalOf(value));
  }
  if (name == "pop") return madeCall(fmt::format("{}.pop({})", self, rest.text()), value);
  if (name == "Delete" && count == 2) return madeCall(fmt::format("{}.pop({})", self, arguments[1].text), Type::none());
  if (name == "update" && count == 2)
    return madeCall(fmt::format("{}.update({})", self, arguments[1].text), Type::none());
  if ((name == "copy" || name == "dict") && count == 1) return madeCall(self + ".copy()", type);
  if (name == "__getitem__" && count == 2) return madeCall(fmt::format("{}[{}]", self, arguments[1].text), value);
  if (name == "setdefault" && count == 3) {
    line(fmt::format("if {} not in {} {{", within(arguments[1], Precedence::BitOr), self));
    line(fmt::format("{}[{}] = {}", self, arguments[1].text, arguments[2].text));
    line("}");
    return madeCall(fmt::format("{}[{}]", self, arguments[1].text), value);
  }
  if (name == "clear" && count == 1) {
    const std::string each = newName("key");
    line(fmt::format("for {} in {}.keys() {{", each, self));
    line(fmt::format("{}.pop({})", self, each));
    line("}");
    return madeCall("", Type::none());
  }
  return std::nullopt;
}

FunctionTranslator::Found FunctionTranslator::numberCall(std::string_view name, const OperatorArguments& arguments) {
  const size_t count = arguments.count();
  const Expression& first = arguments[0];
  if (name == "chr") return madeCall(fmt::format("chr({})", first.text), Type::string());
  if (name == "divmod" && count == 2) {
    const Expression whole = binaryExpression(first, "//", arguments[1], Precedence::Multiply, first.type);
    const Expression rest = binaryExpression(first, "%", arguments[1], Precedence::Multiply, first.type);
    const TypePtr pair[] = {whole.type, rest.type};
    return madeCall(fmt::format("({}, {})", whole.text, rest.text), Type::tupleOf(pair));
  }
  if (name == "abs") return madeCall(fmt::format("abs({})", first.text), first.type);
  if (first.type == Type::complex()) return std::nullopt;
  if (count == 1 && (name == "floor" || name == "ceil")) {
    return madeCall(fmt::format("math::{}({})", name, first.text), Type::integer());
  }
  // A float there, an int in a script.
  if (count == 1 && name == "round") return madeCall(fmt::format("float(round({}))", first.text), Type::floating());
  if (count == 1 && std::ranges::find(kMathFunctions, name) != std::end(kMathFunctions)) {
    return madeCall(fmt::format("math::{}({})", name, first.text), Type::floating());
  }
  // Other functions of one number are those of a tensor.
  const std::vector<OperatorHandle> overloads = Dispatcher::singleton().findOverloads(fmt::format("aten::{}", name));
  if (count == 1 && !overloads.empty() && overloads[0].schema().arguments().size() == 1 &&
      overloads[0].schema().arguments()[0].type() == Type::tensor()) {
    const bool is_check = name.starts_with("is");
    return madeCall(fmt::format("{}(tensor({}, dtype=float64).{}())", is_check ? "bool" : "float", first.text, name),
                    is_check ? Type::boolean() : Type::floating());
  }
  return std::nullopt;
}

}  // namespace boxcar::interp::torchscript
