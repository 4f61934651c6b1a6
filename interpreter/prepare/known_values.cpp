#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/interpreter/prepare/known_values.h>
#include <boxcar/interpreter/prepare/typed_visit.h>

namespace boxcar::interp {

using boost::variant2::get_if;

namespace {

// Whether [expr] can call a function of the script.
bool mayCallScript(const typed::Expr& expr) {
  if (get_if<typed::CallFunction>(&expr.node) != nullptr || get_if<typed::CallDynamic>(&expr.node) != nullptr ||
      get_if<typed::FunctionValue>(&expr.node) != nullptr || get_if<typed::Sequence>(&expr.node) != nullptr) {
    return true;
  }
  const auto* call = get_if<typed::CallOperator>(&expr.node);
  // Those of the script have no kernel yet, or another one.
  if (call != nullptr && !call->name.name.starts_with("aten::") && !call->name.name.starts_with("io::")) return true;
  bool may_call = false;
  typed::eachOperand(
      expr, [&may_call](const typed::Expr& operand) { may_call = may_call || mayCallScript(operand); },
      [&may_call](const typed::Stmt&) { may_call = true; });
  return may_call;
}

// Whether [expr] is what its operand at the same place becomes.
bool isConversion(const typed::Expr& expr) {
  const auto* operate = get_if<typed::Operate>(&expr.node);
  if (operate != nullptr) return operate->right == nullptr && operate->left->span == expr.span;
  const auto* call = get_if<typed::CallBuiltin>(&expr.node);
  return call != nullptr && call->arguments.size() == 1 && call->arguments[0]->span == expr.span;
}

}  // namespace

std::map<uint32_t, IValue> knownGlobals(const TypedScript& script) {
  ConstantEvaluator evaluator;
  for (const typed::StmtPtr& statement : script.statements()) {
    if (get_if<typed::RunModule>(&statement->node) != nullptr) continue;
    const auto* set = get_if<typed::SetGlobal>(&statement->node);
    if (set == nullptr || mayCallScript(*set->value)) break;
    const auto value = evaluator.valueOf(*set->value);
    if (value && isPlainConstant(*value)) evaluator.globals.emplace(set->global, *value);
  }
  return std::move(evaluator.globals);
}

KnownValues::KnownValues(const TypedFunction& function, std::map<uint32_t, IValue> globals) {
  evaluator_.globals = std::move(globals);
  visit(function.typed.body);
}

const KnownValues::Value* KnownValues::at(Span span) const {
  const auto found = values_.find({span.begin, span.end});
  return found == values_.end() || !found->second ? nullptr : &*found->second;
}

std::optional<bool> KnownValues::choiceAt(Span span) const {
  const auto found = choices_.find({span.begin, span.end});
  return found == choices_.end() ? std::nullopt : found->second;
}

void KnownValues::visit(const typed::Block& block) {
  for (const typed::StmtPtr& statement : block) visit(*statement);
}

void KnownValues::forgetAssigned(const typed::Stmt& statement) {
  typed::eachAssigned(statement, [this](typed::VariableId variable) { evaluator_.variables.erase(variable); });
  const auto forget = [this](const auto& self, const typed::Expr& expr) -> void {
    typed::eachOperand(
        expr, [&](const typed::Expr& operand) { self(self, operand); },
        [this](const typed::Stmt& inner) { forgetAssigned(inner); });
  };
  typed::eachPart(
      statement, [&forget](const typed::Expr& part) { forget(forget, part); },
      [this](const typed::Block& block) {
        for (const typed::StmtPtr& inner : block) forgetAssigned(*inner);
      });
}

void KnownValues::visit(const typed::Stmt& statement) {
  if (const auto* set = get_if<typed::SetVariable>(&statement.node)) {
    visit(*set->value);
    const auto value = evaluator_.valueOf(*set->value);
    // Lists may change.
    if (value && isPlainConstant(*value)) {
      evaluator_.variables.insert_or_assign(set->target.variable, *value);
    } else {
      evaluator_.variables.erase(set->target.variable);
    }
    return;
  }
  // The message of an assert stands where its condition does.
  if (get_if<typed::Fail>(&statement.node) != nullptr) return;
  const bool is_loop = get_if<typed::While>(&statement.node) != nullptr ||
                       get_if<typed::ForRange>(&statement.node) != nullptr ||
                       get_if<typed::ForEach>(&statement.node) != nullptr;
  // What a loop sets is not known in any of its rounds, nor in its condition.
  if (is_loop) forgetAssigned(statement);
  const std::map<typed::VariableId, IValue> before = evaluator_.variables;
  typed::eachPart(
      statement,
      [&](const typed::Expr& part) {
        evaluator_.variables = before;
        visit(part);
      },
      [&](const typed::Block& block) {
        evaluator_.variables = before;
        visit(block);
      });
  evaluator_.variables = before;
  forgetAssigned(statement);
}

void KnownValues::visit(const typed::Expr& expr) {
  const auto value = evaluator_.valueOf(expr);
  const Key key{expr.span.begin, expr.span.end};
  const auto [known, is_new] = values_.try_emplace(key, std::nullopt);
  if (is_new) {
    if (value) known->second = Value{expr.type, *value};
  } else if (known->second && (!value || *value != known->second->value)) {
    known->second.reset();
  }
  if (const auto* conditional = get_if<typed::Conditional>(&expr.node)) {
    const auto condition = evaluator_.valueOf(*conditional->condition);
    const auto [choice, is_first] = choices_.try_emplace(key, std::nullopt);
    if (condition && condition->isBool() && is_first) {
      const typed::Expr& chosen = condition->toBool() ? *conditional->value : *conditional->otherwise;
      if (chosen.type == expr.type && !isConversion(chosen)) choice->second = condition->toBool();
    } else {
      choice->second.reset();
    }
  }
  visitOperands(expr);
}

void KnownValues::visitOperands(const typed::Expr& expr) {
  typed::eachOperand(
      expr,
      [&](const typed::Expr& operand) {
        // What stands at the same place, such as a default of a call, is not what is written there.
        if (operand.span == expr.span) {
          visitOperands(operand);
        } else {
          visit(operand);
        }
      },
      [this](const typed::Stmt& statement) { visit(statement); });
}

}  // namespace boxcar::interp
