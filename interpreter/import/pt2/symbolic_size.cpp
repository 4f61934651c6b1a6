#include <boxcar/interpreter/import/pt2/symbolic_size.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

namespace boxcar::interp::pt2 {
namespace {

// A text, and whether it must stand in parentheses as a factor.
struct Term {
  std::string text;
  bool is_sum = false;
};

class SizeParser final {
 public:
  explicit SizeParser(std::string_view text) : left_(text) {}

  std::optional<std::string> whole() {
    std::optional<Term> term = expression(0);
    if (!term.has_value() || !left_.empty()) return std::nullopt;
    return std::move(term->text);
  }

 private:
  static constexpr int kMostDepth = 64;

  bool take(std::string_view sign) {
    while (left_.starts_with(' ')) left_.remove_prefix(1);
    if (!left_.starts_with(sign)) return false;
    left_.remove_prefix(sign.size());
    return true;
  }

  std::string_view word() {
    while (left_.starts_with(' ')) left_.remove_prefix(1);
    const auto isOfWord = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    };
    size_t length = 0;
    while (length < left_.size() && isOfWord(left_[length])) ++length;
    const std::string_view found = left_.substr(0, length);
    left_.remove_prefix(length);
    return found;
  }

  std::optional<Term> expression(int depth) {
    if (depth > kMostDepth) return std::nullopt;
    const std::string_view name = word();
    if (name.empty() || !take("(")) return std::nullopt;
    if (name == "Symbol") return symbol();
    if (name == "Integer") {
      const std::string_view digits = word();
      if (digits.empty() || !take(")")) return std::nullopt;
      return Term{std::string(digits), digits.starts_with('-')};
    }
    std::vector<Term> terms;
    do {
      std::optional<Term> term = expression(depth + 1);
      if (!term.has_value()) return std::nullopt;
      terms.push_back(std::move(*term));
    } while (take(","));
    if (!take(")")) return std::nullopt;
    return combined(name, terms);
  }

  // 's77', positive=True, integer=True)
  std::optional<Term> symbol() {
    if (!take("'")) return std::nullopt;
    const std::string name(word());
    const size_t end = left_.find(')');
    if (!take("'") || end == std::string_view::npos) return std::nullopt;
    left_.remove_prefix(left_.find(')') + 1);
    return Term{name, false};
  }

  static std::string factor(const Term& term) { return term.is_sum ? fmt::format("({})", term.text) : term.text; }

  static std::optional<Term> combined(std::string_view name, const std::vector<Term>& terms) {
    const auto joined = [&](std::string_view sign) {
      std::vector<std::string> texts;
      for (const Term& term : terms) texts.push_back(factor(term));
      return fmt::format("{}", fmt::join(texts, sign));
    };
    if (name == "Add") {
      std::string sum;
      for (const Term& term : terms) {
        if (sum.empty()) {
          sum = term.text;
        } else if (term.text.starts_with('-')) {
          sum += " - " + term.text.substr(1);
        } else {
          sum += " + " + term.text;
        }
      }
      return Term{std::move(sum), true};
    }
    if (name == "Mul") return Term{joined("*"), false};
    if (terms.size() == 2 && name == "Pow") return Term{factor(terms[0]) + "**" + factor(terms[1]), false};
    if (terms.size() == 2 && (name == "FloorDiv" || name == "CleanDiv" || name == "IntTrueDiv")) {
      return Term{factor(terms[0]) + "//" + factor(terms[1]), true};
    }
    if (terms.size() == 2 && (name == "Mod" || name == "PythonMod")) {
      return Term{factor(terms[0]) + " % " + factor(terms[1]), true};
    }
    std::string function(name);
    std::ranges::transform(function, function.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
    std::vector<std::string> texts;
    for (const Term& term : terms) texts.push_back(term.text);
    return Term{fmt::format("{}({})", function, fmt::join(texts, ", ")), false};
  }

  std::string_view left_;
};

}  // namespace

std::string readableSize(std::string_view expression) {
  return SizeParser(expression).whole().value_or(std::string(expression));
}

}  // namespace boxcar::interp::pt2
