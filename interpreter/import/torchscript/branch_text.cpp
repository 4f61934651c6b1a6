#include <boxcar/interpreter/import/torchscript/function_translator.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

// `if`, and what is said more briefly without.

namespace boxcar::interp::torchscript {
namespace {

constexpr std::string_view kIsNotNone = " is not None";
constexpr std::string_view kIsNone = " is None";

bool isVariable(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

// Returns the variable that a condition compares with None, `x is None`; empty if it is none.
std::string_view comparedWithNone(const Expression& condition, std::string_view comparison) {
  std::string_view text = condition.text;
  if (condition.binding != Precedence::Compare || !text.ends_with(comparison)) return {};
  text.remove_suffix(comparison.size());
  return isVariable(text) ? text : std::string_view();
}

// Returns the variables that are not None where a condition is [holds].
std::vector<std::string> notNoneWhere(const Expression& condition, bool holds) {
  const std::string_view comparison = holds ? kIsNotNone : kIsNone;
  const std::string_view compared = comparedWithNone(condition, comparison);
  if (!compared.empty()) return {std::string(compared)};
  // `x is not None and …`, `x is None or …`
  if (condition.binding != (holds ? Precedence::And : Precedence::Or)) return {};
  std::vector<std::string> found;
  std::string_view rest = condition.text;
  const std::string behind = fmt::format("{}{}", comparison, holds ? " and " : " or ");
  while (true) {
    const size_t end = rest.find(' ');
    if (end == std::string_view::npos || !isVariable(rest.substr(0, end))) return found;
    const bool is_last = rest.substr(end) == comparison;
    if (!is_last && !rest.substr(end).starts_with(behind)) return found;
    found.emplace_back(rest.substr(0, end));
    if (is_last) return found;
    rest.remove_prefix(end + behind.size());
  }
}

// Returns where [sign] is in a text, if that is the only thing there that compares; npos otherwise.
size_t onlyComparison(std::string_view text, std::string_view sign) {
  constexpr auto kOthers = std::to_array<std::string_view>(
      {" == ", " != ", " < ", " > ", " <= ", " >= ", " in ", " is ", " not ", "not ", " and ", " or ", " if ", "\""});
  const size_t at = text.find(sign);
  if (at == std::string_view::npos || text.find(sign, at + 1) != std::string_view::npos) return std::string_view::npos;
  const bool has_other = std::ranges::any_of(
      kOthers, [&](std::string_view other) { return other != sign && text.find(other) != std::string_view::npos; });
  int depth = 0;
  for (const char c : text.substr(0, at)) depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
  return has_other || depth != 0 ? std::string_view::npos : at;
}

// Whether a text has calls other than those that only ask.
bool mayHaveEffect(std::string_view text) {
  constexpr auto kAsking =
      std::to_array<std::string_view>({"isinstance", "len", "size", "dim", "numel", "int", "float", "bool",
                                       "is_floating_point", "and", "or", "not", "in", "if", "else"});
  for (size_t at = text.find('('); at != std::string_view::npos; at = text.find('(', at + 1)) {
    const size_t end = at > 0 && text[at - 1] == ' ' ? at - 1 : at;  // `and (`
    size_t begin = end;
    while (begin > 0 && isVariable(text.substr(begin - 1, 1))) --begin;
    const std::string_view callee = text.substr(begin, end - begin);
    const bool is_call = end == at && begin > 0 && text[begin - 1] == '\x02';
    if (is_call || (!callee.empty() && std::ranges::find(kAsking, callee) == kAsking.end())) return true;
  }
  return false;
}

// Returns `not c`.
Expression negated(const Expression& condition) {
  std::string_view compared = comparedWithNone(condition, kIsNotNone);
  if (!compared.empty()) return {fmt::format("{}{}", compared, kIsNone), Precedence::Compare, Type::boolean()};
  compared = comparedWithNone(condition, kIsNone);
  if (!compared.empty()) return {fmt::format("{}{}", compared, kIsNotNone), Precedence::Compare, Type::boolean()};
  if (condition.binding == Precedence::Compare) {
    // `a == b` of what are no tensors, because it is a bool.
    constexpr std::string_view kEqual = " == ";
    constexpr std::string_view kUnequal = " != ";
    const size_t equal = onlyComparison(condition.text, kEqual);
    const size_t unequal = onlyComparison(condition.text, kUnequal);
    if (equal != std::string::npos || unequal != std::string::npos) {
      std::string text = condition.text;
      text.replace(std::min(equal, unequal), kEqual.size(), equal != std::string::npos ? kUnequal : kEqual);
      return {std::move(text), Precedence::Compare, Type::boolean()};
    }
  }
  if (condition.binding == Precedence::Compare) {
    if (const size_t at = onlyComparison(condition.text, " in "); at != std::string::npos) {
      std::string text = condition.text;
      text.insert(at, " not");
      return {std::move(text), Precedence::Compare, Type::boolean()};
    }
  }
  return {"not " + within(condition, Precedence::Not), Precedence::Not, Type::boolean()};
}

// Returns the line that begins the `if`, `for`, … that line [end] ends, and of an `if` the lines that begin its
// branches.
std::vector<size_t> headsOf(const std::vector<std::string>& lines, size_t end) {
  std::vector<size_t> heads;
  int depth = 0;
  for (size_t i = end + 1; i-- > 0;) {
    const bool ends = lines[i].starts_with('}');
    const bool begins = lines[i].ends_with('{');
    if (begins) --depth;
    if (begins && depth == 0) heads.push_back(i);
    if (ends) ++depth;
    if (begins && !ends && depth == 0) break;
  }
  std::ranges::reverse(heads);
  return heads;
}

// Finds the lines `name = …` that end the branches of the `if` that line [end] ends, and those that begin a last
// `else`, with the ends of their `if`s. Returns false if a branch ends otherwise.
bool findLastAssignments(const std::vector<std::string>& lines, size_t end, const std::string& assignment,
                         std::vector<size_t>& assignments, std::vector<std::pair<size_t, size_t>>& elses) {
  const std::vector<size_t> heads = headsOf(lines, end);
  if (heads.size() < 2 || !lines[heads[0]].starts_with("if ") || lines[heads.back()] != "} else {") return false;
  for (size_t i = 0; i < heads.size(); ++i) {
    const size_t last = (i + 1 < heads.size() ? heads[i + 1] : end) - 1;
    if (lines[last].starts_with("raise ")) continue;
    if (lines[last].starts_with(assignment)) {
      assignments.push_back(last);
    } else if (lines[last] != "}" || !findLastAssignments(lines, last, assignment, assignments, elses)) {
      return false;
    }
  }
  elses.emplace_back(heads.back(), end);
  return true;
}

// Whether lines are an `if` with its branches, and nothing else.
bool isOneIf(const std::vector<std::string>& lines) {
  if (lines.empty() || !lines[0].starts_with("if ")) return false;
  size_t depth = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].starts_with('}')) --depth;
    if (lines[i].ends_with('{')) ++depth;
    if (depth == 0 && i + 1 < lines.size()) return false;
  }
  return true;
}

}  // namespace

void FunctionTranslator::branch(const Stmt& statement, const Stmt* next) {
  const Expression text = expression(*statement.values[0]);
  const bool is_literal = text.text == "True" || text.text == "False";
  if (is_literal) {
    const bool holds = text.text == "True";
    forgetUses(holds ? statement.otherwise : statement.body);
    return block(holds ? statement.body : statement.otherwise);
  }
  const auto known = not_none_;
  const auto had_value = has_value_;
  std::vector<std::string> before = std::move(lines_);
  const auto translated = [&](const Block& statements, bool holds) {
    lines_.clear();
    not_none_ = known;
    has_value_ = had_value;
    for (std::string& name : notNoneWhere(text, holds)) not_none_.insert(std::move(name));
    ++branches_;
    block(statements);
    --branches_;
    return std::exchange(lines_, {});
  };
  const auto raises = [this](const Block& statements) {
    return std::ranges::any_of(statements, [this](const StmtPtr& each) { return isRaised(*each); });
  };
  std::vector<std::string> body = translated(statement.body, true);
  const Assigned chosen = assigned_;
  const auto not_none = std::move(not_none_);
  const auto has_value = std::move(has_value_);
  std::vector<std::string> otherwise = translated(statement.otherwise, false);
  const Assigned other = assigned_;
  lines_ = std::move(before);
  if (raises(statement.otherwise)) {
    not_none_ = not_none;
    has_value_ = has_value;
  } else if (!raises(statement.body)) {
    // What is known after both was known before, or is not known to the language.
    std::erase_if(not_none_,
                  [&](const std::string& name) { return !known.contains(name) || !not_none.contains(name); });
    joinWith(has_value);
  }
  if (body.empty() && otherwise.empty()) {
    if (mayHaveEffect(text.text)) line(text.text);
    return;
  }
  const bool are_assignments = body.size() == 1 && otherwise.size() == 1 && body[0] == chosen.line &&
                               otherwise[0] == other.line && chosen.target == other.target;
  if (are_assignments && assignOfBranches(text, chosen, other, next)) return;
  if (body.empty()) {
    line(fmt::format("if {} {{", negated(text).text));
    std::ranges::move(otherwise, std::back_inserter(lines_));
    return line("}");
  }
  line(fmt::format("if {} {{", text.text));
  std::ranges::move(body, std::back_inserter(lines_));
  if (isOneIf(otherwise)) {
    otherwise[0] = "} el" + otherwise[0];
    std::ranges::move(otherwise, std::back_inserter(lines_));
    return;
  }
  if (!otherwise.empty()) {
    line("} else {");
    std::ranges::move(otherwise, std::back_inserter(lines_));
  }
  line("}");
}

// `if c { x = a } else { x = b }`, `return x`: each branch returns.
void FunctionTranslator::returnFromBranches() {
  constexpr std::string_view kReturn = "return ";
  if (lines_.size() < 2 || !lines_.back().starts_with(kReturn) || lines_[lines_.size() - 2] != "}") return;
  const std::string name = lines_.back().substr(kReturn.size());
  if (!isVariable(name)) return;
  const std::string assignment = name + " = ";
  std::vector<size_t> assignments;
  std::vector<std::pair<size_t, size_t>> elses;
  if (!findLastAssignments(lines_, lines_.size() - 2, assignment, assignments, elses)) return;
  for (const size_t i : assignments) lines_[i] = fmt::format("{}{}", kReturn, lines_[i].substr(assignment.size()));
  lines_.back().clear();
  for (const auto& [begin, end] : elses) {
    lines_[begin] = "}";
    lines_[end].clear();
  }
  std::erase(lines_, std::string());
}

bool FunctionTranslator::assignOfBranches(const Expression& condition, const Assigned& chosen, const Assigned& other,
                                          const Stmt* next) {
  if (chosen.value.type != Type::boolean() || other.value.type != Type::boolean()) return false;
  const auto isTrue = [](const Assigned& each) { return each.value.text == "True"; };
  const auto isFalse = [](const Assigned& each) { return each.value.text == "False"; };
  const auto joinedBy = [](const Expression& left, std::string_view word, const Expression& right, Precedence binding) {
    return Expression{fmt::format("{} {} {}", within(left, binding), word, within(right, binding)), binding,
                      Type::boolean()};
  };
  Expression value;
  if (isTrue(chosen)) {
    value = isFalse(other) ? condition : joinedBy(condition, "or", other.value, Precedence::Or);
  } else if (isFalse(other)) {
    value = joinedBy(condition, "and", chosen.value, Precedence::And);
  } else if (isFalse(chosen)) {
    const Expression otherwise = negated(condition);
    value = isTrue(other) ? otherwise : joinedBy(otherwise, "and", other.value, Precedence::And);
  } else if (isTrue(other)) {
    value = joinedBy(negated(condition), "or", chosen.value, Precedence::Or);
  } else {
    return false;
  }
  value.type = Type::boolean();
  const bool is_moved = chosen.variable == other.variable && definitions_[chosen.variable] == 2 &&
                        value.text.size() < kLongestMoved && canMove(chosen.variable, next);
  if (is_moved) {
    Variable variable{std::move(value)};
    variable.is_text = true;
    variables_.insert_or_assign(chosen.variable, std::move(variable));
  } else {
    assignLine(chosen.variable, chosen.target, value);
  }
  return true;
}

}  // namespace boxcar::interp::torchscript
