#include <boxcar/interpreter/prepare/block_flow.h>
#include <boxcar/interpreter/prepare/typed_visit.h>

#include <algorithm>

namespace boxcar::interp {

using boost::variant2::get_if;
using typed::VariableId;

bool isInPlaceName(std::string_view name) { return name.ends_with('_') && !name.ends_with("__"); }

std::string_view functionalName(std::string_view name) {
  return isInPlaceName(name) ? name.substr(0, name.size() - 1) : name;
}

std::optional<VariableId> changedInPlace(const typed::Expr& expr) {
  const auto* call = get_if<typed::CallOperator>(&expr.node);
  if (call == nullptr || call->arguments.empty() || !isInPlaceName(call->name.name)) return std::nullopt;
  const auto* self = get_if<typed::ReadVariable>(&call->arguments[0]->node);
  if (self == nullptr || call->arguments[0]->type->kind() != TypeKind::Tensor) return std::nullopt;
  return self->variable;
}

BlockFlow::BlockFlow(const typed::Block& block, bool is_body) : block_(&block), is_body_(is_body) {
  for (const typed::StmtPtr& statement : block) {
    Statement& noted = statements_.emplace_back();
    noteParts(*statement, noted);
    if (const auto* set = get_if<typed::SetVariable>(&statement->node)) {
      noted.defines = set->target.variable;
      noted.value = set->value.get();
    } else if (const auto* evaluated = get_if<typed::Evaluate>(&statement->node)) {
      if (const auto variable = changedInPlace(*evaluated->value)) {
        noted.defines = variable;
        noted.value = evaluated->value.get();
        noted.is_in_place = true;
      }
    }
  }
}

void BlockFlow::noteReads(const typed::Expr& expr, Statement& to) {
  if (const auto* read = get_if<typed::ReadVariable>(&expr.node)) to.reads.push_back(read->variable);
  typed::eachOperand(
      expr, [&](const typed::Expr& operand) { noteReads(operand, to); },
      [&](const typed::Stmt& statement) { noteParts(statement, to); });
}

void BlockFlow::noteParts(const typed::Stmt& statement, Statement& to) {
  typed::eachAssigned(statement, [&to](VariableId variable) { to.assigns.push_back(variable); });
  typed::eachPart(
      statement, [&](const typed::Expr& part) { noteReads(part, to); },
      [&](const typed::Block& block) {
        for (const typed::StmtPtr& each : block) noteParts(*each, to);
      });
}

bool BlockFlow::assigns(size_t statement, VariableId variable) const {
  return std::ranges::find(statements_[statement].assigns, variable) != statements_[statement].assigns.end();
}

BlockFlow::Origin BlockFlow::originOf(VariableId variable, size_t place) const {
  for (size_t i = place; i-- > 0;) {
    if (statements_[i].defines == variable) return {Origin::Kind::Statement, i};
    if (assigns(i, variable)) return {Origin::Kind::Unknown, i};
  }
  return {};
}

std::optional<size_t> BlockFlow::readsOf(size_t statement) const {
  const VariableId variable = *statements_[statement].defines;
  size_t reads = 0;
  bool is_over = is_body_;
  for (size_t i = statement + 1; i < statements_.size(); ++i) {
    reads += static_cast<size_t>(std::ranges::count(statements_[i].reads, variable));
    if (statements_[i].defines == variable) {
      is_over = true;
      break;
    }
    if (assigns(i, variable)) return std::nullopt;
  }
  return is_over ? std::optional(reads) : std::nullopt;
}

}  // namespace boxcar::interp
