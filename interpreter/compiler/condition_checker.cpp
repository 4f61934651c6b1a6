#include <boxcar/interpreter/compiler/condition_checker.h>
#include <boxcar/interpreter/compiler/typed_builder.h>
#include <boxcar/interpreter/runtime/join_types.h>

#include <algorithm>

namespace boxcar::interp {

using boost::variant2::get_if;
using syntax::CompareOp;
using typed::ExprPtr;

namespace {

// Returns what is known if one of two conditions held: for variables in both, the join.
Facts either(const Facts& a, const Facts& b) {
  Facts facts;
  for (const auto& [variable, type] : a) {
    for (const auto& [other, other_type] : b) {
      if (other == variable) facts.emplace_back(variable, joinTypes(type, other_type));
    }
  }
  return facts;
}

void also(Facts& facts, const Facts& more) { facts.insert(facts.end(), more.begin(), more.end()); }

}  // namespace

Condition ConditionChecker::condition(const syntax::Expr& expr) {
  if (const auto* unary = get_if<syntax::Unary>(&expr.node); unary != nullptr && unary->op == syntax::UnaryOp::Not) {
    Condition inner = condition(*unary->operand);
    std::swap(inner.if_true, inner.if_false);
    inner.value = typed::operate(Opcode::NotBool, Type::boolean(), expr.span, std::move(inner.value));
    return inner;
  }
  if (const auto* logical = get_if<syntax::Logical>(&expr.node)) return condition(*logical, expr.span);
  if (const auto* comparison = get_if<syntax::Comparison>(&expr.node)) return condition(*comparison, expr.span);
  if (const auto* call = get_if<syntax::Call>(&expr.node);
      call != nullptr && !call->callee.space && call->callee.name.text == "isinstance" &&
      context_.declarations.findFunction("isinstance", expr.span.begin) == nullptr) {
    return isInstance(*call, expr.span);
  }
  return {typed::truth(expressions_.infer(expr)), {}, {}};
}

Condition ConditionChecker::condition(const syntax::Logical& logical, Span span) {
  const bool is_and = logical.op == syntax::LogicalOp::And;
  const Environment before = context_.environment;
  Condition result;
  std::vector<ExprPtr> operands;
  for (const syntax::ExprPtr& operand : logical.operands) {
    Condition next = condition(*operand);
    operands.push_back(std::move(next.value));
    // The next operand is only evaluated if this one has not decided yet.
    context_.assume(is_and ? next.if_true : next.if_false);
    if (operands.size() == 1) {
      result.if_true = std::move(next.if_true);
      result.if_false = std::move(next.if_false);
    } else if (is_and) {
      result.if_false = either(result.if_false, next.if_false);
      also(result.if_true, next.if_true);
    } else {
      result.if_true = either(result.if_true, next.if_true);
      also(result.if_false, next.if_false);
    }
  }
  context_.environment = before;
  result.value = typed::make(Type::boolean(), span, typed::Logical{is_and, std::move(operands)});
  return result;
}

Condition ConditionChecker::condition(const syntax::Comparison& comparison, Span span) {
  if (comparison.links.size() == 1) {
    const syntax::ComparisonLink& link = comparison.links[0];
    Condition result{typed::truth(this->comparison(comparison, span)), {}, {}};
    const bool is_identity = link.op == CompareOp::Is || link.op == CompareOp::IsNot;
    const bool against_none = get_if<syntax::NoneLiteral>(&link.operand->node) != nullptr;
    const auto variable = is_identity && against_none ? narrowable(*comparison.first) : std::nullopt;
    if (variable) {
      const TypePtr type = context_.environment.at(*variable).type;
      if (type->isOptional() || type->kind() == TypeKind::Any) result.if_true.emplace_back(*variable, Type::none());
      if (type->isOptional()) result.if_false.emplace_back(*variable, type->element());
      if (link.op == CompareOp::IsNot) std::swap(result.if_true, result.if_false);
    }
    return result;
  }

  // a < b < c: each operand is evaluated once, and only while the links hold.
  typed::Block before;
  ExprPtr left = context_.keep(expressions_.infer(*comparison.first), before);
  std::vector<ExprPtr> links;
  for (size_t i = 0; i < comparison.links.size(); ++i) {
    const syntax::ComparisonLink& link = comparison.links[i];
    typed::Block of_link;
    ExprPtr right = expressions_.infer(*link.operand);
    const bool is_last = i + 1 == comparison.links.size();
    if (!is_last) right = context_.keep(std::move(right), of_link);
    ExprPtr next = is_last ? nullptr : typed::copyOf(*right);
    if (typed::isPoison(*left) || typed::isPoison(*right)) {
      links.push_back(typed::poison(span));
    } else {
      ExprPtr holds = typed::truth(operators_.compare(link.op, std::move(left), std::move(right),
                                                      join(comparison.first->span, link.operand->span)));
      links.push_back(typed::withStatements(std::move(of_link), std::move(holds)));
    }
    left = std::move(next);
  }
  ExprPtr all = typed::make(Type::boolean(), span, typed::Logical{true, std::move(links)});
  return {typed::withStatements(std::move(before), std::move(all)), {}, {}};
}

ExprPtr ConditionChecker::comparison(const syntax::Comparison& comparison, Span span) {
  ExprPtr left = expressions_.infer(*comparison.first);
  ExprPtr right = expressions_.infer(*comparison.links[0].operand);
  if (typed::isPoison(*left) || typed::isPoison(*right)) return typed::poison(span);
  return operators_.compare(comparison.links[0].op, std::move(left), std::move(right), span);
}

Condition ConditionChecker::isInstance(const syntax::Call& call, Span span) {
  ExprPtr value = expressions_.infer(*call.arguments[0].value);
  const TypePtr tested = context_.readType(call.arguments[1].value->span);
  const TypePtr type = value->type;
  Condition result;
  if (typed::isSimple(*value) && type->kind() != TypeKind::Any && isSubtypeOf(type, tested)) {
    result.value = typed::constant(true, Type::boolean(), span);
  } else {
    result.value = typed::operate(Opcode::TestType, Type::boolean(), span, std::move(value), nullptr, tested);
  }
  if (const auto variable = narrowable(*call.arguments[0].value)) {
    const bool is_narrower = type->kind() == TypeKind::Any || (tested != type && isSubtypeOf(tested, type));
    if (is_narrower) result.if_true.emplace_back(*variable, tested);
    if (type->isOptional() && isSubtypeOf(type->element(), tested)) {
      result.if_false.emplace_back(*variable, Type::none());
    }
    if (type->isOptional() && tested->kind() == TypeKind::None) {
      result.if_false.emplace_back(*variable, type->element());
    }
  }
  return result;
}

std::optional<typed::VariableId> ConditionChecker::narrowable(const syntax::Expr& expr) const {
  const auto* ref = get_if<syntax::NameRef>(&expr.node);
  if (ref == nullptr || ref->name.space) return std::nullopt;
  const auto variable = context_.findVariable(ref->name.name.text);
  if (!variable || !context_.environment.at(*variable).isSet()) return std::nullopt;
  return variable;
}

}  // namespace boxcar::interp
