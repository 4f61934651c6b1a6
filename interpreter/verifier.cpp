#include <boxcar/interpreter/builtins.h>
#include <boxcar/interpreter/verifier.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <optional>
#include <span>
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
      case Operand::Module: return needIndex(field, index, unit_.modules.size(), "module");
      case Operand::ImportedFunction: return needIndex(field, index, unit_.imports.size(), "imported function");
      case Operand::Scope: return needIndex(field, index, unit_.scopes.size(), "scope");
      case Operand::Handler: return needIndex(field, index, unit_.handlers.size(), "handler");
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
      case Opcode::CallFunction:
        if (instruction.index() == 0) fail("the script's statements are no function to call");
        break;
      case Opcode::Register:
        if (unit_.handlers[instruction.index()].kind == HandlerKind::Mode) {
          fail("handler {} is a mode, which is entered", instruction.index());
        }
        break;
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
      if (instruction.op == Opcode::CallFunction || instruction.op == Opcode::CallImported) {
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
    const bool is_imported = call.op == Opcode::CallImported;
    const CodeImport* import = is_imported ? &unit_.imports[call.index()] : nullptr;
    const CodeFunction* callee = is_imported ? nullptr : &unit_.functions[call.index()];
    const std::string& name = is_imported ? import->name : callee->name;
    const auto wanted = is_imported ? std::span<const SlotKind>(import->arguments)
                                    : std::span(callee->slots).first(callee->argument_count);
    if (passed != wanted.size()) fail("{} takes {} arguments, {} are passed", name, wanted.size(), passed);
    needSlot(0, call.a, is_imported ? import->result : callee->result);
    for (size_t i = 0; i < passed; ++i) {
      const SlotKind given = function_.slots[function_.code[at_ - passed + i].b];
      if (given != wanted[i] && wanted[i] != SlotKind::Value) {
        fail("argument {} of {} is {}, but it takes {}", i, name, toString(given), toString(wanted[i]));
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

  void reach(uint32_t place, int64_t height, uint32_t scopes) {
    if (heights_[place] < 0) {
      heights_[place] = height;
      scopes_[place] = scopes;
      open_.push_back(place);
    } else if (heights_[place] != height) {
      fail("the stack has {} values here at instruction {} on one path and {} on another", heights_[place], place,
           height);
    } else if (scopes_[place] != scopes) {
      fail("{} scopes are open at instruction {} on one path and {} on another", scopes_[place], place, scopes);
    }
  }

  void checkHeights() {
    heights_.assign(function_.code.size(), -1);
    scopes_.assign(function_.code.size(), 0);
    at_ = 0;
    reach(0, 0, 0);
    while (!open_.empty()) {
      at_ = open_.back();
      open_.pop_back();
      const Instruction& instruction = function_.code[at_];
      int64_t height = heights_[at_];
      const auto [pops, pushes] = stackEffect(instruction);
      if (height < static_cast<int64_t>(pops)) fail("it takes {} values, but the stack has {}", pops, height);
      height += static_cast<int64_t>(pushes) - static_cast<int64_t>(pops);
      if (height > kMaxStack) fail("the stack grows above {} values", kMaxStack);
      uint32_t scopes = scopes_[at_];
      if (instruction.op == Opcode::EnterScope) ++scopes;
      if (instruction.op == Opcode::LeaveScope && scopes-- == 0) fail("it leaves a scope, but none is open");
      bounds_.max_stack = std::max(bounds_.max_stack, static_cast<uint32_t>(height));
      if (endsPath(instruction.op)) {
        if (height != 0 && instruction.op != Opcode::Fail) fail("{} values are left on the stack", height);
        if (scopes != 0 && instruction.op != Opcode::Fail) fail("{} scopes are left open", scopes);
        continue;
      }
      if (const auto place = jumpTarget()) reach(*place, height, scopes);
      if (instruction.op == Opcode::Jump) continue;
      if (at_ + 1 == function_.code.size()) fail("the code ends without a return");
      reach(static_cast<uint32_t>(at_ + 1), height, scopes);
    }
  }

  const CodeUnit& unit_;
  const CodeFunction& function_;
  size_t at_ = 0;
  FunctionBounds bounds_;
  std::vector<int64_t> heights_;  // at the start of each instruction; -1 where nothing has led yet
  std::vector<uint32_t> scopes_;  // open ones, there
  std::vector<uint32_t> open_;
};

// That function [index] is there, with arguments for [arguments] and for two values more where [is_handler].
void verifyBody(const CodeUnit& unit, std::string_view name, uint32_t index, std::span<const Argument> arguments,
                bool is_handler) {
  BOXCAR_CHECK(index < unit.functions.size() && index != 0, "bad bytecode: {}: its body is function {}, but there are {}",
               name, index, unit.functions.size());
  const CodeFunction& body = unit.functions[index];
  const size_t count = arguments.size() + (is_handler ? 2 : 0);
  BOXCAR_CHECK(body.argument_count == count, "bad bytecode: {}: its body takes {} arguments, it takes {}", name,
               body.argument_count, count);
  for (size_t i = 0; i < count; ++i) {
    const SlotKind wanted = i < arguments.size() ? slotKindOf(arguments[i].type()) : SlotKind::Value;
    BOXCAR_CHECK(body.slots[i] == wanted, "bad bytecode: {}: its body takes argument {} as {}, but it is {}", name, i,
                 toString(body.slots[i]), toString(wanted));
  }
}

void verifyHandler(const CodeUnit& unit, const CodeHandler& handler) {
  // What an implementation's arguments are is told by the operator, which linking finds.
  if (handler.kind == HandlerKind::Impl) {
    BOXCAR_CHECK(handler.function < unit.functions.size() && handler.function != 0,
                 "bad bytecode: the body of an implementation is function {}, but there are {}", handler.function,
                 unit.functions.size());
    return;
  }
  verifyBody(unit, handler.name, handler.function, {}, true);
  BOXCAR_CHECK(unit.functions[handler.function].result == SlotKind::Value,
               "bad bytecode: {}: a handler returns a Value", handler.name);
  if (handler.exit) verifyBody(unit, handler.name, *handler.exit, {}, false);
}

void verifyScope(const CodeUnit& unit, const CodeScope& scope) {
  if (scope.kind == ScopeKind::Mode) {
    BOXCAR_CHECK(scope.index < unit.handlers.size() && unit.handlers[scope.index].kind == HandlerKind::Mode,
                 "bad bytecode: a scope is handler {}, which is no mode", scope.index);
  } else if (scope.kind == ScopeKind::ImportedMode) {
    BOXCAR_CHECK(scope.index < unit.modules.size(), "bad bytecode: a scope is of module {}, but there are {}",
                 scope.index, unit.modules.size());
  }
}

}  // namespace

std::vector<FunctionBounds> verify(const CodeUnit& unit) {
  BOXCAR_CHECK(!unit.functions.empty(), "bad bytecode: there is no function");
  BOXCAR_CHECK(unit.functions[0].argument_count <= 1 &&
                   (unit.functions[0].argument_count == 0 || unit.functions[0].slots[0] == SlotKind::Value),
               "bad bytecode: {}: the script's statements take {} arguments", unit.functions[0].name,
               unit.functions[0].argument_count);
  BOXCAR_CHECK(std::ranges::none_of(unit.types, [](TypePtr type) { return type == nullptr; }),
               "bad bytecode: a type is missing");
  for (const CodeFunction& function : unit.functions) {
    BOXCAR_CHECK(function.argument_count <= function.slots.size(), "bad bytecode: {}: it has {} arguments and {} slots",
                 function.name, function.argument_count, function.slots.size());
  }
  std::vector<FunctionBounds> bounds;
  for (const CodeFunction& function : unit.functions) bounds.push_back(FunctionVerifier(unit, function).verify());
  for (const CodeOperator& op : unit.operators) {
    if (op.function) verifyBody(unit, toString(op.schema.operator_name()), *op.function, op.schema.arguments(), false);
  }
  for (const CodeExport& exported : unit.exports) {
    verifyBody(unit, exported.schema.name(), exported.function, exported.schema.arguments(), false);
  }
  for (const CodeHandler& handler : unit.handlers) verifyHandler(unit, handler);
  for (const CodeScope& scope : unit.scopes) verifyScope(unit, scope);
  for (const CodeImport& import : unit.imports) {
    BOXCAR_CHECK(import.module < unit.modules.size(), "bad bytecode: {} is of module {}, but there are {}", import.name,
                 import.module, unit.modules.size());
  }
  return bounds;
}

}  // namespace boxcar::interp
