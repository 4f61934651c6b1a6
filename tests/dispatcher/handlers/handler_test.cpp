#include <boxcar/dispatcher/handlers/handler.h>
#include <boxcar/dispatcher/handlers/handler_kinds.h>
#include <boxcar/dispatcher/handlers/script_kernel.h>
#include <boxcar/dispatcher/registry/name_pattern.h>
#include <boxcar/ops.h>
#include <boxcar/schema/function_schema.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "tests/dispatcher/dispatcher_helpers.h"
#include "tests/handler_arguments.h"
#include "tests/temporary_folder.h"

namespace boxcar {
namespace {

class Counter final : public Handler {
 public:
  void call(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) override {
    ++count_;
    op.redispatchBoxed(keys, stack);
  }
  std::string finish(bool) override { return fmt::format("{} calls", count_.load()); }

 private:
  std::atomic<int> count_ = 0;
};

TEST(Handler, IsOnWhileAGuardLives) {
  Counter counter;
  const Tensor x = ones({2});
  {
    const HandlerGuard on(counter);
    EXPECT_EQ(modeCount(), 1U);
    neg(x);
  }
  EXPECT_EQ(modeCount(), 0U);
  neg(x);
  EXPECT_EQ(counter.finish(false), "1 calls");
}

TEST(Handler, ServesSeveralThreadsAtOnce) {
  Counter counter;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&counter] {
      const Tensor x = ones({2});
      const HandlerGuard on(counter);
      for (int n = 0; n < 250; ++n) neg(x);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counter.finish(false), "1000 calls");
}

TEST(Handler, IsOffAfterAnError) {
  Counter counter;
  const std::string error = errorOf([&] {
    const HandlerGuard on(counter);
    mm(ones({2, 3}), ones({2, 3}));
  });
  EXPECT_NE(error, "no error");
  EXPECT_EQ(modeCount(), 0U);
}

TEST(HandlerKinds, HaveSchemasThatTheCommandLineCanWrite) {
  ASSERT_FALSE(handlerKinds().empty());
  for (const HandlerKind* kind : handlerKinds()) {
    const FunctionSchema& schema = kind->parsedSchema();
    EXPECT_EQ(findHandlerKind(kind->name()), kind);
    EXPECT_EQ(schema.name(), kind->name());
    EXPECT_TRUE(schema.returns().empty());
    EXPECT_FALSE(kind->help.empty());
    for (size_t i = 0; i < schema.arguments().size(); ++i) {
      const TypeKind type = schema.arguments()[i].type()->kind();
      EXPECT_TRUE(type == TypeKind::String || type == TypeKind::Int || type == TypeKind::Float ||
                  type == TypeKind::Bool)
          << kind->schema;
      // The command line passes the first one by position and the others by name.
      EXPECT_EQ(schema.arguments()[i].kwarg_only(), i != 0) << kind->schema;
    }
  }
  EXPECT_EQ(findHandlerKind("no_such_handler"), nullptr);
}

TEST(HandlerKinds, AreMadeWithTheValuesOfTheirSchema) {
  EXPECT_EQ(errorOf([] { findHandlerKind("deny")->make({}); }),
            "deny: it is made with 1 value, not 0: deny(str pattern) -> ()");
  const IValue number = 1;
  EXPECT_EQ(errorOf([&] { findHandlerKind("deny")->make(std::span(&number, 1)); }),
            "deny: `pattern` must be str, not int: deny(str pattern) -> ()");
}

TEST(NamePattern, NamesOverloadsOperatorsAndNamespaces) {
  const OperatorName name("aten::add", "Tensor");
  for (const char* pattern : {"aten::add.Tensor", "aten::add", "add", "aten::*", "a*", "add.T*x", "aten::add.[ST]*"}) {
    const bool matches = std::string_view(pattern) != "add.T*x";
    EXPECT_EQ(matchesPattern(name, pattern), matches) << pattern;
  }
  for (const char* pattern : {"aten::ad", "dd", "aten", "aten::add.Scalar", "my::add", ""}) {
    EXPECT_FALSE(matchesPattern(name, pattern)) << pattern;
  }
}

TEST(NamePattern, NamesTheOverloadWithoutANameByDefault) {
  EXPECT_TRUE(matchesPattern(OperatorName("aten::relu", ""), "aten::relu.default"));
  EXPECT_FALSE(matchesPattern(OperatorName("aten::relu", "out"), "aten::relu.default"));
  EXPECT_FALSE(matchesPattern(OperatorName("aten::relu", ""), "aten::relu.defaults"));
}

// Registers a kernel at a place in a script.
RegistrationHandleRAII registerAt(DispatchKey key, RegistrationSite site) {
  return Dispatcher::singleton().registerImpl(OperatorName("where::f", ""), key,
                                              KernelFunction::makeFromUnboxedLambda([](const Tensor& x) { return x; }),
                                              site);
}

TEST(ScriptKernel, IsTheOneThatComputes) {
  Library m = definitions("where");
  m.def("f(Tensor x) -> Tensor");
  const OperatorHandle f = find("where::f");
  const DispatchKeySet keys = cpuTensor().key_set().add(DispatchKey::Tracer);
  EXPECT_FALSE(runsScriptKernel(f, keys)) << "it has no kernel";
  const auto cpu = registerAt(DispatchKey::CPU, {"kernels.cpp", 7});
  EXPECT_FALSE(runsScriptKernel(f, keys));
  {
    const auto script = registerAt(DispatchKey::CPU, RegistrationSite::ofScript("f.ops", 3));
    EXPECT_TRUE(runsScriptKernel(f, keys));
    EXPECT_TRUE(runsScriptKernel(f, DispatchKeySet(DispatchKey::CPU)));
  }
  EXPECT_FALSE(runsScriptKernel(f, keys));
  // A fallback at a higher key computes nothing itself.
  Library tracer = fallbacks(DispatchKey::Tracer);
  tracer.fallback(CppFunction::makeFromBoxedFunctor(
      [](const OperatorHandle& op, DispatchKeySet own, Stack& stack) { op.redispatchBoxed(own, stack); }));
  EXPECT_FALSE(runsScriptKernel(f, keys));
}

void boxedGreedy(const OperatorHandle&, Stack* stack) { stack->clear(); }

// The kernel is responsible for what happens to its caller; no handler reads beyond the stack.
TEST(Handler, EveryKindStandsAKernelThatTakesMoreThanItsArguments) {
  const TemporaryFolder folder;
  Library library = definitions("greedy_test");
  library.def("greedy(Tensor x) -> Tensor", CppFunction::makeFromBoxedFunction<&boxedGreedy>());
  library.def("any(...) -> Tensor", CppFunction::makeFromBoxedFunction<&boxedGreedy>());
  for (const char* name : {"greedy_test::greedy", "greedy_test::any"}) {
    const OperatorHandle op = find(name);
    for (const HandlerKind* kind : handlerKinds()) {
      SCOPED_TRACE(std::string(kind->name()) + " of " + name);
      std::vector<IValue> arguments = harmlessArgumentsIn(*kind, folder.path());
      if (kind->name() == "inject") arguments = {std::string("greedy_test::*"), 1, true, 0, 1.0};
      const auto handler = kind->make(arguments);
      Stack stack;
      push(stack, 1, 2, ones({2}));
      const std::string error = errorOf([&] {
        const HandlerGuard on(*handler);
        op.callBoxed(stack);
      });
      handler->finish(error != "no error");
      EXPECT_EQ(modeCount(), 0U);
      EXPECT_TRUE(stack.empty() || error != "no error");
    }
  }
}

}  // namespace
}  // namespace boxcar
