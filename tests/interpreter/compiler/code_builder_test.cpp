#include <gtest/gtest.h>

#include <limits>

#include "tests/interpreter/compiler/code_helpers.h"

namespace boxcar::interp {
namespace {

TEST(UnitBuilder, KeepsEqualConstantsOnce) {
  UnitBuilder unit(Source::create("a.ops", ""));
  const uint32_t one = unit.constant(IValue(1));
  EXPECT_EQ(unit.constant(IValue(1)), one);
  EXPECT_NE(unit.constant(IValue(1.0)), one);
  EXPECT_NE(unit.constant(IValue(true)), one);
  EXPECT_NE(unit.constant(IValue("1")), one);
  EXPECT_EQ(unit.constant(IValue("1")), unit.constant(IValue("1")));
  EXPECT_NE(unit.constant(IValue(0.0)), unit.constant(IValue(-0.0)));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(unit.constant(IValue(nan)), unit.constant(IValue(nan)));
}

TEST(UnitBuilder, KeepsListsApart) {
  UnitBuilder unit(Source::create("a.ops", ""));
  EXPECT_NE(unit.constant(List<int64_t>{1}), unit.constant(List<int64_t>{1}));
}

TEST(UnitBuilder, KeepsEqualTypesAndSitesOnce) {
  UnitBuilder unit(Source::create("a.ops", ""));
  EXPECT_EQ(unit.type(Type::tensor()), unit.type(Type::tensor()));
  EXPECT_NE(unit.type(Type::tensor()), unit.type(Type::any()));
  const OperatorName add("aten::add", "Tensor");
  EXPECT_EQ(unit.operatorSite(add, 3, 1), unit.operatorSite(add, 3, 1));
  EXPECT_NE(unit.operatorSite(add, 3, 1), unit.operatorSite(OperatorName("aten::add", "Scalar"), 3, 1));
}

TEST(CodeBuilder, JumpsReachLabelsBeforeAndBehind) {
  TestUnit unit;
  const uint32_t f = unit.add("f", SlotKind::Int, [](CodeBuilder& code) {
    const uint16_t i = code.slot(SlotKind::Int);
    const Label end = code.newLabel();
    const Label again = code.newLabel();
    code.bind(again);
    code.emitJump(Opcode::JumpIfGeIntImm, end, i, 3);
    code.emit(Opcode::AddIntImm, i, i, 1);
    code.emitJump(Opcode::Jump, again);
    code.bind(end);
    code.emit(Opcode::ReturnInt, i);
  });
  const CodeFunction& function = unit.builder.unit().functions[f];
  EXPECT_EQ(function.code[0], (Instruction{Opcode::JumpIfGeIntImm, 0, 3, 2}));
  EXPECT_EQ(function.code[2], Instruction::wide(Opcode::Jump, 0, -3));
  EXPECT_EQ(unit.run(f).toInt(), 3);
}

TEST(CodeBuilder, AShortJumpThatDoesNotReachTakesADetour) {
  constexpr int kCount = 40'000;
  TestUnit unit;
  const uint32_t f = unit.add("f", SlotKind::Int, [](CodeBuilder& code) {
    const uint16_t i = code.slot(SlotKind::Int);
    const Label again = code.newLabel();
    const Label end = code.newLabel();
    code.bind(again);
    code.emitJump(Opcode::JumpIfGtIntImm, end, i, 0);
    for (int k = 0; k < kCount; ++k) code.emit(Opcode::AddIntImm, i, i, 1);
    code.emitJump(Opcode::JumpIfLtIntImm, again, i, 1000);
    code.emitJump(Opcode::JumpIfGtIntImm, again, i, 1000);
    code.bind(end);
    code.emit(Opcode::ReturnInt, i);
  });
  const CodeFunction& function = unit.builder.unit().functions[f];
  EXPECT_EQ(function.code.size(), kCount + 4U + 3 * 2U);
  EXPECT_EQ(function.code[0], (Instruction{Opcode::JumpIfGtIntImm, 0, 0, 1}));
  EXPECT_EQ(function.code[1], Instruction::wide(Opcode::Jump, 0, 1));
  EXPECT_EQ(function.spans.size(), function.code.size());
  EXPECT_EQ(unit.run(f).toInt(), kCount);
}

TEST(CodeBuilder, ImmediatesHave16Bits) {
  EXPECT_TRUE(CodeBuilder::fitsImmediate(32767));
  EXPECT_TRUE(CodeBuilder::fitsImmediate(-32768));
  EXPECT_FALSE(CodeBuilder::fitsImmediate(32768));
}

}  // namespace
}  // namespace boxcar::interp
