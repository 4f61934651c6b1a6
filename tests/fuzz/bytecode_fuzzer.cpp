// Bytecode compiled from a script, then changed -> verified -> run. The first byte chooses the script. Each further
// eight bytes change one field of an instruction, the kind of a slot, or a site.

#include <boxcar/interpreter/bytecode/bytecode.h>
#include <boxcar/interpreter/session/program.h>

#include <array>
#include <cstring>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "tests/fuzz/fuzz.h"

namespace boxcar::interp {
namespace {

constexpr std::array kScripts = {
    R"(fn fib(int n) -> int { if n < 2 { return n }
    return fib(n - 1) + fib(n - 2) }
print(fib(9)))",
    R"(op fuzz::f(Tensor x, int n=2, float[] w=[1.5]) -> (Tensor, int) { return x * n + w[0], len(w) }
a, b = fuzz::f(ones([2, 2]), 3)
for row in a { print(row, b) }
x: Any = a
print(x + 1, x.shape, x[0]))",
    R"(const d = {"a": 1, "b": 2.5}
const xs = [i * i for i in range(9) if i % 2 == 0]
t = (1, "two", None)
for k, v in d.items() { print(f"{k:>4}={v}") }
p, q = xs[1:3]
s = "text" + str(p ** 2) + t[1]
while len(s) < 30 { s += s; if s.find("x") > 20 { break } }
xs[0] += 4
print(sorted(xs, reverse=True), s[::-1], q / 3, t == (1, "two", None), None in [t]))",
    R"(mode m { return redispatch(op, args, nested=True) } exit { print("exit") }
mode below @ Python { return redispatch(op, args) }
op fuzz::g(Tensor x) -> Tensor
impl fuzz::g @ CPU { return x + len(args) }
fallback @ Tracer { return redispatch(op, args) }
fn early(bool b) -> str { with m, include(Tracer), inference_mode() { if b { return "early" } }
    return "late" }
y = ones(2)
for i in range(3) { with below { if i == 1 { continue }
        y = fuzz::g(ones(2)) } }
print(early(True), early(False), operator("aten::relu").name, call(operator("aten::relu"), [y])))",
};

const CodeUnit& unitOf(size_t script) {
  static const std::vector<CodeUnit>& units = *[] {
    auto* compiled = new std::vector<CodeUnit>;
    for (const char* text : kScripts) {
      Diagnostics diagnostics;
      compiled->push_back(compileText(text, "fuzz.ops", diagnostics));
    }
    return compiled;
  }();
  return units[script % units.size()];
}

struct Change {
  uint8_t what;
  uint8_t function;
  uint16_t place;
  uint8_t field;
  uint8_t unused;
  uint16_t value;
};
static_assert(sizeof(Change) == 8);

void apply(const Change& change, CodeUnit& unit) {
  CodeFunction& function = unit.functions[change.function % unit.functions.size()];
  switch (change.what % 8) {
    case 0:
      if (!function.slots.empty()) function.slots[change.place % function.slots.size()] = SlotKind(change.value % 4);
      return;
    case 1:
      if (!unit.operator_sites.empty()) {
        OperatorSite& site = unit.operator_sites[change.place % unit.operator_sites.size()];
        (change.field % 2 == 0 ? site.arguments : site.results) = change.value % 8;
      }
      return;
    case 2:
      if (change.field % 2 == 0) {
        function.argument_count = change.value % 5;
      } else {
        function.result = SlotKind(change.value % 4);
      }
      return;
    default: break;
  }
  Instruction& instruction = function.code[change.place % function.code.size()];
  switch (change.field % 4) {
    case 0: instruction.op = static_cast<Opcode>(change.value % (kOpcodeCount + 2)); break;
    case 1: instruction.a = change.value; break;
    case 2: instruction.b = change.value; break;
    default: instruction.c = change.value; break;
  }
}

}  // namespace
}  // namespace boxcar::interp

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace boxcar;
  if (size == 0) return 0;
  interp::CodeUnit unit = interp::unitOf(data[0]);
  for (size_t at = 1; at + sizeof(interp::Change) <= size; at += sizeof(interp::Change)) {
    interp::Change change;
    std::memcpy(&change, data + at, sizeof(change));
    interp::apply(change, unit);
  }
  fuzz::runHarmlessly([&] {
    try {
      Program program = Program::fromUnit(std::move(unit));
      program.setLimits(fuzz::kLimits);
      program.run();
    } catch (const std::bad_alloc&) {
    }
  });
  return 0;
}
