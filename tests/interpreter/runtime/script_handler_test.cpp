#include <boxcar/dispatcher/call/local_dispatch_key_set.h>
#include <boxcar/dispatcher/call/mode.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/interpreter/runtime/script_error.h>
#include <boxcar/interpreter/session/program.h>
#include <boxcar/ops.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/captured_output.h"
#include "tests/test_support.h"

namespace boxcar {
namespace {

// Calls from C++ reach what scripts register.

TEST(ScriptHandler, CppCallsAnImplementation) {
  const Program program = Program::compile(
      "op handler_test::f(Tensor x, int n=2) -> Tensor\n"
      "impl handler_test::f @ CPU { print(op.name, n, x.shape); return x * n }\n",
      "test.ops");
  const OperatorHandle f = Dispatcher::singleton().findSchemaOrThrow("handler_test::f", "");
  EXPECT_FALSE(f.hasKernelForDispatchKey(DispatchKey::CPU));  // the statement has not run yet
  program.run();
  EXPECT_EQ(outputOf([&] {
              const Tensor y = f.typed<Tensor(const Tensor&, int64_t)>().call(ones({2}), 3);
              EXPECT_EQ(toString(IValue(y)), "tensor([3., 3.])");
            }),
            "handler_test::f 3 [2]\n");
}

TEST(ScriptHandler, CppCallsMeetAFallback) {
  const Program program =
      Program::compile("fallback @ Tracer { print(op.name); return redispatch(op, args) }", "test.ops");
  program.run();
  EXPECT_EQ(outputOf([&] {
              const IncludeDispatchKeyGuard tracing(DispatchKey::Tracer);
              relu(ones({2}));
            }),
            "aten::ones\naten::relu\n");
}

TEST(ScriptHandler, RegistrationsGoWithTheProgram) {
  const OperatorHandle op = Dispatcher::singleton().findSchemaOrThrow("aten::relu", "");
  {
    const Program program = Program::compile(
        "impl aten::relu @ Tracer { return redispatch(op, args)[0] }\n"
        "fallback @ Batched { return redispatch(op, args) }\n"
        "op handler_test::gone() -> int { return 1 }",
        "test.ops");
    program.run();
    program.run();
    EXPECT_TRUE(op.hasKernelForDispatchKey(DispatchKey::Tracer));
    EXPECT_TRUE(Dispatcher::singleton().hasBackendFallbackForDispatchKey(DispatchKey::Batched));
  }
  EXPECT_FALSE(op.hasKernelForDispatchKey(DispatchKey::Tracer));
  EXPECT_FALSE(Dispatcher::singleton().hasBackendFallbackForDispatchKey(DispatchKey::Batched));
  EXPECT_FALSE(Dispatcher::singleton().findSchema(OperatorName("handler_test::gone", "")).has_value());
}

TEST(ScriptHandler, RunAgainAnImplementationReplacesItself) {
  const Program program = Program::compile(
      "op handler_test::g(Tensor x) -> str\n"
      "fn install() -> () { impl handler_test::g @ CPU { return \"script\" } }\n",
      "test.ops");
  const OperatorHandle g = Dispatcher::singleton().findSchemaOrThrow("handler_test::g", "");
  Stack stack;
  const auto install = program.function("install");
  install.call(stack);
  const auto newer = Dispatcher::singleton().registerImpl(
      g.operator_name(), DispatchKey::CPU,
      KernelFunction::makeFromUnboxedLambda([](const Tensor&) { return std::string("C++"); }), {});
  const auto answer = [&] {
    push(stack, ones({1}));
    g.callBoxed(stack);
    return pop(stack).toStringRef();
  };
  EXPECT_EQ(answer(), "C++");
  install.call(stack);
  EXPECT_EQ(answer(), "script");
}

TEST(ScriptHandler, ModesOfScriptsAndOfCppNest) {
  const Program program = Program::compile(
      "mode tell { print(\"script\", op.name); return redispatch(op, args) }\n"
      "fn work() -> () { with tell { relu(ones(1)) } }\n",
      "test.ops");
  Stack stack;
  const std::string output = outputOf([&] {
    const ModeGuard outer([](const OperatorHandle& op, DispatchKeySet keys, Stack& values) {
      std::fputs(fmt::format("C++ {}\n", op.operator_name()).c_str(), stdout);
      op.redispatchBoxed(keys, values);
    });
    program.function("work").call(stack);
  });
  EXPECT_NE(output.find("C++ aten::_print\nscript aten::relu\nC++ aten::relu\n"), std::string::npos) << output;
  EXPECT_EQ(modeCount(), 0u);
}

TEST(ScriptHandler, BodiesThatThreadsEnterRunOneAtATime) {
  const Program program = Program::compile(
      "const counts = {\"calls\": 0}\n"
      "op handler_test::h(Tensor x) -> Tensor\n"
      "impl handler_test::h @ CPU {\n"
      "    n = counts[\"calls\"]\n"
      "    for i in range(20) { n = n }\n"
      "    counts[\"calls\"] = n + 1\n"
      "    return x\n"
      "}\n"
      "fn calls() -> int { return counts[\"calls\"] }",
      "test.ops");
  program.run();
  const auto h = Dispatcher::singleton().findSchemaOrThrow("handler_test::h", "").typed<Tensor(const Tensor&)>();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const Tensor x = ones({1});
      for (int k = 0; k < 500; ++k) h.call(x);
    });
  }
  for (std::thread& thread : threads) thread.join();
  Stack stack;
  program.function("calls").call(stack);
  EXPECT_EQ(pop(stack).toInt(), 2000);
}

TEST(ScriptHandler, ACallThatRunsKeepsTheCodeOfAProgramThatGoes) {
  auto program = std::make_unique<Program>(
      Program::compile("op handler_test::drop(Tensor x) -> int\n"
                       "op handler_test::unload() -> ()\n"
                       "impl handler_test::drop @ CPU { handler_test::unload(); return 7 + len(args) }\n",
                       "test.ops"));
  const auto unload = Dispatcher::singleton().registerImpl(
      OperatorName("handler_test::unload", ""), DispatchKey::CompositeImplicitAutograd,
      KernelFunction::makeFromUnboxedLambda([&program] { program.reset(); }), {});
  program->run();
  const auto drop = Dispatcher::singleton().findSchemaOrThrow("handler_test::drop", "");
  Stack stack;
  push(stack, ones({1}));
  drop.callBoxed(stack);
  EXPECT_EQ(pop(stack).toInt(), 8);
}

TEST(ScriptHandler, CallsCannotGoPastWhatTheMemoryOfATensorStandsFor) {
  const auto errorOfScript = [](const std::string& text) {
    return errorOf([&] { Program::compile(text, "test.ops").run(); });
  };
  const auto says = [&](const std::string& text, const std::string& part) {
    const std::string error = errorOfScript(text);
    EXPECT_NE(error.find(part), std::string::npos) << text << error;
  };
  says("with exclude(Fake) { x = ones(2) }",
       "exclude() cannot switch off Fake: it says what the memory of tensors stands for");
  says("z = aten::_efficientzerotensor([3])\nwith exclude(ZeroTensor) { y = z + 1 }", "cannot switch off ZeroTensor");
  says("z = aten::_efficientzerotensor([3])\ny = call_at(operator(\"aten::add.Tensor\"), \"CPU\", [z, z])",
       "call_at: a tensor given to aten::add.Tensor has the key ZeroTensor");
  says("with fake() { x = ones(2) }\ny = call_at(operator(\"aten::add.Tensor\"), \"CPU\", [x, x])",
       "has the key Fake, which says what its memory stands for, and the call would go past it");
  says(
      "const z = tensor([1+2j]).conj()\nmode m @ Dense { args[0] = z; return redispatch(op, args) }\n"
      "const p = tensor([1+2j])\nwith m { y = aten::neg(p) }",
      "redispatch: a tensor given to aten::neg has the key Conjugate");
}

TEST(ScriptHandler, WhatAFailedWithSwitchedOnIsOff) {
  const Program program = Program::compile(
      "mode m { return redispatch(op, args) }\n"
      "fn fails() -> () { with m, include(Tracer), exclude(Batched) { assert False } }\n",
      "test.ops");
  Stack stack;
  EXPECT_THROW(program.function("fails").call(stack), ScriptError);
  EXPECT_EQ(modeCount(), 0u);
  EXPECT_FALSE(tls_is_dispatch_key_included(DispatchKey::Tracer));
  EXPECT_FALSE(tls_is_dispatch_key_excluded(DispatchKey::Batched));
}

}  // namespace
}  // namespace boxcar
