#include <boxcar/backends/autograd/autograd.h>
#include <boxcar/backends/autograd/forward_mode.h>
#include <boxcar/backends/autograd/history.h>
#include <boxcar/backends/autograd/own_derivative.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/interpreter/session/program.h>
#include <boxcar/ops.h>
#include <boxcar/schema/function_object.h>
#include <gtest/gtest.h>

#include <algorithm>
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
            "derivative for plug::doubled is not implemented. Give it one by autograd::register_derivative, or compute "
            "what it returns under no_grad");
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

TEST(FunctionOperators, ACheckpointGivesGradientsToWhatItsFunctionUses) {
  const Tensor x = leaf({1, 2});
  const Tensor w = leaf({3, 5});
  const Tensor scaled = boxcar::mul(w, 10);
  const FunctionPtr function = makeFunction(parseSchema("f(Tensor x) -> (Tensor, Tensor)"), [&](Stack& stack) {
    const Tensor input = pop(stack).toTensor();
    push(stack, boxcar::mul(boxcar::mul(input, scaled), w), boxcar::ones({2}));
  });
  Stack stack{IValue(function), IValue(std::vector<IValue>{x}), IValue(true)};
  Dispatcher::singleton().findSchemaOrThrow("autograd::checkpoint", "").callBoxed(stack);
  const IValue result = pop(stack);
  EXPECT_FALSE(result.elementAt(1).toTensor().requires_grad());
  const Tensor loss = sum(result.elementAt(0).toTensor());
  const std::vector<Tensor> gradients = grad({{loss}}, {{x, w, scaled}}, {}, true);
  EXPECT_EQ(toString(gradients[0]), "tensor([ 90., 250.])");
  EXPECT_EQ(toString(gradients[1]), "tensor([ 60., 200.])");
  EXPECT_EQ(toString(gradients[2]), "tensor([ 3., 10.])");
  EXPECT_FALSE(gradOf(w).defined());
  backward({{loss}});
  EXPECT_EQ(toString(gradOf(w)), "tensor([ 60., 200.])");
}

TEST(FunctionOperators, ARegisteredDerivativeHoldsUntilItIsTakenAway) {
  const Plugin plugin;
  const FunctionPtr backward = makeFunction(parseSchema("doubled_backward(Tensor grad) -> Tensor"),
                                            [](Stack& stack) { push(stack, boxcar::mul(pop(stack).toTensor(), 2)); });
  const Tensor x = leaf({1, 2});
  {
    const auto handles = registerDerivative("plug::doubled", backward);
    const Tensor y = callDoubled(x);
    EXPECT_EQ(toString(grad({{sum(y)}}, {{x}})[0]), "tensor([2., 2.])");
    const ForwardLevel level;
    EXPECT_EQ(toString(level.tangentOf(callDoubled(level.makeDual(floats({1, 2}), floats({1, 10}))))),
              "tensor([ 2., 20.])");
  }
  const Tensor y = callDoubled(x);
  EXPECT_TRUE(errorOf([&] { autograd::backward({{sum(y)}}); }).starts_with("derivative for plug::doubled is not"));
}

TEST(FunctionOperators, RefusesDerivativesThatDoNotFit) {
  const Plugin plugin;
  const auto errorFor = [](const char* op, const char* schema) {
    return errorOf([&] { registerDerivative(op, makeFunction(parseSchema(schema), [](Stack&) {})); });
  };
  EXPECT_EQ(errorFor("other::x", "f(Tensor grad) -> Tensor"),
            "autograd::register_derivative: there is no operator other::x; define it, or load its plugin, before");
  EXPECT_EQ(errorFor("plug::doubld", "f(Tensor grad) -> Tensor"),
            "autograd::register_derivative: there is no operator plug::doubld. Did you mean 'plug::doubled'?");
  EXPECT_EQ(errorFor("doubled", "f(Tensor grad) -> Tensor"),
            "autograd::register_derivative: there is no operator doubled; a name begins with its namespace, such as "
            "my::scale");
  EXPECT_EQ(
      errorFor("aten::add", "f(Tensor grad) -> Tensor"),
      "autograd::register_derivative: there is no operator aten::add; name one of the overloads aten::add.Tensor, "
      "aten::add.Scalar, aten::add.out");
  EXPECT_EQ(
      errorFor("aten::relu", "f(Tensor grad) -> Tensor"),
      "autograd::register_derivative: aten::relu has a derivative already. Write a function of its own for another "
      "one, and give it that by autograd::apply");
  EXPECT_EQ(
      errorFor("plug::doubled", "f(Tensor grad, Tensor y) -> Tensor"),
      "autograd::register_derivative: the derivative f takes 'y', which is neither 'grad', 'grads', 'result', nor "
      "an argument or a named result of plug::doubled\n  plug::doubled(Tensor x) -> Tensor");
  EXPECT_TRUE(errorFor("aten::resize_", "f(Tensor grad) -> Tensor")
                  .starts_with("autograd::register_derivative: aten::resize_ writes its arguments, or returns views of "
                               "them; only an operator that does neither can be given a derivative"));
}

TEST(FunctionOperators, RefusesDerivativesOfOtherTypesAtOnce) {
  Library library(Library::DEF, "plug", std::nullopt, __FILE__, __LINE__);
  library.def(
      "scaled(Tensor x, float by, Tensor[] more, ScalarType? dtype=None, Scalar to=1) -> (Tensor y, int count)");
  const auto errorFor = [](const char* schema) {
    std::string text =
        errorOf([&] { registerDerivative("plug::scaled", makeFunction(parseSchema(schema), [](Stack&) {})); });
    const size_t end = std::min(text.find('\n'), text.size());
    const size_t begin = std::min(text.find(": ") + 2, end);
    return text.substr(begin, end - begin);
  };
  for (const char* fits :
       {"f(Tensor grad, float by, Tensor[] more, ScalarType dtype, float to) -> (Tensor, Tensor[])",
        "f(Tensor[] grads, Any by, Any more, int? dtype, Scalar to) -> Any", "f(Tensor? grad, Scalar by) -> Any[]",
        "f(Tensor result, Tensor y, int count) -> (Tensor?, Tensor?[])", "f(float count) -> (Tensor, Tensor[])"}) {
    EXPECT_EQ(errorOf([&] { registerDerivative("plug::scaled", makeFunction(parseSchema(fits), [](Stack&) {})); }),
              "no error");
  }
  EXPECT_EQ(errorFor("f(int grad) -> Any"), "'grad' of the derivative f must be Tensor, not int");
  EXPECT_EQ(errorFor("f(Tensor grads) -> Any"), "'grads' of the derivative f must be Tensor[], not Tensor");
  EXPECT_EQ(errorFor("f(Tensor grad, int by) -> Any"), "'by' of the derivative f must be float, not int");
  EXPECT_EQ(errorFor("f(Tensor grad, Tensor by) -> Any"), "'by' of the derivative f must be float, not Tensor");
  EXPECT_EQ(errorFor("f(Tensor grad, Tensor more) -> Any"), "'more' of the derivative f must be Tensor[], not Tensor");
  EXPECT_EQ(errorFor("f(Tensor grad, int y) -> Any"), "'y' of the derivative f must be Tensor, not int");
  EXPECT_EQ(errorFor("f(Tensor grad) -> (Tensor, int)"),
            "the derivative f must return a Tensor or None for each Tensor that plug::scaled takes, not int");
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
