#include <boxcar/interpreter/compiler/operator_checker.h>
#include <boxcar/interpreter/compiler/typed_builder.h>

#include <array>

namespace boxcar::interp {

using boost::variant2::get_if;
using syntax::BinaryOp;
using syntax::CompareOp;
using syntax::UnaryOp;
using typed::ExprPtr;

namespace {

bool isPlainNumber(TypePtr type) {
  return type->kind() == TypeKind::Bool || type->kind() == TypeKind::Int || type->kind() == TypeKind::Float;
}
bool isAnyNumber(TypePtr type) {
  return isPlainNumber(type) || type->kind() == TypeKind::Complex || type->kind() == TypeKind::Scalar;
}
bool isTensor(TypePtr type) { return type->kind() == TypeKind::Tensor; }
bool isAny(TypePtr type) { return type->kind() == TypeKind::Any; }

struct BinaryRule {
  Opcode on_ints;
  Opcode on_floats;
  Opcode on_values;
  std::string_view on_tensors;  // aten::…
  std::string_view swapped;     // with swapped operands; empty if there is none
};

// Indexed by BinaryOp. Where floats have no opcode, the opcode for ints fills the place.
constexpr std::array<BinaryRule, 13> kBinaryRules = {{
    {Opcode::OrInt, Opcode::OrInt, Opcode::OrValue, "bitwise_or", "bitwise_or"},
    {Opcode::XorInt, Opcode::XorInt, Opcode::XorValue, "bitwise_xor", "bitwise_xor"},
    {Opcode::AndInt, Opcode::AndInt, Opcode::AndValue, "bitwise_and", "bitwise_and"},
    {Opcode::ShlInt, Opcode::ShlInt, Opcode::ShlValue, "__lshift__", ""},
    {Opcode::ShrInt, Opcode::ShrInt, Opcode::ShrValue, "__rshift__", ""},
    {Opcode::AddInt, Opcode::AddFloat, Opcode::AddValue, "add", "add"},
    {Opcode::SubInt, Opcode::SubFloat, Opcode::SubValue, "sub", "rsub"},
    {Opcode::MulInt, Opcode::MulFloat, Opcode::MulValue, "mul", "mul"},
    {Opcode::DivInt, Opcode::DivFloat, Opcode::DivValue, "div", ""},
    {Opcode::FloorDivInt, Opcode::FloorDivFloat, Opcode::FloorDivValue, "floor_divide", ""},
    {Opcode::ModInt, Opcode::ModFloat, Opcode::ModValue, "remainder", ""},
    {Opcode::MatMulValue, Opcode::MatMulValue, Opcode::MatMulValue, "matmul", ""},
    {Opcode::PowInt, Opcode::PowFloat, Opcode::PowValue, "pow", ""},
}};
static_assert(static_cast<size_t>(BinaryOp::Power) + 1 == kBinaryRules.size());

const BinaryRule& ruleOf(BinaryOp op) { return kBinaryRules[static_cast<size_t>(op)]; }

bool isBitwise(BinaryOp op) { return op <= BinaryOp::ShiftRight; }

struct CompareRule {
  Opcode on_values;
  std::string_view on_tensors;
  std::string_view swapped;
};

// Indexed by CompareOp, up to GreaterEqual.
constexpr std::array<CompareRule, 6> kCompareRules = {{{Opcode::EqValue, "eq", "eq"},
                                                       {Opcode::NeValue, "ne", "ne"},
                                                       {Opcode::LtValue, "lt", "gt"},
                                                       {Opcode::LeValue, "le", "ge"},
                                                       {Opcode::GtValue, "gt", "lt"},
                                                       {Opcode::GeValue, "ge", "le"}}};
static_assert(static_cast<size_t>(CompareOp::GreaterEqual) + 1 == kCompareRules.size());

bool isEquality(CompareOp op) { return op == CompareOp::Equal || op == CompareOp::NotEqual; }

// Whether a float represents the int exactly, so that a comparison of floats gives the result for ints.
bool isExactAsFloat(const typed::Expr& expr) {
  const auto* constant = get_if<typed::Constant>(&expr.node);
  constexpr int64_t kLimit = int64_t{1} << 53;
  return constant != nullptr && constant->value.isInt() && constant->value.toInt() >= -kLimit &&
         constant->value.toInt() <= kLimit;
}

// Returns the type of an operator's result for values that are only known at run time or that are not plain numbers;
// null if it cannot work.
TypePtr genericBinaryType(BinaryOp op, TypePtr a, TypePtr b) {
  if (isAny(a) || isAny(b)) return isTensor(a) || isTensor(b) ? Type::tensor() : Type::any();
  const bool has_scalar = a->kind() == TypeKind::Scalar || b->kind() == TypeKind::Scalar;
  if (has_scalar && isAnyNumber(a) && isAnyNumber(b)) return op == BinaryOp::MatrixMultiply ? nullptr : Type::scalar();
  const bool has_complex = a->kind() == TypeKind::Complex || b->kind() == TypeKind::Complex;
  if (has_complex && isAnyNumber(a) && isAnyNumber(b)) {
    return isBitwise(op) || op == BinaryOp::MatrixMultiply || op == BinaryOp::FloorDivide || op == BinaryOp::Remainder
               ? nullptr
               : Type::complex();
  }
  const auto is_count = [](TypePtr type) { return type->kind() == TypeKind::Int || type->kind() == TypeKind::Bool; };
  const auto is_sequence = [](TypePtr type) {
    return type->kind() == TypeKind::String || type->isList() || type->kind() == TypeKind::Tuple;
  };
  if (op == BinaryOp::Multiply && ((is_sequence(a) && is_count(b)) || (is_count(a) && is_sequence(b)))) {
    const TypePtr sequence = is_sequence(a) ? a : b;
    return sequence->kind() == TypeKind::Tuple ? Type::any() : sequence;
  }
  if (op != BinaryOp::Add || a->kind() != b->kind() || !is_sequence(a)) return nullptr;
  if (a == b && a->kind() != TypeKind::Tuple) return a;
  if (a->isList()) return Type::listOf(Type::any());
  std::vector<TypePtr> elements(a->contained().begin(), a->contained().end());
  elements.insert(elements.end(), b->contained().begin(), b->contained().end());
  return Type::tupleOf(elements);
}

// `left is right`
ExprPtr identity(ExprPtr left, ExprPtr right, Span span) {
  const bool against_none = right->type->kind() == TypeKind::None;
  if (against_none && typed::isSimple(*left) && get_if<typed::Constant>(&right->node) != nullptr) {
    if (left->type->kind() == TypeKind::None) return typed::constant(true, Type::boolean(), span);
    if (!isAny(left->type) && !left->type->isOptional()) return typed::constant(false, Type::boolean(), span);
  }
  return typed::operate(Opcode::Is, Type::boolean(), span, std::move(left), std::move(right));
}

}  // namespace

ExprPtr OperatorChecker::unary(UnaryOp op, ExprPtr operand, Span span) {
  const TypePtr type = operand->type;
  if (typed::isPoison(*operand)) return operand;

  if (isTensor(type)) {
    if (op == UnaryOp::Plus) return operand;
    return resolver_.callAten(op == UnaryOp::Negate ? "neg" : "bitwise_not", {&operand}, span);
  }
  const bool is_negate = op == UnaryOp::Negate;
  if (type->kind() == TypeKind::Float && op != UnaryOp::Invert) {
    return is_negate ? typed::operate(Opcode::NegFloat, type, span, std::move(operand)) : std::move(operand);
  }
  if (type->kind() == TypeKind::Int || type->kind() == TypeKind::Bool) {
    operand = converter_.convert(std::move(operand), {Type::integer()});
    if (op == UnaryOp::Plus) return operand;
    return typed::operate(is_negate ? Opcode::NegInt : Opcode::InvertInt, Type::integer(), span, std::move(operand));
  }
  if (isAny(type) || ((type->kind() == TypeKind::Complex || type->kind() == TypeKind::Scalar) &&
                      (op != UnaryOp::Invert || type->kind() == TypeKind::Scalar))) {
    const Opcode opcode = op == UnaryOp::Negate ? Opcode::NegValue
                          : op == UnaryOp::Plus ? Opcode::PlusValue
                                                : Opcode::InvertValue;
    return typed::operate(opcode, type, span, std::move(operand));
  }
  Diagnostic& diagnostic = context_.error(span, fmt::format("`{}` does not work on {}", op, *type));
  if (type->isOptional()) diagnostic.note("check `is None` first");
  return typed::poison(span);
}

ExprPtr OperatorChecker::binary(BinaryOp op, ExprPtr left, ExprPtr right, Span span) {
  const TypePtr a = left->type;
  const TypePtr b = right->type;
  if (isPlainNumber(a) && isPlainNumber(b) && op != BinaryOp::MatrixMultiply) {
    const bool is_float = a->kind() == TypeKind::Float || b->kind() == TypeKind::Float;
    if (!is_float || !isBitwise(op)) return scalarBinary(op, std::move(left), std::move(right), span);
  } else if ((isTensor(a) && (isTensor(b) || isAnyNumber(b))) || (isTensor(b) && isAnyNumber(a))) {
    return tensorBinary(ruleOf(op).on_tensors, ruleOf(op).swapped, std::move(left), std::move(right), span);
  } else if (const TypePtr type = genericBinaryType(op, a, b)) {
    return typed::operate(ruleOf(op).on_values, type, span, std::move(left), std::move(right));
  }
  Diagnostic& diagnostic = context_.error(span, fmt::format("`{}` does not work on {} and {}", op, *a, *b));
  if (a->isOptional() || b->isOptional()) diagnostic.note("check `is None` first for what may be None");
  return typed::poison(span);
}

ExprPtr OperatorChecker::scalarBinary(BinaryOp op, ExprPtr left, ExprPtr right, Span span) {
  const bool are_bool = left->type->kind() == TypeKind::Bool && right->type->kind() == TypeKind::Bool;
  if (are_bool && op <= BinaryOp::And) {
    const Opcode opcode = op == BinaryOp::Or ? Opcode::OrBool : op == BinaryOp::Xor ? Opcode::XorBool : Opcode::AndBool;
    return typed::operate(opcode, Type::boolean(), span, std::move(left), std::move(right));
  }
  const bool is_float = left->type->kind() == TypeKind::Float || right->type->kind() == TypeKind::Float;
  const TypePtr operand_type = is_float ? Type::floating() : Type::integer();
  left = converter_.convert(std::move(left), {operand_type});
  right = converter_.convert(std::move(right), {operand_type});
  const Opcode opcode = is_float ? ruleOf(op).on_floats : ruleOf(op).on_ints;
  const TypePtr type = op == BinaryOp::Divide ? Type::floating() : operand_type;
  return typed::operate(opcode, type, span, std::move(left), std::move(right));
}

ExprPtr OperatorChecker::tensorBinary(std::string_view name, std::string_view swapped, ExprPtr left, ExprPtr right,
                                      Span span) {
  if (isTensor(left->type) || swapped.empty()) return resolver_.callAten(name, {&left, &right}, span);
  typed::Block before;
  if (!typed::isSimple(*right)) left = context_.keep(std::move(left), before);
  return typed::withStatements(std::move(before), resolver_.callAten(swapped, {&right, &left}, span));
}

// ---- Comparisons ----

ExprPtr OperatorChecker::compare(CompareOp op, ExprPtr left, ExprPtr right, Span span) {
  switch (op) {
    case CompareOp::In: return contains(std::move(left), std::move(right), span);
    case CompareOp::NotIn:
      return typed::operate(Opcode::NotBool, Type::boolean(), span, contains(std::move(left), std::move(right), span));
    case CompareOp::Is: return identity(std::move(left), std::move(right), span);
    case CompareOp::IsNot:
      return typed::operate(Opcode::NotBool, Type::boolean(), span, identity(std::move(left), std::move(right), span));
    default: return orderOrEquality(op, std::move(left), std::move(right), span);
  }
}

ExprPtr OperatorChecker::orderOrEquality(CompareOp op, ExprPtr left, ExprPtr right, Span span) {
  const TypePtr a = left->type;
  const TypePtr b = right->type;
  const CompareRule& rule = kCompareRules[static_cast<size_t>(op)];
  if (slotKindOf(a) != SlotKind::Value && slotKindOf(b) != SlotKind::Value) {
    return compareScalars(op, std::move(left), std::move(right), span);
  }
  if ((isTensor(a) && (isTensor(b) || isAnyNumber(b))) || (isTensor(b) && isAnyNumber(a))) {
    return tensorBinary(rule.on_tensors, rule.swapped, std::move(left), std::move(right), span);
  }
  if (isEquality(op) && a->kind() == TypeKind::Device && b->kind() == TypeKind::String) {
    right = converter_.convert(std::move(right), {Type::device()});
  } else if (isEquality(op) && b->kind() == TypeKind::Device && a->kind() == TypeKind::String) {
    left = converter_.convert(std::move(left), {Type::device()});
  }
  const bool is_tensor_possible =
      (isAny(a) && (isAny(b) || isAnyNumber(b) || isTensor(b))) || (isAny(b) && (isAnyNumber(a) || isTensor(a)));
  if (is_tensor_possible) return typed::operate(rule.on_values, Type::any(), span, std::move(left), std::move(right));

  const auto is_ordered = [](TypePtr type) {
    return isAny(type) || type->kind() == TypeKind::String || type->isList() || type->kind() == TypeKind::Tuple;
  };
  const bool is_number_order =
      isAnyNumber(a) && isAnyNumber(b) && a->kind() != TypeKind::Complex && b->kind() != TypeKind::Complex;
  const bool same_kind = a->kind() == b->kind() || isAny(a) || isAny(b);
  if (!isEquality(op) && !is_number_order && !(is_ordered(a) && is_ordered(b) && same_kind)) {
    Diagnostic& diagnostic = context_.error(span, fmt::format("`{}` does not work on {} and {}", op, *a, *b));
    if (a->isOptional() || b->isOptional()) diagnostic.note("check `is None` first for what may be None");
    return typed::poison(span);
  }
  return typed::unboxed(typed::operate(rule.on_values, Type::any(), span, std::move(left), std::move(right)),
                        Type::boolean());
}

ExprPtr OperatorChecker::compareScalars(CompareOp op, ExprPtr left, ExprPtr right, Span span) {
  const SlotKind a = slotKindOf(left->type);
  const SlotKind b = slotKindOf(right->type);
  if (a == SlotKind::Bool && b == SlotKind::Bool && isEquality(op)) {
    ExprPtr differ = typed::operate(Opcode::XorBool, Type::boolean(), span, std::move(left), std::move(right));
    if (op == CompareOp::NotEqual) return differ;
    return typed::operate(Opcode::NotBool, Type::boolean(), span, std::move(differ));
  }
  const bool has_float = a == SlotKind::Float || b == SlotKind::Float;
  if (has_float) {
    const auto loses = [](SlotKind kind, const typed::Expr& expr) {
      return kind == SlotKind::Int && !isExactAsFloat(expr);
    };
    if (loses(a, *left) || loses(b, *right)) {
      const Opcode opcode = kCompareRules[static_cast<size_t>(op)].on_values;
      return typed::unboxed(typed::operate(opcode, Type::any(), span, std::move(left), std::move(right)),
                            Type::boolean());
    }
  }
  const TypePtr type = has_float ? Type::floating() : Type::integer();
  left = converter_.convert(std::move(left), {type});
  right = converter_.convert(std::move(right), {type});

  typed::Block before;
  if (op == CompareOp::Greater || op == CompareOp::GreaterEqual) {
    if (!typed::isSimple(*right)) left = context_.keep(std::move(left), before);
    std::swap(left, right);
    op = op == CompareOp::Greater ? CompareOp::Less : CompareOp::LessEqual;
  }
  constexpr Opcode on_ints[] = {Opcode::EqInt, Opcode::NeInt, Opcode::LtInt, Opcode::LeInt};
  constexpr Opcode on_floats[] = {Opcode::EqFloat, Opcode::NeFloat, Opcode::LtFloat, Opcode::LeFloat};
  const Opcode opcode = (has_float ? on_floats : on_ints)[static_cast<size_t>(op)];
  return typed::withStatements(std::move(before),
                               typed::operate(opcode, Type::boolean(), span, std::move(left), std::move(right)));
}

ExprPtr OperatorChecker::contains(ExprPtr element, ExprPtr container, Span span) {
  switch (container->type->kind()) {
    case TypeKind::Tensor: {
      if (!isTensor(element->type) && !isAnyNumber(element->type)) break;
      typed::Block before;
      if (!typed::isSimple(*container)) element = context_.keep(std::move(element), before);
      ExprPtr equal = resolver_.callAten("eq", {&container, &element}, span);
      return typed::withStatements(std::move(before), typed::truth(resolver_.callAten("any", {&equal}, span)));
    }
    case TypeKind::String:
      if (element->type->kind() != TypeKind::String && !isAny(element->type)) break;
      [[fallthrough]];
    case TypeKind::List:
    case TypeKind::Tuple:
    case TypeKind::Dict:
    case TypeKind::Any:
      return typed::operate(Opcode::Contains, Type::boolean(), span, std::move(element), std::move(container));
    default: break;
  }
  context_.error(span, fmt::format("`in` does not work on {} and {}", *element->type, *container->type));
  return typed::poison(span);
}

}  // namespace boxcar::interp
