#include <boxcar/interpreter/prepare/block_pass.h>
#include <boxcar/interpreter/prepare/typed_visit.h>

#include <utility>

namespace boxcar::interp {

void BlockPass::run(const typed::Block& block, bool is_body) {
  const BlockFlow flow(block, is_body);
  const BlockFlow* outer = std::exchange(flow_, &flow);
  std::set<size_t> outer_touched = std::exchange(touched_, {});
  for (size_t i = flow.size(); i-- > 0;) {
    if (touched_.contains(i)) continue;
    // The condition of a loop is evaluated more often than what comes before the loop.
    const bool is_loop = boost::variant2::get_if<typed::While>(&flow.statement(i).node) != nullptr;
    typed::eachPart(
        flow.statement(i),
        [&](const typed::Expr& part) {
          if (!is_loop) visit(part, i);
        },
        [&](const typed::Block& inner) { run(inner, false); });
  }
  flow_ = outer;
  touched_ = std::move(outer_touched);
}

void BlockPass::visit(const typed::Expr& expr, size_t statement) {
  if (touched_.contains(statement)) return;
  const bool is_tensor =
      expr.type->kind() == TypeKind::Tensor && boost::variant2::get_if<typed::ReadVariable>(&expr.node) == nullptr;
  if (is_tensor && replace({&expr, statement})) return;
  // Statements within an expression, of comprehensions, stay as they are.
  typed::eachOperand(
      expr, [&](const typed::Expr& operand) { visit(operand, statement); }, [](const typed::Stmt&) {});
}

void BlockPass::apply(Place root, const std::set<size_t>& consumed, const std::string& text) {
  for (const size_t statement : consumed) {
    edits_.push_back(withoutStatement(*script_.source(), flow_->statement(statement).span));
    touched_.insert(statement);
  }
  touched_.insert(root.statement);
  if (flow_->isInPlace(root.statement) && flow_->valueOf(root.statement) == root.expr) {
    const std::string& name = function_.typed.names[*flow_->definedBy(root.statement)];
    edits_.push_back({flow_->statement(root.statement).span, name + " = " + text});
  } else {
    edits_.push_back({root.expr->span, text});
  }
}

}  // namespace boxcar::interp
