#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/interpreter/import/torchscript/function_translator.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>
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
    {"upper", 1, 1, Type::string},      {"lower", 1, 1, Type::string},        {"title", 1, 1, Type::string},
    {"capitalize", 1, 1, Type::string}, {"swapcase", 1, 1, Type::string},     {"strip", 1, 2, Type::string},
    {"lstrip", 1, 2, Type::string},     {"rstrip", 1, 2, Type::string},       {"replace", 3, 4, Type::string},
    {"join", 2, 2, Type::string},       {"center", 2, 3, Type::string},       {"ljust", 2, 3, Type::string},
    {"rjust", 2, 3, Type::string},      {"expandtabs", 1, 2, Type::string},   {"startswith", 2, 4, Type::boolean},
    {"endswith", 2, 4, Type::boolean},  {"find", 2, 4, Type::integer},        {"rfind", 2, 4, Type::integer},
    {"index", 2, 4, Type::integer},     {"rindex", 2, 4, Type::integer},      {"count", 2, 4, Type::integer},
    {"isalpha", 1, 1, Type::boolean},   {"isdigit", 1, 1, Type::boolean},     {"isalnum", 1, 1, Type::boolean},
    {"isspace", 1, 1, Type::boolean},   {"islower", 1, 1, Type::boolean},     {"isupper", 1, 1, Type::boolean},
    {"istitle", 1, 1, Type::boolean},   {"isprintable", 1, 1, Type::boolean},
});

constexpr auto kListMethods = std::to_array<SameMethod>({
    {"append", 2, 2, nullptr},
    {"extend", 2, 2, nullptr},
    {"insert", 3, 3, nullptr},
    {"reverse", 1, 1, nullptr},
    {"remove", 2, 2, nullptr},
    {"clear", 1, 1, nullptr},
    {"index", 2, 2, Type::integer},
    {"count", 2, 2, Type::integer},
});

// Functions of `math::` with the same arguments.
constexpr auto kMathFunctions = std::to_array<SameMethod>({
    {"sqrt", 1, 1, Type::floating},     {"exp", 1, 1, Type::floating},      {"expm1", 1, 1, Type::floating},
    {"log", 1, 1, Type::floating},      {"log2", 1, 1, Type::floating},     {"log10", 1, 1, Type::floating},
    {"log1p", 1, 1, Type::floating},    {"sin", 1, 1, Type::floating},      {"cos", 1, 1, Type::floating},
    {"tan", 1, 1, Type::floating},      {"asin", 1, 1, Type::floating},     {"acos", 1, 1, Type::floating},
    {"atan", 1, 1, Type::floating},     {"atan2", 2, 2, Type::floating},    {"sinh", 1, 1, Type::floating},
    {"cosh", 1, 1, Type::floating},     {"tanh", 1, 1, Type::floating},     {"asinh", 1, 1, Type::floating},
    {"acosh", 1, 1, Type::floating},    {"atanh", 1, 1, Type::floating},    {"erf", 1, 1, Type::floating},
    {"erfc", 1, 1, Type::floating},     {"gamma", 1, 1, Type::floating},    {"lgamma", 1, 1, Type::floating},
    {"degrees", 1, 1, Type::floating},  {"radians", 1, 1, Type::floating},  {"fabs", 1, 1, Type::floating},
    {"fmod", 2, 2, Type::floating},     {"copysign", 2, 2, Type::floating}, {"ldexp", 2, 2, Type::floating},
    {"floor", 1, 1, Type::integer},     {"ceil", 1, 1, Type::integer},      {"gcd", 2, 2, Type::integer},
    {"factorial", 1, 1, Type::integer}, {"isnan", 1, 1, Type::boolean},     {"isinf", 1, 1, Type::boolean},
    {"isfinite", 1, 1, Type::boolean},
});

const SameMethod* findSame(std::span<const SameMethod> table, std::string_view name, size_t count) {
  const auto found = std::ranges::find(table, name, &SameMethod::name);
  return found != table.end() && count >= found->least && count <= found->most ? &*found : nullptr;
}

// Returns an f-string of texts and what is in braces between them; nothing if it would be no plain text.
std::optional<std::string> fString(const std::vector<std::string>& texts, const std::vector<std::string>& fields) {
  std::string out;
  for (size_t i = 0; i < texts.size(); ++i) {
    for (const char c : texts[i]) {
      if (c == '\\' || c == '"' || static_cast<unsigned char>(c) < ' ') return std::nullopt;
      out.append(c == '{' || c == '}' ? 2 : 1, c);
    }
    if (i < fields.size()) out += fmt::format("{{{}}}", fields[i]);
  }
  return fmt::format("f\"{}\"", out);
}

// Whether an expression can stand in an f-string: a string in a string needs the other quotes.
bool isPlainField(std::string_view text) { return text.find_first_of("\"\\{:") == std::string_view::npos; }

}  // namespace

std::optional<std::string> FunctionTranslator::literalText(const OperatorArguments& arguments) const {
  if (arguments.count() == 0) return std::nullopt;
  const Expr& pattern = arguments.source(0);
  if (pattern.kind == Expr::Kind::String) return pattern.text;
  // A message that is used once is in its place already, as a string.
  const std::string& known = arguments[0].text;
  const bool is_plain = known.size() > 1 && known.front() == '"' && known.find('\\') == std::string::npos;
  if (pattern.kind != Expr::Kind::Name || !is_plain) return std::nullopt;
  return known.substr(1, known.size() - 2);
}

// "{} and {}" with its arguments is an f-string.
Expression FunctionTranslator::formatted(const OperatorArguments& arguments) {
  if (const std::optional<std::string> pattern = literalText(arguments); pattern.has_value() && !pattern->empty()) {
    std::vector<std::string> texts{""};
    std::vector<std::string> fields;
    bool is_plain = true;
    for (size_t i = 0; i < pattern->size(); ++i) {
      if (pattern->compare(i, 2, "{}") == 0 && fields.size() + 1 < arguments.count()) {
        fields.push_back(arguments[fields.size() + 1].text);
        is_plain &= isPlainField(fields.back());
        texts.emplace_back();
        ++i;
      } else {
        texts.back() += (*pattern)[i];
      }
    }
    if (is_plain && fields.size() + 1 == arguments.count()) {
      if (const auto text = fString(texts, fields)) return {*text, Precedence::Atom, Type::string()};
    }
  }
  // Parts between the fields.
  translation_.needs_library = true;
  std::vector<std::string> values;
  for (size_t i = 1; i < arguments.count(); ++i) values.push_back(fmt::format("str({})", arguments[i].text));
  return madeCall(fmt::format("ts.formatted({}, [{}])", arguments[0].text, fmt::join(values, ", ")), Type::string());
}

// `"%d of %s" % (n, s)`: TorchScript reads one letter after each `%`.
Expression FunctionTranslator::percentFormatted(const OperatorArguments& arguments) {
  std::vector<Expression> values(arguments.values.begin() + 1, arguments.values.end());
  const Expr& source = arguments.source(1);
  const bool is_tuple = values[0].type->kind() == TypeKind::Tuple;
  if (is_tuple && source.kind == Expr::Kind::Tuple) {
    values.clear();
    for (const ExprPtr& item : source.items) values.push_back(expression(*item));
  }
  const bool is_written = !is_tuple || source.kind == Expr::Kind::Tuple;
  const std::optional<std::string> pattern = literalText(arguments);
  if (is_written && pattern.has_value()) {
    std::vector<std::string> texts{""};
    std::vector<std::string> fields;
    bool is_plain = true;
    for (size_t i = 0; i < pattern->size() && is_plain; ++i) {
      if ((*pattern)[i] != '%') {
        texts.back() += (*pattern)[i];
        continue;
      }
      const char kind = ++i < pattern->size() ? (*pattern)[i] : ' ';
      if (kind == '%') {
        texts.back() += '%';
        continue;
      }
      is_plain = fields.size() < values.size();
      if (!is_plain) break;
      const Expression& value = values[fields.size()];
      const bool is_int = value.type == Type::integer();
      const bool is_number = is_int || value.type == Type::floating();
      const bool is_whole = kind == 'd' || kind == 'i';
      is_plain = isPlainField(value.text) &&
                 (kind == 's' || (is_whole && is_number) || ((kind == 'f' || kind == 'e') && is_number));
      fields.push_back(kind == 's' || (is_whole && is_int) ? value.text
                       : is_whole                          ? fmt::format("int({})", value.text)
                                                           : fmt::format("{}:{}", value.text, kind));
      texts.emplace_back();
    }
    if (is_plain && fields.size() == values.size()) {
      if (const auto text = fString(texts, fields)) return {*text, Precedence::Atom, Type::string()};
    }
  }
  translation_.needs_library = true;
  if (!is_written) {
    return madeCall(fmt::format("ts.percent_formatted({}, list({}))", arguments[0].text, values[0].text),
                    Type::string());
  }
  std::vector<std::string> items;
  for (const Expression& value : values) items.push_back(value.text);
  return madeCall(fmt::format("ts.percent_formatted({}, [{}])", arguments[0].text, fmt::join(items, ", ")),
                  Type::string());
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
  // `find(x, start, end)`: the last place is -1 there, and nothing here.
  const bool is_search = name == "find" || name == "rfind" || name == "index" || name == "rindex" || name == "count" ||
                         name == "startswith" || name == "endswith";
  if (is_search && rest.count() == 3) {
    Expression& end = rest.values[2];
    const Expr* const literal = literalOf(arguments.source(3));
    const bool is_whole = end.text == "-1" || end.text == fmt::format("len({})", arguments[0].text);
    if (is_whole) {
      rest.values.pop_back();
    } else if (literal == nullptr || literal->integer < 0) {
      translation_.needs_library = true;
      end = madeCall(fmt::format("ts.end_of({})", end.text), Type::optionalOf(Type::integer()));
    }
    if (is_whole && rest.values[1].text == "0") rest.values.pop_back();
  }
  if (const SameMethod* const same = findSame(kStringMethods, name, arguments.count()); same != nullptr) {
    return madeCall(fmt::format("{}.{}({})", self, name, rest.text()), same->result());
  }
  if ((name == "isdecimal" || name == "isnumeric") && arguments.count() == 1) {
    return madeCall(fmt::format("{}.isdigit()", self), Type::boolean());
  }
  if ((name == "split" || name == "rsplit") && arguments.count() <= 3) {
    // Without a separator, rsplit() there looks for a space.
    const bool is_at_spaces = name == "rsplit" && rest.count() == 0;
    return madeCall(fmt::format("{}.{}({})", self, name, is_at_spaces ? "\" \"" : rest.text()),
                    Type::listOf(Type::string()));
  }
  // The sign stays where it is.
  if (name == "zfill" && arguments.count() == 2) {
    return madeCall(fmt::format("{}.rjust({}, \"0\")", self, arguments[1].text), Type::string());
  }
  if ((name == "splitlines" && arguments.count() <= 2) || (name == "isidentifier" && arguments.count() == 1)) {
    translation_.needs_library = true;
    return madeCall(fmt::format("ts.{}({})", name, arguments.text()),
                    name == "splitlines" ? Type::listOf(Type::string()) : Type::boolean());
  }
  if ((name == "partition" || name == "rpartition") && arguments.count() == 2) {
    const TypePtr parts[] = {Type::string(), Type::string(), Type::string()};
    return madeCall(fmt::format("{}.{}({})", self, name, rest.text()), Type::tupleOf(parts));
  }
  if (name == "percentFormat" && arguments.count() >= 2) return percentFormatted(arguments);
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
  // Tensors are equal if what is in them is.
  if (element == Type::tensor() && (name == "index" || name == "count" || name == "remove") && count == 2) {
    translation_.needs_library = true;
    if (name == "remove") {
      return madeCall(fmt::format("{}.pop(ts.index_of({}))", self, arguments.text()), Type::none());
    }
    return madeCall(fmt::format("ts.{}_of({})", name, arguments.text()), Type::integer());
  }
  if (const SameMethod* const same = findSame(kListMethods, name, count); same != nullptr) {
    return madeCall(fmt::format("{}.{}({})", self, name, rest.text()),
                    same->result == nullptr ? Type::none() : same->result());
  }
  if (name == "pop") return madeCall(fmt::format("{}.pop({})", self, rest.text()), element);
  if (name == "sort" || name == "sorted") {
    if (const Found sorted = sortedObjects(name, arguments); sorted.has_value()) return sorted;
  }
  if (name == "sort") {
    const bool is_reversed = count > 1 && arguments[1].text != "False";
    return madeCall(fmt::format("{}.sort({})", self, is_reversed ? "reverse=" + arguments[1].text : ""), Type::none());
  }
  if (name == "sorted" && count == 1) return madeCall(fmt::format("sorted({})", arguments[0].text), type);
  if ((name == "copy" || name == "list") && count == 1) return madeCall(fmt::format("{}.copy()", self), type);
  if (name == "Delete" && count == 2) return madeCall(fmt::format("{}.pop({})", self, arguments[1].text), Type::none());
  if (name == "add_" && count == 2) {
    // Its value is the list.
    const bool is_name = arguments.source(0).kind == Expr::Kind::Name;
    Expression list = is_name ? arguments[0] : Expression{kept(arguments[0], "list"), Precedence::Atom, type};
    line(fmt::format("{}.extend({})", within(list, Precedence::Atom), arguments[1].text));
    return list;
  }
  if (name == "__getitem__" && count == 2) return madeCall(fmt::format("{}[{}]", self, arguments[1].text), element);
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

// Objects are sorted by their `__lt__`.
FunctionTranslator::Found FunctionTranslator::sortedObjects(std::string_view name, const OperatorArguments& arguments) {
  const TypePtr type = arguments[0].type;
  const ClassInfo* const info = type->isList() ? unit_.classOf(type->element()) : nullptr;
  const Function* const less = info != nullptr ? info->findMethod("__lt__") : nullptr;
  if (less == nullptr || Translation::methodName(*info, "__lt__") != "less_than") return std::nullopt;
  translation_.reach(*info, *less);
  translation_.needs_library = true;
  if (name == "sort") return madeCall(fmt::format("ts.sort_objects({})", arguments.text()), Type::none());
  const std::string copy = kept(madeCall(within(arguments[0], Precedence::Atom) + ".copy()", type), "sorted_copy");
  line(fmt::format("ts.sort_objects({})", copy));
  return madeCall(copy, type);
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
  if (name == "setdefault" && count == 3) return madeCall(fmt::format("{}.setdefault({})", self, rest.text()), value);
  // There it is the first item, in a script the last.
  if (name == "popitem" && count == 1) {
    const TypePtr pair[] = {key, value};
    const std::string first = kept({self + ".keys()[0]", Precedence::Atom, key}, "key");
    return madeCall(fmt::format("({}, {}.pop({}))", first, self, first), Type::tupleOf(pair));
  }
  if (name == "clear" && count == 1) return madeCall(self + ".clear()", Type::none());
  return std::nullopt;
}

FunctionTranslator::Found FunctionTranslator::numberCall(std::string_view name, const OperatorArguments& arguments) {
  const size_t count = arguments.count();
  const Expression& first = arguments[0];
  if (name == "chr") return madeCall(fmt::format("chr({})", first.text), Type::string());
  if (name == "hex" || name == "oct" || name == "bin") {
    return madeCall(fmt::format("{}({})", name, first.text), Type::string());
  }
  if (name == "divmod" && count == 2) {
    const bool is_int = first.type == Type::integer() && arguments[1].type == Type::integer();
    const TypePtr type = is_int ? Type::integer() : Type::floating();
    const TypePtr pair[] = {type, type};
    return madeCall(fmt::format("divmod({})", arguments.text()), Type::tupleOf(pair));
  }
  const bool is_complex =
      std::ranges::any_of(arguments.values, [](const Expression& each) { return each.type == Type::complex(); });
  if (name == "abs") return madeCall(fmt::format("abs({})", first.text), is_complex ? Type::floating() : first.type);
  if (is_complex) return complexCall(name, arguments);
  // A float there, an int in a script.
  if (count == 1 && name == "round") {
    if (first.type == Type::integer()) return madeCall(fmt::format("float({})", first.text), Type::floating());
    return madeCall(fmt::format("round({}, 0)", first.text), Type::floating());
  }
  if (const SameMethod* const same = findSame(kMathFunctions, name, count); same != nullptr) {
    return madeCall(fmt::format("math::{}({})", name, arguments.text()), same->result());
  }
  if (name == "log" && count == 2) {
    return Expression{fmt::format("math::log({}) / math::log({})", first.text, arguments[1].text), Precedence::Multiply,
                      Type::floating()};
  }
  if (name == "frexp" && count == 1) {
    const TypePtr parts[] = {Type::floating(), Type::integer()};
    return madeCall(fmt::format("math::frexp({})", first.text), Type::tupleOf(parts));
  }
  if (name == "modf" && count == 1) {
    const TypePtr parts[] = {Type::floating(), Type::floating()};
    return madeCall(fmt::format("math::modf({})", first.text), Type::tupleOf(parts));
  }
  if (name == "mathremainder" && count == 2) {
    return madeCall(fmt::format("math::remainder({})", arguments.text()), Type::floating());
  }
  return std::nullopt;
}

// What Python's cmath has; an operator computes it.
FunctionTranslator::Found FunctionTranslator::complexCall(std::string_view name, const OperatorArguments& arguments) {
  if (arguments.count() != 1) return std::nullopt;
  const std::vector<OperatorHandle> overloads = Dispatcher::singleton().findOverloads(fmt::format("aten::{}", name));
  if (overloads.empty() || overloads[0].schema().arguments().size() != 1) return std::nullopt;
  const std::string value = fmt::format("tensor({}, dtype=complex128).{}()", arguments[0].text, name);
  if (name == "angle") return madeCall(fmt::format("float({})", value), Type::floating());
  translation_.needs_library = true;
  return madeCall(fmt::format("ts.complex_in({})", value), Type::complex());
}

}  // namespace boxcar::interp::torchscript
