#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/interpreter/bytecode/builtins.h>
#include <boxcar/interpreter/runtime/machine.h>
#include <boxcar/interpreter/runtime/script_operator.h>
#include <gtest/gtest.h>

#include <limits>
#include <thread>

#include "tests/interpreter/compiler/code_helpers.h"
#include "tests/test_support.h"

namespace boxcar::interp {
namespace {

constexpr SlotKind kInt = SlotKind::Int;
constexpr SlotKind kFloat = SlotKind::Float;
constexpr SlotKind kBool = SlotKind::Bool;
constexpr SlotKind kValue = SlotKind::Value;
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

Library definitions() { return {Library::FRAGMENT, "machine_test", std::nullopt, "test.cpp", 1}; }

// Returns the result of one instruction on two arguments of a kind.
IValue compute(Opcode op, SlotKind kind, SlotKind result, IValue left, IValue right) {
  TestUnit unit;
  const uint32_t f = unit.add("fn f", result, [=](CodeBuilder& code) {
    const uint16_t a = code.argument(kind);
    const uint16_t b = code.argument(kind);
    const uint16_t c = code.slot(result);
    info(op).operands[2] == Operand::None ? code.emit(op, c, a) : code.emit(op, c, a, b);
    constexpr Opcode kReturns[] = {Opcode::ReturnInt, Opcode::ReturnFloat, Opcode::ReturnBool, Opcode::ReturnValue};
    code.emit(kReturns[static_cast<size_t>(result)], c);
  });
  return unit.run(f, {std::move(left), std::move(right)});
}
IValue ints(Opcode op, int64_t a, int64_t b) { return compute(op, kInt, kInt, a, b); }
IValue floats(Opcode op, double a, double b) { return compute(op, kFloat, kFloat, a, b); }

// The sum of i * i for i below [n], with a while loop.
uint32_t addSquares(TestUnit& unit) {
  return unit.add("squares", kInt, [](CodeBuilder& code) {
    const uint16_t n = code.argument(kInt);
    const uint16_t sum = code.slot(kInt);
    const uint16_t i = code.slot(kInt);
    const uint16_t square = code.slot(kInt);
    const Label body = code.newLabel();
    const Label condition = code.newLabel();
    code.emitJump(Opcode::Jump, condition);
    code.bind(body);
    code.emit(Opcode::MulInt, square, i, i);
    code.emit(Opcode::AddInt, sum, sum, square);
    code.emit(Opcode::AddIntImm, i, i, 1);
    code.bind(condition);
    code.emitJump(Opcode::JumpIfLtInt, body, i, n);
    code.emit(Opcode::ReturnInt, sum);
  });
}

TEST(Machine, IntArithmeticWraps) {
  EXPECT_EQ(ints(Opcode::AddInt, std::numeric_limits<int64_t>::max(), 1).toInt(), kLeast);
  EXPECT_EQ(ints(Opcode::SubInt, kLeast, 1).toInt(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(ints(Opcode::MulInt, kLeast, -1).toInt(), kLeast);
  EXPECT_EQ(ints(Opcode::NegInt, kLeast, 0).toInt(), kLeast);
}

TEST(Machine, IntDivisionFloorsAndTheRestHasTheDivisorsSign) {
  EXPECT_EQ(ints(Opcode::FloorDivInt, 7, -2).toInt(), -4);
  EXPECT_EQ(ints(Opcode::FloorDivInt, -7, -2).toInt(), 3);
  EXPECT_EQ(ints(Opcode::FloorDivInt, kLeast, -1).toInt(), kLeast);
  EXPECT_EQ(ints(Opcode::ModInt, 7, -2).toInt(), -1);
  EXPECT_EQ(ints(Opcode::ModInt, -7, 2).toInt(), 1);
  EXPECT_EQ(ints(Opcode::ModInt, kLeast, -1).toInt(), 0);
}

TEST(Machine, FloatArithmeticIsPythons) {
  EXPECT_EQ(floats(Opcode::FloorDivFloat, 7.5, -2).toDouble(), -4);
  EXPECT_EQ(floats(Opcode::ModFloat, 7.5, -2).toDouble(), -0.5);
  EXPECT_EQ(floats(Opcode::PowFloat, 2, -1).toDouble(), 0.5);
  EXPECT_EQ(compute(Opcode::DivInt, kInt, kFloat, 7, 2).toDouble(), 3.5);
  EXPECT_TRUE(compute(Opcode::LtFloat, kFloat, kBool, 1.0, 2.0).toBool());
}

TEST(Machine, BitsAndShifts) {
  EXPECT_EQ(ints(Opcode::ShlInt, 1, 63).toInt(), kLeast);
  EXPECT_EQ(ints(Opcode::ShlInt, 1, 64).toInt(), 0);
  EXPECT_EQ(ints(Opcode::ShrInt, -5, 100).toInt(), -1);
  EXPECT_EQ(ints(Opcode::XorInt, 6, 3).toInt(), 5);
  EXPECT_EQ(ints(Opcode::InvertInt, 6, 0).toInt(), -7);
}

TEST(Machine, ScalarSlotsStartAtZeroAndValuesAtNone) {
  TestUnit unit;
  const uint32_t f = unit.add("fn f", kValue, [](CodeBuilder& code) {
    const SlotKind kinds[] = {kInt, kFloat, kBool};
    for (const SlotKind kind : kinds) code.emit(Opcode::PushScalar, code.slot(kind));
    const uint16_t value = code.slot(kValue);
    code.emit(Opcode::Push, value);
    code.emit(Opcode::MakeTuple, value, 4);
    code.emit(Opcode::ReturnMove, value);
  });
  EXPECT_EQ(toString(unit.run(f)), "(0, 0.0, False, None)");
}

TEST(Machine, RunsAWhileLoop) {
  TestUnit unit;
  const uint32_t f = addSquares(unit);
  EXPECT_EQ(unit.run(f, {1000}).toInt(), 332833500);
}

// Returns the numbers that a loop over range(start, stop, step) visits.
std::string rangeText(int64_t start, int64_t stop, int64_t step) {
  TestUnit unit;
  unit.builder.type(Type::listOf(Type::integer()));
  const uint32_t f = unit.add("fn f", kValue, [](CodeBuilder& code) {
    const uint16_t state = code.argument(kInt);
    code.argument(kInt);
    code.argument(kInt);
    const uint16_t i = code.slot(kInt);
    const uint16_t list = code.slot(kValue);
    const Label body = code.newLabel();
    const Label end = code.newLabel();
    code.emit(Opcode::MakeList, list, 0, 0);
    code.emitJump(Opcode::RangeInit, end, state, i);
    code.bind(body);
    code.emit(Opcode::Push, list);
    code.emit(Opcode::PushScalar, i);
    code.emit(Opcode::CallBuiltin, *findBuiltin("list.append"), 2);
    code.emit(Opcode::Drop, 1);
    code.emitJump(Opcode::RangeNext, body, state, i);
    code.bind(end);
    code.emit(Opcode::ReturnMove, list);
  });
  return toString(unit.run(f, {start, stop, step}));
}

TEST(Machine, RangesAreThoseOfPython) {
  EXPECT_EQ(rangeText(0, 4, 1), "[0, 1, 2, 3]");
  EXPECT_EQ(rangeText(5, 0, -2), "[5, 3, 1]");
  EXPECT_EQ(rangeText(0, 0, 1), "[]");
  EXPECT_EQ(rangeText(0, 5, -1), "[]");
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(rangeText(kMost - 2, kMost, 5), "[9223372036854775805]");
  EXPECT_EQ(rangeText(kLeast, kMost, kMost), "[-9223372036854775808, -1, 9223372036854775806]");
}

TEST(Machine, WalksOverAList) {
  TestUnit unit;
  const uint32_t f = unit.add("fn f", kInt, [](CodeBuilder& code) {
    const uint16_t list = code.argument(kValue);
    const uint16_t state = code.slot(kValue);
    code.slot(kInt);
    const uint16_t element = code.slot(kValue);
    const uint16_t number = code.slot(kInt);
    const uint16_t sum = code.slot(kInt);
    const Label body = code.newLabel();
    const Label next = code.newLabel();
    code.emit(Opcode::EachInit, state, list);
    code.emitJump(Opcode::Jump, next);
    code.bind(body);
    code.emit(Opcode::UnboxInt, number, element);
    code.emit(Opcode::AddInt, sum, sum, number);
    code.bind(next);
    code.emitJump(Opcode::EachNext, body, state, element);
    code.emit(Opcode::ReturnInt, sum);
  });
  EXPECT_EQ(unit.run(f, {List<int64_t>{1, 2, 39}}).toInt(), 42);
}

uint32_t addFibonacci(TestUnit& unit) {
  const uint32_t index = static_cast<uint32_t>(unit.builder.unit().functions.size());
  return unit.add("fib", kInt, [index](CodeBuilder& code) {
    const uint16_t n = code.argument(kInt);
    const uint16_t a = code.slot(kInt);
    const uint16_t b = code.slot(kInt);
    const Label recurse = code.newLabel();
    code.emitJump(Opcode::JumpIfGeIntImm, recurse, n, 2);
    code.emit(Opcode::ReturnInt, n);
    code.bind(recurse);
    for (const auto& [slot, offset] : {std::pair(a, -1), std::pair(b, -2)}) {
      code.emit(Opcode::AddIntImm, slot, n, static_cast<uint16_t>(offset));
      code.emit(Opcode::PassScalar, 0, slot);
      code.emitWide(Opcode::CallFunction, slot, index);
    }
    code.emit(Opcode::AddInt, a, a, b);
    code.emit(Opcode::ReturnInt, a);
  });
}

TEST(Machine, FunctionsCallThemselves) {
  TestUnit unit;
  const uint32_t f = addFibonacci(unit);
  EXPECT_EQ(unit.run(f, {20}).toInt(), 6765);
}

TEST(Machine, ValuesArePassedMovedAndReturned) {
  TestUnit unit;
  const uint32_t identity =
      unit.add("identity", kValue, [](CodeBuilder& code) { code.emit(Opcode::ReturnMove, code.argument(kValue)); });
  const uint32_t f = unit.add("fn f", kValue, [identity](CodeBuilder& code) {
    const uint16_t x = code.argument(kValue);
    const uint16_t y = code.slot(kValue);
    const uint16_t z = code.slot(kValue);
    code.emit(Opcode::PassValue, 0, x);
    code.emitWide(Opcode::CallFunction, y, identity);
    code.emit(Opcode::PassMove, 0, y);
    code.emitWide(Opcode::CallFunction, z, identity);
    for (const uint16_t slot : {x, y, z}) code.emit(Opcode::Push, slot);
    code.emit(Opcode::MakeTuple, z, 3);
    code.emit(Opcode::ReturnValue, z);
  });
  EXPECT_EQ(toString(unit.run(f, {"text"})), "('text', None, 'text')");
}

TEST(Machine, FramesReleaseWhatTheyHold) {
  const List<int64_t> list{1};
  const IValue argument = list;
  const uint32_t before = list.object()->useCount();
  TestUnit unit;
  const uint32_t f = unit.add("fn f", kValue, [](CodeBuilder& code) {
    const uint16_t x = code.argument(kValue);
    code.emit(Opcode::Copy, code.slot(kValue), x);
    code.emit(Opcode::ReturnNone);
  });
  unit.run(f, {argument});
  EXPECT_EQ(list.object()->useCount(), before);
}

// Sets the constant unless it is set, and returns it.
uint32_t addConstant(TestUnit& unit) {
  unit.builder.global("count", Type::integer());
  return unit.add("fn f", kValue, [](CodeBuilder& code) {
    const uint16_t value = code.argument(kValue);
    const uint16_t is_first = code.slot(kBool);
    const Label end = code.newLabel();
    code.emitWide(Opcode::BeginGlobal, is_first, 0);
    code.emitJump(Opcode::JumpIfNot, end, is_first);
    code.emitWide(Opcode::StoreGlobal, value, 0);
    code.bind(end);
    code.emitWide(Opcode::LoadGlobal, value, 0);
    code.emit(Opcode::ReturnMove, value);
  });
}

TEST(Machine, AConstantIsSetOnce) {
  TestUnit unit;
  const uint32_t f = addConstant(unit);
  Executable program(std::move(unit.builder).finish());
  program.link();
  for (const char* value : {"first", "second"}) {
    Stack stack{IValue(value)};
    Machine::current().call(program, f, stack);
    EXPECT_EQ(toString(stack[0]), "first");
  }
}

TEST(Machine, AConstantThatIsReadTooEarlyIsAnError) {
  TestUnit unit;
  unit.builder.global("count", Type::integer());
  const uint32_t f = unit.add("fn f", kValue, [](CodeBuilder& code) {
    const uint16_t value = code.slot(kValue);
    code.emitWide(Opcode::LoadGlobal, value, 0);
    code.emit(Opcode::ReturnMove, value);
  });
  const std::string message = errorOf([&] { unit.run(f); });
  EXPECT_TRUE(
      message.starts_with("the constant `count` is read before it is set; the script's statements set it when "
                          "they are run\n"))
      << message;
}

TEST(Machine, AConstantThatIsSetWithoutItsBeginIsAnError) {
  TestUnit unit;
  unit.builder.global("count", Type::integer());
  const uint32_t f = unit.add("fn f", kValue, [](CodeBuilder& code) {
    code.emitWide(Opcode::StoreGlobal, code.argument(kValue), 0);
    code.emit(Opcode::ReturnNone);
  });
  const std::string message = errorOf([&] { unit.run(f, {1}); });
  EXPECT_TRUE(message.starts_with("bad bytecode: a constant is set outside of its Begin")) << message;
}

TEST(Machine, RecursionWithoutAnEndIsAnError) {
  TestUnit unit;
  const uint32_t index = 1;
  unit.add("fn f", kInt, [](CodeBuilder& code) {
    const uint16_t x = code.argument(kInt);
    code.emit(Opcode::PassScalar, 0, x);
    code.at({11, 17}).emitWide(Opcode::CallFunction, x, index);
    code.emit(Opcode::ReturnInt, x);
  });
  const std::string message = errorOf([&] { unit.run(index, {1}); });
  EXPECT_TRUE(
      message.starts_with("more than 10000 nested calls: does the recursion end?\n"
                          "  test.ops:2:1 in fn f\n"
                          "    second line\n"))
      << message;
  EXPECT_NE(message.find("\n  ... 9981 more calls ...\n"), std::string::npos) << message;
}

TEST(Machine, DeepRecursionUsesSeveralSegments) {
  TestUnit unit;
  const uint32_t index = 1;
  // Each frame has a thousand slots.
  unit.add("fn f", kInt, [](CodeBuilder& code) {
    const uint16_t n = code.argument(kInt);
    const uint16_t text = code.argument(kValue);
    const uint16_t below = code.slot(kInt);
    for (int i = 0; i < 1000; ++i) code.slot(kValue);
    const Label recurse = code.newLabel();
    code.emitJump(Opcode::JumpIfGtIntImm, recurse, n, 0);
    code.emit(Opcode::Length, n, text);
    code.emit(Opcode::ReturnInt, n);
    code.bind(recurse);
    code.emit(Opcode::AddIntImm, n, n, static_cast<uint16_t>(-1));
    code.emit(Opcode::PassScalar, 0, n);
    code.emit(Opcode::PassMove, 1, text);
    code.emitWide(Opcode::CallFunction, below, index);
    code.emit(Opcode::AddIntImm, below, below, 1);
    code.emit(Opcode::ReturnInt, below);
  });
  EXPECT_EQ(unit.run(index, {500, "four"}).toInt(), 504);
}

TEST(Machine, AnErrorShowsTheCallsInnermostLast) {
  TestUnit unit("x = outer(0)\n  y = inner(n)\n  return 1 // n\n");
  const uint32_t inner = unit.add("fn inner", kInt, [](CodeBuilder& code) {
    const uint16_t n = code.argument(kInt);
    const uint16_t one = code.slot(kInt);
    code.emitWide(Opcode::LoadInt, one, 1);
    code.at({37, 43}).emit(Opcode::FloorDivInt, n, one, n);
    code.emit(Opcode::ReturnInt, n);
  });
  const uint32_t outer = unit.add("fn outer", kInt, [inner](CodeBuilder& code) {
    const uint16_t n = code.argument(kInt);
    code.at({19, 27}).emit(Opcode::PassScalar, 0, n);
    code.emitWide(Opcode::CallFunction, n, inner);
    code.emit(Opcode::ReturnInt, n);
  });
  const uint32_t script = unit.add("<script>", kInt, [outer](CodeBuilder& code) {
    const uint16_t x = code.slot(kInt);
    code.at({4, 12}).emit(Opcode::PassScalar, 0, x);
    code.emitWide(Opcode::CallFunction, x, outer);
    code.emit(Opcode::ReturnInt, x);
  });
  EXPECT_EQ(errorOf([&] { unit.run(script); }),
            "integer division or modulo by zero\n"
            "  test.ops:1:5\n"
            "    x = outer(0)\n"
            "        ^~~~~~~~\n"
            "  test.ops:2:7 in fn outer\n"
            "    y = inner(n)\n"
            "        ^~~~~~~~\n"
            "  test.ops:3:10 in fn inner\n"
            "    return 1 // n\n"
            "           ^~~~~~");
}

TEST(Machine, AfterAnErrorItRunsAgain) {
  TestUnit unit;
  const uint32_t f = unit.add("fn f", kInt, [](CodeBuilder& code) {
    const uint16_t n = code.argument(kInt);
    const uint16_t text = code.slot(kValue);
    code.emitWide(Opcode::PushConstant, 0, 0);
    code.emit(Opcode::Pop, text);
    code.emit(Opcode::PushScalar, n);
    code.emit(Opcode::Push, text);
    code.emit(Opcode::FloorDivInt, n, n, n);
    code.emit(Opcode::Drop, 2);
    code.emit(Opcode::ReturnInt, n);
  });
  unit.builder.constant(IValue("text"));
  Executable program(std::move(unit.builder).finish());
  Stack stack{IValue("below"), IValue(0)};
  EXPECT_THROW(Machine::current().call(program, f, stack), ScriptError);
  EXPECT_EQ(stack.size(), 1U);
  stack.push_back(5);
  Machine::current().call(program, f, stack);
  EXPECT_EQ(stack[1].toInt(), 1);
}

TEST(Machine, FailEndsTheRunWithItsText) {
  TestUnit unit;
  const uint32_t f = unit.add("<script>", kValue, [&](CodeBuilder& code) {
    const uint16_t text = code.slot(kValue);
    code.emitWide(Opcode::LoadConstant, text, unit.builder.constant(IValue("x is 3")));
    code.emit(Opcode::Fail, text);
  });
  EXPECT_EQ(errorOf([&] { unit.run(f); }), "x is 3\n  test.ops:1:1\n    first line\n    ^~~~~");
}

TEST(Machine, UnboxingChecksTheKind) {
  const auto unbox = [](Opcode op, SlotKind kind, Opcode give, IValue value) {
    TestUnit unit;
    const uint32_t f = unit.add("<script>", kind, [=](CodeBuilder& code) {
      const uint16_t from = code.argument(kValue);
      const uint16_t to = code.slot(kind);
      code.emit(op, to, from);
      code.emit(give, to);
    });
    std::string text;
    const std::string error = errorOf([&] { text = toString(unit.run(f, {value})); });
    return error == "no error" ? text : error.substr(0, error.find('\n'));
  };
  EXPECT_EQ(unbox(Opcode::UnboxInt, kInt, Opcode::ReturnInt, true), "1");
  EXPECT_EQ(unbox(Opcode::UnboxInt, kInt, Opcode::ReturnInt, 1.5), "expected int, but found float 1.5");
  EXPECT_EQ(unbox(Opcode::UnboxFloat, kFloat, Opcode::ReturnFloat, 3), "3.0");
  EXPECT_EQ(unbox(Opcode::UnboxFloat, kFloat, Opcode::ReturnFloat, "3"), "expected float, but found str '3'");
  EXPECT_EQ(unbox(Opcode::UnboxBool, kBool, Opcode::ReturnBool, 1), "expected bool, but found int 1");
}

// Adds a function that calls an operator of two ints.
uint32_t addOperatorCall(TestUnit& unit, const OperatorName& name) {
  return unit.add("fn f", kInt, [&](CodeBuilder& code) {
    const uint16_t a = code.argument(kInt);
    const uint16_t b = code.argument(kInt);
    code.emit(Opcode::PushScalar, a);
    code.emit(Opcode::PushScalar, b);
    code.at({6, 10}).emitWide(Opcode::CallOperator, 0, unit.builder.operatorSite(name, 2, 1));
    code.emit(Opcode::PopInt, a);
    code.emit(Opcode::ReturnInt, a);
  });
}

TEST(Machine, CallsOperatorsThroughTheDispatcher) {
  Library library = definitions();
  library.def("minus(int a, int b) -> int", [](int64_t a, int64_t b) { return a - b; });
  TestUnit unit;
  const uint32_t f = addOperatorCall(unit, OperatorName("machine_test::minus", ""));
  EXPECT_EQ(unit.run(f, {50, 8}).toInt(), 42);
}

TEST(Machine, AnOperatorThatFailsIsAScriptErrorWithThePlace) {
  Library library = definitions();
  library.def("minus(int a, int b) -> int", [](int64_t, int64_t) -> int64_t { BOXCAR_FAIL("the kernel refuses"); });
  TestUnit unit;
  const uint32_t f = addOperatorCall(unit, OperatorName("machine_test::minus", ""));
  EXPECT_EQ(
      errorOf([&] {
        unit.run(f, {50, 8});
      }),
      "the kernel refuses\n  machine_test::minus(a: 50, b: 8)\n  test.ops:1:7 in fn f\n    first line\n          ^~~~");
}

void swapsAndFails(const OperatorHandle&, Stack* stack) {
  std::swap(peek(*stack, 0, 2), peek(*stack, 1, 2));
  BOXCAR_FAIL("the kernel refuses");
}

TEST(Machine, ArgumentsThatABoxedKernelMayHaveChangedAreNotShown) {
  Library library = definitions();
  library.def("minus(int a, int b) -> int", CppFunction::makeFromBoxedFunction<&swapsAndFails>());
  TestUnit unit;
  const uint32_t f = addOperatorCall(unit, OperatorName("machine_test::minus", ""));
  EXPECT_EQ(errorOf([&] {
              unit.run(f, {50, 8});
            }),
            "the kernel refuses\n  test.ops:1:7 in fn f\n    first line\n          ^~~~");
}

TEST(Machine, LinkingRefusesOperatorsThatAreNotThereOrHaveChanged) {
  TestUnit unit;
  unit.builder.operatorSite(OperatorName("machine_test::absent", ""), 2, 1);
  Executable missing(std::move(unit.builder).finish());
  EXPECT_TRUE(errorOf([&] { missing.link(); }).find("machine_test::absent") != std::string::npos);

  Library library = definitions();
  library.def("minus(int a) -> int", [](int64_t a) { return -a; });
  TestUnit other;
  other.builder.operatorSite(OperatorName("machine_test::minus", ""), 2, 1);
  Executable changed(std::move(other.builder).finish());
  EXPECT_EQ(errorOf([&] { changed.link(); }),
            "test.ops: the script was compiled for 2 arguments and 1 results, but the operator is "
            "machine_test::minus(int a) -> int");
}

void leavesTooMany(const OperatorHandle&, Stack* stack) { stack->push_back(1); }

TEST(Machine, ABoxedKernelThatLeavesTooManyValuesIsAnError) {
  Library library = definitions();
  library.def("minus(int a, int b) -> int", CppFunction::makeFromBoxedFunction<&leavesTooMany>());
  TestUnit unit;
  const uint32_t f = addOperatorCall(unit, OperatorName("machine_test::minus", ""));
  EXPECT_EQ(errorOf([&] {
              unit.run(f, {50, 8});
            }),
            "machine_test::minus: its kernel or a handler left 3 values on the stack instead of 1\n"
            "  test.ops:1:7 in fn f\n    first line\n          ^~~~");
}

TEST(Machine, ChoosesAnOverloadByTheValues) {
  Library library = definitions();
  library.def("show.int(int a) -> str", [](int64_t a) { return "int " + std::to_string(a); });
  library.def("show.str(str a, *, str end='.') -> str",
              [](std::string_view a, std::string_view end) { return "str " + std::string(a) + std::string(end); });
  TestUnit unit;
  DynamicSite one{"machine_test::show", std::nullopt, 1, {}};
  DynamicSite two{"machine_test::show", std::nullopt, 1, {"end"}};
  const uint32_t site_one = unit.builder.dynamicSite(std::move(one));
  const uint32_t site_two = unit.builder.dynamicSite(std::move(two));
  const uint32_t f = unit.add("<script>", kValue, [&](CodeBuilder& code) {
    const uint16_t x = code.argument(kValue);
    const uint16_t y = code.argument(kValue);
    code.emit(Opcode::Push, x);
    code.emitWide(Opcode::CallDynamic, 0, site_one);
    code.emit(Opcode::Push, y);
    code.emit(Opcode::Push, y);
    code.emitWide(Opcode::CallDynamic, 0, site_two);
    code.emit(Opcode::MakeTuple, x, 2);
    code.emit(Opcode::ReturnMove, x);
  });
  EXPECT_EQ(toString(unit.run(f, {7, "a"})), "('int 7', 'str aa')");
}

TEST(Machine, CallsBuiltInsOnTheStack) {
  TestUnit unit;
  const uint32_t f = unit.add("<script>", kInt, [](CodeBuilder& code) {
    const uint16_t x = code.argument(kValue);
    const uint16_t size = code.slot(kInt);
    code.emit(Opcode::PushMove, x);
    code.emit(Opcode::CallBuiltin, *findBuiltin("len"), 1);
    code.emit(Opcode::PopInt, size);
    code.emit(Opcode::ReturnInt, size);
  });
  EXPECT_EQ(unit.run(f, {"four"}).toInt(), 4);
}

TEST(Machine, AnArgumentOfAnotherKindIsRefused) {
  TestUnit unit;
  const uint32_t f = addSquares(unit);
  EXPECT_EQ(errorOf([&] { unit.run(f, {1.5}); }), "squares: argument 1 is Double, but Int is needed");
}

TEST(Machine, ARunHasItsLimits) {
  TestUnit unit;
  const uint32_t f = addFibonacci(unit);
  Executable program(std::move(unit.builder).finish());
  program.link();
  const auto run = [&](RunLimits limits) {
    return errorOf([&] {
      Stack stack{IValue(int64_t{200})};
      Machine::current().run(program, f, stack, limits);
    });
  };
  const std::string depth = run({.max_depth = 100});
  EXPECT_TRUE(depth.starts_with("more than 100 nested calls")) << depth;
  const std::string instructions = run({.max_instructions = 1000});
  EXPECT_TRUE(instructions.starts_with("the run took more than 1000 instructions, which is its limit")) << instructions;
}

// ---- Operators of scripts ----

// Defines op machine_test::twice(int x) -> int, which calls itself [until] times if x is negative.
std::shared_ptr<Executable> scriptWithOperator(TestUnit& unit) {
  const FunctionSchema schema("machine_test::twice", "", {Argument("x", Type::integer())},
                              {Argument("", Type::integer())});
  const uint32_t body = unit.add("op machine_test::twice", kInt, [&](CodeBuilder& code) {
    const uint16_t x = code.argument(kInt);
    const Label recurse = code.newLabel();
    code.emitJump(Opcode::JumpIfLtIntImm, recurse, x, 0);
    code.emit(Opcode::AddInt, x, x, x);
    code.emit(Opcode::ReturnInt, x);
    code.bind(recurse);
    code.emit(Opcode::PushScalar, x);
    code.at({11, 17}).emitWide(Opcode::CallOperator, 0, unit.builder.operatorSite(schema.operator_name(), 1, 1));
    code.emit(Opcode::PopInt, x);
    code.emit(Opcode::ReturnInt, x);
  });
  unit.builder.unit().operators.push_back({schema, body, {0, 5}});
  return std::make_shared<Executable>(std::move(unit.builder).finish());
}

TEST(ScriptOperator, CppCallsItAsLongAsItIsRegistered) {
  TestUnit unit;
  const auto program = scriptWithOperator(unit);
  {
    const auto handles = registerOperators(program);
    program->link();
    const auto op = Dispatcher::singleton().findSchemaOrThrow("machine_test::twice", "");
    EXPECT_EQ(op.typed<int64_t(int64_t)>().call(21), 42);
    Stack stack{IValue(4)};
    op.callBoxed(stack);
    EXPECT_EQ(stack[0].toInt(), 8);
    EXPECT_EQ(errorOf([&] {
                Stack wrong{IValue("text")};
                op.callBoxed(wrong);
              }),
              "machine_test::twice(): argument 'x' (position 1) must be int, not str\n"
              "  machine_test::twice(int x) -> int");
  }
  EXPECT_FALSE(Dispatcher::singleton().findSchema(OperatorName("machine_test::twice", "")).has_value());
}

TEST(ScriptOperator, RecursionThroughTheDispatcherIsBounded) {
  TestUnit unit;
  const auto program = scriptWithOperator(unit);
  const auto handles = registerOperators(program);
  program->link();
  const auto op = Dispatcher::singleton().findSchemaOrThrow("machine_test::twice", "");
  const std::string message = errorOf([&] { op.typed<int64_t(int64_t)>().call(-1); });
  EXPECT_TRUE(
      message.starts_with("more than 400 nested calls of operators: does the recursion end?\n"
                          "  test.ops:2:1 in op machine_test::twice\n"
                          "    second line\n"))
      << message;
}

}  // namespace
}  // namespace boxcar::interp
