#include <boxcar/interpreter/builtins.h>
#include <boxcar/interpreter/verifier.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace boxcar::interp {
namespace {

constexpr std::string_view kFields = "abc";
constexpr uint32_t kMaxStack = 1U << 24;

class FunctionVerifier {
 public:
  FunctionVerifier(const CodeUnit& unit, const CodeFunction& function) : unit_(unit), function_(function) {}

  FunctionBounds verify() {
    checkShape();
    for (at_ = 0; at_ < function_.code.size(); ++at_) checkOperands();
    checkCalls();
    checkHeights();
    return bounds_;
  }

 private:
  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
    const std::string what = fmt::format(format, std::forward<Args>(args)...);
    const Instruction& instruction = function_.code[at_];
    if (static_cast<size_t>(instruction.op) >= kOpcodeCount) {
      BOXCAR_FAIL("bad bytecode: {}, instruction {}: {}", function_.name, at_, what);
    }
    BOXCAR_FAIL("bad bytecode: {}, instruction {} ({}): {}", function_.name, at_, toString(instruction.op), what);
  }
  template <class... Args>
  [[noreturn]] void failFunction(fmt::format_string<Args...> format, Args&&... args) const {
    BOXCAR_FAIL("bad bytecode: {}: {}", function_.name, fmt::format(format, std::forward<Args>(args)...));
  }

  void checkShape() const {
    if (function_.source == nullptr) failFunction("it has no source");
    if (function_.code.empty()) failFunction("it has no code");
    if (function_.spans.size() != function_.code.size()) {
      failFunction("it has {} instructions and {} spans", function_.code.size(), function_.spans.size());
    }
    if (function_.slots.size() > UINT16_MAX) failFunction("it has {} slots, more than 65535", function_.slots.size());
    if (function_.argument_count > function_.slots.size()) {
      failFunction("it has {} arguments and {} slots", function_.argument_count, function_.slots.size());
    }
    for (const SlotName& name : function_.slot_names) {
      if (name.slot >= function_.slots.size())
        failFunction("'{}' names slot {}, which is not there", name.name, name.slot);
    }
  }

  SlotKind slotKind(size_t field, uint32_t slot) const {
    if (slot >= function_.slots.size()) {
      fail("field {} is slot {}, but the function has {}", kFields[field], slot, function_.slots.size());
    }
    return function_.slots[slot];
  }

  void needSlot(size_t field, uint32_t slot, SlotKind wanted) const {
    const SlotKind kind = slotKind(field, slot);
    if (kind != wanted) {
      fail("field {} is slot {} of kind {}, but the opcode needs {}", kFields[field], slot, toString(kind),
           toString(wanted));
    }
  }

  void needIndex(size_t field, uint32_t index, size_t size, std::string_view what) const {
    if (index >= size) fail("field {} is {} {}, but there are {}", kFields[field], what, index, size);
  }

  void needConstant(size_t field, uint32_t index, IValue::Tag wanted, std::string_view name) const {
    needIndex(field, index, unit_.constants.size(), "constant");
    if (unit_.constants[index].tag() != wanted) {
      fail("constant {} is a {}, but the opcode needs {}", index, unit_.constants[index].tagKind(), name);
    }
  }

  // The place a jump of [offset] goes to.
  uint32_t target(int64_t offset) const {
    const int64_t place = static_cast<int64_t>(at_) + 1 + offset;
    if (place < 0 || place >= static_cast<int64_t>(function_.code.size())) {
      fail("it jumps to {}, but the function has {} instructions", place, function_.code.size());
    }
    return static_cast<uint32_t>(place);
  }

  void checkOperand(Operand operand, size_t field, uint16_t value, uint32_t index) const {
    switch (operand) {
      case Operand::None:
        if (value != 0) fail("field {} is {}, but the opcode has no such field", kFields[field], value);
        return;
      case Operand::IntIn:
      case Operand::IntOut: return needSlot(field, value, SlotKind::Int);
      case Operand::FloatIn:
      case Operand::FloatOut: return needSlot(field, value, SlotKind::Float);
      case Operand::BoolIn:
      case Operand::BoolOut: return needSlot(field, value, SlotKind::Bool);
      case Operand::ValueIn:
      case Operand::ValueMove:
      case Operand::ValueOut: return needSlot(field, value, SlotKind::Value);
      case Operand::ScalarIn:
        if (slotKind(field, value) == SlotKind::Value) {
          fail("field {} is slot {} of kind Value, but the opcode needs a scalar", kFields[field], value);
        }
        return;
      case Operand::SlotIn:
      case Operand::ResultOut: return void(slotKind(field, value));
      case Operand::RangeState:
        for (uint32_t i = 0; i < 3; ++i) needSlot(field, value + i, SlotKind::Int);
        return;
      case Operand::EachState:
        needSlot(field, value, SlotKind::Value);
        needSlot(field, value + 1U, SlotKind::Int);
        return;
      case Operand::Argument:
      case Operand::Immediate:
      case Operand::Count:
      case Operand::WideImmediate: return;
      case Operand::Type: return needIndex(field, value, unit_.types.size(), "type");
      case Operand::Builtin: return needIndex(field, value, builtins().size(), "built-in");
      case Operand::Target: return void(target(static_cast<int16_t>(value)));
      case Operand::FarTarget: return void(target(static_cast<int32_t>(index)));
      case Operand::IntConstant: return needConstant(field, index, IValue::Tag::Int, "an Int");
      case Operand::FloatConstant: return needConstant(field, index, IValue::Tag::Double, "a Double");
      case Operand::Constant: return needIndex(field, index, unit_.constants.size(), "constant");
      case Operand::Function: return needIndex(field, index, unit_.functions.size(), "function");
      case Operand::OperatorSite: return needIndex(field, index, unit_.operator_sites.size(), "operator site");
      case Operand::DynamicSite: return needIndex(field, index, unit_.dynamic_sites.size(), "dynamic site");
      case Operand::Global: return needIndex(field, index, unit_.globals.size(), "global");
    }
  }

  void checkOperands() const {
    const Instruction& instruction = function_.code[at_];
    if (static_cast<size_t>(instruction.op) >= kOpcodeCount) {
      fail("there is no opcode {}", static_cast<uint16_t>(instruction.op));
    }
    if (instruction.op == Opcode::Halt) fail("it is the machine's own");
    const OpcodeInfo& opcode = info(instruction.op);
    const uint16_t fields[] = {instruction.a, instruction.b, instruction.c};
    for (size_t field = 0; field < 3; ++field) {
      checkOperand(opcode.operands[field], field, fields[field], instruction.index());
      if (isWide(opcode.operands[field])) break;
    }
    checkMeaning(instruction);
  }

  // What the table does not say.
  void checkMeaning(const Instruction& instruction) const {
    switch (instruction.op) {
      case Opcode::LoadBool:
        if (instruction.b > 1) fail("field b is {}, but a bool is 0 or 1", instruction.b);
        break;
      case Opcode::FloorDivIntImm:
      case Opcode::ModIntImm:
        if (instruction.c == 0) fail("it divides by zero");
        break;
      case Opcode::MakeList:
        if (!unit_.types[instruction.b]->isList()) {
          fail("type {} is {}, no list", instruction.b, unit_.types[instruction.b]->text());
        }
        break;
      case Opcode::CallBuiltin: checkBuiltin(instruction); break;
      case Opcode::ReturnInt: needResult(SlotKind::Int); break;
      case Opcode::ReturnFloat: needResult(SlotKind::Float); break;
      case Opcode::ReturnBool: needResult(SlotKind::Bool); break;
      case Opcode::ReturnValue:
      case Opcode::ReturnMove:
      case Opcode::ReturnNone: needResult(SlotKind::Value); break;
      default: break;
    }
  }

  void checkBuiltin(const Instruction& instruction) const {
    const Builtin& builtin = builtins()[instruction.a];
    const size_t parameters = builtin.schema.arguments().size();
    const size_t least = builtin.variadic ? parameters - 1 + builtin.min_variadic : parameters;
    const size_t most = builtin.variadic ? parameters - 1 + builtin.max_variadic : parameters;
    if (instruction.b < least || instruction.b > most) {
      fail("{} takes {} values, not {}", builtin.name(),
           least == most ? std::to_string(least) : fmt::format("{} to {}", least, most), instruction.b);
    }
  }

  void needResult(SlotKind kind) const {
    if (function_.result != kind) {
      fail("it returns {}, but the function returns {}", toString(kind), toString(function_.result));
    }
  }

  static bool isPass(Opcode op) {
    return op == Opcode::PassScalar || op == Opcode::PassValue || op == Opcode::PassMove;
  }

  // Arguments stand right before their call, and nobody jumps between them: so none is left over when something fails.
  void checkCalls() {
    std::vector<bool> jumped_to(function_.code.size(), false);
    for (at_ = 0; at_ < function_.code.size(); ++at_) {
      if (const auto place = jumpTarget()) jumped_to[*place] = true;
    }
    size_t passed = 0;
    for (at_ = 0; at_ < function_.code.size(); ++at_) {
      const Instruction& instruction = function_.code[at_];
      if (passed > 0 && jumped_to[at_]) fail("a jump goes between the arguments of a call");
      if (isPass(instruction.op)) {
        if (instruction.a != passed) fail("it passes argument {} where {} is next", instruction.a, passed);
        ++passed;
        continue;
      }
      if (instruction.op == Opcode::CallFunction) {
        checkCall(instruction, passed);
        bounds_.max_passed = std::max(bounds_.max_passed, static_cast<uint16_t>(passed));
      } else if (passed > 0) {
        fail("it stands between the arguments of a call and the call");
      }
      passed = 0;
    }
    --at_;
    if (passed > 0) fail("the arguments lack their call");
  }

  void checkCall(const Instruction& call, size_t passed) {
    const CodeFunction& callee = unit_.functions[call.index()];
    if (passed != callee.argument_count) {
      fail("{} takes {} arguments, {} are passed", callee.name, callee.argument_count, passed);
    }
    needSlot(0, call.a, callee.result);
    for (size_t i = 0; i < passed; ++i) {
      const SlotKind given = function_.slots[function_.code[at_ - passed + i].b];
      const SlotKind wanted = callee.slots[i];
      if (given != wanted && wanted != SlotKind::Value) {
        fail("argument {} of {} is {}, but it takes {}", i, callee.name, toString(given), toString(wanted));
      }
    }
  }

  std::optional<uint32_t> jumpTarget() const {
    const Instruction& instruction = function_.code[at_];
    const OpcodeInfo& opcode = info(instruction.op);
    if (opcode.operands[1] == Operand::FarTarget) return target(instruction.wide());
    if (opcode.operands[2] == Operand::Target) return target(static_cast<int16_t>(instruction.c));
    return std::nullopt;
  }

  // How many values the instruction takes from the stack and puts there.
  std::pair<size_t, size_t> stackEffect(const Instruction& instruction) const {
    switch (instruction.op) {
      case Opcode::Drop: return {instruction.a, 0};
      case Opcode::CallOperator: {
        const OperatorSite& site = unit_.operator_sites[instruction.index()];
        return {site.arguments, site.results};
      }
      case Opcode::CallDynamic: return {unit_.dynamic_sites[instruction.index()].arguments(), 1};
      case Opcode::CallBuiltin: return {instruction.b, 1};
      case Opcode::MakeList: return {instruction.c, 0};
      case Opcode::MakeTuple: return {instruction.b, 0};
      case Opcode::MakeDict: return {2 * static_cast<size_t>(instruction.b), 0};
      case Opcode::Unpack: return {0, instruction.b};
      default: {
        const OpcodeInfo& opcode = info(instruction.op);
        return {static_cast<size_t>(opcode.pops), static_cast<size_t>(opcode.pushes)};
      }
    }
  }

  static bool endsPath(Opcode op) {
    return op == Opcode::Fail || (op >= Opcode::ReturnInt && op <= Opcode::ReturnNone);
  }

  void reach(uint32_t place, int64_t height) {
    if (heights_[place] < 0) {
      heights_[place] = height;
      open_.push_back(place);
    } else if (heights_[place] != height) {
      fail("the stack has {} values here at instruction {} on one path and {} on another", heights_[place], place,
           height);
    }
  }

  void checkHeights() {
    heights_.assign(function_.code.size(), -1);
    at_ = 0;
    reach(0, 0);
    while (!open_.empty()) {
      at_ = open_.back();
      open_.pop_back();
      const Instruction& instruction = function_.code[at_];
      int64_t height = heights_[at_];
      const auto [pops, pushes] = stackEffect(instruction);
      if (height < static_cast<int64_t>(pops)) fail("it takes {} values, but the stack has {}", pops, height);
      height += static_cast<int64_t>(pushes) - static_cast<int64_t>(pops);
      if (height > kMaxStack) fail("the stack grows above {} values", kMaxStack);
      bounds_.max_stack = std::max(bounds_.max_stack, static_cast<uint32_t>(height));
      if (endsPath(instruction.op)) {
        if (height != 0 && instruction.op != Opcode::Fail) fail("{} values are left on the stack", height);
        continue;
      }
      if (const auto place = jumpTarget()) reach(*place, height);
      if (instruction.op == Opcode::Jump) continue;
      if (at_ + 1 == function_.code.size()) fail("the code ends without a return");
      reach(static_cast<uint32_t>(at_ + 1), height);
    }
  }

  const CodeUnit& unit_;
  const CodeFunction& function_;
  size_t at_ = 0;
  FunctionBounds bounds_;
  std::vector<int64_t> heights_;  // at the start of each instruction; -1 where nothing has led yet
  std::vector<uint32_t> open_;
};

void verifyOperator(const CodeUnit& unit, const CodeOperator& op) {
  if (!op.function) return;
  const std::string name = toString(op.schema.operator_name());
  BOXCAR_CHECK(*op.function < unit.functions.size(), "bad bytecode: {}: its body is function {}, but there are {}",
               name, *op.function, unit.functions.size());
  const CodeFunction& body = unit.functions[*op.function];
  const std::vector<Argument>& arguments = op.schema.arguments();
  BOXCAR_CHECK(body.argument_count == arguments.size(), "bad bytecode: {}: its body takes {} arguments, it takes {}",
               name, body.argument_count, arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    BOXCAR_CHECK(body.slots[i] == slotKindOf(arguments[i].type()),
                 "bad bytecode: {}: its body takes argument {} as {}, but it is {}", name, i, toString(body.slots[i]),
                 arguments[i].type()->text());
  }
}

}  // namespace

std::vector<FunctionBounds> verify(const CodeUnit& unit) {
  BOXCAR_CHECK(!unit.functions.empty(), "bad bytecode: there is no function");
  BOXCAR_CHECK(unit.functions[0].argument_count == 0, "bad bytecode: {}: the script's statements take {} arguments",
               unit.functions[0].name, unit.functions[0].argument_count);
  BOXCAR_CHECK(std::ranges::none_of(unit.types, [](TypePtr type) { return type == nullptr; }),
               "bad bytecode: a type is missing");
  for (const CodeFunction& function : unit.functions) {
    BOXCAR_CHECK(function.argument_count <= function.slots.size(), "bad bytecode: {}: it has {} arguments and {} slots",
                 function.name, function.argument_count, function.slots.size());
  }
  std::vector<FunctionBounds> bounds;
  for (const CodeFunction& function : unit.functions) bounds.push_back(FunctionVerifier(unit, function).verify());
  for (const CodeOperator& op : unit.operators) verifyOperator(unit, op);
  return bounds;
}

}  // namespace boxcar::interp
