#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/interpreter/prepare/block_pass.h>
#include <boxcar/interpreter/prepare/constant_evaluator.h>
#include <boxcar/interpreter/prepare/effects.h>
#include <boxcar/interpreter/prepare/expression_text.h>
#include <boxcar/interpreter/prepare/matcher.h>
#include <boxcar/interpreter/prepare/rewriter.h>
#include <boxcar/interpreter/prepare/typed_visit.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace boxcar::interp {

using boost::variant2::get_if;

namespace {

// The text that a rule's after side gives for what its parameters stand for.
class Replacement final {
 public:
  Replacement(const TypedScript& script, const Rules& rules, const Rule& rule, const Match& match)
      : script_(script), rules_(rules), rule_(rule), match_(match) {}

  // Returns nothing if an expression has no text.
  std::optional<std::string> text() const {
    const typed::Expr& after = *rule_.after;
    if (const auto* call = get_if<typed::CallFunction>(&after.node)) {
      const CalledFunction called = rules_.script().called(*call);
      return call_(called.name, *called.schema, call->arguments);
    }
    if (const auto* call = get_if<typed::CallOperator>(&after.node)) {
      const auto op = Dispatcher::singleton().findSchema(call->name);
      // Operators that have a sign are written with it.
      const bool is_call = rules_.script().source()->text(after.span).find('(') != std::string_view::npos;
      if (op && is_call) return call_(calleeText(call->name), op->schema(), call->arguments);
    }
    return written(after);
  }

 private:
  std::optional<std::string> boundText(typed::VariableId parameter, std::optional<int32_t> size) const {
    return textOf(*match_.bindings[parameter].expr, script_.source(), size);
  }

  std::optional<std::string> call_(std::string_view callee, const FunctionSchema& schema,
                                   const std::vector<typed::ExprPtr>& arguments) const {
    std::vector<ArgumentText> texts;
    for (size_t i = 0; i < arguments.size(); ++i) {
      const Argument& parameter = schema.arguments()[i];
      ArgumentText& each = texts.emplace_back(parameter.name(), std::nullopt);
      const typed::Expr* value = arguments[i].get();
      const auto* read = get_if<typed::ReadVariable>(&value->node);
      if (read != nullptr) value = match_.bindings[read->variable].expr;
      const auto constant = constantValue(*value);
      if (constant && parameter.default_value() && *constant == *parameter.default_value()) continue;
      each.text = read != nullptr ? boundText(read->variable, parameter.N()) : written(*value);
      if (!each.text) return std::nullopt;
    }
    return callText(callee, schema, texts);
  }

  // The text of the after side's expression, with the parameters replaced.
  std::optional<std::string> written(const typed::Expr& expr) const {
    const SourcePtr& source = rules_.script().source();
    std::vector<Edit> edits;
    bool is_whole = true;
    collect(expr, edits, is_whole);
    if (!is_whole) return std::nullopt;
    if (edits.empty()) return textOf(expr, source);
    for (Edit& edit : edits) {
      edit.span.begin -= expr.span.begin;
      edit.span.end -= expr.span.begin;
    }
    return edited(source->text(expr.span), std::move(edits));
  }

  void collect(const typed::Expr& expr, std::vector<Edit>& edits, bool& is_whole) const {
    if (const auto* read = get_if<typed::ReadVariable>(&expr.node)) {
      if (std::ranges::any_of(edits, [&expr](const Edit& edit) { return edit.span == expr.span; })) return;
      const auto text = boundText(read->variable, std::nullopt);
      is_whole = is_whole && text.has_value();
      if (text) edits.push_back({expr.span, inParentheses(*text)});
      return;
    }
    typed::eachOperand(
        expr, [&](const typed::Expr& operand) { collect(operand, edits, is_whole); },
        [&](const typed::Stmt&) { is_whole = false; });
  }

  const TypedScript& script_;
  const Rules& rules_;
  const Rule& rule_;
  const Match& match_;
};

// Whether what the rule asserts is known to hold.
bool conditionsHold(const Rule& rule, const Match& match) {
  if (rule.conditions.empty()) return true;
  ConstantEvaluator evaluator;
  for (size_t i = 0; i < match.bindings.size(); ++i) {
    const typed::Expr& bound = *match.bindings[i].expr;
    const auto parameter = static_cast<typed::VariableId>(i);
    if (const auto value = ConstantEvaluator().valueOf(bound)) evaluator.variables.emplace(parameter, *value);
    const TypeKind kind = bound.type->kind();
    const bool may_be_none = kind == TypeKind::None || kind == TypeKind::Optional || kind == TypeKind::Any;
    if (!may_be_none) evaluator.present.insert(parameter);
  }
  return std::ranges::all_of(rule.conditions, [&evaluator](const typed::Expr* condition) {
    const auto holds = evaluator.valueOf(*condition);
    return holds && holds->isBool() && holds->toBool();
  });
}

class RulePass final : public BlockPass {
 public:
  RulePass(const std::vector<const Rules*>& rules, std::vector<AppliedRule>& applied, const TypedScript& script,
           Effects& effects, const TypedFunction& function, std::vector<Edit>& edits)
      : BlockPass(script, effects, function, edits), rules_(rules), applied_(applied), edits_(edits) {}

 private:
  bool replace(Place root) override {
    Matcher matcher(script(), flow(), effects(), touched());
    for (const Rules* each : rules_) {
      for (const Rule& rule : each->all()) {
        const auto match = matcher.match(*each, rule, root);
        if (!match || !conditionsHold(rule, *match)) continue;
        const auto text = Replacement(script(), *each, rule, *match).text();
        if (!text) continue;
        apply(root, match->consumed, *text);
        applied_.push_back({each, &rule, *text, std::exchange(edits_, {})});
        return true;
      }
    }
    return false;
  }

  const std::vector<const Rules*>& rules_;
  std::vector<AppliedRule>& applied_;
  std::vector<Edit>& edits_;
};

}  // namespace

std::vector<AppliedRule> rewrite(const TypedScript& script, const std::vector<const Rules*>& rules) {
  std::vector<AppliedRule> applied;
  Effects effects(script);
  std::vector<Edit> edits;
  for (const TypedFunction& function : script.functions()) {
    RulePass(rules, applied, script, effects, function, edits).run(function.typed.body, true);
  }
  return applied;
}

}  // namespace boxcar::interp
