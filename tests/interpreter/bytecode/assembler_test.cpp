#include <boxcar/interpreter/bytecode/assembler.h>
#include <boxcar/interpreter/bytecode/disassembler.h>
#include <boxcar/interpreter/bytecode/struct_layout.h>
#include <boxcar/interpreter/session/program.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/interpreter/all_scripts.h"
#include "tests/interpreter/bytecode/unit_equality.h"
#include "tests/interpreter/compiler/code_helpers.h"
#include "tests/test_support.h"

namespace boxcar::interp {
namespace {

CodeUnit assembled(std::string text) { return assemble(Source::create("test.asm", std::move(text))); }

// Returns the difference between a unit and what its text reads back as; "" if there is none.
std::string roundTripFault(const CodeUnit& unit) {
  const std::string text = disassemble(unit);
  const CodeUnit again = assembled(text);
  if (disassemble(again) != text) return "its text differs:\n" + disassemble(again) + "from:\n" + text;
  const std::string difference = differenceOf(unit, again);
  return difference.empty() ? "" : difference + " differ in:\n" + text;
}

// ---- Round trips ----

TEST(Assembler, ReadsBackEveryScript) {
  size_t compiled = 0;
  for (const std::string& path : allScripts(BOXCAR_TEST_DATA)) {
    CodeUnit unit;
    try {
      Diagnostics diagnostics;
      unit = compileText(readFile(path), path, diagnostics);
    } catch (const CompileError&) {
      continue;  // tests errors or needs a plugin
    }
    ++compiled;
    EXPECT_EQ(roundTripFault(unit), "") << path;
  }
  EXPECT_GT(compiled, 300U);
}

TEST(Assembler, ReadsBackConstantsOfAllKinds) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  GenericDict dict;
  dict.insert_or_assign(IValue("a"), IValue(1));
  dict.insert_or_assign(IValue(2), IValue(std::vector<int64_t>{3}));
  TestUnit unit;
  const IValue constants[] = {
      IValue(),
      true,
      false,
      0,
      std::numeric_limits<int64_t>::min(),
      std::numeric_limits<int64_t>::max(),
      0.0,
      -0.0,
      1.0,
      0.1,
      1e300,
      5e-324,
      -kInf,
      kInf,
      kNan,
      std::copysign(kNan, -1.0),
      std::bit_cast<double>(uint64_t{0x7ff0000000000123}),
      std::complex<double>(-0.0, kNan),
      std::complex<double>(-kInf, 1e-5),
      "",
      "plain",
      "\"quoted\\\" 'twice'; no comment",
      std::string("\0\n\r\t\x7f", 5),
      "\xC3\xA9\xE2\x80\xA8\xC2\x85",  // é, a line separator, a control character
      "\xff\xC3(\x85",                 // not UTF-8
      Device("cpu"),
      Device("cuda:3"),
      std::vector<int64_t>{1, -2},
      std::vector<double>{1, -0.0},
      std::vector<bool>{true, false},
      std::vector<std::complex<double>>{{1, 2}},
      List<int64_t>(),
      List<Tensor>(),
      GenericList(),
      GenericList{1, 2.0, IValue(), GenericList{"x", std::vector<int64_t>{1}}},
      Tuple(std::vector<IValue>{}),
      Tuple(std::vector<IValue>{1}),
      Tuple(std::vector<IValue>{1, Tuple(std::vector<IValue>{"x", 2.5})}),
      dict,
  };
  for (const IValue& constant : constants) unit.builder.unit().constants.push_back(constant);
  EXPECT_EQ(roundTripFault(unit.builder.unit()), "");
}

TEST(Assembler, ReadsBackSourcesAsTheyAre) {
  for (const std::string& text :
       {std::string(), std::string("\n"), std::string("no end"), std::string("a\r\n\r\n\nb\r"),
        std::string("| \n|\n ;\nend\n"), std::string("\xff\0x\n", 4)}) {
    TestUnit unit(text);
    for (CodeFunction& function : unit.builder.unit().functions) function.spans = {function.span = {0, 0}};
    EXPECT_EQ(roundTripFault(unit.builder.unit()), "");
  }
}

TEST(Assembler, ReadsBackFunctionsOfSeveralSources) {
  TestUnit unit;
  const SourcePtr other = Source::create("dir/other \"file\".ops", "line\n");
  unit.add(CodeBuilder("elsewhere", other, {1, 4}), SlotKind::Value,
           [](CodeBuilder& code) { code.emit(Opcode::ReturnNone); });
  EXPECT_EQ(roundTripFault(unit.builder.unit()), "");
}

TEST(Assembler, ReadsBackNamesAndSites) {
  TestUnit unit;
  unit.builder.type(Type::optionalOf(Type::listOf(Type::tensor())));
  unit.builder.global("a name; of words", Type::any());
  unit.builder.operatorSite(OperatorName("aten::add", "Tensor"), 3, 1);
  unit.builder.dynamicSite({"aten::mul", std::nullopt, 1, {"other", "alpha"}});
  unit.builder.dynamicSite({"aten::sub", "Tensor", 2, {}});
  unit.builder.dynamicSite({"aten::sub", "", 2, {}});
  unit.builder.unit().operators.push_back(
      {FunctionSchema("t::f", "", {Argument("x"), Argument("s", Type::string(), std::nullopt, IValue("; # \"="))}, {}),
       std::nullopt,
       {2, 4}});
  unit.add("fn \"f\"\n", SlotKind::Value, [](CodeBuilder& code) {
    code.argument(SlotKind::Float, "x");
    code.slot(SlotKind::Value, "x y");
    code.emit(Opcode::ReturnNone);
  });
  EXPECT_EQ(roundTripFault(unit.builder.unit()), "");
}

TEST(Assembler, ReadsBackDeclarations) {
  TestUnit unit;
  const auto valueFunction = [&](const std::string& name, size_t arguments) {
    return unit.add(name, SlotKind::Value, [&](CodeBuilder& code) {
      for (size_t i = 0; i < arguments; ++i) code.argument(SlotKind::Value);
      code.emit(Opcode::ReturnNone);
    });
  };
  const uint32_t body = valueFunction("handler", 2);
  const uint32_t exit = valueFunction("exit", 0);
  CodeUnit& parts = unit.builder.unit();
  parts.modules = {{"a \"file\"\n.ops", {1, 2}}, {"lib/plugin.so", {}}, {"m.pt2", {3, 4}, "m"}};
  parts.imports = {{0, kScriptName, {SlotKind::Value}, SlotKind::Value},
                   {1, "f", {SlotKind::Int, SlotKind::Float, SlotKind::Bool}, SlotKind::Int},
                   {0, "g", {}, SlotKind::Float}};
  parts.exports = {{FunctionSchema("g", "", {Argument("x"), Argument("y", Type::any())}, {}), body, {3, 5}}};
  parts.handlers = {
      {HandlerKind::Mode, DispatchKey::PreDispatch, {}, "count", body, exit, {0, 1}},
      {HandlerKind::Mode, DispatchKey::Python, {}, "a mode; of words", body, std::nullopt, {1, 2}},
      {HandlerKind::Fallback, DispatchKey::AutogradCPU, {}, "", body, std::nullopt, {2, 3}},
      {HandlerKind::Impl, DispatchKey::Undefined, OperatorName("aten::add", "Tensor"), "", body, std::nullopt, {}},
      {HandlerKind::Impl, DispatchKey::Autograd, OperatorName("aten::relu", ""), "", body, std::nullopt, {}}};
  constexpr DispatchKeySet kKeys({DispatchKey::Tracer, DispatchKey::Dense, DispatchKey::AutogradFunctionality});
  parts.scopes = {{CodeScopeKind::Mode, 1, "", {}},
                  {CodeScopeKind::ImportedMode, 1, "handler", {}},
                  {CodeScopeKind::Include, 0, "", kKeys},
                  {CodeScopeKind::Exclude, 0, "", DispatchKeySet(DispatchKey::Tracer)},
                  {CodeScopeKind::InferenceMode, 0, "", {}}};
  unit.add("all", SlotKind::Value, [](CodeBuilder& code) {
    const uint16_t value = code.slot(SlotKind::Value, "v");
    const uint16_t flag = code.slot(SlotKind::Bool, "b");
    code.emitWide(Opcode::BeginImport, flag, 0);
    code.emit(Opcode::PassValue, 0, value);
    code.emitWide(Opcode::CallImported, value, 0);
    code.emitWide(Opcode::EndImport, 0, 0);
    for (const uint32_t scope : {0, 1, 2, 3, 4}) code.emitWide(Opcode::EnterScope, 0, scope);
    for (const uint32_t handler : {2, 3, 4}) code.emitWide(Opcode::Register, 0, handler);
    code.emit(Opcode::EnterHandler, value);
    for (int i = 0; i < 6; ++i) code.emit(Opcode::LeaveScope);
    code.emit(Opcode::ReturnNone);
  });
  EXPECT_EQ(roundTripFault(parts), "");
}

// ---- Text by hand ----

constexpr const char* kByHand = R"(; Comments and empty lines stand anywhere.

boxcar bytecode 1
constant 0 7   ; seven
fn 0 "<script>" 0 -> Value
  slots Int Int
  0  LoadInt i0, 3
  1  PassScalar #0 ,i0
  2  CallFunction i1, fn 1
  3  PushScalar i1
  4  PushConstant constant 0
  5  MakeTuple v2, 2
  6  ReturnMove v2

fn 1 "square" 1 -> Int
  slots Int
  0  MulInt i0, i0, i0
  1  ReturnInt i0
end
)";

TEST(Assembler, TakesTextWithoutSpansAndSources) {
  std::string text = kByHand;
  text.replace(text.find("slots Int Int"), 13, "slots Int Int Value");
  Executable program(assembled(text));
  program.link();
  EXPECT_EQ(program.unit().source->name(), "test.asm");
  Stack stack;
  Machine::current().call(program, 0, stack);
  EXPECT_EQ(repr(stack.at(0)), "(9, 7)");
  EXPECT_EQ(roundTripFault(program.unit()), "");
}

TEST(Assembler, TakesLinesThatEndAsOnOtherSystems) {
  EXPECT_EQ(assembled("boxcar bytecode 1\r\nfn 0 \"f\" 0 -> Value\r\n  0 ReturnNone\r\nend\r\n").functions.size(), 1U);
}

TEST(Assembler, GivesAnInstructionWithoutASpanThatOfItsFunction) {
  const CodeUnit unit = assembled(
      "boxcar bytecode 1\nfn 0 \"f\" 0 -> Value @2..5\n 0 Jump -> 1 @3..4\n 1 ReturnNone\nsource 0 \"s\"\n| "
      "123456\nend");
  EXPECT_EQ(unit.functions[0].spans, (std::vector<Span>{{3, 4}, {2, 5}}));
  EXPECT_EQ(unit.source->text(), "123456");
}

TEST(Assembler, ShowsLinesOfItsOwnTextWithoutASource) {
  Program program = Program::fromUnit(
      assembled("boxcar bytecode 1\nfn 0 \"<script>\" 0 -> Value\n  slots Int Int\n  0  ModInt i0, i0, i1  ; fails\n"
                "  1  ReturnNone\nend\n"));
  EXPECT_EQ(errorOf([&] { program.run(); }),
            "integer division or modulo by zero\n  test.asm:4:6\n    0  ModInt i0, i0, i1  ; fails\n"
            "       ^~~~~~~~~~~~~~~~~");
}

// ---- What is wrong ----

// Returns the error of a text after the first line, without the file name.
std::string refusal(const std::string& text) {
  const std::string error = errorOf([&] { assembled("boxcar bytecode 1\n" + text); });
  return error.starts_with("test.asm:") ? error.substr(9) : error;
}

// The same for one instruction of a function that has an Int, a Float, a Bool and a Value slot.
std::string refusalOf(const std::string& instruction) {
  return refusal("fn 0 \"f\" 0 -> Value\n slots Int Float Bool Value\n 0 " + instruction + "\n 1 ReturnNone\nend\n");
}

// The first line of that error.
std::string headlineOf(const std::string& instruction) {
  const std::string error = refusalOf(instruction);
  return error.substr(0, error.find('\n'));
}

TEST(Assembler, RefusesAnotherHeader) {
  EXPECT_EQ(errorOf([] { assembled("boxcar bytecode 2\nend\n"); }),
            "test.asm:1:1: error: the first line must be `boxcar bytecode 1`\nboxcar bytecode 2\n^~~~~~~~~~~~~~~~~\n");
  EXPECT_EQ(errorOf([] { assembled(""); }), "test.asm:1:1: error: the first line must be `boxcar bytecode 1`\n\n^\n");
}

TEST(Assembler, RefusesTextThatIsCutOff) {
  const std::string whole = kByHand;
  const size_t end = whole.rfind("end");
  for (size_t size = 0; size < end; ++size) {
    EXPECT_THROW(assembled(whole.substr(0, size)), CompileError) << whole.substr(0, size);
  }
  EXPECT_EQ(refusal("constant 0 1\n"), "3:1: error: the text is cut off: its last line must be `end`\n\n^\n");
  EXPECT_EQ(refusal("end\nend\n"), "3:1: error: nothing may follow `end`\nend\n^~~\n");
}

TEST(Assembler, RefusesLinesThatItDoesNotKnow) {
  EXPECT_EQ(refusal("constnat 0 1\n"),
            "2:1: error: no line begins with `constnat`. Did you mean 'constant'?\nconstnat 0 1\n^~~~~~~~\n");
  EXPECT_EQ(refusal("constant 0 1 2\n"),
            "2:14: error: expected the end of the line, found `2`\nconstant 0 1 2\n"
            "             ^\n");
  EXPECT_EQ(refusal("slots Int\n"),
            "2:1: error: slots must follow the `fn` line that it belongs to\nslots Int\n^~~~~~~~~\n");
}

TEST(Assembler, RefusesNumbersOutOfTurn) {
  EXPECT_EQ(refusal("constant 0 1\nconstant 2 1\n"),
            "3:10: error: this is constant 1, but its number is 2\nconstant 2 1\n         ^\n");
  EXPECT_EQ(refusal("type 0 int\ntype 0 int\n"),
            "3:6: error: this is type 1, but its number is 0; there is a type 0 already\ntype 0 int\n     ^\n");
  EXPECT_EQ(refusal("type -1 int\n"),
            "2:6: error: expected the number of this type from 0 to 4294967295, found `-1`\n"
            "type -1 int\n     ^~\n");
  EXPECT_EQ(refusal("type 99999999999 int\n"),
            "2:6: error: expected the number of this type from 0 to 4294967295, found `99999999999`\n"
            "type 99999999999 int\n     ^~~~~~~~~~~\n");
  EXPECT_EQ(refusal("fn 0 \"f\" 0 -> Value\n 1 ReturnNone\n"),
            "3:2: error: this is instruction 0, but its number is 1\n 1 ReturnNone\n ^\n");
  EXPECT_EQ(refusal("fn 0 \"f\" 65536 -> Value\n"),
            "2:10: error: expected the number of arguments from 0 to 65535, found `65536`\nfn 0 \"f\" 65536 -> Value\n"
            "         ^~~~~\n");
}

TEST(Assembler, RefusesConstantsThatAreNone) {
  const auto constant = [](const std::string& text) {
    const std::string error = refusal("constant 0 " + text + "\nend\n");
    return error.substr(0, error.find('\n'));
  };
  EXPECT_EQ(constant("<Tensor>"),
            "2:12: error: expected a constant: None, True, False, a number, a \"text\", complex(re, im), "
            "device(\"cpu\"), a list such as int[1, 2], a tuple or a dict, found `<`");
  EXPECT_EQ(
      constant("9223372036854775808"),
      "2:12: error: expected an int from -9223372036854775808 to 9223372036854775807, found `9223372036854775808`");
  EXPECT_EQ(constant("1e999"), "2:12: error: a float of 64 bits cannot hold this number");
  EXPECT_EQ(constant("1.5x"), "2:12: error: this is not a number");
  EXPECT_EQ(constant("nan(0x1)"), "2:12: error: a nan needs 16 hexadecimal digits here");
  EXPECT_EQ(constant("\"open"), "2:12: error: this text lacks its closing quote");
  EXPECT_EQ(constant("\"open\\"), "2:17: error: the escapes are \\n, \\\", \\\\ and \\xNN");
  EXPECT_EQ(constant("\"\\q\""), "2:13: error: the escapes are \\n, \\\", \\\\ and \\xNN");
  EXPECT_EQ(constant("\"\\x4\""), "2:13: error: two hexadecimal digits must follow `\\x`");
  EXPECT_EQ(constant("int[1, 2.0]"), "2:15: error: each element of this list must be an int, not 2.0");
  EXPECT_EQ(constant("Tensor[1]"),
            "2:18: error: each element of this list must be `]`, for no constant is a Tensor, "
            "not 1");
  EXPECT_EQ(constant("[1 2]"), "2:15: error: expected `,` or `]`, found `2`");
  EXPECT_EQ(constant("[1"), "2:14: error: expected `,` or `]`, but the line ends here");
  EXPECT_EQ(constant("{[1]: 2}").substr(0, 12), "2:13: error:");
  EXPECT_EQ(constant("complex(1.0)"), "2:23: error: expected `,`, found `)`");
  EXPECT_EQ(constant("device(\"gpu\")").substr(0, 12), "2:19: error:");
  EXPECT_EQ(constant(std::string(1000, '[')), "2:113: error: constants nest more than 100 deep");
}

TEST(Assembler, RefusesTypesSchemasAndNamesAtTheirPlace) {
  EXPECT_EQ(refusal("type 0 Tenser\n").substr(0, 11), "2:8: error:");
  EXPECT_EQ(refusal("global 0 g: int[\n").substr(0, 5), "2:16:");
  EXPECT_EQ(refusal("site 0 aten::  1 -> 1\n").substr(0, 2), "2:");
  EXPECT_EQ(refusal("site 0 aten::add 1 -> 65536\n"),
            "2:23: error: expected the number of results from 0 to 65535, found `65536`\nsite 0 aten::add 1 -> 65536\n"
            "                      ^~~~~\n");
  EXPECT_EQ(refusal("dynamic 0 aten::add (1, 2)\n").substr(0, 38), "2:26: error: expected `=`, found `)`\nd");
  EXPECT_EQ(refusal("op t::f(Tensor) -> Tensor = declared\n").substr(0, 12), "2:15: error:");
  EXPECT_EQ(refusal("op t::f(Tensor x) -> Tensor = body\n"),
            "2:31: error: expected the operator's body, as in `fn 1`, or `declared`, found `body`\n"
            "op t::f(Tensor x) -> Tensor = body\n                              ^~~~\n");
}

TEST(Assembler, RefusesDeclarationsAtTheirPlace) {
  const auto headline = [](const std::string& text) {
    const std::string error = refusal(text + "\n");
    return error.substr(0, error.find('\n'));
  };
  EXPECT_EQ(headline("handler 0 made m @ Python = fn 1"), "2:11: error: expected impl, fallback or mode, found `made`");
  EXPECT_EQ(headline("handler 0 mode m = fn 1"), "2:18: error: expected `@`, found `=`");
  EXPECT_EQ(headline("handler 0 fallback @ Tracar = fn 1").substr(0, 12), "2:22: error:");
  EXPECT_EQ(headline("handler 0 fallback @ = fn 1"), "2:22: error: expected a dispatch key, found `=`");
  EXPECT_EQ(headline("handler 0 impl :: @ CPU = fn 1").substr(0, 5), "2:16:");
  EXPECT_EQ(headline("handler 0 fallback @ CPU = 1"), "2:28: error: expected a function, as in `fn 1`, found `1`");
  EXPECT_EQ(headline("scope 0 module 0"),
            "2:9: error: expected handler, mode, include, exclude or inference_mode, found `module`");
  EXPECT_EQ(headline("scope 0 mode m of handler 0"),
            "2:19: error: expected a module, as in `module 0`, found `handler`");
  EXPECT_EQ(headline("scope 0 include Tracer CPU"), "2:24: error: expected the end of the line, found `CPU`");
  EXPECT_EQ(headline("scope 0 include Tracer, AutogradCPU"),
            "2:25: error: a scope has functionality keys, such as `Tracer`; `AutogradCPU` is none");
  EXPECT_EQ(headline("scope 0 exclude Autograd"),
            "2:17: error: a scope has functionality keys, such as `Tracer`; `Autograd` is none");
  EXPECT_EQ(headline("import 0 f of module 0 (Int Int) -> Int"), "2:29: error: expected `,`, found `Int`");
  EXPECT_EQ(headline("export f() -> () = declared"),
            "2:20: error: expected a function, as in `fn 1`, found `declared`");
  EXPECT_EQ(headline("module 0 a.ops"), "2:10: error: expected a \"text\", found `a.ops`");
}

TEST(Assembler, RefusesStructsAtTheirPlace) {
  const auto headline = [](const std::string& text) {
    const std::string error = refusal(text + "\n");
    return error.substr(0, error.find('\n'));
  };
  EXPECT_EQ(headline("struct 0 A made \"f\" ()"),
            "2:12: error: expected `declared`, `of module 0` or `reached`, found `made`");
  EXPECT_EQ(headline("struct 0 A declared f ()"), "2:21: error: expected a \"text\", found `f`");
  EXPECT_EQ(headline("struct 0 A declared \"f\" (int)"), "2:29: error: expected a name, found `)`");
  EXPECT_EQ(headline("struct 0 A declared \"f\" (B x)").substr(0, 33), "2:26: error: unknown type B");
  EXPECT_EQ(headline("struct 0 A declared \"f\" (int x = y)").substr(0, 32), "2:34: error: expected a constant");
  EXPECT_EQ(headline("struct 0 A declared \"f\" ()\nstruct 1 A declared \"g\" ()"),
            "3:10: error: another struct is called `A`");
  EXPECT_EQ(headline("type 0 int\nstruct 0 A declared \"f\" ()"),
            "2:1: error: the lines of structs come before all lines that name types");
  EXPECT_EQ(headline("struct 0 A declared \"f\" (int count)\nfield 0 A coun"),
            "3:11: error: A has no field `coun`. Did you mean 'count'?");
  EXPECT_EQ(headline("field 0 int x"), "2:9: error: int is not a struct");
}

TEST(Assembler, TellsStructsOfOneNameApart) {
  const CodeUnit unit = assembled(R"(boxcar bytecode 1
struct 0 A declared "f" (int x, A? next = None)
struct 1 A_2 called A reached "g" (A[] all)
field 0 A x
field 1 A_2 all
constant 0 7
type 0 A_2[]
type 1 A[]
fn 0 "<script>" 0 -> Value
  slots Value Int
  0 PushConstant constant 0
  1 PushMove v0
  2 MakeStruct v0, struct 0, 2
  3 GetFieldInt i1, v0, field 0
  4 SetField v0, field 0, i1
  5 ReturnNone
end
)");
  EXPECT_NE(unit.structs[0].type, unit.structs[1].type);
  EXPECT_NE(unit.types[0], unit.types[1]);
  EXPECT_EQ(unit.types[0]->text(), unit.types[1]->text());
  EXPECT_EQ(layoutOf(unit.structs[1].type)->fields[0].type, unit.types[1]);
  EXPECT_EQ(unit.structs[0].defaults[1], IValue());
  EXPECT_EQ(roundTripFault(unit), "");
}

TEST(Assembler, ShowsTheDeclarationThatTheVerifierRefuses) {
  const auto refused = [](const std::string& line) {
    const std::string error = refusal(line + "\nfn 0 \"f\" 0 -> Value\n 0 ReturnNone\nend\n");
    return error.substr(0, error.find('\n'));
  };
  EXPECT_EQ(refused("import 0 g of module 0 () -> Int"),
            "2:1: error: bad bytecode: g: it is of module 0, but there are 0");
  EXPECT_EQ(refused("export g() -> () = fn 1"), "2:1: error: bad bytecode: g: its body is function 1, but there are 1");
  EXPECT_EQ(refused("handler 0 fallback @ CPU = fn 0"),
            "2:1: error: bad bytecode: fallback @ CPU: its body is function 0, the script's statements");
  EXPECT_EQ(refused("scope 0 handler 3"), "2:1: error: bad bytecode: scope 0: it is of handler 3, but there are 0");
}

TEST(Assembler, RefusesOpcodesAndBuiltInsThatDoNotExist) {
  EXPECT_EQ(refusalOf("AdInt i0, i0, i0"),
            "4:4: error: there is no opcode `AdInt`. Did you mean 'AddInt' or "
            "'AndInt'?\n 0 AdInt i0, i0, i0\n   ^~~~~\n");
  EXPECT_EQ(refusalOf("CallBuiltin pritn, 2"),
            "4:16: error: there is no built-in `pritn`. Did you mean 'print'?\n"
            " 0 CallBuiltin pritn, 2\n               ^~~~~\n");
}

TEST(Assembler, RefusesOperandsOfAnotherKind) {
  EXPECT_EQ(refusalOf("MoveInt i0, f1"),
            "4:16: error: expected an int slot, as in `i0`, found `f1`\n 0 MoveInt i0, f1\n"
            "               ^~\n");
  EXPECT_EQ(refusalOf("MoveInt i0, i1"),
            "4:16: error: slot 1 is of kind Float: write f1\n 0 MoveInt i0, i1\n"
            "               ^~\n");
  EXPECT_EQ(refusalOf("MoveInt i0, i4"),
            "4:16: error: there is no slot 4: the function has 4\n 0 MoveInt i0, i4\n"
            "               ^~\n");
  EXPECT_EQ(refusalOf("MoveInt i0, #0"),
            "4:16: error: expected an int slot, as in `i0`, found `#0`\n 0 MoveInt i0, #0\n"
            "               ^~\n");
  EXPECT_EQ(refusalOf("MoveInt i0"),
            "4:14: error: expected `,` and an int slot, as in `i0`, but the line ends here\n"
            " 0 MoveInt i0\n             ^\n");
  EXPECT_EQ(refusalOf("MoveInt i0, i0, i0"),
            "4:18: error: expected the end of the line, found `,`\n"
            " 0 MoveInt i0, i0, i0\n                 ^\n");
  EXPECT_EQ(refusalOf("PushScalar v3"),
            "4:15: error: expected an int, float or bool slot, as in `i0`, found `v3`\n"
            " 0 PushScalar v3\n              ^~\n");
  EXPECT_EQ(headlineOf("AddIntImm i0, i0, 40000"), "4:22: error: expected an int from -32768 to 32767, found `40000`");
  EXPECT_EQ(headlineOf("ModIntImm i0, i0, 0"),
            "4:22: error: expected an int from -32768 to 32767, but not 0, found `0`");
  EXPECT_EQ(headlineOf("LoadBool b2, 2"), "4:17: error: expected a bool from 0 to 1, found `2`");
  EXPECT_EQ(headlineOf("Drop -1"), "4:9: error: expected a number of values from 0 to 65535, found `-1`");
  EXPECT_EQ(headlineOf("PassScalar 0, i0"), "4:15: error: expected the position of an argument, as in `#0`, found `0`");
  EXPECT_EQ(headlineOf("Jump 1"), "4:9: error: expected an instruction, as in `-> 0`, found `1`");
  EXPECT_EQ(headlineOf("LoadConstant v3, global 0"),
            "4:21: error: expected a constant, as in `constant 0`, found `global`");
  EXPECT_EQ(headlineOf("LoadConstant v3, constant 4294967296"),
            "4:30: error: expected the number of a constant from 0 to 4294967295, found `4294967296`");
  EXPECT_EQ(headlineOf("JumpIfEqInt i0, i0, -> 40000"),
            "4:24: error: instruction 40000 is too far away for this jump, which reaches 32767");
  EXPECT_EQ(headlineOf("MoveInt i0, i0 @5..3"), "4:19: error: this span ends before it begins");
}

TEST(Assembler, ShowsTheLineThatTheVerifierRefuses) {
  EXPECT_EQ(refusalOf("Pop v3"),
            "4:4: error: bad bytecode: f, instruction 0 (Pop): it takes 1 values, but the stack has 0\n 0 Pop v3\n"
            "   ^~~~~~\n");
  EXPECT_EQ(refusal("op t::f(int x) -> int = fn 1 ; comment\nfn 0 \"f\" 0 -> Value\n 0 ReturnNone\nend\n"),
            "2:1: error: bad bytecode: t::f: its body is function 1, but there are 1\n"
            "op t::f(int x) -> int = fn 1 ; comment\n^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n");
  EXPECT_EQ(refusal("fn 0 \"f\" 0 -> Value\nend\n"),
            "2:1: error: bad bytecode: f: it has no code\nfn 0 \"f\" 0 -> Value\n^~~~~~~~~~~~~~~~~~~\n");
  EXPECT_EQ(refusal("end\n"), "3:1: error: bad bytecode: there is no function\n\n^\n");
}

TEST(Assembler, RefusesASourceThatIsNotThere) {
  EXPECT_EQ(refusal("fn 0 \"f\" 0 -> Value source 1\n 0 ReturnNone\nsource 0 \"s\"\nend\n"),
            "2:1: error: there is no source 1\nfn 0 \"f\" 0 -> Value source 1\n^~~~~~~~~~~~~~~~~~~~~~~~~~~~\n");
}

}  // namespace
}  // namespace boxcar::interp
