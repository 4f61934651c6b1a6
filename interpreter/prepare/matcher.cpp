#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/interpreter/compiler/environment.h>
#include <boxcar/interpreter/prepare/matcher.h>
#include <boxcar/interpreter/prepare/typed_visit.h>
#include <boxcar/ivalue/list.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace boxcar::interp {

using boost::variant2::get_if;

namespace {

// Whether two operators are the same, or [call] is the in-place form of [pattern], or does what it does for some sizes.
bool isFormOf(const OperatorName& pattern, const OperatorName& call) {
  if (pattern == call) return true;
  const bool is_product = call.overload_name.empty() && (call.name == "aten::bmm" || call.name == "aten::mm");
  if (is_product && pattern.name == "aten::matmul") return true;
  return pattern.overload_name == call.overload_name && functionalName(call.name) == pattern.name;
}

// Whether the first two arguments, tensors, may change places.
bool isCommutative(const OperatorName& name) {
  return name.overload_name == "Tensor" && (name.name == "aten::add" || name.name == "aten::mul");
}

bool contains(const typed::Expr& expr, const typed::Expr& part) {
  bool is_in = &expr == &part;
  typed::eachOperand(
      expr, [&](const typed::Expr& operand) { is_in = is_in || contains(operand, part); }, [](const typed::Stmt&) {});
  return is_in;
}

// Whether what [expr] evaluates before [root], a part of it, is pure; also if it has no such part.
bool isPureBefore(const typed::Expr& expr, const typed::Expr& root, Effects& effects) {
  if (&expr == &root) return true;
  std::vector<const typed::Expr*> operands;
  typed::eachOperand(
      expr, [&operands](const typed::Expr& operand) { operands.push_back(&operand); }, [](const typed::Stmt&) {});
  for (const typed::Expr* operand : operands) {
    if (contains(*operand, root)) return isPureBefore(*operand, root, effects);
    if (!effects.isPure(*operand)) return false;
  }
  return true;
}

// Whether an argument of type [given] may stand for a parameter of type [wanted].
bool fits(TypePtr given, TypePtr wanted) {
  if (given == wanted || wanted->kind() == TypeKind::Any) return true;
  if (!wanted->isOptional()) return false;
  return given->kind() == TypeKind::None || given == wanted->element();
}

}  // namespace

std::optional<IValue> constantValue(const typed::Expr& expr) {
  if (const auto* constant = get_if<typed::Constant>(&expr.node)) return constant->value;
  const auto* list = get_if<typed::MakeList>(&expr.node);
  if (list == nullptr) return std::nullopt;
  std::vector<IValue> items;
  for (const typed::ExprPtr& item : list->items) {
    const auto value = constantValue(*item);
    if (!value) return std::nullopt;
    items.push_back(*value);
  }
  return IValue(std::move(items));
}

Place Matcher::resolved(Place place, std::set<size_t>& consumed) const {
  while (const auto* read = get_if<typed::ReadVariable>(&place.expr->node)) {
    const BlockFlow::Origin origin = flow_.originOf(read->variable, place.statement);
    if (origin.kind != BlockFlow::Origin::Kind::Statement || touched_.contains(origin.statement) ||
        flow_.readsOf(origin.statement) != size_t{1}) {
      break;
    }
    consumed.insert(origin.statement);
    place = {flow_.valueOf(origin.statement), origin.statement};
  }
  return place;
}

Place Matcher::definition(Place place) {
  for (;;) {
    place = resolved(place, found_.match.consumed);
    const auto* read = get_if<typed::ReadVariable>(&place.expr->node);
    if (read == nullptr) return place;
    const BlockFlow::Origin origin = flow_.originOf(read->variable, place.statement);
    if (origin.kind != BlockFlow::Origin::Kind::Statement || touched_.contains(origin.statement) ||
        !flow_.readsOf(origin.statement)) {
      return place;
    }
    found_.shared[origin.statement].insert(place.expr);
    place = {flow_.valueOf(origin.statement), origin.statement};
  }
}

bool Matcher::isFresh(Place place) const {
  std::set<size_t> ignored;
  place = resolved(place, ignored);
  const auto* call = get_if<typed::CallOperator>(&place.expr->node);
  if (call != nullptr && isInPlaceName(call->name.name)) return isFresh({call->arguments[0].get(), place.statement});
  return makesTensor(script_, *place.expr);
}

bool Matcher::isSame(Place a, Place b) const {
  if (a.expr->node.index() != b.expr->node.index()) return false;
  const auto constant = constantValue(*a.expr);
  if (constant) {
    const auto other = constantValue(*b.expr);
    return other && *constant == *other;
  }
  if (const auto* read = get_if<typed::ReadVariable>(&a.expr->node)) {
    const auto& other = boost::variant2::get<typed::ReadVariable>(b.expr->node);
    if (read->variable != other.variable) return false;
    const BlockFlow::Origin origin = flow_.originOf(read->variable, a.statement);
    return origin.kind != BlockFlow::Origin::Kind::Unknown && origin == flow_.originOf(read->variable, b.statement);
  }
  if (const auto* global = get_if<typed::ReadGlobal>(&a.expr->node)) {
    return global->global == boost::variant2::get<typed::ReadGlobal>(b.expr->node).global;
  }
  // The text is the program: equal texts of equal variables have equal values, if they are pure.
  if (script_.source()->text(a.expr->span) != script_.source()->text(b.expr->span)) return false;
  if (!effects_.isPure(*a.expr)) return false;
  std::vector<const typed::Expr*> operands[2];
  bool is_plain = true;
  for (const int side : {0, 1}) {
    typed::eachOperand(
        side == 0 ? *a.expr : *b.expr, [&](const typed::Expr& operand) { operands[side].push_back(&operand); },
        [&](const typed::Stmt&) { is_plain = false; });
  }
  if (!is_plain || operands[0].size() != operands[1].size()) return false;
  for (size_t i = 0; i < operands[0].size(); ++i) {
    if (!isSame({operands[0][i], a.statement}, {operands[1][i], b.statement})) return false;
  }
  return true;
}

bool Matcher::bind(typed::VariableId parameter, Place subject) {
  const TypePtr wanted = scriptType(rule_->function->declared->schema.arguments()[parameter].type());
  if (!fits(subject.expr->type, wanted)) return false;
  Place& bound = found_.match.bindings[parameter];
  if (bound.expr == nullptr) {
    bound = subject;
    return true;
  }
  return isSame(bound, subject);
}

bool Matcher::matchAll(const std::vector<typed::ExprPtr>& patterns, const std::vector<typed::ExprPtr>& subjects,
                       size_t statement) {
  if (patterns.size() != subjects.size()) return false;
  for (size_t i = 0; i < patterns.size(); ++i) {
    if (!match(*patterns[i], {subjects[i].get(), statement})) return false;
  }
  return true;
}

bool Matcher::matchOperator(const typed::CallOperator& pattern, const typed::CallOperator& call, size_t statement) {
  if (!isFormOf(pattern.name, call.name)) return false;
  const bool is_in_place = isInPlaceName(call.name.name) && pattern.name != call.name;
  if (is_in_place && !isFresh({call.arguments[0].get(), statement})) return false;
  if (pattern.arguments.size() != call.arguments.size()) return false;
  const Found before = found_;
  if (matchArguments(pattern, call, statement, false)) return true;
  // The first operand of a call in place has the result's shape.
  if (is_in_place || !isCommutative(pattern.name)) return false;
  found_ = before;
  return matchArguments(pattern, call, statement, true);
}

// [is_swapped]: with the first two arguments of [call] in the other order.
bool Matcher::matchArguments(const typed::CallOperator& pattern, const typed::CallOperator& call, size_t statement,
                             bool is_swapped) {
  const auto op = Dispatcher::singleton().findSchema(pattern.name);
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const size_t from = is_swapped && i < 2 ? 1 - i : i;
    const Place argument{call.arguments[from].get(), statement};
    const bool is_number = op && op->schema().arguments()[i].type()->kind() == TypeKind::Scalar;
    if (!(is_number ? matchNumber(*pattern.arguments[i], argument) : match(*pattern.arguments[i], argument))) {
      return false;
    }
  }
  return true;
}

bool Matcher::matchFunction(const typed::CallFunction& pattern, const typed::CallFunction& call, size_t statement) {
  const CalledFunction wanted = rules_->script().called(pattern);
  return !wanted.module.empty() && wanted == script_.called(call) &&
         matchAll(pattern.arguments, call.arguments, statement);
}

// [pattern] is a number that an operator on a tensor takes, for which an int is as good as a float.
bool Matcher::matchNumber(const typed::Expr& pattern, Place subject) {
  const auto* parameter = get_if<typed::ReadVariable>(&pattern.node);
  if (parameter == nullptr || pattern.type->kind() != TypeKind::Float || subject.expr->type->kind() != TypeKind::Int) {
    return match(pattern, subject);
  }
  Place& bound = found_.match.bindings[parameter->variable];
  if (bound.expr != nullptr) return isSame(bound, subject);
  bound = subject;
  return true;
}

bool Matcher::match(const typed::Expr& pattern, Place subject) {
  if (const auto* parameter = get_if<typed::ReadVariable>(&pattern.node)) return bind(parameter->variable, subject);
  if (const auto constant = constantValue(pattern)) {
    const auto value = constantValue(*subject.expr);
    return value && *constant == *value;
  }
  subject = definition(subject);
  if (pattern.node.index() != subject.expr->node.index()) return false;
  if (const auto* call = get_if<typed::CallOperator>(&pattern.node)) {
    return matchOperator(*call, boost::variant2::get<typed::CallOperator>(subject.expr->node), subject.statement);
  }
  if (const auto* call = get_if<typed::CallFunction>(&pattern.node)) {
    return matchFunction(*call, boost::variant2::get<typed::CallFunction>(subject.expr->node), subject.statement);
  }
  if (const auto* call = get_if<typed::CallBuiltin>(&pattern.node)) {
    const auto& other = boost::variant2::get<typed::CallBuiltin>(subject.expr->node);
    return call->builtin == other.builtin && matchAll(call->arguments, other.arguments, subject.statement);
  }
  if (const auto* list = get_if<typed::MakeList>(&pattern.node)) {
    return matchAll(list->items, boost::variant2::get<typed::MakeList>(subject.expr->node).items, subject.statement);
  }
  if (const auto* operate = get_if<typed::Operate>(&pattern.node)) {
    const auto& other = boost::variant2::get<typed::Operate>(subject.expr->node);
    return operate->op == other.op && (operate->right == nullptr) == (other.right == nullptr) &&
           match(*operate->left, {other.left.get(), subject.statement}) &&
           (operate->right == nullptr || match(*operate->right, {other.right.get(), subject.statement}));
  }
  return false;
}

bool Matcher::canMove(const std::vector<Place>& leaves, const std::set<size_t>& consumed, Place root) const {
  // Their order may change, and rules may drop or repeat them.
  for (const Place& leaf : leaves) {
    if (!effects_.isPure(*leaf.expr)) return false;
  }
  if (consumed.empty()) return true;
  bool is_pure = true;
  typed::eachPart(
      flow_.statement(root.statement),
      [&](const typed::Expr& part) { is_pure = is_pure && isPureBefore(part, *root.expr, effects_); },
      [](const typed::Block&) {});
  if (!is_pure) return false;
  for (size_t i = *consumed.begin() + 1; i < root.statement; ++i) {
    if (!consumed.contains(i) && !effects_.isPure(flow_.statement(i))) return false;
  }
  for (const Place& leaf : leaves) {
    if (leaf.statement == root.statement) continue;
    std::set<typed::VariableId> read;
    const auto note = [&read](const auto& self, const typed::Expr& expr) -> void {
      if (const auto* variable = get_if<typed::ReadVariable>(&expr.node)) read.insert(variable->variable);
      typed::eachOperand(
          expr, [&](const typed::Expr& operand) { self(self, operand); }, [](const typed::Stmt&) {});
    };
    note(note, *leaf.expr);
    for (size_t i = leaf.statement; i < root.statement; ++i) {
      if (consumed.contains(i)) continue;
      for (const typed::VariableId variable : read) {
        if (flow_.assigns(i, variable)) return false;
      }
    }
  }
  return true;
}

std::optional<Match> Matcher::match(const Rules& rules, const Rule& rule, Place root) {
  rules_ = &rules;
  rule_ = &rule;
  found_ = {};
  found_.match.bindings.resize(rule.function->declared->schema.arguments().size());
  if (!match(*rule.before, root)) return std::nullopt;
  const bool is_bound =
      std::ranges::none_of(found_.match.bindings, [](const Place& each) { return each.expr == nullptr; });
  if (!is_bound) return std::nullopt;
  for (const auto& [statement, reads] : found_.shared) {
    if (flow_.readsOf(statement) != reads.size()) return std::nullopt;
    found_.match.consumed.insert(statement);
  }
  if (!canMove(found_.match.bindings, found_.match.consumed, root)) return std::nullopt;
  return std::move(found_.match);
}

}  // namespace boxcar::interp
