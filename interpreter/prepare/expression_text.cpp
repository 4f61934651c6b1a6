#include <boxcar/interpreter/bytecode/builtins.h>
#include <boxcar/interpreter/prepare/expression_text.h>
#include <boxcar/ivalue/python_text.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

namespace boxcar::interp {

using boost::variant2::get_if;

std::optional<std::string> constantText(const IValue& value, std::optional<int32_t> size) {
  if (value.isNone()) return "None";
  if (value.isBool()) return std::string(pythonBool(value.toBool()));
  if (value.isInt()) return std::to_string(value.toInt());
  if (value.isDouble()) return pythonFloat(value.toDouble());
  if (value.isString()) {
    // As the formatter of imported models writes them.
    const std::string& text = value.toStringRef();
    const bool is_plain = std::ranges::none_of(text, [](char c) { return c == '"' || c == '\\' || c < ' '; });
    return is_plain ? fmt::format("\"{}\"", text) : pythonStringRepr(text);
  }
  if (!value.isList()) return std::nullopt;
  std::vector<std::string> items;
  for (size_t i = 0; i < value.length(); ++i) {
    const auto item = constantText(value.elementAt(i));
    if (!item) return std::nullopt;
    items.push_back(*item);
  }
  if (size && !items.empty() && static_cast<size_t>(*size) == items.size() &&
      std::ranges::all_of(items, [&items](const std::string& each) { return each == items[0]; })) {
    return items[0];
  }
  return fmt::format("[{}]", fmt::join(items, ", "));
}

const typed::Expr* wrappedNumber(const typed::Expr& expr) {
  if (const auto* converted = get_if<typed::Operate>(&expr.node)) {
    return converted->op == Opcode::Convert ? wrappedNumber(*converted->left) : nullptr;
  }
  const auto* call = get_if<typed::CallBuiltin>(&expr.node);
  if (call == nullptr || builtins()[call->builtin].name() != "wrapped_number") return nullptr;
  return call->arguments[0].get();
}

std::optional<std::string> textOf(const typed::Expr& expr, const SourcePtr& source, std::optional<int32_t> size) {
  if (const auto* constant = get_if<typed::Constant>(&expr.node)) {
    // Dtypes and their like are ints, which only the text names.
    const bool is_named = expr.type->kind() == TypeKind::ScalarType || expr.type->kind() == TypeKind::MemoryFormat ||
                          expr.type->kind() == TypeKind::Layout;
    if (!is_named) return constantText(constant->value, size);
  }
  if (const auto* list = get_if<typed::MakeList>(&expr.node)) {
    std::vector<std::string> items;
    for (const typed::ExprPtr& item : list->items) {
      const auto text = textOf(*item, source);
      if (!text) return std::nullopt;
      items.push_back(*text);
    }
    const bool is_one = size && !items.empty() && static_cast<size_t>(*size) == items.size() &&
                        std::ranges::all_of(items, [&items](const std::string& each) { return each == items[0]; });
    return is_one ? items[0] : fmt::format("[{}]", fmt::join(items, ", "));
  }
  if (get_if<typed::Sequence>(&expr.node) != nullptr || wrappedNumber(expr) != nullptr) return std::nullopt;
  return std::string(source->text(expr.span));
}

std::string inParentheses(std::string text) {
  int depth = 0;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == '\\') ++i;
      if (c == quote) quote = 0;
      continue;
    }
    if (c == '"' || c == '\'') quote = c;
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    const bool is_word = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == ':';
    if (depth == 0 && !is_word && quote == 0 && c != ')' && c != ']' && c != '"' && c != '\'') {
      return fmt::format("({})", text);
    }
  }
  return text;
}

std::string callText(std::string_view callee, const FunctionSchema& schema,
                     const std::vector<ArgumentText>& arguments) {
  std::vector<std::string> parts;
  bool by_name = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ArgumentText& each = arguments[i];
    by_name =
        by_name || !each.text || schema.arguments()[i].kwarg_only() || (schema.arguments()[i].default_value() && i > 2);
    if (!each.text) continue;
    parts.push_back(by_name ? fmt::format("{}={}", each.name, *each.text) : *each.text);
  }
  return fmt::format("{}({})", callee, fmt::join(parts, ", "));
}

std::string_view calleeText(const OperatorName& name) {
  constexpr std::string_view kAten = "aten::";
  const std::string_view text = name.name;
  return text.starts_with(kAten) ? text.substr(kAten.size()) : text;
}

}  // namespace boxcar::interp
