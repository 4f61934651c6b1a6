// The machine's loop: one case per opcode, in the table's order.

#include <boxcar/dispatcher/call/default_device.h>
#include <boxcar/interpreter/bytecode/builtins.h>
#include <boxcar/interpreter/runtime/arithmetic.h>
#include <boxcar/interpreter/runtime/container_operations.h>
#include <boxcar/interpreter/runtime/conversion.h>
#include <boxcar/interpreter/runtime/dynamic_call.h>
#include <boxcar/interpreter/runtime/interrupt.h>
#include <boxcar/interpreter/runtime/machine.h>
#include <boxcar/interpreter/runtime/run_stop.h>
#include <boxcar/interpreter/runtime/script_function.h>
#include <boxcar/interpreter/runtime/script_handler.h>
#include <boxcar/interpreter/runtime/struct_object.h>
#include <boxcar/interpreter/runtime/value_operations.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/schema/value_type.h>

#include <cstring>
#include <memory>
#include <utility>

namespace boxcar::interp {
namespace {

using Tag = IValue::Tag;
using syntax::BinaryOp;
using syntax::CompareOp;
using syntax::UnaryOp;

[[noreturn, gnu::cold, gnu::noinline]] void failResults(const LinkedSite& site, int64_t surplus) {
  const int64_t left = site.results + surplus;
  BOXCAR_FAIL("{}: its kernel or a handler left {} values on the stack instead of {}", site.op, left, site.results);
}

[[noreturn, gnu::cold, gnu::noinline]] void failUnset(const CodeGlobal& global) {
  BOXCAR_FAIL("the constant `{}` is read before it is set; the script's statements set it when they are run",
              global.name);
}

[[noreturn, gnu::cold, gnu::noinline]] void failInstructions(uint64_t limit) {
  throw RunStop(fmt::format("the run took more than {} instructions, which is its limit", limit),
                ScriptErrorCause::Limit);
}

[[noreturn, gnu::cold, gnu::noinline]] void failKind(const IValue& value, const char* wanted) {
  BOXCAR_FAIL("expected {}, but found {} {}", wanted, kindName(value), repr(value));
}

int64_t unboxInt(const IValue& value) {
  if (value.isInt()) return value.unsafeGet<Tag::Int>();
  if (value.isBool()) return value.unsafeGet<Tag::Bool>();
  failKind(value, "int");
}

double unboxFloat(const IValue& value) {
  if (value.isDouble()) return value.unsafeGet<Tag::Double>();
  if (value.isInt()) return static_cast<double>(value.unsafeGet<Tag::Int>());
  if (value.isBool()) return value.unsafeGet<Tag::Bool>();
  failKind(value, "float");
}

bool unboxBool(const IValue& value) {
  if (value.isBool()) return value.unsafeGet<Tag::Bool>();
  failKind(value, "bool");
}

// list[index] for typed lists whose elements need no box.
int64_t indexInt(const IValue& object, int64_t index) {
  if (object.isIntList()) [[likely]] {
    const auto& values = object.unsafeGet<Tag::IntList>()->values;
    const int64_t place = index < 0 ? index + static_cast<int64_t>(values.size()) : index;
    if (static_cast<uint64_t>(place) < values.size()) [[likely]]
      return values[static_cast<size_t>(place)];
  }
  return unboxInt(indexValue(object, index));
}

double indexFloat(const IValue& object, int64_t index) {
  if (object.isDoubleList()) [[likely]] {
    const auto& values = object.unsafeGet<Tag::DoubleList>()->values;
    const int64_t place = index < 0 ? index + static_cast<int64_t>(values.size()) : index;
    if (static_cast<uint64_t>(place) < values.size()) [[likely]]
      return values[static_cast<size_t>(place)];
  }
  return unboxFloat(indexValue(object, index));
}

void callBuiltin(const Builtin& builtin, size_t count, Stack& stack) {
  IValue result = builtin.function(last(stack, count));
  drop(stack, count);
  stack.push_back(std::move(result));
}

// A scalar owns nothing, so copying its words is enough. They are copied as two words, as they were written.
void copyScalar(IValue* to, const IValue& from) noexcept {
  uint64_t words[2];
  std::memcpy(&words[0], reinterpret_cast<const char*>(&from), 8);
  std::memcpy(&words[1], reinterpret_cast<const char*>(&from) + 8, 8);
  std::memcpy(static_cast<void*>(to), words, sizeof(words));
}

// Slots are uninitialised before a function is entered.
void initialiseSlot(IValue* slot, uint64_t tag) noexcept {
  const uint64_t words[] = {0, tag};
  std::memcpy(static_cast<void*>(slot), words, sizeof(words));
}

}  // namespace

// Before an instruction: checks whether it may still run.
#define COUNT()                            \
  do {                                     \
    if constexpr (kCounts) {               \
      if (instructions_left_ != 0) {       \
        --instructions_left_;              \
      } else if (pc->op != Opcode::Halt) { \
        nextShare(frame, pc);              \
      }                                    \
    }                                      \
  } while (false)
// At every jump, so that every loop and every recursion gets here: checks whether the run must end.
#define POLL() \
  (detail::interrupt_requests.load(std::memory_order_relaxed) != seen_interrupts_ ? poll(frame, pc + 1) : void())

// Like POLL after a call, which may have taken long: the place is that of the call.
#define POLL_HERE()                                                                                      \
  do {                                                                                                   \
    if (detail::interrupt_requests.load(std::memory_order_relaxed) != seen_interrupts_) poll(frame, pc); \
    if constexpr (kCounts) {                                                                             \
      if (isLate()) poll(frame, pc);                                                                     \
    }                                                                                                    \
  } while (false)

// With labels as values, each case has its own indirect jump, which helps branch prediction.
#if defined(__GNUC__)
#define BEGIN_LOOP() NEXT();
#define CASE(name) op_##name:
#define NEXT()                                            \
  do {                                                    \
    COUNT();                                              \
    instruction = *pc++;                                  \
    goto* kLabels[static_cast<uint16_t>(instruction.op)]; \
  } while (false)
#define END_LOOP()
#else
#define BEGIN_LOOP()     \
  for (;;) {             \
    COUNT();             \
    instruction = *pc++; \
    switch (instruction.op) {
#define CASE(name) case Opcode::name:
#define NEXT() continue
#define END_LOOP() \
  }                \
  }
#endif

#define SLOT(field) slots[instruction.field]
#define INT(field) SLOT(field).unsafeGet<Tag::Int>()
#define FLOAT(field) SLOT(field).unsafeGet<Tag::Double>()
#define BOOL(field) SLOT(field).unsafeGet<Tag::Bool>()
#define IMMEDIATE(field) static_cast<int16_t>(instruction.field)
#define JUMP_SHORT() pc += static_cast<int16_t>(instruction.c), POLL()
#define JUMP_FAR() pc += instruction.wide(), POLL()
// Precedes everything that may fail or run other code.
#define SAVE() frame->pc = pc

// Calls the function with the arguments that were passed.
#define ENTER(callee)                                                                                           \
  do {                                                                                                          \
    frame = enter(frame, &(callee), slots + frame->function->slots, (callee).arguments);                        \
    slots = frame->slots;                                                                                       \
    for (uint32_t i = (callee).arguments; i < (callee).slots; ++i) initialiseSlot(slots + i, (callee).tags[i]); \
    pc = (callee).code;                                                                                         \
    top_ = frame;                                                                                               \
    POLL();                                                                                                     \
  } while (false)
// Returns to the frame below, which may belong to another program.
#define LEAVE()                                           \
  do {                                                    \
    frame = top_ = leave(frame);                          \
    slots = frame->slots;                                 \
    pc = frame->pc;                                       \
    if (pc[-1].op == Opcode::CallImported) [[unlikely]] { \
      program = leaveModule(frame);                       \
      unit = &program->unit();                            \
    }                                                     \
  } while (false)

// A case whose whole effect is one statement.
#define SIMPLE(name, ...)                                    \
  CASE(name) {                                               \
    static_assert(info(Opcode::name).then != Then::MayFail); \
    __VA_ARGS__;                                             \
    NEXT();                                                  \
  }
#define COMPARE_AND_JUMP(name, condition) \
  CASE(name) {                            \
    if (condition) JUMP_SHORT();          \
    NEXT();                               \
  }
// Such a case that may fail.
#define CHECKED(name, ...)                                   \
  CASE(name) {                                               \
    static_assert(info(Opcode::name).then == Then::MayFail); \
    SAVE();                                                  \
    __VA_ARGS__;                                             \
    NEXT();                                                  \
  }

template <bool kCounts>
void Machine::execute(const Executable* program, Stack& stack) {
#if defined(__GNUC__)
  static constexpr const void* kLabels[] = {
#define BOXCAR_OPCODE(name, ...) &&op_##name,
#include <boxcar/interpreter/bytecode/opcode_table.h>
  };
#endif
  const CodeUnit* unit = &program->unit();
  const Builtin* builtin_table = nullptr;  // made when a program first calls one, which takes longer than many programs
  Frame* frame = top_;
  IValue* slots = frame->slots;
  const Instruction* pc = frame->pc;
  Instruction instruction;

  BEGIN_LOOP()

  SIMPLE(MoveInt, INT(a) = INT(b))
  SIMPLE(MoveFloat, FLOAT(a) = FLOAT(b))
  SIMPLE(MoveBool, BOOL(a) = BOOL(b))
  SIMPLE(Copy, SLOT(a) = SLOT(b))
  SIMPLE(Move, SLOT(a) = std::move(SLOT(b)))
  SIMPLE(LoadInt, INT(a) = instruction.wide())
  SIMPLE(LoadIntConstant, INT(a) = unit->constants[instruction.index()].unsafeGet<Tag::Int>())
  SIMPLE(LoadFloat, FLOAT(a) = unit->constants[instruction.index()].unsafeGet<Tag::Double>())
  SIMPLE(LoadBool, BOOL(a) = instruction.b != 0)
  SIMPLE(LoadNone, SLOT(a) = IValue())
  SIMPLE(LoadConstant, SLOT(a) = unit->constants[instruction.index()])
  CASE(LoadGlobal) {
    const GlobalValue& global = program->global(instruction.index());
    SAVE();
    if (!global.once.isDone()) [[unlikely]]
      failUnset(unit->globals[instruction.index()]);
    SLOT(a) = global.value;
    NEXT();
  }
  CHECKED(BeginGlobal,
          BOOL(a) = begin(program->global(instruction.index()).once, unit->globals[instruction.index()].name))
  CHECKED(StoreGlobal, storeGlobal(program->global(instruction.index()), SLOT(a)))

  SIMPLE(IntToFloat, FLOAT(a) = static_cast<double>(INT(b)))
  CHECKED(FloatToInt, INT(a) = floatToInt(FLOAT(b)))
  SIMPLE(IntToBool, BOOL(a) = INT(b) != 0)
  SIMPLE(FloatToBool, BOOL(a) = FLOAT(b) != 0)
  SIMPLE(BoolToInt, INT(a) = BOOL(b))
  SIMPLE(BoolToFloat, FLOAT(a) = BOOL(b))
  CHECKED(UnboxInt, INT(a) = unboxInt(SLOT(b)))
  CHECKED(UnboxFloat, FLOAT(a) = unboxFloat(SLOT(b)))
  CHECKED(UnboxBool, BOOL(a) = unboxBool(SLOT(b)))
  CHECKED(Convert, SLOT(a) = convertValue(SLOT(b), {unit->types[instruction.c]}))
  SIMPLE(TestType, BOOL(a) = matches(SLOT(b), unit->types[instruction.c]))
  CHECKED(Truth, BOOL(a) = truth(SLOT(b)))

  SIMPLE(AddInt, INT(a) = addInt(INT(b), INT(c)))
  SIMPLE(SubInt, INT(a) = subInt(INT(b), INT(c)))
  SIMPLE(MulInt, INT(a) = mulInt(INT(b), INT(c)))
  CHECKED(DivInt, FLOAT(a) = divInt(INT(b), INT(c)))
  CHECKED(FloorDivInt, INT(a) = floorDivInt(INT(b), INT(c)))
  CHECKED(ModInt, INT(a) = modInt(INT(b), INT(c)))
  CHECKED(PowInt, INT(a) = powInt(INT(b), INT(c)))
  SIMPLE(AndInt, INT(a) = INT(b) & INT(c))
  SIMPLE(OrInt, INT(a) = INT(b) | INT(c))
  SIMPLE(XorInt, INT(a) = INT(b) ^ INT(c))
  CHECKED(ShlInt, INT(a) = shlInt(INT(b), INT(c)))
  CHECKED(ShrInt, INT(a) = shrInt(INT(b), INT(c)))
  SIMPLE(NegInt, INT(a) = negInt(INT(b)))
  SIMPLE(InvertInt, INT(a) = ~INT(b))
  SIMPLE(AddIntImm, INT(a) = addInt(INT(b), IMMEDIATE(c)))
  SIMPLE(MulIntImm, INT(a) = mulInt(INT(b), IMMEDIATE(c)))
  SIMPLE(FloorDivIntImm, INT(a) = floorDivInt(INT(b), IMMEDIATE(c)))
  SIMPLE(ModIntImm, INT(a) = modInt(INT(b), IMMEDIATE(c)))
  SIMPLE(AndIntImm, INT(a) = INT(b) & IMMEDIATE(c))

  SIMPLE(AddFloat, FLOAT(a) = FLOAT(b) + FLOAT(c))
  SIMPLE(SubFloat, FLOAT(a) = FLOAT(b) - FLOAT(c))
  SIMPLE(MulFloat, FLOAT(a) = FLOAT(b) * FLOAT(c))
  CHECKED(DivFloat, FLOAT(a) = divFloat(FLOAT(b), FLOAT(c)))
  CHECKED(FloorDivFloat, FLOAT(a) = floorDivFloat(FLOAT(b), FLOAT(c)))
  CHECKED(ModFloat, FLOAT(a) = modFloat(FLOAT(b), FLOAT(c)))
  CHECKED(PowFloat, FLOAT(a) = powFloat(FLOAT(b), FLOAT(c)))
  SIMPLE(NegFloat, FLOAT(a) = -FLOAT(b))
  SIMPLE(NotBool, BOOL(a) = !BOOL(b))
  SIMPLE(AndBool, BOOL(a) = (int{BOOL(b)} & int{BOOL(c)}) != 0)
  SIMPLE(OrBool, BOOL(a) = (int{BOOL(b)} | int{BOOL(c)}) != 0)
  SIMPLE(XorBool, BOOL(a) = BOOL(b) ^ BOOL(c))

  SIMPLE(EqInt, BOOL(a) = INT(b) == INT(c))
  SIMPLE(NeInt, BOOL(a) = INT(b) != INT(c))
  SIMPLE(LtInt, BOOL(a) = INT(b) < INT(c))
  SIMPLE(LeInt, BOOL(a) = INT(b) <= INT(c))
  SIMPLE(EqFloat, BOOL(a) = FLOAT(b) == FLOAT(c))
  SIMPLE(NeFloat, BOOL(a) = FLOAT(b) != FLOAT(c))
  SIMPLE(LtFloat, BOOL(a) = FLOAT(b) < FLOAT(c))
  SIMPLE(LeFloat, BOOL(a) = FLOAT(b) <= FLOAT(c))

  SIMPLE(Jump, JUMP_FAR())
  CASE(JumpIf) {
    if (BOOL(a)) JUMP_FAR();
    NEXT();
  }
  CASE(JumpIfNot) {
    if (!BOOL(a)) JUMP_FAR();
    NEXT();
  }
  CASE(JumpIfNone) {
    if (SLOT(a).isNone()) JUMP_FAR();
    NEXT();
  }
  CASE(JumpIfNotNone) {
    if (!SLOT(a).isNone()) JUMP_FAR();
    NEXT();
  }
  COMPARE_AND_JUMP(JumpIfEqInt, INT(a) == INT(b))
  COMPARE_AND_JUMP(JumpIfNeInt, INT(a) != INT(b))
  COMPARE_AND_JUMP(JumpIfLtInt, INT(a) < INT(b))
  COMPARE_AND_JUMP(JumpIfLeInt, INT(a) <= INT(b))
  COMPARE_AND_JUMP(JumpIfEqIntImm, INT(a) == IMMEDIATE(b))
  COMPARE_AND_JUMP(JumpIfNeIntImm, INT(a) != IMMEDIATE(b))
  COMPARE_AND_JUMP(JumpIfLtIntImm, INT(a) < IMMEDIATE(b))
  COMPARE_AND_JUMP(JumpIfLeIntImm, INT(a) <= IMMEDIATE(b))
  COMPARE_AND_JUMP(JumpIfGtIntImm, INT(a) > IMMEDIATE(b))
  COMPARE_AND_JUMP(JumpIfGeIntImm, INT(a) >= IMMEDIATE(b))
  COMPARE_AND_JUMP(JumpIfEqFloat, FLOAT(a) == FLOAT(b))
  COMPARE_AND_JUMP(JumpIfNeFloat, FLOAT(a) != FLOAT(b))
  COMPARE_AND_JUMP(JumpIfLtFloat, FLOAT(a) < FLOAT(b))
  COMPARE_AND_JUMP(JumpIfLeFloat, FLOAT(a) <= FLOAT(b))
  COMPARE_AND_JUMP(JumpIfNotLtFloat, !(FLOAT(a) < FLOAT(b)))
  COMPARE_AND_JUMP(JumpIfNotLeFloat, !(FLOAT(a) <= FLOAT(b)))

  CASE(RangeInit) {
    IValue* const state = slots + instruction.a;
    int64_t& left = state[1].unsafeGet<Tag::Int>();
    SAVE();
    left = static_cast<int64_t>(rangeCount(INT(a), left, state[2].unsafeGet<Tag::Int>()));
    if (left == 0) {
      JUMP_SHORT();
    } else {
      INT(b) = INT(a);
    }
    NEXT();
  }
  CASE(RangeNext) {
    IValue* const state = slots + instruction.a;
    int64_t& left = state[1].unsafeGet<Tag::Int>();
    left = subInt(left, 1);
    if (left != 0) {
      INT(b) = INT(a) = addInt(INT(a), state[2].unsafeGet<Tag::Int>());
      JUMP_SHORT();
    }
    NEXT();
  }
  CASE(EachInit) {
    SAVE();
    SLOT(a) = iterable(SLOT(b));
    slots[instruction.a + 1].unsafeGet<Tag::Int>() = 0;
    NEXT();
  }
  CASE(EachNext) {
    SAVE();
    int64_t& position = slots[instruction.a + 1].unsafeGet<Tag::Int>();
    if (nextElement(SLOT(a), position, SLOT(b))) {
      position = addInt(position, 1);
      JUMP_SHORT();
    }
    NEXT();
  }

  SIMPLE(Push, stack.push_back(SLOT(a)))
  SIMPLE(PushMove, stack.push_back(std::move(SLOT(a))))
  SIMPLE(PushScalar, stack.push_back(SLOT(a)))
  SIMPLE(PushConstant, stack.push_back(unit->constants[instruction.index()]))
  CASE(Pop) {
    SLOT(a) = std::move(stack.back());
    stack.pop_back();
    NEXT();
  }
  CASE(PopInt) {
    SAVE();
    INT(a) = unboxInt(stack.back());
    stack.pop_back();
    NEXT();
  }
  CASE(PopFloat) {
    SAVE();
    FLOAT(a) = unboxFloat(stack.back());
    stack.pop_back();
    NEXT();
  }
  CASE(PopBool) {
    SAVE();
    BOOL(a) = unboxBool(stack.back());
    stack.pop_back();
    NEXT();
  }
  SIMPLE(Drop, drop(stack, instruction.a))

  CASE(CallOperator) {
    SAVE();
    const LinkedSite& site = program->site(instruction.index());
    const auto height = static_cast<int64_t>(stack.size()) - site.arguments + site.results;
    if (site.is_factory) [[unlikely]]
      takeDefaultDevice(site.op.schema(), std::span(stack).last(site.arguments));
    site.op.callBoxed(stack);
    const int64_t surplus = static_cast<int64_t>(stack.size()) - height;
    if (surplus != 0) [[unlikely]]
      failResults(site, surplus);
    POLL_HERE();
    NEXT();
  }
  CASE(CallDynamic) {
    SAVE();
    callDynamic(program->dynamicSite(instruction.index()), stack);
    POLL_HERE();
    NEXT();
  }
  CASE(CallBuiltin) {
    SAVE();
    if (builtin_table == nullptr) [[unlikely]]
      builtin_table = builtins().data();
    callBuiltin(builtin_table[instruction.a], instruction.b, stack);
    POLL_HERE();
    NEXT();
  }
  SIMPLE(PassScalar, copyScalar(slots + frame->function->slots + instruction.a, SLOT(b)))
  CASE(PassValue) {
    new (slots + frame->function->slots + instruction.a) IValue(SLOT(b));
    NEXT();
  }
  CASE(PassMove) {
    new (slots + frame->function->slots + instruction.a) IValue(std::move(SLOT(b)));
    NEXT();
  }
  CASE(CallFunction) {
    SAVE();
    const ExecutableFunction& callee = program->function(instruction.index());
    if (frame == served_frame_) [[unlikely]] {
      SLOT(a) = callServed(callee, slots + frame->function->slots);
      NEXT();
    }
    ENTER(callee);
    NEXT();
  }
  CASE(CallImported) {
    SAVE();
    const ExecutableFunction& callee = program->imported(instruction.index());
    if (frame == served_frame_) [[unlikely]] {
      SLOT(a) = callServed(callee, slots + frame->function->slots);
      NEXT();
    }
    enterModule(callee);
    ENTER(callee);
    program = callee.program;
    unit = &program->unit();
    NEXT();
  }
  SIMPLE(LoadFunction, SLOT(a) = functionValue(program->function(instruction.index())))
  SIMPLE(LoadImported, SLOT(a) = functionValue(program->imported(instruction.index())))
  CASE(ReturnInt) {
    const auto result = INT(a);
    LEAVE();
    slots[pc[-1].a].unsafeGet<Tag::Int>() = result;
    NEXT();
  }
  CASE(ReturnFloat) {
    const auto result = FLOAT(a);
    LEAVE();
    slots[pc[-1].a].unsafeGet<Tag::Double>() = result;
    NEXT();
  }
  CASE(ReturnBool) {
    const auto result = BOOL(a);
    LEAVE();
    slots[pc[-1].a].unsafeGet<Tag::Bool>() = result;
    NEXT();
  }
  CASE(ReturnValue) {
    {
      IValue result(SLOT(a));
      LEAVE();
      slots[pc[-1].a] = std::move(result);
    }
    NEXT();
  }
  CASE(ReturnMove) {
    {
      IValue result(std::move(SLOT(a)));
      LEAVE();
      slots[pc[-1].a] = std::move(result);
    }
    NEXT();
  }
  CASE(ReturnNone) {
    {
      IValue result;
      LEAVE();
      slots[pc[-1].a] = std::move(result);
    }
    NEXT();
  }
  CASE(Fail) {
    SAVE();
    BOXCAR_FAIL("{}", SLOT(a));
  }
  CHECKED(BeginImport, BOOL(a) = begin(program->module(instruction.index()).statements(), "what is imported"))
  CHECKED(EndImport, finish(program->module(instruction.index()).statements()))
  CHECKED(EnterScope, enterScope(*program, unit->scopes[instruction.index()]))
  CHECKED(EnterHandler, enterHandler(SLOT(a)))
  CHECKED(LeaveScope, leaveScope())
  CHECKED(Register, registerHandler(*program, instruction.index()))

  CASE(MakeList) {
    SAVE();
    SLOT(a) = makeList(unit->types[instruction.b], last(stack, instruction.c));
    drop(stack, instruction.c);
    NEXT();
  }
  CASE(MakeTuple) {
    SLOT(a) = Tuple(pop(stack, instruction.b));
    NEXT();
  }
  CASE(MakeDict) {
    SAVE();
    SLOT(a) = makeDict(last(stack, 2 * size_t{instruction.b}));
    drop(stack, 2 * size_t{instruction.b});
    NEXT();
  }
  CHECKED(Unpack, unpack(SLOT(a), instruction.b, stack))
  CHECKED(Length, INT(a) = lengthOf(SLOT(b)))
  CHECKED(Index, SLOT(a) = indexValue(SLOT(b), SLOT(c)))
  CHECKED(IndexInt, INT(a) = indexInt(SLOT(b), INT(c)))
  CHECKED(IndexFloat, FLOAT(a) = indexFloat(SLOT(b), INT(c)))
  CHECKED(SetIndex, setIndex(SLOT(a), SLOT(b), SLOT(c)))
  CASE(Slice) {
    SAVE();
    SLOT(a) = sliceValue(SLOT(b), peek(stack, 0, 3), peek(stack, 1, 3), peek(stack, 2, 3));
    drop(stack, 3);
    NEXT();
  }
  CHECKED(Contains, BOOL(a) = contains(SLOT(c), SLOT(b)))
  SIMPLE(Is, BOOL(a) = SLOT(b).is(SLOT(c)))
  CHECKED(Same, BOOL(a) = SLOT(b) == SLOT(c))

  CASE(MakeStruct) {
    SLOT(a) = makeStruct(*program, instruction.b, pop(stack, instruction.c));
    NEXT();
  }
  CHECKED(GetField, SLOT(a) = IValue(fieldOf(SLOT(b), unit->fields[instruction.c])))
  CHECKED(GetFieldInt, INT(a) = unboxInt(fieldOf(SLOT(b), unit->fields[instruction.c])))
  CHECKED(GetFieldFloat, FLOAT(a) = unboxFloat(fieldOf(SLOT(b), unit->fields[instruction.c])))
  CHECKED(GetFieldBool, BOOL(a) = unboxBool(fieldOf(SLOT(b), unit->fields[instruction.c])))
  CHECKED(SetField, fieldOf(SLOT(a), unit->fields[instruction.b]) = SLOT(c))

  CHECKED(AddValue, SLOT(a) = binaryValue(BinaryOp::Add, SLOT(b), SLOT(c)))
  CHECKED(SubValue, SLOT(a) = binaryValue(BinaryOp::Subtract, SLOT(b), SLOT(c)))
  CHECKED(MulValue, SLOT(a) = binaryValue(BinaryOp::Multiply, SLOT(b), SLOT(c)))
  CHECKED(DivValue, SLOT(a) = binaryValue(BinaryOp::Divide, SLOT(b), SLOT(c)))
  CHECKED(FloorDivValue, SLOT(a) = binaryValue(BinaryOp::FloorDivide, SLOT(b), SLOT(c)))
  CHECKED(ModValue, SLOT(a) = binaryValue(BinaryOp::Remainder, SLOT(b), SLOT(c)))
  CHECKED(PowValue, SLOT(a) = binaryValue(BinaryOp::Power, SLOT(b), SLOT(c)))
  CHECKED(MatMulValue, SLOT(a) = binaryValue(BinaryOp::MatrixMultiply, SLOT(b), SLOT(c)))
  CHECKED(AndValue, SLOT(a) = binaryValue(BinaryOp::And, SLOT(b), SLOT(c)))
  CHECKED(OrValue, SLOT(a) = binaryValue(BinaryOp::Or, SLOT(b), SLOT(c)))
  CHECKED(XorValue, SLOT(a) = binaryValue(BinaryOp::Xor, SLOT(b), SLOT(c)))
  CHECKED(ShlValue, SLOT(a) = binaryValue(BinaryOp::ShiftLeft, SLOT(b), SLOT(c)))
  CHECKED(ShrValue, SLOT(a) = binaryValue(BinaryOp::ShiftRight, SLOT(b), SLOT(c)))
  CHECKED(EqValue, SLOT(a) = compareValue(CompareOp::Equal, SLOT(b), SLOT(c)))
  CHECKED(NeValue, SLOT(a) = compareValue(CompareOp::NotEqual, SLOT(b), SLOT(c)))
  CHECKED(LtValue, SLOT(a) = compareValue(CompareOp::Less, SLOT(b), SLOT(c)))
  CHECKED(LeValue, SLOT(a) = compareValue(CompareOp::LessEqual, SLOT(b), SLOT(c)))
  CHECKED(GtValue, SLOT(a) = compareValue(CompareOp::Greater, SLOT(b), SLOT(c)))
  CHECKED(GeValue, SLOT(a) = compareValue(CompareOp::GreaterEqual, SLOT(b), SLOT(c)))
  CHECKED(NegValue, SLOT(a) = unaryValue(UnaryOp::Negate, SLOT(b)))
  CHECKED(PlusValue, SLOT(a) = unaryValue(UnaryOp::Plus, SLOT(b)))
  CHECKED(InvertValue, SLOT(a) = unaryValue(UnaryOp::Invert, SLOT(b)))

  CASE(Halt) { return; }
  END_LOOP()
}

template void Machine::execute<false>(const Executable*, Stack&);
template void Machine::execute<true>(const Executable*, Stack&);

void Machine::nextShare(Frame* frame, const Instruction* pc) {
  if (later_instructions_ != 0 && !isLate()) {
    takeShare();
    --instructions_left_;
    return;
  }
  // Arguments that were already passed lie after the frame, where nothing else finds them.
  IValue* const passed = frame->slots + frame->function->slots;
  for (const Instruction* before = pc; before != frame->function->code; --before) {
    const Opcode op = before[-1].op;
    if (op != Opcode::PassScalar && op != Opcode::PassValue && op != Opcode::PassMove) break;
    std::destroy_at(passed + before[-1].a);
  }
  frame->pc = pc + 1;
  if (later_instructions_ != 0) poll(frame, pc + 1);
  failInstructions(limits_.max_instructions);
}

}  // namespace boxcar::interp
