#include <boxcar/boxcar.h>
#include <boxcar/ops.h>

#include <iostream>

using namespace boxcar;

constexpr const char* kScript = R"(
op demo::soften(Tensor x, float by=0.5) -> Tensor { return relu(x) + by * x }
fn scale(Tensor x, int by) -> Tensor {
    assert by != 0, "a factor of 0 loses everything"
    return demo::soften(x) * by
}
print("set up with", argv)
)";

int main() {
  // Errors in a script are reported as data; what() returns them as text.
  try {
    Program::compile("x = ones(2)\ny = reluu(x)\n", "wrong.ops");
  } catch (const CompileError& error) {
    const Diagnostic& first = error.diagnostics().at(0);
    std::cout << "line " << first.source->position(first.span.begin).line << ": " << first.message << "\n";
  }

  // On this thread, scripts may read files in the current folder, and access no other files.
  const FileAccessGuard files(FileAccess::sandboxed("."));
  Program program = Program::compile(kScript, "scale.ops");
  program.setLimits({.max_instructions = 1'000'000, .max_depth = 100});
  program.run({"--fast"});

  // A function takes its arguments from the stack and leaves its results there.
  const Program::Function scale = program.function("scale");
  Stack stack;
  push(stack, arange(3), 2);
  scale.call(stack);
  std::cout << scale.schema() << "\n" << pop(stack).toTensor() << "\n";

  // Operators that the script defines belong to the whole process.
  const OperatorHandle soften = Dispatcher::singleton().findSchemaOrThrow("demo::soften", "");
  std::cout << soften.typed<Tensor(const Tensor&, double)>().call(arange(3), 1.0) << "\n";

  try {
    push(stack, arange(3), 0);
    scale.call(stack);
  } catch (const ScriptError& error) {
    std::cout << error.reason() << ", in " << error.frames().back().function << "\n";
  }
}
