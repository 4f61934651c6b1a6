#include <boxcar/dispatcher/call/mode.h>
#include <boxcar/interpreter/bytecode/builtins.h>
#include <boxcar/interpreter/bytecode/struct_layout.h>
#include <boxcar/interpreter/bytecode/verifier.h>
#include <boxcar/schema/value_type.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace boxcar::interp {
namespace {

constexpr std::string_view kFields = "abc";
constexpr uint32_t kMaxStack = 1U << 24;

bool isIn(Span span, const Source& source) noexcept {
  return span.begin <= span.end && span.end <= source.text().size();
}
std::string toText(Span span) { return fmt::format("@{}..{}", span.begin, span.end); }

class FunctionVerifier {
 public:
  FunctionVerifier(const CodeUnit& unit, size_t index) : unit_(unit), index_(index), function_(unit.functions[index]) {}

  FunctionBounds verify() {
    checkShape();
    for (at_ = 0; at_ < function_.code.size(); ++at_) checkOperands();
    checkCalls();
    checkHeights();
    return bounds_;
  }

  std::vector<int64_t> heights() {
    checkHeights();
    return std::move(heights_);
  }

  // Checks what the verification of other functions relies on.
  void checkArguments() const {
    if (function_.argument_count > function_.slots.size()) {
      failFunction("it has {} arguments and {} slots", function_.argument_count, function_.slots.size());
    }
    // The statements can only have argv.
    if (index_ != 0 || function_.argument_count == 0) return;
    const auto arguments = std::span(function_.slots).first(function_.argument_count);
    const bool are_values = std::ranges::all_of(arguments, [](SlotKind kind) { return kind == SlotKind::Value; });
    if ((arguments.size() > 1 && !unit_.takes_variables) || !are_values) {
      failFunction("the script's statements take {} arguments", function_.argument_count);
    }
  }

 private:
  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
    const Opcode op = function_.code[at_].op;
    const bool exists = static_cast<size_t>(op) < kOpcodeCount;
    const std::string name = exists ? fmt::format(" ({})", toString(op)) : std::string();
    throw BytecodeError(fmt::format("bad bytecode: {}, instruction {}{}: {}", function_.name, at_, name,
                                    fmt::format(format, std::forward<Args>(args)...)),
                        {UnitPart::Function, index_, at_});
  }
  template <class... Args>
  [[noreturn]] void failFunction(fmt::format_string<Args...> format, Args&&... args) const {
    throw BytecodeError(
        fmt::format("bad bytecode: {}: {}", function_.name, fmt::format(format, std::forward<Args>(args)...)),
        {UnitPart::Function, index_, std::nullopt});
  }

  void checkShape() const {
    if (function_.source == nullptr) failFunction("it has no source");
    if (!isIn(function_.span, *function_.source)) {
      failFunction("its span {} is not in the source", toText(function_.span));
    }
    if (function_.code.empty()) failFunction("it has no code");
    if (function_.spans.size() != function_.code.size()) {
      failFunction("it has {} instructions and {} spans", function_.code.size(), function_.spans.size());
    }
    if (function_.slots.size() > UINT16_MAX) failFunction("it has {} slots, more than 65535", function_.slots.size());
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

  // Returns the target of a jump of [offset].
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
      case Operand::Divisor:
        if (value == 0) fail("it divides by zero");
        return;
      case Operand::BoolImmediate:
        if (value > 1) fail("field {} is {}, but a bool is 0 or 1", kFields[field], value);
        return;
      case Operand::ArgumentCount: return checkArgumentCount(value);
      case Operand::Type: return needIndex(field, value, unit_.types.size(), "type");
      case Operand::ListType:
        needIndex(field, value, unit_.types.size(), "type");
        if (!unit_.types[value]->isList()) fail("type {} is {}, not a list", value, unit_.types[value]->text());
        return;
      case Operand::Struct:
        needIndex(field, value, unit_.structs.size(), "struct");
        if (unit_.structs[value].origin == CodeStruct::Origin::Reached) {
          fail("struct {} is neither declared nor imported, so it cannot be made", value);
        }
        return;
      case Operand::Field: return needIndex(field, value, unit_.fields.size(), "field");
      case Operand::Builtin: return needIndex(field, value, builtins().size(), "built-in");
      case Operand::Target: return void(target(static_cast<int16_t>(value)));
      case Operand::FarTarget: return void(target(static_cast<int32_t>(index)));
      case Operand::IntConstant: return needConstant(field, index, IValue::Tag::Int, "an Int");
      case Operand::FloatConstant: return needConstant(field, index, IValue::Tag::Double, "a Double");
      case Operand::Constant: return needIndex(field, index, unit_.constants.size(), "constant");
      case Operand::Function:
        needIndex(field, index, unit_.functions.size(), "function");
        if (index == 0) fail("the script's statements are not a function to call");
        return;
      case Operand::OperatorSite: return needIndex(field, index, unit_.operator_sites.size(), "operator site");
      case Operand::DynamicSite: return needIndex(field, index, unit_.dynamic_sites.size(), "dynamic site");
      case Operand::Global: return needIndex(field, index, unit_.globals.size(), "global");
      case Operand::Module:
        needIndex(field, index, unit_.modules.size(), "module");
        if (isPluginPath(unit_.modules[index].path)) fail("module {} is a plugin, which has no statements", index);
        return;
      case Operand::ImportedFunction: return needIndex(field, index, unit_.imports.size(), "imported function");
      case Operand::Scope: return needIndex(field, index, unit_.scopes.size(), "scope");
      case Operand::Handler:
        needIndex(field, index, unit_.handlers.size(), "handler");
        if (unit_.handlers[index].kind == HandlerKind::Mode) fail("handler {} is a mode, which is entered", index);
        return;
    }
  }

  void checkOperands() const {
    const Instruction& instruction = function_.code[at_];
    if (static_cast<size_t>(instruction.op) >= kOpcodeCount) {
      fail("there is no opcode {}", static_cast<uint16_t>(instruction.op));
    }
    const OpcodeInfo& opcode = info(instruction.op);
    if (opcode.then == Then::Halt) fail("it is the machine's own");
    const uint16_t fields[] = {instruction.a, instruction.b, instruction.c};
    for (size_t field = 0; field < 3; ++field) {
      checkOperand(opcode.operands[field], field, fields[field], instruction.index());
      if (isWide(opcode.operands[field])) break;
    }
    if (opcode.then == Then::Return) needResult(kindOf(opcode.operands[0]));
    if (instruction.op == Opcode::MakeStruct) {
      const StructLayout& layout = *layoutOf(unit_.structs[instruction.b].type);
      if (instruction.c != layout.fields.size()) {
        fail("{} has {} fields, not {}", layout.name, layout.fields.size(), instruction.c);
      }
    }
    if (instruction.op == Opcode::LoadFunction) needSignature(instruction.index());
    if (instruction.op == Opcode::LoadImported && unit_.imports[instruction.index()].name == kScriptName) {
      fail("the statements of a module are not a value");
    }
    const Span span = function_.spans[at_];
    if (!isIn(span, *function_.source)) fail("its span {} is not in the source", toText(span));
  }

  // A function that is a value needs a signature, which it has if it is exported.
  void needSignature(uint32_t function) const {
    const bool is_exported =
        std::ranges::any_of(unit_.exports, [&](const CodeExport& exported) { return exported.function == function; });
    if (!is_exported) fail("function {} is not exported, so it is not a value", function);
  }

  // [count] values go to the built-in in field a, which has been checked.
  void checkArgumentCount(uint16_t count) const {
    const Builtin& builtin = builtins()[function_.code[at_].a];
    const size_t parameters = builtin.schema.arguments().size();
    const size_t least = builtin.variadic ? parameters - 1 + builtin.min_variadic : parameters;
    const size_t most = builtin.variadic ? parameters - 1 + builtin.max_variadic : parameters;
    if (count < least || count > most) {
      fail("{} takes {} values, not {}", builtin.name(),
           least == most ? std::to_string(least) : fmt::format("{} to {}", least, most), count);
    }
  }

  // Returns the kind of slot that [operand] requires; for an operand without a slot, the kind of None.
  static SlotKind kindOf(Operand operand) {
    switch (operand) {
      case Operand::IntIn: return SlotKind::Int;
      case Operand::FloatIn: return SlotKind::Float;
      case Operand::BoolIn: return SlotKind::Bool;
      default: return SlotKind::Value;
    }
  }

  void needResult(SlotKind kind) const {
    if (function_.result != kind) {
      fail("it returns {}, but the function returns {}", toString(kind), toString(function_.result));
    }
  }

  // Arguments are passed right before their call, and no jump leads between them, so none is left over after a failure.
  void checkCalls() {
    std::vector<bool> jumped_to(function_.code.size(), false);
    for (at_ = 0; at_ < function_.code.size(); ++at_) {
      if (const auto place = jumpTarget()) jumped_to[*place] = true;
    }
    size_t passed = 0;
    for (at_ = 0; at_ < function_.code.size(); ++at_) {
      const Instruction& instruction = function_.code[at_];
      const auto& operands = info(instruction.op).operands;
      if (passed > 0 && jumped_to[at_]) fail("a jump goes between the arguments of a call");
      if (operands[0] == Operand::Argument) {
        if (instruction.a != passed) fail("it passes argument {} where {} is next", instruction.a, passed);
        ++passed;
        continue;
      }
      if (operands[0] == Operand::ResultOut) {
        checkCall(instruction, passed);
        bounds_.max_passed = std::max(bounds_.max_passed, static_cast<uint16_t>(passed));
      } else if (passed > 0) {
        fail("it is between the arguments of a call and the call");
      }
      passed = 0;
    }
    --at_;
    if (passed > 0) fail("the arguments lack their call");
  }

  void checkCall(const Instruction& call, size_t passed) const {
    if (info(call.op).operands[1] == Operand::ImportedFunction) {
      const CodeImport& import = unit_.imports[call.index()];
      return checkCall(call, passed, import.name, import.arguments, import.result);
    }
    const CodeFunction& callee = unit_.functions[call.index()];
    checkCall(call, passed, callee.name, std::span(callee.slots).first(callee.argument_count), callee.result);
  }

  void checkCall(const Instruction& call, size_t passed, std::string_view name, std::span<const SlotKind> wanted,
                 SlotKind result) const {
    if (passed != wanted.size()) fail("{} takes {} arguments, {} are passed", name, wanted.size(), passed);
    needSlot(0, call.a, result);
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
      const Then then = info(instruction.op).then;
      const auto [takes, leaves] = stackEffect(unit_, instruction);
      if (height < static_cast<int64_t>(takes)) fail("it takes {} values, but the stack has {}", takes, height);
      height += static_cast<int64_t>(leaves) - static_cast<int64_t>(takes);
      if (height > kMaxStack) fail("the stack grows above {} values", kMaxStack);
      bounds_.max_stack = std::max(bounds_.max_stack, static_cast<uint32_t>(height));
      uint32_t scopes = scopes_[at_];
      if (instruction.op == Opcode::EnterScope || instruction.op == Opcode::EnterHandler) ++scopes;
      if (instruction.op == Opcode::LeaveScope && scopes-- == 0) fail("it leaves a scope, but none is open");
      if (then == Then::Return && height != 0) fail("{} values are left on the stack", height);
      if (then == Then::Return && scopes != 0) fail("{} scopes are left open", scopes);
      if (then == Then::Return || then == Then::Fail) continue;
      if (const auto place = jumpTarget()) reach(*place, height, scopes);
      if (then == Then::Jump) continue;
      if (at_ + 1 == function_.code.size()) fail("the code ends without a return");
      reach(static_cast<uint32_t>(at_ + 1), height, scopes);
    }
  }

  const CodeUnit& unit_;
  const size_t index_;
  const CodeFunction& function_;
  size_t at_ = 0;
  FunctionBounds bounds_;
  std::vector<int64_t> heights_;  // at the start of each instruction; -1 if not reached yet
  std::vector<uint32_t> scopes_;  // the scopes open there
  std::vector<uint32_t> open_;
};

// Verifies the unit's parts besides its functions, whose arguments are verified before.
class DeclarationVerifier {
 public:
  explicit DeclarationVerifier(const CodeUnit& unit) : unit_(unit) {}

  void verify() {
    verifyEach(UnitPart::Module, unit_.modules);
    verifyEach(UnitPart::Import, unit_.imports);
    verifyEach(UnitPart::Operator, unit_.operators);
    verifyEach(UnitPart::Export, unit_.exports);
    verifyEach(UnitPart::Handler, unit_.handlers);
    verifyEach(UnitPart::Scope, unit_.scopes);
  }

 private:
  template <class T>
  void verifyEach(UnitPart part, const std::vector<T>& things) {
    for (size_t i = 0; i < things.size(); ++i) {
      place_ = {part, i, std::nullopt};
      verify(things[i]);
    }
  }

  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
    throw BytecodeError(fmt::format("bad bytecode: {}: {}", title_, fmt::format(format, std::forward<Args>(args)...)),
                        place_);
  }

  void needSpan(Span span) const {
    if (!isIn(span, *unit_.source)) fail("its span {} is not in the source", toText(span));
  }

  void needIndex(uint32_t index, size_t size, std::string_view what) const {
    if (index >= size) fail("it is of {} {}, but there are {}", what, index, size);
  }

  const CodeFunction& functionAt(uint32_t index) const {
    if (index >= unit_.functions.size())
      fail("its body is function {}, but there are {}", index, unit_.functions.size());
    if (index == 0) fail("its body is function 0, the script's statements");
    return unit_.functions[index];
  }

  void verify(const CodeModule& module) {
    title_ = module.path;
    needSpan(module.span);
  }

  void verify(const CodeImport& import) {
    title_ = import.name;
    needIndex(import.module, unit_.modules.size(), "module");
  }

  void verify(const CodeOperator& op) {
    title_ = toString(op.schema.operator_name());
    needSpan(op.span);
    if (op.function) verifyBody(*op.function, op.schema);
  }

  void verify(const CodeExport& exported) {
    title_ = exported.schema.name();
    needSpan(exported.span);
    verifyBody(exported.function, exported.schema);
  }

  void verifyBody(uint32_t function, const FunctionSchema& schema) const {
    const CodeFunction& body = functionAt(function);
    const std::vector<Argument>& arguments = schema.arguments();
    const std::vector<Argument>& returns = schema.returns();
    if (schema.is_vararg() || schema.is_varret()) fail("a body cannot take or return `...`");
    needArguments(body, arguments.size());
    for (size_t i = 0; i < arguments.size(); ++i) {
      const SlotKind wanted = slotKindOf(arguments[i].type());
      if (body.slots[i] == wanted) continue;
      fail("its body takes argument {} as {}, but it is {}", i, toString(body.slots[i]), toString(wanted));
    }
    // No result, several results and results without a slot kind of their own are a Value.
    needResult(body, returns.size() == 1 ? slotKindOf(returns[0].type()) : SlotKind::Value);
  }

  void needArguments(const CodeFunction& body, size_t count) const {
    if (body.argument_count != count) fail("its body takes {} arguments, it takes {}", body.argument_count, count);
  }

  void needResult(const CodeFunction& body, SlotKind kind) const {
    if (body.result != kind) fail("its body returns {}, not {}", toString(body.result), toString(kind));
  }

  void verify(const CodeHandler& handler) {
    const bool has_modes = handler.key == DispatchKey::PreDispatch || handler.key == DispatchKey::Python;
    bool has_key = isRuntimeDispatchKey(handler.key);
    if (handler.kind == HandlerKind::Impl) {
      title_ = fmt::format("impl {} @ {}", handler.op, handler.key);
      has_key = has_key || isAliasDispatchKey(handler.key);
    } else if (handler.kind == HandlerKind::Fallback) {
      title_ = fmt::format("fallback @ {}", handler.key);
      has_key = has_key && !has_modes && handler.key != DispatchKey::Undefined;
    } else {
      title_ = fmt::format("mode {}", handler.name);
      has_key = whyNoModeAt(handler.key).empty();
    }
    needSpan(handler.span);
    if (!has_key) fail("it cannot be at {}", handler.key);
    const CodeFunction& body = functionAt(handler.function);
    if (handler.exit && handler.kind != HandlerKind::Mode) fail("only a mode has an exit");
    if (handler.exit) needArguments(functionAt(*handler.exit), 0);
    // The operator, which linking looks up, determines what an impl takes and returns.
    if (handler.kind == HandlerKind::Impl) return;
    needArguments(body, 2);
    if (body.slots[0] != SlotKind::Value || body.slots[1] != SlotKind::Value) fail("its body does not take two Values");
    needResult(body, SlotKind::Value);
  }

  void verify(const CodeScope& scope) {
    title_ = fmt::format("scope {}", place_.index);
    switch (scope.kind) {
      case CodeScopeKind::Mode:
        needIndex(scope.index, unit_.handlers.size(), "handler");
        if (unit_.handlers[scope.index].kind != HandlerKind::Mode) fail("handler {} is not a mode", scope.index);
        return;
      case CodeScopeKind::ImportedMode: return needIndex(scope.index, unit_.modules.size(), "module");
      case CodeScopeKind::Include:
      case CodeScopeKind::Exclude:
        if (scope.keys.empty()) fail("it has no key");
        if (scope.keys.has_any(backend_bitset_mask) || !DispatchKeySet(DispatchKeySet::FULL).has_all(scope.keys)) {
          fail("it has a backend; a scope has functionality keys");
        }
        return;
      case CodeScopeKind::InferenceMode: return;
    }
    fail("there is no such kind of scope");
  }

  const CodeUnit& unit_;
  BytecodeError::Place place_;
  std::string title_;
};

void need(bool condition, std::string_view what) {
  if (!condition) throw BytecodeError(fmt::format("bad bytecode: {}", what), {});
}

// Before any function, because instructions read what structs and fields refer to.
void verifyStructs(const CodeUnit& unit) {
  for (size_t i = 0; i < unit.structs.size(); ++i) {
    const CodeStruct& each = unit.structs[i];
    const auto fail = [i](std::string_view what) {
      throw BytecodeError(fmt::format("bad bytecode: struct {}: {}", i, what), {UnitPart::Struct, i, std::nullopt});
    };
    if (each.type == nullptr || layoutOf(each.type) == nullptr) fail("its type is not a struct");
    const StructLayout& layout = *layoutOf(each.type);
    if (each.origin != CodeStruct::Origin::Reached && each.defaults.size() != layout.fields.size()) {
      fail("it has not as many defaults as fields");
    }
    for (size_t k = 0; k < each.defaults.size(); ++k) {
      if (each.defaults[k] && !matches(*each.defaults[k], layout.fields[k].type)) {
        fail(fmt::format("the default of {} is not of type {}", layout.fields[k].name, *layout.fields[k].type));
      }
    }
    if (each.origin == CodeStruct::Origin::Imported && each.module >= unit.modules.size()) {
      fail(fmt::format("it is of module {}, but there are {}", each.module, unit.modules.size()));
    }
    if (!isIn(each.span, *unit.source)) fail(fmt::format("its span {} is not in the source", toText(each.span)));
  }
  for (size_t i = 0; i < unit.fields.size(); ++i) {
    const CodeField& field = unit.fields[i];
    const StructLayout* const layout = field.type == nullptr ? nullptr : layoutOf(field.type);
    need(layout != nullptr && field.index < layout->fields.size(), fmt::format("field {} is of no struct", i));
  }
}

}  // namespace

StackEffect stackEffect(const CodeUnit& unit, const Instruction& instruction) {
  const OpcodeInfo& opcode = info(instruction.op);
  StackEffect site{};
  if (opcode.operands[1] == Operand::OperatorSite) {
    site = {unit.operator_sites[instruction.index()].arguments, unit.operator_sites[instruction.index()].results};
  } else if (opcode.operands[1] == Operand::DynamicSite) {
    site.takes = unit.dynamic_sites[instruction.index()].arguments();
  }
  const auto count = [&instruction](int8_t what, size_t of_site) -> size_t {
    switch (what) {
      case kFieldA: return instruction.a;
      case kFieldB: return instruction.b;
      case kFieldC: return instruction.c;
      case kTwiceFieldB: return 2 * size_t{instruction.b};
      case kSite: return of_site;
      default: return static_cast<size_t>(what);
    }
  };
  return {count(opcode.takes, site.takes), count(opcode.leaves, site.leaves)};
}

std::vector<int64_t> stackHeights(const CodeUnit& unit, const CodeFunction& function) {
  return FunctionVerifier(unit, static_cast<size_t>(&function - unit.functions.data())).heights();
}

std::vector<FunctionBounds> verify(const CodeUnit& unit) {
  need(unit.source != nullptr, "there is no source");
  need(!unit.functions.empty(), "there is no function");
  need(std::ranges::all_of(unit.types, [](TypePtr type) { return type != nullptr; }), "a type is missing");
  need(std::ranges::all_of(unit.globals, [](const CodeGlobal& global) { return global.type != nullptr; }),
       "the type of a global is missing");
  verifyStructs(unit);
  // Before the code of any function, because calls check their callees' arguments.
  for (size_t i = 0; i < unit.functions.size(); ++i) FunctionVerifier(unit, i).checkArguments();
  std::vector<FunctionBounds> bounds;
  for (size_t i = 0; i < unit.functions.size(); ++i) bounds.push_back(FunctionVerifier(unit, i).verify());
  DeclarationVerifier(unit).verify();
  return bounds;
}

}  // namespace boxcar::interp
