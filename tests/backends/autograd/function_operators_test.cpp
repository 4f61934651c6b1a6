#include <boxcar/backends/autograd/autograd.h>
#include <boxcar/backends/autograd/forward_mode.h>
#include <boxcar/backends/autograd/history.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/interpreter/session/program.h>
#include <boxcar/ops.h>
#include <boxcar/schema/function_object.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "tests/backends/tensor_helpers.h"

namespace boxcar::autograd {
namespace {

Tensor leaf(std::initializer_list<float> values) { return floats(values).set_requires_grad(true); }

Tensor doubled(const Tensor& x) {
  Tensor result = boxcar::empty_like(x);
  for (int64_t i = 0; i < x.numel(); ++i) result.mutable_data_ptr<float>()[i] = 2 * x.const_data_ptr<float>()[i];
  return result;
}

Tensor callDoubled(const Tensor& x) {
  return Dispatcher::singleton().findSchemaOrThrow("plug::doubled", "").typed<Tensor(const Tensor&)>().call(x);
}

// An operator that a plugin might bring, registered after the first tensor required grad.
struct Plugin {
  const Tensor first = leaf({1});
  Library definitions{Library::DEF, "plug", std::nullopt, __FILE__, 1};
  Library kernels{Library::IMPL, "plug", DispatchKey::CPU, __FILE__, 2};

  Plugin() {
    definitions.def("doubled(Tensor x) -> Tensor");
    kernels.impl("doubled", BOXCAR_FN(doubled));
  }
};

TEST(FunctionOperators, AnOperatorOfAPluginWithoutADerivativeSaysSo) {
  const Plugin plugin;
  const Tensor x = leaf({1, 2});
  const Tensor y = callDoubled(x);
  EXPECT_EQ(toString(boxcar::detach(y)), "tensor([2., 4.])");
  EXPECT_EQ(errorOf([&] { backward({{sum(y)}}); }),
            "derivative for plug::doubled is not implemented. Give it one by autograd::apply or by a kernel at the key "
            "Autograd, or compute what it returns under no_grad");
  const NoGradGuard no_grad;
  EXPECT_FALSE(callDoubled(x).requires_grad());
}

TEST(FunctionOperators, AScriptGivesItADerivative) {
  const Plugin plugin;
  const Program program = Program::compile(
      "fn doubled_backward(Tensor grad) -> Tensor { return 2 * grad }\n"
      "impl plug::doubled @ Autograd {\n"
      "    with enable_grad() { return autograd::apply(operator(\"plug::doubled\"), doubled_backward, x) }\n"
      "}\n",
      "derivative.ops");
  program.run();
  const Tensor x = leaf({1, 2});
  const Tensor y = callDoubled(x);
  EXPECT_EQ(toString(grad({{sum(y)}}, {{x}})[0]), "tensor([2., 2.])");
  const ForwardLevel level;
  const Tensor dual = level.makeDual(floats({1, 2}), floats({1, 10}));
  EXPECT_EQ(toString(level.tangentOf(callDoubled(dual))), "tensor([ 2., 20.])");
}

TEST(FunctionOperators, AFunctionOfAScriptThatIsGoneSaysSo) {
  std::optional<Program> program = Program::compile(
      "fn halve(Tensor grad) -> Tensor { return grad / 2 }\n"
      "fn watch(Tensor x) -> Function { return x.register_hook(halve) }\n",
      "hooks.ops");
  const Tensor x = leaf({1, 2});
  Stack stack;
  push(stack, x);
  program->function("watch").call(stack);
  const IValue remove = pop(stack);
  backward({{sum(x)}});
  EXPECT_EQ(toString(gradOf(x)), "tensor([0.5000, 0.5000])");
  program.reset();
  EXPECT_NE(errorOf([&] { backward({{sum(x)}}); }).find("halve is a function of hooks.ops, which is no longer loaded"),
            std::string::npos);
  functionIn(remove)->call(stack);
  backward({{sum(x)}});
  EXPECT_EQ(toString(gradOf(x)), "tensor([1.5000, 1.5000])");
}

TEST(FunctionOperators, AConstantThatHoldsAFunctionDoesNotKeepItsScript) {
  std::optional<Program> program = Program::compile("fn f() -> int { return 1 }\nconst F = f\n", "cycle.ops");
  program->run();
  Stack stack;
  const Program::Function function = program->function("f");
  program.reset();
  function.call(stack);  // it keeps the script by itself
  EXPECT_EQ(pop(stack).toInt(), 1);
}

}  // namespace
}  // namespace boxcar::autograd
