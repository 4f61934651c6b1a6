#include <boxcar/interpreter/prepare/constant_evaluator.h>
#include <boxcar/interpreter/prepare/effects.h>
#include <boxcar/interpreter/prepare/rules.h>
#include <boxcar/interpreter/prepare/typed_visit.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace boxcar::interp {

using boost::variant2::get_if;

namespace {

// Returns the condition of an assert; null for other statements.
const typed::Expr* assertedBy(const typed::Stmt& statement) {
  const auto* check = get_if<typed::If>(&statement.node);
  const bool fails = check != nullptr && check->branches.size() == 1 && check->branches[0].body.empty() &&
                     check->otherwise.size() == 1 && get_if<typed::Fail>(&check->otherwise[0]->node) != nullptr;
  return fails ? check->branches[0].condition.get() : nullptr;
}

}  // namespace

std::string exampleName(const std::string& parameter) { return "example_" + parameter; }

bool isRule(const FunctionSchema& schema) {
  return schema.returns().size() == 2 && schema.returns()[0].name() == "before" &&
         schema.returns()[1].name() == "after";
}

Rules::Rules(const SourcePtr& source, ModuleLoader* loader) {
  Diagnostics diagnostics;
  script_ = TypedScript::infer(source, diagnostics, loader);
  diagnostics.throwIfErrors();
  for (const TypedFunction& function : script_->functions()) {
    if (isRule(function.declared->schema)) add(function);
  }
  BOXCAR_CHECK(!rules_.empty(), "{}: it has no rule: a rule is a function that returns `(Tensor before, Tensor after)`",
               source->name());
}

void Rules::checkCalls(const typed::Expr& expr, const FunctionSchema& rule, const std::string& place) const {
  if (const auto* call = get_if<typed::CallFunction>(&expr.node)) {
    const CalledFunction function = script_->called(*call);
    BOXCAR_CHECK(function.module == "nn.ops" || function.module == "fused.ops",
                 "{}: the rule `{}` gives a call of `{}`, which the scripts that it rewrites do not have; it may call "
                 "operators and the layers of nn.ops and fused.ops",
                 place, rule.name(), function.name);
  }
  typed::eachOperand(
      expr, [&](const typed::Expr& operand) { checkCalls(operand, rule, place); }, [](const typed::Stmt&) {});
}

void Rules::checkCondition(const typed::Expr& condition, const FunctionSchema& rule) const {
  const typed::Expr* part = partThatIsNeverConstant(condition);
  if (part == nullptr) return;
  const SourcePtr& source = script_->source();
  BOXCAR_FAIL(
      "{}: the condition `{}` of the rule `{}` cannot be judged when a program is prepared, because `{}` is not known "
      "then; a condition is about the numbers, texts and lists that parameters stand for, and about whether one is "
      "None",
      toString(Location{source, part->span}), source->text(condition.span), rule.name(), source->text(part->span));
}

std::string Rules::placeOf(const Rule& rule) const {
  return toString(Location{script_->source(), rule.function->declared->name_span});
}

void Rules::add(const TypedFunction& function) {
  const std::string place = toString(Location{script_->source(), function.declared->name_span});
  const FunctionSchema& schema = function.declared->schema;
  const typed::Block& body = function.typed.body;
  std::vector<const typed::Expr*> conditions;
  while (conditions.size() < body.size()) {
    const typed::Expr* condition = assertedBy(*body[conditions.size()]);
    if (condition == nullptr) break;
    checkCondition(*condition, schema);
    conditions.push_back(condition);
  }
  const size_t last = conditions.size();
  const auto* returned = body.size() == last ? nullptr : get_if<typed::Return>(&body[last]->node);
  const auto* sides = returned == nullptr ? nullptr : get_if<typed::MakeTuple>(&returned->value->node);
  BOXCAR_CHECK(sides != nullptr,
               "{}: the rule `{}` must consist of `return (…, …)`, what it replaces and by what, and of asserts before "
               "it, which say when",
               place, schema.name());
  const Rule rule{&function, sides->items[0].get(), sides->items[1].get(), std::move(conditions)};
  BOXCAR_CHECK(get_if<typed::ReadVariable>(&rule.before->node) == nullptr,
               "{}: the rule `{}` would replace every expression; its first result must be a call", place,
               schema.name());
  BOXCAR_CHECK(schema.returns()[0].type() == schema.returns()[1].type() &&
                   schema.returns()[0].type()->kind() == TypeKind::Tensor,
               "{}: the sides of the rule `{}` must be tensors, not {} and {}", place, schema.name(),
               *schema.returns()[0].type(), *schema.returns()[1].type());
  Effects effects(*script_);
  BOXCAR_CHECK(effects.isPure(*rule.before) && effects.isPure(*rule.after),
               "{}: the rule `{}` writes, prints or draws random numbers; its sides may only compute", place,
               schema.name());
  checkCalls(*rule.after, schema, place);
  for (const Argument& parameter : schema.arguments()) {
    BOXCAR_CHECK(
        script_->find(exampleName(parameter.name())) != nullptr,
        "{}: the parameter `{}` of the rule `{}` has no example, for which both sides can be compared; declare "
        "`fn {}() -> {}`",
        place, parameter.name(), schema.name(), exampleName(parameter.name()), *parameter.type());
  }
  rules_.push_back(rule);
}

}  // namespace boxcar::interp
