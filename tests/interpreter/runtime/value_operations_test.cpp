#include <boxcar/interpreter/runtime/value_operations.h>
#include <gtest/gtest.h>

#include <complex>
#include <limits>

#include "tests/test_support.h"

namespace boxcar::interp {
namespace {

using syntax::BinaryOp;
using syntax::CompareOp;
using syntax::UnaryOp;
using Complex = std::complex<double>;

// Returns the result as Python's repr shows it, or the error.
std::string result(BinaryOp op, const IValue& a, const IValue& b) {
  std::string text;
  const std::string error = errorOf([&] { text = repr(binaryValue(op, a, b)); });
  return error == "no error" ? text : error;
}
std::string result(CompareOp op, const IValue& a, const IValue& b) {
  std::string text;
  const std::string error = errorOf([&] { text = repr(compareValue(op, a, b)); });
  return error == "no error" ? text : error;
}
std::string result(UnaryOp op, const IValue& a) {
  std::string text;
  const std::string error = errorOf([&] { text = repr(unaryValue(op, a)); });
  return error == "no error" ? text : error;
}
IValue tuple(std::vector<IValue> elements) { return Tuple(std::move(elements)); }

TEST(ValueOperations, NumbersMeetAtTheWiderKind) {
  EXPECT_EQ(result(BinaryOp::Add, true, true), "2");
  EXPECT_EQ(result(BinaryOp::Add, 1, 2.5), "3.5");
  EXPECT_EQ(result(BinaryOp::Multiply, 2, Complex(1, 2)), "(2+4j)");
  EXPECT_EQ(result(BinaryOp::Divide, 7, 2), "3.5");
  EXPECT_EQ(result(BinaryOp::FloorDivide, -7, 2), "-4");
  EXPECT_EQ(result(BinaryOp::Remainder, -7.5, 2), "0.5");
  EXPECT_EQ(result(BinaryOp::Power, 2, 10), "1024");
  EXPECT_EQ(result(BinaryOp::Power, 4, 0.5), "2.0");
  EXPECT_EQ(result(BinaryOp::Subtract, std::numeric_limits<int64_t>::min(), 1), "9223372036854775807");
}

TEST(ValueOperations, BitsOfBoolsAreBools) {
  EXPECT_EQ(result(BinaryOp::And, true, false), "False");
  EXPECT_EQ(result(BinaryOp::Xor, true, false), "True");
  EXPECT_EQ(result(BinaryOp::Or, true, 2), "3");
  EXPECT_EQ(result(BinaryOp::ShiftLeft, 1, 4), "16");
  EXPECT_EQ(result(BinaryOp::Or, 1.0, 2), "unsupported operands for |: float and int");
}

TEST(ValueOperations, SequencesAddAndRepeat) {
  EXPECT_EQ(result(BinaryOp::Add, "ab", "cd"), "'abcd'");
  EXPECT_EQ(result(BinaryOp::Multiply, "ab", 3), "'ababab'");
  EXPECT_EQ(result(BinaryOp::Multiply, 2, List<int64_t>{1, 2}), "[1, 2, 1, 2]");
  EXPECT_EQ(result(BinaryOp::Multiply, "ab", -1), "''");
  EXPECT_EQ(result(BinaryOp::Multiply, "", std::numeric_limits<int64_t>::max()), "''");
  EXPECT_EQ(result(BinaryOp::Multiply, "ab", int64_t{1} << 60),
            "1152921504606846976 times 2 elements do not fit in memory");
  EXPECT_EQ(result(BinaryOp::Add, tuple({1}), tuple({"a"})), "(1, 'a')");
  EXPECT_EQ(result(BinaryOp::Add, List<int64_t>{1}, List<double>{2}), "[1, 2.0]");
  EXPECT_TRUE(binaryValue(BinaryOp::Add, List<int64_t>{1}, List<int64_t>{2}).isIntList());
}

TEST(ValueOperations, WhatDoesNotFitIsNamed) {
  EXPECT_EQ(result(BinaryOp::Add, 1, "a"), "unsupported operands for +: int and str");
  EXPECT_EQ(result(BinaryOp::Subtract, "a", "b"), "unsupported operands for -: str and str");
  EXPECT_EQ(result(BinaryOp::MatrixMultiply, 1, 2), "unsupported operands for @: int and int");
  EXPECT_EQ(result(BinaryOp::Add, IValue(), 1), "unsupported operands for +: NoneType and int");
  EXPECT_EQ(result(UnaryOp::Negate, "a"), "unsupported operand for unary -: str");
  EXPECT_EQ(result(BinaryOp::Divide, Complex(1), Complex(0)), "complex division by zero");
}

TEST(ValueOperations, UnaryOperators) {
  EXPECT_EQ(result(UnaryOp::Negate, true), "-1");
  EXPECT_EQ(result(UnaryOp::Plus, true), "1");
  EXPECT_EQ(result(UnaryOp::Invert, 5), "-6");
  EXPECT_EQ(result(UnaryOp::Negate, 0.0), "-0.0");
  EXPECT_EQ(result(UnaryOp::Negate, Complex(1, -2)), "(-1+2j)");
}

TEST(ValueOperations, OrderIsPythons) {
  EXPECT_EQ(result(CompareOp::Less, 1, 1.5), "True");
  EXPECT_EQ(result(CompareOp::Less, 9007199254740992.0, 9007199254740993), "True");
  EXPECT_EQ(result(CompareOp::GreaterEqual, "b", "a"), "True");
  EXPECT_EQ(result(CompareOp::Less, "a", "ab"), "True");
  EXPECT_EQ(result(CompareOp::Less, List<int64_t>{1, 2}, List<double>{1, 2.5}), "True");
  EXPECT_EQ(result(CompareOp::Greater, tuple({1, "b"}), tuple({1, "a", 3})), "True");
  EXPECT_EQ(result(CompareOp::Less, tuple({1}), tuple({1, 2})), "True");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(result(CompareOp::Less, nan, 1), "False");
  EXPECT_EQ(result(CompareOp::GreaterEqual, 1, nan), "False");
  EXPECT_EQ(result(CompareOp::Less, 1, "a"), "unsupported operands for <: int and str");
  EXPECT_EQ(result(CompareOp::Equal, 1, "1"), "False");
  EXPECT_EQ(result(CompareOp::NotEqual, List<int64_t>{1}, List<double>{1}), "False");
}

TEST(ValueOperations, TruthIsPythons) {
  EXPECT_FALSE(truth(IValue()));
  EXPECT_FALSE(truth(0));
  EXPECT_FALSE(truth(-0.0));
  EXPECT_FALSE(truth(""));
  EXPECT_FALSE(truth(List<int64_t>()));
  EXPECT_FALSE(truth(GenericDict()));
  EXPECT_FALSE(truth(tuple({})));
  EXPECT_TRUE(truth("0"));
  EXPECT_TRUE(truth(List<int64_t>{0}));
  EXPECT_TRUE(truth(std::numeric_limits<double>::quiet_NaN()));
  EXPECT_TRUE(truth(Device(DeviceType::CPU)));
  const int64_t sizes[] = {2};
  EXPECT_EQ(errorOf([&] { truth(Tensor::allocate(sizes, ScalarType::Float)); }),
            "the truth of a Tensor with 2 elements is ambiguous; use any() or all()");
}

}  // namespace
}  // namespace boxcar::interp
