#include <boxcar/interpreter/compiler/fold.h>
#include <boxcar/interpreter/runtime/arithmetic.h>
#include <boxcar/ivalue/error.h>

namespace boxcar::interp {
namespace {

IValue foldInt(Opcode op, int64_t a, int64_t b) {
  switch (op) {
    case Opcode::AddInt: return addInt(a, b);
    case Opcode::SubInt: return subInt(a, b);
    case Opcode::MulInt: return mulInt(a, b);
    case Opcode::DivInt: return divInt(a, b);
    case Opcode::FloorDivInt: return floorDivInt(a, b);
    case Opcode::ModInt: return modInt(a, b);
    case Opcode::PowInt: return powInt(a, b);
    case Opcode::AndInt: return a & b;
    case Opcode::OrInt: return a | b;
    case Opcode::XorInt: return a ^ b;
    case Opcode::ShlInt: return shlInt(a, b);
    case Opcode::ShrInt: return shrInt(a, b);
    case Opcode::EqInt: return a == b;
    case Opcode::NeInt: return a != b;
    case Opcode::LtInt: return a < b;
    case Opcode::LeInt: return a <= b;
    default: return {};
  }
}

IValue foldFloat(Opcode op, double a, double b) {
  switch (op) {
    case Opcode::AddFloat: return a + b;
    case Opcode::SubFloat: return a - b;
    case Opcode::MulFloat: return a * b;
    case Opcode::DivFloat: return divFloat(a, b);
    case Opcode::FloorDivFloat: return floorDivFloat(a, b);
    case Opcode::ModFloat: return modFloat(a, b);
    case Opcode::PowFloat: return powFloat(a, b);
    case Opcode::EqFloat: return a == b;
    case Opcode::NeFloat: return a != b;
    case Opcode::LtFloat: return a < b;
    case Opcode::LeFloat: return a <= b;
    default: return {};
  }
}

IValue foldBool(Opcode op, bool a, bool b) {
  switch (op) {
    case Opcode::AndBool: return a && b;
    case Opcode::OrBool: return a || b;
    case Opcode::XorBool: return a != b;
    default: return {};
  }
}

IValue foldOne(Opcode op, const IValue& value) {
  switch (op) {
    case Opcode::NegInt: return negInt(value.toInt());
    case Opcode::InvertInt: return ~value.toInt();
    case Opcode::NegFloat: return -value.toDouble();
    case Opcode::NotBool: return !value.toBool();
    case Opcode::IntToFloat: return static_cast<double>(value.toInt());
    case Opcode::BoolToInt: return int64_t{value.toBool()};
    case Opcode::BoolToFloat: return value.toBool() ? 1.0 : 0.0;
    default: return {};
  }
}

}  // namespace

std::optional<IValue> fold(Opcode op, const IValue& left, const IValue* right) {
  IValue result;
  try {
    if (right == nullptr) {
      result = foldOne(op, left);
    } else if (left.isInt() && right->isInt()) {
      result = foldInt(op, left.toInt(), right->toInt());
    } else if (left.isDouble() && right->isDouble()) {
      result = foldFloat(op, left.toDouble(), right->toDouble());
    } else if (left.isBool() && right->isBool()) {
      result = foldBool(op, left.toBool(), right->toBool());
    }
  } catch (const Error&) {
    return std::nullopt;
  }
  if (result.isNone()) return std::nullopt;
  return result;
}

}  // namespace boxcar::interp
