#include <boxcar/interpreter/syntax/operator_fold.h>
#include <boxcar/interpreter/syntax/tree_builder.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace boxcar::syntax {

namespace variant2 = boost::variant2;

void OperatorFold::prefix(const OperatorToken& op, TreeBuilder& builder) {
  if (op.level == Level::Not && !operators_.empty() && operators_.back().level > Level::Not) {
    builder.reject(op.span, fmt::format("`not` binds less than `{}` before it; put it in parentheses: `(not ...)`",
                                        builder.text(operators_.back().span)));
  }
  operators_.push_back(op);
}

void OperatorFold::infix(const OperatorToken& op, TreeBuilder& builder) {
  const auto goesFirst = [&](Level level) { return op.level == Level::Power ? level > op.level : level >= op.level; };
  while (!operators_.empty() && goesFirst(operators_.back().level)) reduce(builder);
  operators_.push_back(op);
}

ExprPtr OperatorFold::finish(TreeBuilder& builder) {
  while (!operators_.empty()) reduce(builder);
  return std::move(operands_.back().value);
}

void OperatorFold::reduce(TreeBuilder& builder) {
  const OperatorToken op = operators_.back();
  operators_.pop_back();
  Operand operand = std::move(operands_.back());
  operands_.pop_back();
  const Span right = operand.value->span;
  if (op.is_prefix) {
    operands_.push_back(
        {builder.make({op.span.begin, right.end}, Unary{static_cast<UnaryOp>(op.op), std::move(operand.value)}),
         op.level});
    return;
  }
  if (op.level <= Level::And || op.level == Level::Compare) return extendOrMake(op, std::move(operand), builder);
  Operand& left = operands_.back();
  const Span span = {left.value->span.begin, right.end};
  left = {builder.make(span,
                       Binary{static_cast<BinaryOp>(op.op), op.span, std::move(left.value), std::move(operand.value)}),
          op.level};
}

// `and`, `or` and comparisons collect their operands in one node.
void OperatorFold::extendOrMake(const OperatorToken& op, Operand right, TreeBuilder& builder) {
  Operand& left = operands_.back();
  const Span span = {left.value->span.begin, right.value->span.end};
  const uint32_t height = std::max(left.value->height, right.value->height + 1);
  if (op.level == Level::Compare) {
    ComparisonLink link{static_cast<CompareOp>(op.op), op.span, std::move(right.value)};
    auto* chain = left.made_by == op.level ? variant2::get_if<Comparison>(&left.value->node) : nullptr;
    if (chain == nullptr) {
      Comparison made{std::move(left.value), {}};
      made.links.push_back(std::move(link));
      left = {builder.make(span, std::move(made)), op.level};
      return;
    }
    chain->links.push_back(std::move(link));
  } else {
    auto* chain = left.made_by == op.level ? variant2::get_if<Logical>(&left.value->node) : nullptr;
    if (chain == nullptr) {
      Logical made{static_cast<LogicalOp>(op.op), {}};
      made.operands.push_back(std::move(left.value));
      made.operands.push_back(std::move(right.value));
      left = {builder.make(span, std::move(made)), op.level};
      return;
    }
    chain->operands.push_back(std::move(right.value));
  }
  left.value->span = span;
  left.value = builder.limitHeight(std::move(left.value), height);
}

}  // namespace boxcar::syntax
