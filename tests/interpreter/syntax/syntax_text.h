#pragma once

// Syntax trees as S-expressions, for tests.

#include <boxcar/interpreter/syntax/ast.h>
#include <fmt/format.h>

#include <string>
#include <vector>

namespace boxcar::syntax {

std::string textOf(const Expr& expr, const Source& source);
std::string textOf(const Stmt& stmt, const Source& source);

struct SyntaxText {
  const Source& source;

  std::string operator()(const ExprPtr& expr) const { return expr ? textOf(*expr, source) : "_"; }
  std::string operator()(const std::vector<ExprPtr>& all) const {
    std::string out;
    for (const ExprPtr& expr : all) out += " " + (*this)(expr);
    return out;
  }
  std::string operator()(const QualifiedName& name) const {
    return fmt::format("{}{}{}{}{}", name.space.text, name.space ? "::" : "", name.name.text, name.overload ? "." : "",
                       name.overload.text);
  }
  std::string operator()(const std::vector<Argument>& all) const {
    std::string out;
    for (const Argument& argument : all) {
      out += fmt::format(" {}{}{}", argument.keyword.text, argument.keyword ? "=" : "", (*this)(argument.value));
    }
    return out;
  }
  std::string operator()(const Targets& targets) const {
    const std::string items = (*this)(targets.items).substr(1);
    return targets.unpacks ? fmt::format("<{}>", items) : items;
  }
  std::string operator()(const Block& block) const {
    std::string out;
    for (const StmtPtr& stmt : block.statements) out += (out.empty() ? "" : " ") + textOf(*stmt, source);
    return "{" + out + "}";
  }
  std::string operator()(const std::optional<Block>& block) const { return block ? " " + (*this)(*block) : ""; }

  // Expressions.
  std::string operator()(const NoneLiteral&) const { return "None"; }
  std::string operator()(const BoolLiteral& node) const { return node.value ? "True" : "False"; }
  std::string operator()(const IntLiteral& node) const { return fmt::format("{}", node.value); }
  std::string operator()(const FloatLiteral& node) const { return fmt::format("{:#}", node.value); }
  std::string operator()(const ImaginaryLiteral& node) const { return fmt::format("{:#}j", node.value); }
  std::string operator()(const StringLiteral& node) const { return fmt::format("\"{}\"", node.value); }
  std::string operator()(const FormatSpec& spec) const {
    return fmt::format("{}{}{}{}{}{}{}{}", spec.fill, spec.align ? std::string(1, spec.align) : "",
                       spec.plus ? "+" : "", spec.zero ? "0" : "", spec.width ? fmt::format("{}", *spec.width) : "",
                       spec.comma ? "," : "", spec.precision ? fmt::format(".{}", *spec.precision) : "",
                       spec.type ? std::string(1, spec.type) : "");
  }
  std::string operator()(const FormattedString& node) const {
    std::string out;
    for (const auto& part : node.parts) {
      if (const auto* text = boost::variant2::get_if<std::string>(&part)) {
        out += fmt::format(" \"{}\"", *text);
      } else {
        const auto& field = boost::variant2::get<FormatField>(part);
        out += fmt::format(" {{{}{}}}", (*this)(field.value), field.spec ? ":" + (*this)(*field.spec) : "");
      }
    }
    return fmt::format("(f{})", out);
  }
  std::string operator()(const ListLiteral& node) const { return fmt::format("(list{})", (*this)(node.items)); }
  std::string operator()(const TupleLiteral& node) const { return fmt::format("(tuple{})", (*this)(node.items)); }
  std::string operator()(const DictLiteral& node) const {
    std::string out = "(dict";
    for (const DictItem& item : node.items) out += fmt::format(" {}:{}", (*this)(item.key), (*this)(item.value));
    return out + ")";
  }
  std::string operator()(const Comprehension& node) const {
    std::string out = "(each " + (*this)(node.element);
    for (const ComprehensionClause& clause : node.clauses) {
      out += fmt::format(" for {} in {}", (*this)(clause.targets), (*this)(clause.iterable));
      for (const ExprPtr& condition : clause.conditions) out += " if " + (*this)(condition);
    }
    return out + ")";
  }
  std::string operator()(const NameRef& node) const { return (*this)(node.name); }
  std::string operator()(const Unary& node) const {
    return fmt::format("({} {})", toString(node.op), (*this)(node.operand));
  }
  std::string operator()(const Binary& node) const {
    return fmt::format("({} {} {})", toString(node.op), (*this)(node.left), (*this)(node.right));
  }
  std::string operator()(const Logical& node) const {
    return fmt::format("({}{})", toString(node.op), (*this)(node.operands));
  }
  std::string operator()(const Comparison& node) const {
    std::string out = "(compare " + (*this)(node.first);
    for (const ComparisonLink& link : node.links) {
      out += fmt::format(" {} {}", toString(link.op), (*this)(link.operand));
    }
    return out + ")";
  }
  std::string operator()(const Conditional& node) const {
    return fmt::format("(if {} {} {})", (*this)(node.condition), (*this)(node.value), (*this)(node.otherwise));
  }
  std::string operator()(const Attribute& node) const {
    return fmt::format("(. {} {})", (*this)(node.object), node.name.text);
  }
  std::string operator()(const Call& node) const {
    return fmt::format("(call {}{})", (*this)(node.callee), (*this)(node.arguments));
  }
  std::string operator()(const MethodCall& node) const {
    return fmt::format("(method {} {}{})", (*this)(node.object), node.method.text, (*this)(node.arguments));
  }
  std::string operator()(const Index& node) const {
    return fmt::format("(at {} {})", (*this)(node.object), (*this)(node.index));
  }
  std::string operator()(const Slice& node) const {
    return fmt::format("(slice {} {} {})", (*this)(node.start), (*this)(node.stop), (*this)(node.step));
  }
  std::string operator()(const Ellipsis&) const { return "..."; }

  // Statements.
  std::string operator()(const ExpressionStatement& node) const { return (*this)(node.value); }
  std::string operator()(const Assign& node) const {
    return fmt::format("(= {} {})", (*this)(node.targets), (*this)(node.value));
  }
  std::string operator()(const TypedAssign& node) const {
    return fmt::format("(= {}:`{}` {})", node.name.text, source.text(node.type), (*this)(node.value));
  }
  std::string operator()(const AugmentedAssign& node) const {
    return fmt::format("({}= {} {})", toString(node.op), (*this)(node.target), (*this)(node.value));
  }
  std::string operator()(const If& node) const {
    std::string out = "(if";
    for (const If::Branch& branch : node.branches) {
      out += fmt::format(" {} {}", (*this)(branch.condition), (*this)(branch.body));
    }
    return out + (*this)(node.otherwise) + ")";
  }
  std::string operator()(const While& node) const {
    return fmt::format("(while {} {})", (*this)(node.condition), (*this)(node.body));
  }
  std::string operator()(const For& node) const {
    return fmt::format("(for {} {} {})", (*this)(node.targets), (*this)(node.iterable), (*this)(node.body));
  }
  std::string operator()(const Break&) const { return "(break)"; }
  std::string operator()(const Continue&) const { return "(continue)"; }
  std::string operator()(const Return& node) const { return fmt::format("(return {})", (*this)(node.value)); }
  std::string operator()(const Assert& node) const {
    return fmt::format("(assert {} {})", (*this)(node.condition), (*this)(node.message));
  }
  std::string operator()(const Raise& node) const { return fmt::format("(raise {})", (*this)(node.message)); }
  std::string operator()(const With& node) const {
    return fmt::format("(with{} {})", (*this)(node.scopes), (*this)(node.body));
  }
  std::string operator()(const Use& node) const { return fmt::format("(use {})", node.space.text); }
  std::string operator()(const Import& node) const { return fmt::format("(import \"{}\")", node.path); }
  std::string operator()(const Const& node) const {
    return fmt::format("(const {} {})", node.name.text, (*this)(node.value));
  }
  std::string operator()(const Function& node) const {
    return fmt::format("(fn {} `{}` {})", node.name.text, source.text(node.signature), (*this)(node.body));
  }
  std::string operator()(const Field& node) const {
    return fmt::format("(field {}:`{}`{})", node.name.text, source.text(node.type),
                       node.initial ? " " + (*this)(node.initial) : "");
  }
  std::string operator()(const Struct& node) const {
    return fmt::format("(struct {} {})", node.name.text, (*this)(node.body));
  }
  std::string operator()(const Operator& node) const {
    return fmt::format("(op {} `{}`{})", (*this)(node.name), source.text(node.signature), (*this)(node.body));
  }
  std::string operator()(const Impl& node) const {
    return fmt::format("(impl {} {} {})", (*this)(node.name), node.key.text, (*this)(node.body));
  }
  std::string operator()(const Fallback& node) const {
    return fmt::format("(fallback {} {})", node.key.text, (*this)(node.body));
  }
  std::string operator()(const Mode& node) const {
    return fmt::format("(mode {}{}{} {}{})", node.name.text, node.key ? " @ " : "", node.key.text, (*this)(node.body),
                       (*this)(node.exit));
  }
};

inline std::string textOf(const Expr& expr, const Source& source) {
  if (boost::variant2::holds_alternative<TypeText>(expr.node)) return fmt::format("`{}`", source.text(expr.span));
  return boost::variant2::visit(
      [&](const auto& node) -> std::string {
        if constexpr (std::is_same_v<decltype(node), const TypeText&>) {
          return {};
        } else {
          return SyntaxText{source}(node);
        }
      },
      expr.node);
}

inline std::string textOf(const Stmt& stmt, const Source& source) {
  return boost::variant2::visit(SyntaxText{source}, stmt.node);
}

}  // namespace boxcar::syntax
