#pragma once

#include <boxcar/interpreter/compiler/code_builder.h>
#include <boxcar/interpreter/runtime/executable.h>
#include <boxcar/interpreter/runtime/machine.h>

#include <string>
#include <utility>
#include <vector>

namespace boxcar::interp {

// A unit that a test builds by hand. It already has function 0, which does nothing.
class TestUnit {
 public:
  explicit TestUnit(std::string text = "first line\nsecond line\nthird line\n")
      : builder(Source::create("test.ops", std::move(text))) {
    add(code("<script>"), SlotKind::Value, [](CodeBuilder& script) { script.emit(Opcode::ReturnNone); });
  }

  CodeBuilder code(std::string name) { return CodeBuilder(std::move(name), builder.unit().source, {0, 5}); }

  // Adds the function that [body] emits and returns its index.
  template <class Body>
  uint32_t add(CodeBuilder builder_of_code, SlotKind result, Body body) {
    const uint32_t index = builder.declareFunction();
    body(builder_of_code);
    builder.unit().functions[index] = std::move(builder_of_code).finish(result);
    return index;
  }
  template <class Body>
  uint32_t add(std::string name, SlotKind result, Body body) {
    return add(code(std::move(name)), result, std::move(body));
  }
  // The same without the builder, for code that it would not emit.
  uint32_t addRaw(std::vector<SlotKind> slots, SlotKind result, std::vector<Instruction> instructions) {
    CodeFunction function;
    function.name = "f";
    function.source = builder.unit().source;
    function.slots = std::move(slots);
    function.result = result;
    function.spans.resize(instructions.size());
    function.code = std::move(instructions);
    builder.unit().functions.push_back(std::move(function));
    return static_cast<uint32_t>(builder.unit().functions.size() - 1);
  }

  // Runs a function of the unit; nothing can be added after that.
  IValue run(uint32_t function, std::vector<IValue> arguments = {}) {
    Executable program(std::move(builder).finish());
    program.link();
    Stack stack(arguments);
    Machine::current().call(program, function, stack);
    return stack.size() == 1 ? stack[0] : IValue("the stack has " + std::to_string(stack.size()) + " values");
  }

  UnitBuilder builder;
};

}  // namespace boxcar::interp
