#include <boxcar/interpreter/bytecode/builtins.h>
#include <boxcar/interpreter/bytecode/struct_layout.h>
#include <boxcar/interpreter/bytecode/verifier.h>
#include <gtest/gtest.h>

#include "tests/interpreter/compiler/code_helpers.h"
#include "tests/test_support.h"

namespace boxcar::interp {
namespace {

constexpr SlotKind kInt = SlotKind::Int;
constexpr SlotKind kFloat = SlotKind::Float;
constexpr SlotKind kBool = SlotKind::Bool;
constexpr SlotKind kValue = SlotKind::Value;

// Returns the verifier's error for a function with these slots and this code, without its place.
std::string verdict(std::vector<SlotKind> slots, std::vector<Instruction> code, SlotKind result = kValue) {
  TestUnit unit;
  unit.builder.constant(IValue("text"));
  unit.builder.type(Type::integer());
  unit.addRaw(std::move(slots), result, std::move(code));
  std::string error = errorOf([&] { verify(unit.builder.unit()); });
  const std::string prefix = "bad bytecode: f, ";
  return error.starts_with(prefix) ? error.substr(prefix.size()) : error;
}

Instruction builtin(std::string_view name, uint16_t count) { return {Opcode::CallBuiltin, *findBuiltin(name), count}; }

TEST(Verifier, AcceptsAFunctionAndTellsItsBounds) {
  TestUnit unit;
  const uint32_t callee = unit.add("callee", kInt, [](CodeBuilder& code) {
    const uint16_t a = code.argument(kInt);
    code.argument(kValue);
    code.emit(Opcode::ReturnInt, a);
  });
  unit.add("caller", kValue, [&](CodeBuilder& code) {
    const uint16_t number = code.slot(kInt);
    const uint16_t value = code.slot(kValue);
    code.emit(Opcode::PassScalar, 0, number);
    code.emit(Opcode::PassScalar, 1, number);
    code.emitWide(Opcode::CallFunction, number, callee);
    code.emit(Opcode::PushScalar, number);
    code.emit(Opcode::PushScalar, number);
    code.emit(Opcode::MakeTuple, value, 2);
    code.emit(Opcode::ReturnMove, value);
  });
  const std::vector<FunctionBounds> bounds = verify(unit.builder.unit());
  ASSERT_EQ(bounds.size(), 3U);
  EXPECT_EQ(bounds[2].max_stack, 2U);
  EXPECT_EQ(bounds[2].max_passed, 2U);
  EXPECT_EQ(bounds[1].max_stack, 0U);
}

TEST(Verifier, RefusesAnOpcodeThatDoesNotExist) {
  EXPECT_EQ(verdict({}, {{static_cast<Opcode>(60000)}}), "instruction 0: there is no opcode 60000");
}

TEST(Verifier, RefusesTheMachinesOwnOpcode) {
  EXPECT_EQ(verdict({}, {{Opcode::Halt}}), "instruction 0 (Halt): it is the machine's own");
}

TEST(Verifier, RefusesASlotThatIsNotThere) {
  EXPECT_EQ(verdict({kValue}, {{Opcode::ReturnValue, 1}}),
            "instruction 0 (ReturnValue): field a is slot 1, but the function has 1");
}

TEST(Verifier, RefusesASlotOfAnotherKind) {
  EXPECT_EQ(verdict({kInt, kFloat}, {{Opcode::AddInt, 0, 0, 1}, {Opcode::ReturnNone}}),
            "instruction 0 (AddInt): field c is slot 1 of kind Float, but the opcode needs Int");
  EXPECT_EQ(verdict({kValue}, {{Opcode::PushScalar, 0}, {Opcode::ReturnNone}}),
            "instruction 0 (PushScalar): field a is slot 0 of kind Value, but the opcode needs a scalar");
  EXPECT_EQ(verdict({kInt, kInt, kBool}, {{Opcode::RangeNext, 0, 0, 0xFFFF}, {Opcode::ReturnNone}}),
            "instruction 0 (RangeNext): field a is slot 2 of kind Bool, but the opcode needs Int");
  EXPECT_EQ(verdict({kValue, kValue}, {{Opcode::EachInit, 0, 1}, {Opcode::ReturnNone}}),
            "instruction 0 (EachInit): field a is slot 1 of kind Value, but the opcode needs Int");
}

TEST(Verifier, RefusesAFieldThatTheOpcodeDoesNotHave) {
  EXPECT_EQ(verdict({kInt}, {{Opcode::MoveInt, 0, 0, 3}, {Opcode::ReturnNone}}),
            "instruction 0 (MoveInt): field c is 3, but the opcode has no such field");
}

TEST(Verifier, RefusesIndicesOfThingsThatAreNotThere) {
  const auto wide = [](Opcode op) { return Instruction::wide(op, 0, 9); };
  EXPECT_EQ(verdict({kValue}, {wide(Opcode::LoadConstant), {Opcode::ReturnNone}}),
            "instruction 0 (LoadConstant): field b is constant 9, but there are 1");
  EXPECT_EQ(verdict({kValue}, {wide(Opcode::CallFunction), {Opcode::ReturnNone}}),
            "instruction 0 (CallFunction): field b is function 9, but there are 2");
  EXPECT_EQ(verdict({kValue}, {wide(Opcode::LoadFunction), {Opcode::ReturnNone}}),
            "instruction 0 (LoadFunction): field b is function 9, but there are 2");
  EXPECT_EQ(verdict({kValue}, {wide(Opcode::LoadImported), {Opcode::ReturnNone}}),
            "instruction 0 (LoadImported): field b is imported function 9, but there are 0");
  EXPECT_EQ(verdict({kValue}, {wide(Opcode::CallOperator), {Opcode::ReturnNone}}),
            "instruction 0 (CallOperator): field b is operator site 9, but there are 0");
  EXPECT_EQ(verdict({kValue}, {wide(Opcode::CallDynamic), {Opcode::ReturnNone}}),
            "instruction 0 (CallDynamic): field b is dynamic site 9, but there are 0");
  EXPECT_EQ(verdict({kValue}, {wide(Opcode::LoadGlobal), {Opcode::ReturnNone}}),
            "instruction 0 (LoadGlobal): field b is global 9, but there are 0");
  EXPECT_EQ(verdict({kValue}, {{Opcode::Convert, 0, 0, 9}, {Opcode::ReturnNone}}),
            "instruction 0 (Convert): field c is type 9, but there are 1");
  EXPECT_EQ(
      verdict({}, {{Opcode::CallBuiltin, 60000, 0}, {Opcode::ReturnNone}}),
      "instruction 0 (CallBuiltin): field a is built-in 60000, but there are " + std::to_string(builtins().size()));
}

TEST(Verifier, RefusesAFunctionWithoutASignatureAsAValue) {
  EXPECT_EQ(verdict({kValue}, {Instruction::wide(Opcode::LoadFunction, 0, 1), {Opcode::ReturnNone}}),
            "instruction 0 (LoadFunction): function 1 is not exported, so it is not a value");
}

TEST(Verifier, RefusesAConstantOfAnotherKind) {
  EXPECT_EQ(verdict({kInt}, {Instruction::wide(Opcode::LoadIntConstant, 0, 0), {Opcode::ReturnNone}}),
            "instruction 0 (LoadIntConstant): constant 0 is a String, but the opcode needs an Int");
  EXPECT_EQ(verdict({kFloat}, {Instruction::wide(Opcode::LoadFloat, 0, 0), {Opcode::ReturnNone}}),
            "instruction 0 (LoadFloat): constant 0 is a String, but the opcode needs a Double");
}

TEST(Verifier, RefusesABoolThatIsNone) {
  EXPECT_EQ(verdict({kBool}, {{Opcode::LoadBool, 0, 2}, {Opcode::ReturnNone}}),
            "instruction 0 (LoadBool): field b is 2, but a bool is 0 or 1");
}

TEST(Verifier, RefusesDivisionByTheImmediateZero) {
  EXPECT_EQ(verdict({kInt}, {{Opcode::ModIntImm, 0, 0, 0}, {Opcode::ReturnNone}}),
            "instruction 0 (ModIntImm): it divides by zero");
}

TEST(Verifier, RefusesAListOfATypeThatIsNoList) {
  EXPECT_EQ(verdict({kValue}, {{Opcode::MakeList, 0, 0, 0}, {Opcode::ReturnNone}}),
            "instruction 0 (MakeList): type 0 is int, not a list");
}

TEST(Verifier, RefusesAWrongNumberOfValuesForABuiltIn) {
  EXPECT_EQ(verdict({}, {builtin("len", 2), {Opcode::ReturnNone}}),
            "instruction 0 (CallBuiltin): len takes 1 values, not 2");
  EXPECT_EQ(verdict({}, {builtin("range", 4), {Opcode::ReturnNone}}),
            "instruction 0 (CallBuiltin): range takes 1 to 3 values, not 4");
  EXPECT_EQ(verdict({}, {builtin("print", 1), {Opcode::ReturnNone}}),
            "instruction 0 (CallBuiltin): print takes 2 to 65535 values, not 1");
}

TEST(Verifier, RefusesAJumpOutOfTheFunction) {
  EXPECT_EQ(verdict({}, {Instruction::wide(Opcode::Jump, 0, 5), {Opcode::ReturnNone}}),
            "instruction 0 (Jump): it jumps to 6, but the function has 2 instructions");
  EXPECT_EQ(verdict({kInt}, {{Opcode::JumpIfEqInt, 0, 0, 0xFFF0}, {Opcode::ReturnNone}}),
            "instruction 0 (JumpIfEqInt): it jumps to -15, but the function has 2 instructions");
}

TEST(Verifier, RefusesToTakeFromAnEmptyStack) {
  EXPECT_EQ(verdict({kValue}, {{Opcode::Pop, 0}, {Opcode::ReturnNone}}),
            "instruction 0 (Pop): it takes 1 values, but the stack has 0");
  EXPECT_EQ(verdict({kValue}, {{Opcode::Push, 0}, {Opcode::MakeDict, 0, 1}, {Opcode::ReturnNone}}),
            "instruction 1 (MakeDict): it takes 2 values, but the stack has 1");
}

TEST(Verifier, RefusesDifferentHeightsWherePathsMeet) {
  EXPECT_EQ(
      verdict({kValue, kBool},
              {Instruction::wide(Opcode::JumpIf, 1, 1), {Opcode::Push, 0}, {Opcode::Drop, 1}, {Opcode::ReturnNone}}),
      "instruction 1 (Push): the stack has 0 values here at instruction 2 on one path and 1 on another");
}

TEST(Verifier, RefusesALoopThatGrowsTheStack) {
  EXPECT_EQ(verdict({kValue}, {{Opcode::Push, 0}, Instruction::wide(Opcode::Jump, 0, -2)}),
            "instruction 1 (Jump): the stack has 0 values here at instruction 0 on one path and 1 on another");
}

TEST(Verifier, RefusesValuesLeftOnTheStack) {
  EXPECT_EQ(verdict({kValue}, {{Opcode::Push, 0}, {Opcode::ReturnNone}}),
            "instruction 1 (ReturnNone): 1 values are left on the stack");
}

TEST(Verifier, RefusesCodeWithoutAnEnd) {
  EXPECT_EQ(verdict({kValue}, {{Opcode::LoadNone, 0}}), "instruction 0 (LoadNone): the code ends without a return");
  EXPECT_EQ(verdict({}, {}), "bad bytecode: f: it has no code");
}

TEST(Verifier, RefusesAReturnOfAnotherKind) {
  EXPECT_EQ(verdict({kInt}, {{Opcode::ReturnInt, 0}}, kFloat),
            "instruction 0 (ReturnInt): it returns Int, but the function returns Float");
  EXPECT_EQ(verdict({}, {{Opcode::ReturnNone}}, kBool),
            "instruction 0 (ReturnNone): it returns Value, but the function returns Bool");
}

TEST(Verifier, RefusesCodeAndSpansOfDifferentLength) {
  TestUnit unit;
  const uint32_t f = unit.addRaw({}, kValue, {{Opcode::ReturnNone}});
  unit.builder.unit().functions[f].spans.clear();
  EXPECT_EQ(errorOf([&] { verify(unit.builder.unit()); }), "bad bytecode: f: it has 1 instructions and 0 spans");
}

// Returns the verifier's error for a function with one Int and one Value slot that calls another one with an Int
// argument.
std::string callVerdict(std::vector<Instruction> code) {
  TestUnit unit;
  const uint32_t callee =
      unit.add("callee", kInt, [](CodeBuilder& body) { body.emit(Opcode::ReturnInt, body.argument(kInt)); });
  for (Instruction& instruction : code) {
    if (instruction.op == Opcode::CallFunction) {
      instruction = Instruction::wide(Opcode::CallFunction, instruction.a, static_cast<int32_t>(callee));
    }
  }
  unit.addRaw({kInt, kValue}, kValue, std::move(code));
  return errorOf([&] { verify(unit.builder.unit()); });
}

TEST(Verifier, RefusesArgumentsThatDoNotFitTheFunction) {
  EXPECT_EQ(callVerdict({{Opcode::CallFunction, 0}, {Opcode::ReturnNone}}),
            "bad bytecode: f, instruction 0 (CallFunction): callee takes 1 arguments, 0 are passed");
  EXPECT_EQ(callVerdict({{Opcode::PassValue, 0, 1}, {Opcode::CallFunction, 0}, {Opcode::ReturnNone}}),
            "bad bytecode: f, instruction 1 (CallFunction): argument 0 of callee is Value, but it takes Int");
  EXPECT_EQ(callVerdict({{Opcode::PassScalar, 0, 0}, {Opcode::CallFunction, 1}, {Opcode::ReturnNone}}),
            "bad bytecode: f, instruction 1 (CallFunction): field a is slot 1 of kind Value, but the opcode needs Int");
  EXPECT_EQ(callVerdict({{Opcode::PassScalar, 1, 0}, {Opcode::CallFunction, 0}, {Opcode::ReturnNone}}),
            "bad bytecode: f, instruction 0 (PassScalar): it passes argument 1 where 0 is next");
}

TEST(Verifier, RefusesAnythingBetweenArgumentsAndTheirCall) {
  EXPECT_EQ(
      callVerdict({{Opcode::PassScalar, 0, 0}, {Opcode::LoadNone, 1}, {Opcode::CallFunction, 0}, {Opcode::ReturnNone}}),
      "bad bytecode: f, instruction 1 (LoadNone): it is between the arguments of a call and the call");
  EXPECT_EQ(callVerdict({{Opcode::ReturnNone}, {Opcode::PassScalar, 0, 0}}),
            "bad bytecode: f, instruction 1 (PassScalar): the arguments lack their call");
  EXPECT_EQ(
      callVerdict({{Opcode::PassScalar, 0, 0}, {Opcode::CallFunction, 0}, Instruction::wide(Opcode::Jump, 0, -2)}),
      "bad bytecode: f, instruction 1 (CallFunction): a jump goes between the arguments of a call");
}

TEST(Verifier, RefusesStatementsThatTakeArguments) {
  TestUnit unit;
  CodeFunction& script = unit.builder.unit().functions[0];
  script.slots = {kInt};
  script.argument_count = 1;
  EXPECT_EQ(errorOf([&] { verify(unit.builder.unit()); }),
            "bad bytecode: <script>: the script's statements take 1 arguments");
}

TEST(Verifier, RefusesABodyThatDoesNotFitItsOperator) {
  TestUnit unit;
  const uint32_t body =
      unit.add("op t::f", kInt, [](CodeBuilder& code) { code.emit(Opcode::ReturnInt, code.argument(kInt)); });
  std::vector<CodeOperator>& operators = unit.builder.unit().operators;
  const std::vector<Argument> results = {Argument("", Type::integer())};
  operators.push_back({FunctionSchema("t::f", "", {Argument("x", Type::floating())}, results), body, {}});
  EXPECT_EQ(errorOf([&] { verify(unit.builder.unit()); }),
            "bad bytecode: t::f: its body takes argument 0 as Int, but it is Float");
  operators[0].schema = FunctionSchema("t::f", "", {}, results);
  EXPECT_EQ(errorOf([&] { verify(unit.builder.unit()); }),
            "bad bytecode: t::f: its body takes 1 arguments, it takes 0");
  operators[0].schema = FunctionSchema("t::f", "", {Argument("x", Type::integer())}, {Argument("", Type::string())});
  EXPECT_EQ(errorOf([&] { verify(unit.builder.unit()); }), "bad bytecode: t::f: its body returns Int, not Value");
  operators[0].schema = FunctionSchema("t::f", "", {Argument("x", Type::integer())}, results, true);
  EXPECT_EQ(errorOf([&] { verify(unit.builder.unit()); }), "bad bytecode: t::f: a body cannot take or return `...`");
  operators[0].function = 7;
  EXPECT_EQ(errorOf([&] { verify(unit.builder.unit()); }),
            "bad bytecode: t::f: its body is function 7, but there are 2");
}

// Returns a unit with a handler body as function 1 and a function that returns its Int argument as function 2.
TestUnit unitWithBodies() {
  TestUnit unit;
  unit.add("body", kValue, [](CodeBuilder& code) {
    code.argument(kValue);
    code.argument(kValue);
    code.emit(Opcode::ReturnNone);
  });
  unit.add("int", kInt, [](CodeBuilder& code) { code.emit(Opcode::ReturnInt, code.argument(kInt)); });
  return unit;
}

TEST(Verifier, TakesArgvAlone) {
  TestUnit unit;
  CodeFunction& script = unit.builder.unit().functions[0];
  script.slots = {kValue};
  script.argument_count = 1;
  EXPECT_EQ(errorOf([&] { verify(unit.builder.unit()); }), "no error");
  script.slots = {kValue, kValue};
  script.argument_count = 2;
  EXPECT_EQ(errorOf([&] { verify(unit.builder.unit()); }),
            "bad bytecode: <script>: the script's statements take 2 arguments");
}

TEST(Verifier, RefusesAnExportWhoseFunctionIsAnother) {
  TestUnit unit = unitWithBodies();
  std::vector<CodeExport>& exports = unit.builder.unit().exports;
  const std::vector<Argument> an_int = {Argument("x", Type::integer())};
  exports.push_back({FunctionSchema("f", "", an_int, an_int), 2, {}});
  EXPECT_EQ(errorOf([&] { verify(unit.builder.unit()); }), "no error");
  exports[0].schema = FunctionSchema("f", "", an_int, {});
  EXPECT_EQ(errorOf([&] { verify(unit.builder.unit()); }), "bad bytecode: f: its body returns Int, not Value");
  exports[0].function = 0;
  EXPECT_EQ(errorOf([&] { verify(unit.builder.unit()); }),
            "bad bytecode: f: its body is function 0, the script's statements");
  exports[0].span = {0, 1000};
  EXPECT_EQ(errorOf([&] { verify(unit.builder.unit()); }), "bad bytecode: f: its span @0..1000 is not in the source");
}

TEST(Verifier, RefusesStructsAndFieldsThatAreNotThere) {
  const StructDraft draft{"Point", "verifier_test.ops", {{"x", Type::integer()}}};
  const TypePtr point = makeStructs({&draft, 1})[0]->type;
  const auto fault = [point](Instruction instruction, CodeStruct::Origin origin = CodeStruct::Origin::Declared) {
    TestUnit unit;
    unit.builder.unit().structs.push_back({point, origin, 0, {std::nullopt}, {}});
    unit.builder.field({point, 0});
    unit.builder.constant(IValue(1));
    unit.addRaw({kValue, kInt}, kValue, {{Opcode::PushConstant}, instruction, {Opcode::ReturnNone}});
    const std::string error = errorOf([&] { verify(unit.builder.unit()); });
    return error.starts_with("bad bytecode: f, ") ? error.substr(17) : error;
  };
  EXPECT_EQ(fault({Opcode::MakeStruct, 0, 0, 1}), "no error");
  EXPECT_EQ(fault({Opcode::MakeStruct, 0, 0, 0}), "instruction 1 (MakeStruct): Point has 1 fields, not 0");
  EXPECT_EQ(fault({Opcode::MakeStruct, 0, 1, 1}), "instruction 1 (MakeStruct): field b is struct 1, but there are 1");
  EXPECT_EQ(fault({Opcode::MakeStruct, 0, 0, 1}, CodeStruct::Origin::Reached),
            "instruction 1 (MakeStruct): struct 0 is neither declared nor imported, so it cannot be made");
  EXPECT_EQ(fault({Opcode::MakeStruct, 0, 0, 1}, CodeStruct::Origin::Imported),
            "bad bytecode: struct 0: it is of module 0, but there are 0");
  EXPECT_EQ(fault({Opcode::GetField, 0, 0, 1}), "instruction 1 (GetField): field c is field 1, but there are 1");
  EXPECT_EQ(fault({Opcode::GetFieldInt, 0, 0, 0}),
            "instruction 1 (GetFieldInt): field a is slot 0 of kind Value, but the opcode needs Int");

  TestUnit unit;
  unit.builder.unit().structs.push_back({Type::integer(), CodeStruct::Origin::Declared, 0, {}, {}});
  EXPECT_EQ(errorOf([&] { verify(unit.builder.unit()); }), "bad bytecode: struct 0: its type is not a struct");
  unit.builder.unit().structs[0] = {point, CodeStruct::Origin::Declared, 0, {}, {}};
  EXPECT_EQ(errorOf([&] { verify(unit.builder.unit()); }),
            "bad bytecode: struct 0: it has not as many defaults as fields");
  unit.builder.unit().structs[0].defaults = {IValue("a")};
  EXPECT_EQ(errorOf([&] { verify(unit.builder.unit()); }),
            "bad bytecode: struct 0: the default of x is not of type int");
  unit.builder.unit().structs.clear();
  unit.builder.field({point, 1});
  EXPECT_EQ(errorOf([&] { verify(unit.builder.unit()); }), "bad bytecode: field 0 is of no struct");
}

TEST(Verifier, RefusesHandlersThatCannotBe) {
  TestUnit unit = unitWithBodies();
  std::vector<CodeHandler>& handlers = unit.builder.unit().handlers;
  const auto verdict = [&](CodeHandler handler) {
    handlers = {std::move(handler)};
    return errorOf([&] { verify(unit.builder.unit()); });
  };
  const auto handler = [](HandlerKind kind, DispatchKey key, uint32_t function, std::optional<uint32_t> exit = {}) {
    return CodeHandler{kind, key, OperatorName("aten::relu", ""), "m", function, exit, {}};
  };
  EXPECT_EQ(verdict(handler(HandlerKind::Mode, DispatchKey::Python, 1)), "no error");
  EXPECT_EQ(verdict(handler(HandlerKind::Fallback, DispatchKey::CPU, 1)), "no error");
  EXPECT_EQ(verdict(handler(HandlerKind::Impl, DispatchKey::Autograd, 1)), "no error");
  EXPECT_EQ(verdict(handler(HandlerKind::Mode, DispatchKey::Tracer, 1)), "no error");
  EXPECT_EQ(verdict(handler(HandlerKind::Mode, DispatchKey::AutogradCPU, 1)),
            "bad bytecode: mode m: it cannot be at AutogradCPU");
  EXPECT_EQ(verdict(handler(HandlerKind::Fallback, DispatchKey::Python, 1)),
            "bad bytecode: fallback @ Python: it cannot be at Python");
  EXPECT_EQ(verdict(handler(HandlerKind::Fallback, DispatchKey::Autograd, 1)),
            "bad bytecode: fallback @ Autograd: it cannot be at Autograd");
  EXPECT_EQ(verdict(handler(HandlerKind::Impl, DispatchKey::Dense, 1)),
            "bad bytecode: impl aten::relu @ Dense: it cannot be at Dense");
  EXPECT_EQ(verdict(handler(HandlerKind::Mode, DispatchKey::Python, 2)),
            "bad bytecode: mode m: its body takes 1 arguments, it takes 2");
  EXPECT_EQ(verdict(handler(HandlerKind::Mode, DispatchKey::Python, 0)),
            "bad bytecode: mode m: its body is function 0, the script's statements");
  EXPECT_EQ(verdict(handler(HandlerKind::Mode, DispatchKey::Python, 1, 1)),
            "bad bytecode: mode m: its body takes 2 arguments, it takes 0");
  EXPECT_EQ(verdict(handler(HandlerKind::Fallback, DispatchKey::CPU, 1, 1)),
            "bad bytecode: fallback @ CPU: only a mode has an exit");
  unit.builder.unit().functions[1].slots[1] = kInt;
  EXPECT_EQ(verdict(handler(HandlerKind::Mode, DispatchKey::Python, 1)),
            "bad bytecode: mode m: its body does not take two Values");
}

TEST(Verifier, RefusesScopesThatCannotBe) {
  TestUnit unit = unitWithBodies();
  CodeUnit& parts = unit.builder.unit();
  parts.handlers = {{HandlerKind::Fallback, DispatchKey::CPU, {}, "", 1, std::nullopt, {}}};
  const auto verdict = [&](CodeScope scope) {
    parts.scopes = {std::move(scope)};
    return errorOf([&] { verify(parts); });
  };
  EXPECT_EQ(verdict({CodeScopeKind::InferenceMode, 0, "", {}}), "no error");
  EXPECT_EQ(verdict({CodeScopeKind::Mode, 0, "", {}}), "bad bytecode: scope 0: handler 0 is not a mode");
  EXPECT_EQ(verdict({CodeScopeKind::Mode, 1, "", {}}), "bad bytecode: scope 0: it is of handler 1, but there are 1");
  EXPECT_EQ(verdict({CodeScopeKind::ImportedMode, 0, "m", {}}),
            "bad bytecode: scope 0: it is of module 0, but there are 0");
  EXPECT_EQ(verdict({CodeScopeKind::Include, 0, "", {}}), "bad bytecode: scope 0: it has no key");
  EXPECT_EQ(verdict({CodeScopeKind::Exclude, 0, "", DispatchKeySet(DispatchKey::CPU)}),
            "bad bytecode: scope 0: it has a backend; a scope has functionality keys");
}

// Returns why a unit is refused whose function 3 has [code] and an Int, a Value and a Bool slot. The unit has scope 0
// with mode handler 0, function 0 of module 0, which takes an Int, and module 1, a plugin.
std::string partsVerdict(std::vector<Instruction> code) {
  TestUnit unit = unitWithBodies();
  CodeUnit& parts = unit.builder.unit();
  parts.handlers = {{HandlerKind::Mode, DispatchKey::Python, {}, "m", 1, std::nullopt, {}}};
  parts.scopes = {{CodeScopeKind::Mode, 0, "", {}}};
  parts.modules = {{"m.ops", {}}, {"p.so", {}}};
  parts.imports = {{0, "g", {kInt}, kValue}};
  code.push_back({Opcode::ReturnNone});
  unit.addRaw({kInt, kValue, SlotKind::Bool}, kValue, std::move(code));
  return errorOf([&] { verify(parts); });
}

TEST(Verifier, CountsOpenScopes) {
  const Instruction enter{Opcode::EnterScope};
  const Instruction leave{Opcode::LeaveScope};
  EXPECT_EQ(partsVerdict({enter, enter, leave, leave}), "no error");
  EXPECT_EQ(partsVerdict({enter, leave, leave}),
            "bad bytecode: f, instruction 2 (LeaveScope): it leaves a scope, but none is open");
  EXPECT_EQ(partsVerdict({enter}), "bad bytecode: f, instruction 1 (ReturnNone): 1 scopes are left open");
  EXPECT_EQ(partsVerdict({Instruction::wide(Opcode::JumpIf, 2, 1), enter, {Opcode::LoadNone, 1}}),
            "bad bytecode: f, instruction 1 (EnterScope): 0 scopes are open at instruction 2 on one path and 1 on "
            "another");
}

TEST(Verifier, RefusesModulesHandlersAndImportedFunctionsThatAreNotThere) {
  EXPECT_EQ(partsVerdict({Instruction::wide(Opcode::BeginImport, 2, 0), Instruction::wide(Opcode::EndImport, 0, 0)}),
            "no error");
  EXPECT_EQ(partsVerdict({Instruction::wide(Opcode::BeginImport, 2, 1)}),
            "bad bytecode: f, instruction 0 (BeginImport): module 1 is a plugin, which has no statements");
  EXPECT_EQ(partsVerdict({Instruction::wide(Opcode::EndImport, 0, 2)}),
            "bad bytecode: f, instruction 0 (EndImport): field b is module 2, but there are 2");
  EXPECT_EQ(partsVerdict({Instruction::wide(Opcode::EnterScope, 0, 1)}),
            "bad bytecode: f, instruction 0 (EnterScope): field b is scope 1, but there are 1");
  EXPECT_EQ(partsVerdict({Instruction::wide(Opcode::Register, 0, 0)}),
            "bad bytecode: f, instruction 0 (Register): handler 0 is a mode, which is entered");
  EXPECT_EQ(partsVerdict({Instruction::wide(Opcode::Register, 0, 1)}),
            "bad bytecode: f, instruction 0 (Register): field b is handler 1, but there are 1");
  EXPECT_EQ(partsVerdict({Instruction::wide(Opcode::CallImported, 1, 1)}),
            "bad bytecode: f, instruction 0 (CallImported): field b is imported function 1, but there are 1");
}

TEST(Verifier, ChecksWhatIsPassedToImportedFunctions) {
  const Instruction call = Instruction::wide(Opcode::CallImported, 1, 0);
  EXPECT_EQ(partsVerdict({{Opcode::PassScalar, 0, 0}, call}), "no error");
  EXPECT_EQ(partsVerdict({call}), "bad bytecode: f, instruction 0 (CallImported): g takes 1 arguments, 0 are passed");
  EXPECT_EQ(partsVerdict({{Opcode::PassScalar, 0, 2}, call}),
            "bad bytecode: f, instruction 1 (CallImported): argument 0 of g is Bool, but it takes Int");
  EXPECT_EQ(partsVerdict({{Opcode::PassScalar, 0, 0}, Instruction::wide(Opcode::CallImported, 0, 0)}),
            "bad bytecode: f, instruction 1 (CallImported): field a is slot 0 of kind Int, but the opcode needs Value");
}

TEST(Verifier, RefusesACallOfTheStatements) {
  EXPECT_EQ(partsVerdict({Instruction::wide(Opcode::CallFunction, 1, 0)}),
            "bad bytecode: f, instruction 0 (CallFunction): the script's statements are not a function to call");
}

TEST(Verifier, RefusesSpansOutsideTheSource) {
  TestUnit unit("12345");
  CodeFunction& script = unit.builder.unit().functions[0];
  script.spans[0] = {3, 6};
  EXPECT_EQ(errorOf([&] { verify(unit.builder.unit()); }),
            "bad bytecode: <script>, instruction 0 (ReturnNone): its span @3..6 is not in the source");
  script.spans[0] = {3, 2};
  EXPECT_EQ(errorOf([&] { verify(unit.builder.unit()); }),
            "bad bytecode: <script>, instruction 0 (ReturnNone): its span @3..2 is not in the source");
  script.span = {0, 4000000000};
  EXPECT_EQ(errorOf([&] { verify(unit.builder.unit()); }),
            "bad bytecode: <script>: its span @0..4000000000 is not in the source");
}

TEST(Verifier, RefusesAUnitThatLacksAnything) {
  TestUnit whole;
  CodeUnit& unit = whole.builder.unit();
  unit.globals.push_back({"g", nullptr});
  EXPECT_EQ(errorOf([&] { verify(unit); }), "bad bytecode: the type of a global is missing");
  unit.types.push_back(nullptr);
  EXPECT_EQ(errorOf([&] { verify(unit); }), "bad bytecode: a type is missing");
  unit.functions[0].source = nullptr;
  unit.types.clear();
  unit.globals.clear();
  EXPECT_EQ(errorOf([&] { verify(unit); }), "bad bytecode: <script>: it has no source");
  unit.functions.clear();
  EXPECT_EQ(errorOf([&] { verify(unit); }), "bad bytecode: there is no function");
  unit.source = nullptr;
  EXPECT_EQ(errorOf([&] { verify(unit); }), "bad bytecode: there is no source");
}

TEST(Verifier, TellsWhereItRefuses) {
  TestUnit unit;
  const uint32_t f = unit.addRaw({kValue}, kValue, {{Opcode::LoadNone, 0}, {Opcode::Pop, 0}, {Opcode::ReturnNone}});
  try {
    verify(unit.builder.unit());
    FAIL() << "it is accepted";
  } catch (const BytecodeError& error) {
    EXPECT_EQ(error.place().part, UnitPart::Function);
    EXPECT_EQ(error.place().index, f);
    EXPECT_EQ(error.place().instruction, 1U);
  }
}

}  // namespace
}  // namespace boxcar::interp
