#include <boxcar/interpreter/runtime/arithmetic.h>
#include <boxcar/interpreter/runtime/container_operations.h>
#include <boxcar/interpreter/runtime/dynamic_call.h>
#include <boxcar/interpreter/runtime/value_operations.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/stop_request.h>
#include <boxcar/schema/value_type.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <utility>
#include <vector>

namespace boxcar::interp {
namespace {

using Tag = IValue::Tag;
using Complex = std::complex<double>;
using syntax::BinaryOp;
using syntax::CompareOp;
using syntax::UnaryOp;

constexpr size_t kMaxRepeated = size_t{1} << 32;

// The operators that replace Python's if an operand is a tensor, in the order of the enums.
constexpr std::array kBinaryOperators = {
    "aten::bitwise_or", "aten::bitwise_xor", "aten::bitwise_and", "aten::__lshift__", "aten::__rshift__",
    "aten::add",        "aten::sub",         "aten::mul",         "aten::div",        "aten::floor_divide",
    "aten::remainder",  "aten::matmul",      "aten::pow"};
constexpr std::array kCompareOperators = {"aten::eq", "aten::ne", "aten::lt", "aten::le", "aten::gt", "aten::ge"};

template <class Op>
[[noreturn]] void failOperands(Op op, const IValue& a, const IValue& b) {
  BOXCAR_FAIL("unsupported operands for {}: {} and {}", toString(op), kindName(a), kindName(b));
}

bool isIntegral(const IValue& value) { return value.isInt() || value.isBool(); }
bool isReal(const IValue& value) { return isIntegral(value) || value.isDouble(); }

int64_t asInt(const IValue& value) { return value.isInt() ? value.toInt() : value.toBool(); }
double asDouble(const IValue& value) { return value.isDouble() ? value.toDouble() : static_cast<double>(asInt(value)); }
Complex asComplex(const IValue& value) {
  return value.isComplexDouble() ? value.toComplexDouble() : Complex(asDouble(value));
}

IValue binaryInts(BinaryOp op, const IValue& left, const IValue& right) {
  const int64_t a = asInt(left);
  const int64_t b = asInt(right);
  const bool are_bools = left.isBool() && right.isBool();
  switch (op) {
    case BinaryOp::Or: return are_bools ? IValue((a | b) != 0) : IValue(a | b);
    case BinaryOp::Xor: return are_bools ? IValue((a ^ b) != 0) : IValue(a ^ b);
    case BinaryOp::And: return are_bools ? IValue((a & b) != 0) : IValue(a & b);
    case BinaryOp::ShiftLeft: return shlInt(a, b);
    case BinaryOp::ShiftRight: return shrInt(a, b);
    case BinaryOp::Add: return addInt(a, b);
    case BinaryOp::Subtract: return subInt(a, b);
    case BinaryOp::Multiply: return mulInt(a, b);
    case BinaryOp::Divide: return divInt(a, b);
    case BinaryOp::FloorDivide: return floorDivInt(a, b);
    case BinaryOp::Remainder: return modInt(a, b);
    case BinaryOp::Power: return powInt(a, b);
    case BinaryOp::MatrixMultiply: break;
  }
  failOperands(op, left, right);
}

IValue binaryFloats(BinaryOp op, const IValue& left, const IValue& right) {
  const double a = asDouble(left);
  const double b = asDouble(right);
  switch (op) {
    case BinaryOp::Add: return a + b;
    case BinaryOp::Subtract: return a - b;
    case BinaryOp::Multiply: return a * b;
    case BinaryOp::Divide: return divFloat(a, b);
    case BinaryOp::FloorDivide: return floorDivFloat(a, b);
    case BinaryOp::Remainder: return modFloat(a, b);
    case BinaryOp::Power: return powFloat(a, b);
    default: failOperands(op, left, right);
  }
}

// Multiplied out, as in Python: exact if the numbers are.
Complex wholePower(Complex base, int64_t exponent) {
  Complex result(1);
  Complex factor = base;
  for (int64_t left = std::abs(exponent); left != 0; left >>= 1) {
    if ((left & 1) != 0) result *= factor;
    factor *= factor;
  }
  return exponent < 0 ? Complex(1) / result : result;
}

Complex complexPower(Complex base, Complex exponent) {
  constexpr double kMostWhole = 100;
  if (exponent == Complex(0)) return Complex(1);
  BOXCAR_CHECK(base != Complex(0) || (exponent.real() > 0 && exponent.imag() == 0),
               "0.0 to a negative or complex power");
  const double number = exponent.real();
  if (exponent.imag() == 0 && std::abs(number) <= kMostWhole && number == std::floor(number)) {
    return wholePower(base, static_cast<int64_t>(number));
  }
  return std::pow(base, exponent);
}

IValue binaryComplexes(BinaryOp op, const IValue& left, const IValue& right) {
  const Complex a = asComplex(left);
  const Complex b = asComplex(right);
  switch (op) {
    case BinaryOp::Add: return a + b;
    case BinaryOp::Subtract: return a - b;
    case BinaryOp::Multiply: return a * b;
    case BinaryOp::Divide: BOXCAR_CHECK(b != Complex(0), "complex division by zero"); return a / b;
    case BinaryOp::Power: return complexPower(a, b);
    default: failOperands(op, left, right);
  }
}

// Returns how often `sequence * count` repeats [size] elements.
size_t repeatCount(const IValue& count, size_t size) {
  const int64_t times = std::max<int64_t>(asInt(count), 0);
  BOXCAR_CHECK(size == 0 || static_cast<uint64_t>(times) <= kMaxRepeated / size,
               "{} times {} elements do not fit in memory", times, size);
  return static_cast<size_t>(times);
}

IValue repeat(const IValue& sequence, const IValue& count) {
  if (sequence.isString()) {
    const std::string& text = sequence.toStringRef();
    std::string result;
    const size_t times = repeatCount(count, text.size());
    result.reserve(text.size() * times);
    StopCounter steps;
    for (size_t i = 0; i < times && !text.empty(); ++i) {
      result += text;
      steps.add(static_cast<int64_t>(text.size()));
    }
    return result;
  }
  const size_t size = sequence.length();
  const size_t times = repeatCount(count, size);
  if (!sequence.isTuple()) {
    IValue list = makeListLike(sequence, {});
    appendList(list, sequence, times);
    return list;
  }
  std::vector<IValue> elements;
  elements.reserve(size * times);
  StopCounter steps;
  for (size_t i = 0; i < times && size != 0; ++i) {
    for (size_t k = 0; k < size; ++k) elements.push_back(sequence.elementAt(k));
    steps.add(static_cast<int64_t>(size));
  }
  return Tuple(std::move(elements));
}

IValue concatenate(const IValue& a, const IValue& b) {
  if (a.isString()) return a.toStringRef() + b.toStringRef();
  if (a.isList() && a.tag() == b.tag()) {
    IValue list = copyOfList(a);
    appendList(list, b);
    return list;
  }
  std::vector<IValue> elements;
  elements.reserve(a.length() + b.length());
  for (const IValue* part : {&a, &b}) {
    for (size_t i = 0; i < part->length(); ++i) elements.push_back(part->elementAt(i));
  }
  if (a.isTuple()) return Tuple(std::move(elements));
  return GenericList(makeIntrusive<GenericListObject>(std::move(elements)));
}

bool isSequence(const IValue& value) { return value.isString() || value.isList() || value.isTuple(); }

bool concatenates(const IValue& a, const IValue& b) {
  return (a.isString() && b.isString()) || (a.isTuple() && b.isTuple()) || (a.isList() && b.isList());
}

int orderInts(int64_t a, int64_t b) { return a < b ? -1 : a > b; }
int orderDoubles(double a, double b) { return a < b ? -1 : a > b ? 1 : a == b ? 0 : 2; }

int orderReals(const IValue& a, const IValue& b) {
  if (isIntegral(a)) return isIntegral(b) ? orderInts(asInt(a), asInt(b)) : compareIntFloat(asInt(a), b.toDouble());
  if (b.isDouble()) return orderDoubles(a.toDouble(), b.toDouble());
  const int reversed = compareIntFloat(asInt(b), a.toDouble());
  return reversed == 2 ? 2 : -reversed;
}

bool ordersBy(CompareOp op, int order) {
  switch (op) {
    case CompareOp::Less: return order == -1;
    case CompareOp::LessEqual: return order == -1 || order == 0;
    case CompareOp::Greater: return order == 1;
    default: return order == 1 || order == 0;
  }
}

// How deep lists and tuples may nest in a comparison.
constexpr int kMaxCompared = 500;

int orderAtDepth(CompareOp op, const IValue& a, const IValue& b, int depth) {
  if (isReal(a) && isReal(b)) return orderReals(a, b);
  if (a.isString() && b.isString()) {
    const int order = a.toStringRef().compare(b.toStringRef());
    return orderInts(order, 0);
  }
  if ((a.isTuple() && b.isTuple()) || (a.isList() && b.isList())) {
    BOXCAR_CHECK(depth < kMaxCompared, "lists more than {} deep cannot be compared", kMaxCompared);
    const size_t common = std::min(a.length(), b.length());
    for (size_t i = 0; i < common; ++i) {
      const IValue left = a.elementAt(i);
      const IValue right = b.elementAt(i);
      if (!(left == right)) return orderAtDepth(op, left, right, depth + 1);
    }
    return orderInts(static_cast<int64_t>(a.length()), static_cast<int64_t>(b.length()));
  }
  if (a.isTensor() && b.isTensor()) {
    const IValue operands[] = {a, b};
    const auto holds = [&](CompareOp which) {
      return truth(callOperator(kCompareOperators[static_cast<size_t>(which)], operands));
    };
    return holds(CompareOp::Less) ? -1 : holds(CompareOp::Greater) ? 1 : 0;
  }
  failOperands(op, a, b);
}

}  // namespace

std::string kindName(const IValue& value) {
  // A class may have a name that a schema cannot spell.
  if (value.isObject()) return value.toObject()->className();
  return std::string(typeOf(value)->text());
}

IValue binaryValue(BinaryOp op, const IValue& a, const IValue& b) {
  if (isIntegral(a) && isIntegral(b)) return binaryInts(op, a, b);
  if (isReal(a) && isReal(b)) return binaryFloats(op, a, b);
  if (a.isTensor() || b.isTensor()) {
    const IValue operands[] = {a, b};
    return callOperator(kBinaryOperators[static_cast<size_t>(op)], operands);
  }
  if (a.isScalar() && b.isScalar()) return binaryComplexes(op, a, b);
  if (op == BinaryOp::Add && concatenates(a, b)) return concatenate(a, b);
  if (op == BinaryOp::Multiply && isSequence(a) && isIntegral(b)) return repeat(a, b);
  if (op == BinaryOp::Multiply && isIntegral(a) && isSequence(b)) return repeat(b, a);
  failOperands(op, a, b);
}

IValue compareValue(CompareOp op, const IValue& a, const IValue& b) {
  if ((a.isTensor() && (b.isTensor() || b.isScalar())) || (a.isScalar() && b.isTensor())) {
    const IValue operands[] = {a, b};
    return callOperator(kCompareOperators[static_cast<size_t>(op)], operands);
  }
  if (op == CompareOp::Equal) return a == b;
  if (op == CompareOp::NotEqual) return !(a == b);
  return ordersBy(op, orderAtDepth(op, a, b, 0));
}

IValue unaryValue(UnaryOp op, const IValue& a) {
  if (a.isTensor()) {
    if (op == UnaryOp::Plus) return a;
    return callOperator(op == UnaryOp::Negate ? "aten::neg" : "aten::bitwise_not", {&a, 1});
  }
  if (op == UnaryOp::Invert && isIntegral(a)) return ~asInt(a);
  if (op == UnaryOp::Negate || op == UnaryOp::Plus) {
    const bool negates = op == UnaryOp::Negate;
    if (isIntegral(a)) return negates ? negInt(asInt(a)) : asInt(a);
    if (a.isDouble()) return negates ? -a.toDouble() : a.toDouble();
    if (a.isComplexDouble()) return negates ? -a.toComplexDouble() : a.toComplexDouble();
  }
  BOXCAR_FAIL("unsupported operand for unary {}: {}", toString(op), kindName(a));
}

int orderValues(const IValue& a, const IValue& b) { return orderAtDepth(CompareOp::Less, a, b, 0); }

bool truth(const IValue& value) {
  switch (value.tag()) {
    case Tag::None: return false;
    case Tag::Bool: return value.toBool();
    case Tag::Int: return value.toInt() != 0;
    case Tag::Double: return value.toDouble() != 0;
    case Tag::ComplexDouble: return value.toComplexDouble() != Complex(0);
    case Tag::String: return !value.toStringRef().empty();
    case Tag::Tensor: {
      const Tensor& tensor = value.toTensor();
      BOXCAR_CHECK(tensor.numel() == 1, "the truth of a Tensor with {} elements is ambiguous; use any() or all()",
                   tensor.numel());
      return truth(callOperator("aten::item", {&value, 1}));
    }
    case Tag::GenericDict:
    case Tag::Tuple: return value.length() != 0;
    default: return !value.isList() || value.length() != 0;
  }
}

}  // namespace boxcar::interp
