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

void BlockPass::addComments(Span span, std::string_view text, std::string& lines) const {
  for (const Span& comment : script_.comments()) {
    if (comment.begin < span.begin || comment.end > span.end) continue;
    const std::string_view written = script_.source()->text(comment);
    if (text.find(written) == std::string_view::npos) lines.append(written).append("\n");
  }
}

void BlockPass::apply(Place root, const std::set<size_t>& consumed, const std::string& text) {
  std::string comments;
  for (const size_t statement : consumed) {
    const Span span = flow_->statement(statement).span;
    edits_.push_back(withoutStatement(*script_.source(), span));
    addComments(span, text, comments);
    touched_.insert(statement);
  }
  touched_.insert(root.statement);
  Span changed = root.expr->span;
  std::string written = text;
  if (flow_->isInPlace(root.statement) && flow_->valueOf(root.statement) == root.expr) {
    changed = flow_->statement(root.statement).span;
    written = function_.typed.names[*flow_->definedBy(root.statement)] + " = " + text;
  }
  addComments(changed, text, comments);
  const uint32_t begin = flow_->statement(root.statement).span.begin;
  if (!comments.empty() && begin != changed.begin) {
    edits_.push_back({{begin, begin}, comments});
  } else {
    written.insert(0, comments);
  }
  edits_.push_back({changed, std::move(written)});
}

}  // namespace boxcar::interp
