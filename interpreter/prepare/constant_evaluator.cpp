#include <boxcar/interpreter/bytecode/builtins.h>
#include <boxcar/interpreter/compiler/fold.h>
#include <boxcar/interpreter/prepare/constant_evaluator.h>
#include <boxcar/interpreter/prepare/typed_visit.h>
#include <boxcar/interpreter/runtime/container_operations.h>
#include <boxcar/interpreter/runtime/value_operations.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace boxcar::interp {

using boost::variant2::get_if;
using syntax::BinaryOp;
using syntax::CompareOp;

namespace {

// Repetitions and paddings up to this length are computed; others might take all memory.
constexpr size_t kLongestConstant = 200;

// Those whose results depend on their arguments alone, and are no larger than these.
bool isConstantBuiltin(std::string_view name) {
  constexpr std::string_view kNames[] = {"len", "int",   "float",      "bool", "str", "abs",       "min",
                                         "max", "round", "sum",        "any",  "all", "format",    "ord",
                                         "chr", "hex",   "list.index", "oct",  "bin", "list.count"};
  constexpr std::string_view kPadding[] = {"str.ljust", "str.rjust", "str.center", "str.zfill", "str.expandtabs"};
  if (name.starts_with("str.")) return std::ranges::find(kPadding, name) == std::end(kPadding);
  return name.starts_with("math::") || std::ranges::find(kNames, name) != std::end(kNames);
}

size_t sizeOf(const IValue& value) {
  if (value.isString()) return value.toStringRef().size();
  return value.isList() ? value.length() : 1;
}

// Whether the result of [op] might be much larger than its operands.
bool mayBeLarge(Opcode op, const IValue& left, const IValue& right) {
  if (op != Opcode::MulValue) return false;
  const bool is_left = left.isString() || left.isList();
  const IValue& times = is_left ? right : left;
  if (!is_left && !right.isString() && !right.isList()) return false;
  const size_t size = sizeOf(is_left ? left : right);
  return !times.isInt() || times.toInt() > static_cast<int64_t>(kLongestConstant / std::max<size_t>(size, 1));
}

// The operations on values of any kind. Their operands are no tensors.
std::optional<IValue> computeValue(Opcode op, const IValue& a, const IValue& b) {
  switch (op) {
    case Opcode::AddValue: return binaryValue(BinaryOp::Add, a, b);
    case Opcode::SubValue: return binaryValue(BinaryOp::Subtract, a, b);
    case Opcode::MulValue: return binaryValue(BinaryOp::Multiply, a, b);
    case Opcode::DivValue: return binaryValue(BinaryOp::Divide, a, b);
    case Opcode::FloorDivValue: return binaryValue(BinaryOp::FloorDivide, a, b);
    case Opcode::ModValue: return binaryValue(BinaryOp::Remainder, a, b);
    case Opcode::EqValue: return compareValue(CompareOp::Equal, a, b);
    case Opcode::NeValue: return compareValue(CompareOp::NotEqual, a, b);
    case Opcode::LtValue: return compareValue(CompareOp::Less, a, b);
    case Opcode::LeValue: return compareValue(CompareOp::LessEqual, a, b);
    case Opcode::GtValue: return compareValue(CompareOp::Greater, a, b);
    case Opcode::GeValue: return compareValue(CompareOp::GreaterEqual, a, b);
    case Opcode::Same: return a == b;
    case Opcode::Contains: return contains(b, a);
    case Opcode::Index:
    case Opcode::IndexInt:
    case Opcode::IndexFloat: return indexValue(a, b);
    default: return std::nullopt;
  }
}

// Whether values of the type may be constants.
bool isConstantType(TypePtr type) {
  if (type->isOptional() || type->kind() == TypeKind::List) return isConstantType(type->element());
  return type->kind() != TypeKind::Tensor && type->kind() != TypeKind::Dict;
}

bool isNeverNone(const typed::Expr& expr) {
  const TypeKind kind = expr.type->kind();
  return kind != TypeKind::None && kind != TypeKind::Any && kind != TypeKind::Optional && kind != TypeKind::Variable;
}

}  // namespace

bool isPlainConstant(const IValue& value) {
  return value.isInt() || value.isDouble() || value.isBool() || value.isString() || value.isNone();
}

std::optional<IValue> ConstantEvaluator::compute(const typed::Operate& operate) const {
  if (operate.op == Opcode::Is) {
    // Whether something is None is known where its type says so, too.
    for (const auto& [value, none] : {std::pair(&operate.left, &operate.right), {&operate.right, &operate.left}}) {
      const auto* constant = get_if<typed::Constant>(&(*none)->node);
      if (constant == nullptr || !constant->value.isNone()) continue;
      if (const auto known = valueOf(**value)) return known->isNone();
      const auto* read = get_if<typed::ReadVariable>(&(*value)->node);
      if (read != nullptr && (isNeverNone(**value) || present.contains(read->variable))) return false;
    }
    return std::nullopt;
  }
  const auto left = valueOf(*operate.left);
  if (!left) return std::nullopt;
  if (operate.right == nullptr) {
    switch (operate.op) {
      case Opcode::Length: return lengthOf(*left);
      case Opcode::Truth:
      case Opcode::IntToBool:
      case Opcode::FloatToBool: return truth(*left);
      case Opcode::Convert: return operate.parameter->kind() == TypeKind::Any ? left : std::nullopt;
      case Opcode::UnboxInt: return left->isInt() ? left : std::nullopt;
      case Opcode::UnboxFloat: return left->isDouble() ? left : std::nullopt;
      case Opcode::UnboxBool: return left->isBool() ? left : std::nullopt;
      default: return fold(operate.op, *left, nullptr);
    }
  }
  const auto right = valueOf(*operate.right);
  if (!right || mayBeLarge(operate.op, *left, *right)) return std::nullopt;
  if (auto result = fold(operate.op, *left, &*right)) return result;
  return computeValue(operate.op, *left, *right);
}

std::optional<IValue> ConstantEvaluator::compute(const typed::Logical& logical) const {
  for (const typed::ExprPtr& operand : logical.operands) {
    const auto value = valueOf(*operand);
    if (!value || !value->isBool()) return std::nullopt;
    if (value->toBool() != logical.is_and) return value;
  }
  return IValue(logical.is_and);
}

std::optional<IValue> ConstantEvaluator::compute(const typed::CallBuiltin& call) const {
  const Builtin& builtin = builtins()[call.builtin];
  if (!isConstantBuiltin(builtin.name())) return std::nullopt;
  std::vector<IValue> arguments;
  for (const typed::ExprPtr& argument : call.arguments) {
    const auto value = valueOf(*argument);
    if (!value) return std::nullopt;
    arguments.push_back(*value);
  }
  if (builtin.name() == "format") {
    // A format with more than three characters may ask for any width.
    for (size_t i = 1; i < arguments.size(); i += 2) {
      if (arguments[i].isString() && arguments[i].toStringRef().size() > 3) return std::nullopt;
    }
  }
  return builtin.function(arguments);
}

std::optional<IValue> ConstantEvaluator::compute(const typed::MakeList& list, TypePtr type) const {
  std::vector<IValue> items;
  for (const typed::ExprPtr& item : list.items) {
    const auto value = valueOf(*item);
    if (!value || !isPlainConstant(*value)) return std::nullopt;
    items.push_back(*value);
  }
  return makeList(type, items);
}

std::optional<IValue> ConstantEvaluator::compute(const typed::MakeSlice& slice) const {
  std::vector<IValue> values;
  for (const typed::ExprPtr* part : {&slice.object, &slice.start, &slice.stop, &slice.step}) {
    const auto value = *part == nullptr ? std::optional(IValue()) : valueOf(**part);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return sliceValue(values[0], values[1], values[2], values[3]);
}

std::optional<IValue> ConstantEvaluator::compute(const typed::Expr& expr) const {
  if (const auto* constant = get_if<typed::Constant>(&expr.node)) return constant->value;
  if (const auto* read = get_if<typed::ReadVariable>(&expr.node)) {
    const auto known = variables.find(read->variable);
    return known == variables.end() ? std::nullopt : std::optional(known->second);
  }
  if (const auto* read = get_if<typed::ReadGlobal>(&expr.node)) {
    const auto known = globals.find(read->global);
    return known == globals.end() ? std::nullopt : std::optional(known->second);
  }
  if (const auto* operate = get_if<typed::Operate>(&expr.node)) return compute(*operate);
  if (const auto* logical = get_if<typed::Logical>(&expr.node)) return compute(*logical);
  if (const auto* conditional = get_if<typed::Conditional>(&expr.node)) {
    const auto condition = valueOf(*conditional->condition);
    if (!condition || !condition->isBool()) return std::nullopt;
    return valueOf(condition->toBool() ? *conditional->value : *conditional->otherwise);
  }
  if (const auto* call = get_if<typed::CallBuiltin>(&expr.node)) return compute(*call);
  if (const auto* list = get_if<typed::MakeList>(&expr.node)) return compute(*list, expr.type);
  if (const auto* slice = get_if<typed::MakeSlice>(&expr.node)) return compute(*slice);
  return std::nullopt;
}

std::optional<IValue> ConstantEvaluator::valueOf(const typed::Expr& expr) const {
  try {
    auto value = compute(expr);
    if (value && sizeOf(*value) > kLongestConstant) return std::nullopt;
    return value;
  } catch (const Error&) {
    return std::nullopt;  // an error of the program, when it runs
  }
}

const typed::Expr* partThatIsNeverConstant(const typed::Expr& expr) {
  const auto* operate = get_if<typed::Operate>(&expr.node);
  if (operate != nullptr && operate->op == Opcode::Is) return nullptr;
  const bool is_variable = get_if<typed::ReadVariable>(&expr.node) != nullptr;
  const auto* call = get_if<typed::CallBuiltin>(&expr.node);
  const bool may_be_constant =
      (is_variable && isConstantType(expr.type)) ||
      (call != nullptr && isConstantBuiltin(builtins()[call->builtin].name())) ||
      get_if<typed::Constant>(&expr.node) != nullptr || operate != nullptr ||
      get_if<typed::Logical>(&expr.node) != nullptr || get_if<typed::Conditional>(&expr.node) != nullptr ||
      get_if<typed::MakeList>(&expr.node) != nullptr || get_if<typed::MakeSlice>(&expr.node) != nullptr;
  if (!may_be_constant) return &expr;
  const typed::Expr* found = nullptr;
  typed::eachOperand(
      expr,
      [&found](const typed::Expr& operand) {
        if (found == nullptr) found = partThatIsNeverConstant(operand);
      },
      [](const typed::Stmt&) {});
  return found;
}

}  // namespace boxcar::interp
