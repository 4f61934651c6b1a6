#include <boxcar/interpreter/bytecode/builtins.h>
#include <boxcar/interpreter/bytecode/disassembler.h>
#include <gtest/gtest.h>

#include "tests/interpreter/compiler/code_helpers.h"

namespace boxcar::interp {
namespace {

TEST(Disassembler, ShowsCodeBesideItsLines) {
  TestUnit unit("x = square(3)\nreturn x * x\n");
  const uint32_t square = unit.add("fn square", SlotKind::Int, [](CodeBuilder& code) {
    const uint16_t x = code.argument(SlotKind::Int, "x");
    const uint16_t y = code.slot(SlotKind::Int);
    code.at({21, 26}).emit(Opcode::MulInt, y, x, x);
    code.at({14, 26}).emit(Opcode::ReturnInt, y);
  });
  unit.add("fn loop", SlotKind::Value, [square](CodeBuilder& code) {
    const uint16_t i = code.slot(SlotKind::Int, "i");
    const Label again = code.newLabel();
    code.bind(again);
    code.at({4, 13}).emit(Opcode::PassScalar, 0, i);
    code.emitWide(Opcode::CallFunction, i, square);
    code.emitJump(Opcode::JumpIfLtIntImm, again, i, static_cast<uint16_t>(-3));
    code.emit(Opcode::ReturnNone);
  });
  EXPECT_EQ(disassemble(unit.builder.unit()),
            "boxcar bytecode 1\n"
            "\n"
            "fn 0 \"<script>\" 0 -> Value @0..5\n"
            "; test.ops:1: x = square(3)\n"
            "     0  ReturnNone                          @0..5\n"
            "\n"
            "fn 1 \"fn square\" 1 -> Int @0..5\n"
            "  slots Int Int\n"
            "  name i0 x\n"
            "; test.ops:2: return x * x\n"
            "     0  MulInt i1, i0, i0                   @21..26\n"
            "     1  ReturnInt i1                        @14..26\n"
            "\n"
            "fn 2 \"fn loop\" 0 -> Value @0..5\n"
            "  slots Int\n"
            "  name i0 i\n"
            "; test.ops:1: x = square(3)\n"
            "     0  PassScalar #0, i0                   @4..13\n"
            "     1  CallFunction i0, fn 1               @4..13         ; fn square\n"
            "     2  JumpIfLtIntImm i0, -3, -> 0         @4..13\n"
            "     3  ReturnNone                          @4..13\n"
            "\n"
            "source 0 \"test.ops\"\n"
            "| x = square(3)\n"
            "| return x * x\n"
            "|\n"
            "end\n");
}

TEST(Disassembler, ShowsWhatTheUnitShares) {
  TestUnit unit("line\n");
  unit.builder.type(Type::listOf(Type::integer()));
  unit.builder.global("count", Type::any());
  unit.builder.operatorSite(OperatorName("aten::add", "Tensor"), 3, 1);
  unit.builder.dynamicSite({"aten::mul", std::nullopt, 1, {"other"}});
  unit.builder.dynamicSite({"aten::sub", "Tensor", 2, {}});
  unit.builder.unit().operators.push_back(
      {FunctionSchema("t::f", "", {Argument("x")}, {Argument()}), std::nullopt, {0, 4}});
  unit.add("fn all", SlotKind::Value, [&](CodeBuilder& code) {
    const uint16_t v = code.slot(SlotKind::Value);
    const uint16_t f = code.slot(SlotKind::Float);
    const uint16_t b = code.slot(SlotKind::Bool);
    code.emitWide(Opcode::LoadConstant, v, unit.builder.constant(IValue("a\n'b'")));
    code.emitWide(Opcode::LoadFloat, f, unit.builder.constant(IValue(2.5)));
    code.emit(Opcode::LoadBool, b, 1);
    code.emitWide(Opcode::LoadGlobal, v, 0);
    code.emit(Opcode::TestType, b, v, 0);
    for (int i = 0; i < 3; ++i) code.emit(Opcode::Push, v);
    code.emitWide(Opcode::CallOperator, 0, 0);
    code.emit(Opcode::CallBuiltin, *findBuiltin("len"), 1);
    code.emit(Opcode::Push, v);
    code.emitWide(Opcode::CallDynamic, 0, 0);
    code.emit(Opcode::Drop, 1);
    code.emit(Opcode::ReturnNone);
  });
  EXPECT_EQ(disassemble(unit.builder.unit()),
            "boxcar bytecode 1\n"
            "constant 0 \"a\\n'b'\"\n"
            "constant 1 2.5\n"
            "type 0 int[]\n"
            "site 0 aten::add.Tensor 3 -> 1\n"
            "dynamic 0 aten::mul (1, other=)\n"
            "dynamic 1 aten::sub.Tensor (2)\n"
            "global 0 count: Any\n"
            "op t::f(Tensor x) -> Tensor = declared @0..4\n"
            "\n"
            "fn 0 \"<script>\" 0 -> Value @0..5\n"
            "; test.ops:1: line\n"
            "     0  ReturnNone                          @0..5\n"
            "\n"
            "fn 1 \"fn all\" 0 -> Value @0..5\n"
            "  slots Value Float Bool\n"
            "; test.ops:1: line\n"
            "     0  LoadConstant v0, constant 0         @0..5          ; \"a\\n'b'\"\n"
            "     1  LoadFloat f1, constant 1            @0..5          ; 2.5\n"
            "     2  LoadBool b2, 1                      @0..5\n"
            "     3  LoadGlobal v0, global 0             @0..5          ; count\n"
            "     4  TestType b2, v0, type 0             @0..5          ; int[]\n"
            "     5  Push v0                             @0..5\n"
            "     6  Push v0                             @0..5\n"
            "     7  Push v0                             @0..5\n"
            "     8  CallOperator site 0                 @0..5          ; aten::add.Tensor\n"
            "     9  CallBuiltin len, 1                  @0..5\n"
            "    10  Push v0                             @0..5\n"
            "    11  CallDynamic dynamic 0               @0..5          ; aten::mul\n"
            "    12  Drop 1                              @0..5\n"
            "    13  ReturnNone                          @0..5\n"
            "\n"
            "source 0 \"test.ops\"\n"
            "| line\n"
            "|\n"
            "end\n");
}

}  // namespace
}  // namespace boxcar::interp
