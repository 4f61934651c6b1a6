#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/interpreter/bytecode/builtins.h>
#include <boxcar/interpreter/prepare/block_flow.h>
#include <boxcar/interpreter/prepare/effects.h>
#include <boxcar/interpreter/prepare/typed_visit.h>

#include <algorithm>
#include <string_view>

namespace boxcar::interp {

using boost::variant2::get_if;

namespace {

// Those that only look at their arguments. The others change lists, dicts or structs, print, or call what is known at
// run time only.
bool isPureBuiltin(std::string_view name) {
  constexpr std::string_view kImpure[] = {"print",        "clock",       "call_function",  "call_method", "updated",
                                          "list.append",  "list.extend", "list.insert",    "list.pop",    "list.remove",
                                          "list.reverse", "list.sort",   "list.clear",     "dict.pop",    "dict.update",
                                          "dict.popitem", "dict.clear",  "dict.setdefault"};
  return std::ranges::find(kImpure, name) == std::end(kImpure);
}

// Functions of the library's scripts that only compute their result.
bool isPureInLibrary(const CalledFunction& function) {
  return (function.module == "nn.ops" || function.module == "fused.ops") &&
         (function.name.ends_with("_layer") || function.name.starts_with("check_"));
}

bool isFalse(const typed::Expr& expr) {
  const auto* constant = get_if<typed::Constant>(&expr.node);
  return constant != nullptr && constant->value.isBool() && !constant->value.toBool();
}

// Whether it is a dropout that drops nothing.
bool dropsNothing(const typed::CallOperator& call) {
  if (call.name.name != "aten::dropout" || call.arguments.size() != 3) return false;
  const auto* share = get_if<typed::Constant>(&call.arguments[1]->node);
  return isFalse(*call.arguments[2]) || (share != nullptr && share->value.isDouble() && share->value.toDouble() == 0.0);
}

}  // namespace

bool Effects::isPure(const CalledFunction& function, const typed::CallFunction& call) {
  if (function.own == nullptr) {
    // In training, it writes the running statistics.
    if (function.name == "batch_norm_layer" && !isFalse(*call.arguments[3])) return false;
    return isPureInLibrary(function);
  }
  const auto [known, is_new] = known_.emplace(function.own, false);  // recursion may not end
  if (!is_new) return known->second;
  const bool is_pure = isPure(function.own->typed.body);
  return known_[function.own] = is_pure;
}

bool Effects::isPureCall(const typed::Expr& expr) {
  if (const auto* call = get_if<typed::CallOperator>(&expr.node)) {
    if (isInPlaceName(call->name.name) && isTemporary(script_, *call->arguments[0])) return true;
    const auto op = Dispatcher::singleton().findSchema(call->name);
    if (!op) return false;  // an operator of the script itself
    if (dropsNothing(*call)) return true;
    if (op->hasTag(Tag::nondeterministic_seeded) || op->hasTag(Tag::io)) return false;
    return std::ranges::none_of(op->schema().arguments(), [](const Argument& each) { return each.is_write(); });
  }
  if (const auto* call = get_if<typed::CallFunction>(&expr.node)) return isPure(script_.called(*call), *call);
  if (const auto* call = get_if<typed::CallBuiltin>(&expr.node)) return isPureBuiltin(builtins()[call->builtin].name());
  return get_if<typed::CallDynamic>(&expr.node) == nullptr;
}

bool Effects::isPure(const typed::Expr& expr) {
  if (!isPureCall(expr)) return false;
  bool is_pure = true;
  typed::eachOperand(
      expr, [&](const typed::Expr& operand) { is_pure = is_pure && isPure(operand); },
      [&](const typed::Stmt& statement) { is_pure = is_pure && isPure(statement); });
  return is_pure;
}

bool Effects::isPure(const typed::Stmt& statement) {
  if (get_if<typed::SetIndex>(&statement.node) != nullptr || get_if<typed::SetField>(&statement.node) != nullptr ||
      get_if<typed::SetGlobal>(&statement.node) != nullptr || get_if<typed::With>(&statement.node) != nullptr ||
      get_if<typed::Register>(&statement.node) != nullptr || get_if<typed::RunModule>(&statement.node) != nullptr) {
    return false;
  }
  bool is_pure = true;
  typed::eachPart(
      statement, [&](const typed::Expr& part) { is_pure = is_pure && isPure(part); },
      [&](const typed::Block& block) { is_pure = is_pure && isPure(block); });
  return is_pure;
}

bool Effects::isPure(const typed::Block& block) {
  return std::ranges::all_of(block, [this](const typed::StmtPtr& statement) { return isPure(*statement); });
}

bool isTemporary(const TypedScript& script, const typed::Expr& expr) {
  const auto* call = get_if<typed::CallOperator>(&expr.node);
  if (call != nullptr && isInPlaceName(call->name.name)) return isTemporary(script, *call->arguments[0]);
  return makesTensor(script, expr);
}

bool makesTensor(const TypedScript& script, const typed::Expr& expr) {
  if (const auto* call = get_if<typed::CallFunction>(&expr.node)) return isPureInLibrary(script.called(*call));
  const auto* call = get_if<typed::CallOperator>(&expr.node);
  if (call == nullptr) return false;
  const auto op = Dispatcher::singleton().findSchema(call->name);
  if (!op || op->schema().returns().size() != 1 || op->schema().returns()[0].alias_info() != nullptr) return false;
  constexpr std::string_view kMaking[] = {
      "aten::conv1d",     "aten::conv2d",     "aten::conv3d",           "aten::convolution",
      "aten::batch_norm", "aten::layer_norm", "aten::linear",           "aten::addmm",
      "aten::mm",         "aten::bmm",        "aten::matmul",           "aten::softmax",
      "aten::cat",        "aten::_softmax",   "fused::append",          "fused::convolution",
      "fused::linear",    "fused::pointwise", "fused::pointwise_reduce"};
  return op->hasTag(Tag::pointwise) || std::ranges::find(kMaking, call->name.name) != std::end(kMaking);
}

}  // namespace boxcar::interp
