#include <boxcar/interpreter/prepare/constant_folding.h>
#include <boxcar/interpreter/prepare/expression_text.h>
#include <boxcar/interpreter/prepare/known_values.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace boxcar::interp {

using boost::variant2::get_if;

namespace {

bool isWrittenAs(const IValue& value, TypePtr type) {
  switch (type->kind()) {
    case TypeKind::Bool: return value.isBool();
    case TypeKind::Int: return value.isInt();
    case TypeKind::Float: return value.isDouble() && std::isfinite(value.toDouble());
    case TypeKind::String: return value.isString();
    case TypeKind::List: {
      if (!value.isList() || value.length() == 0) return false;
      for (size_t i = 0; i < value.length(); ++i) {
        if (!isWrittenAs(value.elementAt(i), type->element())) return false;
      }
      return true;
    }
    default: return false;
  }
}

// Whether [expr] may compute something. The others are values as they are, or, as slices are, no values.
bool isComputed(const syntax::Expr& expr) {
  return boost::variant2::visit(
      []<class T>(const T&) {
        return std::is_same_v<T, syntax::FormattedString> || std::is_same_v<T, syntax::Unary> ||
               std::is_same_v<T, syntax::Binary> || std::is_same_v<T, syntax::Logical> ||
               std::is_same_v<T, syntax::Comparison> || std::is_same_v<T, syntax::Conditional> ||
               std::is_same_v<T, syntax::Call> || std::is_same_v<T, syntax::MethodCall> ||
               std::is_same_v<T, syntax::Index> || std::is_same_v<T, syntax::ListLiteral>;
      },
      expr.node);
}

// What an expression is a part of.
enum class Context : uint8_t { Alone, Operand, Object };

// The changes to one function.
class FoldingPass final {
 public:
  FoldingPass(const Source& source, const KnownValues& values, std::vector<Edit>& edits)
      : source_(source), values_(values), edits_(edits) {}

  void visit(const syntax::Block& block) {
    bool is_over = false;
    for (const syntax::StmtPtr& statement : block.statements) {
      if (is_over) {
        edits_.push_back(withoutStatement(source_, statement->span));
        continue;
      }
      visit(*statement);
      // What follows them never runs.
      is_over =
          get_if<syntax::Return>(&statement->node) != nullptr || get_if<syntax::Raise>(&statement->node) != nullptr ||
          get_if<syntax::Break>(&statement->node) != nullptr || get_if<syntax::Continue>(&statement->node) != nullptr;
    }
  }

 private:
  void visit(const syntax::Stmt& statement) {
    boost::variant2::visit(
        [&]<class T>(const T& node) {
          if constexpr (std::is_same_v<T, syntax::If>) {
            visitIf(node, statement.span);
          } else if constexpr (std::is_same_v<T, syntax::While>) {
            if (known(node.condition) == false) {
              edits_.push_back(withoutStatement(source_, statement.span));
              return;
            }
            visit(node.condition);
            visit(node.body);
          } else if constexpr (std::is_same_v<T, syntax::Assert>) {
            // Others stay as they are: their texts are those of errors.
            if (known(node.condition) == true) edits_.push_back(withoutStatement(source_, statement.span));
          } else {
            if constexpr (requires { node.value; }) visit(node.value);
            if constexpr (requires { node.iterable; }) visit(node.iterable);
            if constexpr (requires { node.message; }) visit(node.message);
            if constexpr (std::is_same_v<T, syntax::For> || std::is_same_v<T, syntax::With>) visit(node.body);
          }
        },
        statement.node);
  }

  std::optional<bool> known(const syntax::ExprPtr& condition) const {
    const KnownValues::Value* value = values_.at(condition->span);
    if (value == nullptr || !value->value.isBool()) return std::nullopt;
    return value->value.toBool();
  }

  void remove(uint32_t begin, uint32_t end, std::string text = {}) {
    edits_.push_back({{begin, end}, std::move(text)});
  }

  void visitIf(const syntax::If& statement, Span span) {
    const syntax::If::Branch* last = nullptr;  // of those that stay
    uint32_t end = span.begin;                 // of what stays
    for (const syntax::If::Branch& branch : statement.branches) {
      const auto holds = known(branch.condition);
      if (holds == false) continue;
      if (holds == true) return finishIf(branch.body, last, end, span);
      if (last == nullptr) {
        if (&branch != &statement.branches[0]) remove(span.begin, branch.condition->span.begin, "if ");
      } else if (&branch != last + 1) {
        remove(end, branch.condition->span.begin, " elif ");
      }
      visit(branch.condition);
      visit(branch.body);
      last = &branch;
      end = branch.body.span.end;
    }
    if (statement.otherwise) {
      if (last == &statement.branches.back()) return visit(*statement.otherwise);
      return finishIf(*statement.otherwise, last, end, span);
    }
    if (last == nullptr) {
      edits_.push_back(withoutStatement(source_, span));
    } else {
      if (end != span.end) remove(end, span.end);
    }
  }

  // [body] runs where no branch up to [last], which ends at [kept], does.
  void finishIf(const syntax::Block& body, const syntax::If::Branch* last, uint32_t kept, Span span) {
    if (last != nullptr) {
      remove(kept, body.span.begin, " else ");
      visit(body);
      if (body.span.end != span.end) remove(body.span.end, span.end);
      return;
    }
    if (body.statements.empty()) {
      edits_.push_back(withoutStatement(source_, span));
      return;
    }
    // Its statements take the place of the whole, without the blanks around them, unless these go with a statement.
    const std::string_view text = source_.text();
    const size_t own_edits = edits_.size();
    visit(body);
    auto first = static_cast<uint32_t>(text.find_first_not_of(" \t\n", body.span.begin + 1));
    auto end = static_cast<uint32_t>(text.find_last_not_of(" \t\n", body.span.end - 2) + 1);
    for (const Edit& edit : std::span(edits_).subspan(own_edits)) {
      first = std::min(first, edit.span.begin);
      end = std::max(end, edit.span.end);
    }
    remove(span.begin, first);
    const size_t next = text.find_first_not_of(" \t", span.end);
    const bool ends_line = next == std::string_view::npos || text[next] == '\n';
    // A statement that goes last takes its line's end with it.
    const bool is_line_over = end != 0 && text[end - 1] == '\n' && ends_line && next != std::string_view::npos;
    remove(end, is_line_over ? static_cast<uint32_t>(next + 1) : span.end, ends_line ? "" : "\n");
  }

  void visit(const syntax::ExprPtr& expr, Context context = Context::Alone) {
    if (expr == nullptr || writeValue(*expr, context)) return;
    boost::variant2::visit(
        [&]<class T>(const T& node) {
          if constexpr (std::is_same_v<T, syntax::Conditional>) {
            visitConditional(node, expr->span);
          } else if constexpr (std::is_same_v<T, syntax::Comparison>) {
            visit(node.first, Context::Operand);
            for (const syntax::ComparisonLink& link : node.links) visit(link.operand, Context::Operand);
          } else if constexpr (std::is_same_v<T, syntax::DictLiteral>) {
            for (const syntax::DictItem& item : node.items) {
              visit(item.key);
              visit(item.value);
            }
          } else if constexpr (std::is_same_v<T, syntax::Comprehension>) {
            visit(node.element);
            for (const syntax::ComprehensionClause& clause : node.clauses) {
              visit(clause.iterable);
              for (const syntax::ExprPtr& condition : clause.conditions) visit(condition);
            }
          } else {
            if constexpr (requires { node.operand; }) visit(node.operand, Context::Operand);
            if constexpr (requires { node.left; }) visit(node.left, Context::Operand);
            if constexpr (requires { node.right; }) visit(node.right, Context::Operand);
            if constexpr (requires { node.operands; }) {
              for (const syntax::ExprPtr& operand : node.operands) visit(operand, Context::Operand);
            }
            if constexpr (requires { node.object; }) visit(node.object, Context::Object);
            if constexpr (requires { node.index; }) visit(node.index);
            if constexpr (requires { node.items; }) {
              for (const syntax::ExprPtr& item : node.items) visit(item);
            }
            if constexpr (requires { node.arguments; }) {
              for (const syntax::Argument& argument : node.arguments) visit(argument.value);
            }
            if constexpr (std::is_same_v<T, syntax::Slice>) {
              visit(node.start);
              visit(node.stop);
              visit(node.step);
            }
          }
        },
        expr->node);
  }

  void visitConditional(const syntax::Conditional& node, Span span) {
    const auto choice = values_.choiceAt(span);
    if (!choice) {
      visit(node.value, Context::Operand);
      visit(node.condition, Context::Operand);
      visit(node.otherwise, Context::Operand);
      return;
    }
    // Parentheses around the whole stay.
    if (*choice) {
      visit(node.value, Context::Operand);
      remove(node.value->span.end, node.otherwise->span.end);
    } else {
      remove(node.value->span.begin, node.otherwise->span.begin);
      visit(node.otherwise, Context::Operand);
    }
  }

  // Writes the value of [expr] in its place if that is shorter.
  bool writeValue(const syntax::Expr& expr, Context context) {
    if (!isComputed(expr)) return false;
    const KnownValues::Value* known = values_.at(expr.span);
    if (known == nullptr || !isWrittenAs(known->value, known->type)) return false;
    auto text = constantText(known->value);
    if (!text) return false;
    const bool is_number = known->value.isInt() || known->value.isDouble();
    const bool has_sign = is_number && text->starts_with('-');
    if ((context == Context::Operand && has_sign) || (context == Context::Object && is_number)) {
      text = fmt::format("({})", *text);
    }
    if (text->size() >= expr.span.end - expr.span.begin) return false;
    edits_.push_back({expr.span, std::move(*text)});
    return true;
  }

  const Source& source_;
  const KnownValues& values_;
  std::vector<Edit>& edits_;
};

}  // namespace

std::vector<Edit> foldConstants(const TypedScript& script) {
  std::vector<Edit> edits;
  const std::map<uint32_t, IValue> globals = knownGlobals(script);
  for (const TypedFunction& function : script.functions()) {
    FoldingPass(*script.source(), KnownValues(function, globals), edits).visit(*function.declared->body);
  }
  return edits;
}

}  // namespace boxcar::interp
