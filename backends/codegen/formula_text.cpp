#include "backends/codegen/formula_text.h"

#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <cctype>
#include <vector>

namespace boxcar::codegen {
namespace {

class Translator final {
 public:
  Translator(std::string_view text, const FormulaNames& names) : text_(text), names_(names) {}

  std::string whole() {
    std::string result = expression();
    skipSpace();
    if (at_ != text_.size()) fail("an operator or the end");
    return result;
  }

 private:
  [[noreturn]] void fail(std::string_view expected) const {
    BOXCAR_FAIL("column {} of the formula '{}': expected {}", at_ + 1, text_, expected);
  }
  void skipSpace() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  // Takes [symbol] if it is next, and is not the beginning of a longer one.
  bool take(std::string_view symbol) {
    skipSpace();
    if (!text_.substr(at_).starts_with(symbol)) return false;
    const char next = at_ + symbol.size() < text_.size() ? text_[at_ + symbol.size()] : ' ';
    const bool is_word = std::isalpha(static_cast<unsigned char>(symbol[0])) != 0;
    if (is_word ? isNameCharacter(next) : (symbol == "*" && next == '*') || (symbol == "<" && next == '='))
      return false;
    if (!is_word && symbol == ">" && next == '=') return false;
    at_ += symbol.size();
    return true;
  }
  void expect(std::string_view symbol) {
    if (!take(symbol)) fail(fmt::format("'{}'", symbol));
  }
  static bool isNameCharacter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
  std::string takeName() {
    skipSpace();
    const size_t begin = at_;
    while (at_ < text_.size() && isNameCharacter(text_[at_])) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  std::string expression() {
    std::string value = disjunction();
    if (!take("if")) return value;
    const std::string condition = disjunction();
    expect("else");
    return fmt::format("(({}) ? {} : {})", condition, value, expression());
  }
  // Operands joined by any of [operators], from left to right.
  std::string joined(std::string (Translator::*operand)(),
                     std::initializer_list<std::pair<std::string_view, std::string_view>> operators) {
    std::string value = (this->*operand)();
    for (bool found = true; found;) {
      found = false;
      for (const auto& [written, translated] : operators) {
        if (!take(written)) continue;
        value = fmt::format("({} {} {})", value, translated, (this->*operand)());
        found = true;
        break;
      }
    }
    return value;
  }
  std::string disjunction() { return joined(&Translator::conjunction, {{"or", "||"}}); }
  std::string conjunction() { return joined(&Translator::negation, {{"and", "&&"}}); }
  std::string negation() { return take("not") ? "!" + negation() : comparison(); }
  std::string comparison() {
    return joined(&Translator::sum, {{"==", "=="}, {"!=", "!="}, {"<=", "<="}, {">=", ">="}, {"<", "<"}, {">", ">"}});
  }
  std::string sum() { return joined(&Translator::product, {{"+", "+"}, {"-", "-"}}); }
  std::string product() { return joined(&Translator::sign, {{"*", "*"}, {"/", "/"}}); }
  std::string sign() { return take("-") ? "-" + sign() : power(); }
  std::string power() {
    std::string base = operand();
    return take("**") ? fmt::format("power({}, {})", base, sign()) : base;
  }

  // The conjugate of a real tensor needs no call.
  static std::string functionName(const std::string& name) { return name == "conj" ? "conjugate" : name; }

  std::string arguments(std::string first) {
    std::vector<std::string> given;
    if (!first.empty()) given.push_back(std::move(first));
    if (!take(")")) {
      do given.push_back(expression());
      while (take(","));
      expect(")");
    }
    return fmt::format("{}", fmt::join(given, ", "));
  }

  // Takes `.attribute` if it is a property of [name], and returns its translation.
  std::string propertyOf(std::string_view name) {
    const size_t begin = at_;
    if (!take(".")) return {};
    std::string translated = names_.property(name, takeName());
    if (translated.empty()) at_ = begin;
    return translated;
  }

  std::string operand() {
    skipSpace();
    const size_t begin = at_;
    std::string value;
    if (take("(")) {
      value = fmt::format("({})", expression());
      expect(")");
    } else if (take("[")) {
      std::vector<std::string> elements;
      if (!take("]")) {
        do elements.push_back(expression());
        while (take(","));
        expect("]");
      }
      value = fmt::format("{{{}}}", fmt::join(elements, ", "));
    } else if (take("\"")) {
      const size_t end = text_.find('"', at_);
      if (end == std::string_view::npos) fail("a closing '\"'");
      value = std::string(text_.substr(begin, end + 1 - begin));
      at_ = end + 1;
    } else if (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) {
      while (at_ < text_.size() &&
             (isNameCharacter(text_[at_]) || text_[at_] == '.' || (text_[at_] == '-' && text_[at_ - 1] == 'e'))) {
        ++at_;
      }
      value = std::string(text_.substr(begin, at_ - begin));
    } else {
      const std::string name = takeName();
      if (name.empty()) fail("a number, a name, '(' or '['");
      if (name == "True" || name == "False" || name == "None") {
        value = name == "True" ? "true" : name == "False" ? "false" : "std::nullopt";
      } else if (take("(")) {
        value = fmt::format("{}({})", functionName(name), arguments({}));
      } else {
        value = propertyOf(name);
        if (value.empty()) value = names_.name(name);
        if (value.empty()) fail(fmt::format("an argument or a result, not '{}'", name));
      }
    }
    while (true) {
      if (take(".")) {
        const std::string function = takeName();
        if (function.empty()) fail("a name");
        value = fmt::format("{}({})", functionName(function), take("(") ? arguments(value) : value);
      } else if (take("[")) {
        value = fmt::format("{}[{}]", value, expression());
        expect("]");
      } else {
        return value;
      }
    }
  }

  std::string_view text_;
  const FormulaNames& names_;
  size_t at_ = 0;
};

}  // namespace

std::string translateFormula(std::string_view text, const FormulaNames& names) {
  return Translator(text, names).whole();
}

std::vector<std::string> termsOf(std::string_view text) {
  std::vector<std::string> terms(1);
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
    const std::string_view left = text.substr(i);
    if (depth == 0 && left.starts_with(" if ")) return {std::string(text)};
    if (depth == 0 && (left.starts_with(" + ") || left.starts_with(" - "))) {
      terms.emplace_back(text[i + 1] == '-' ? "-" : "");
      i += 2;
    } else {
      terms.back() += c;
    }
  }
  return terms;
}

}  // namespace boxcar::codegen
