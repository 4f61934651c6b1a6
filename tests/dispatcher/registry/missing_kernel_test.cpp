#include <boxcar/schema/parse_schema.h>
#include <gtest/gtest.h>

#include "tests/dispatcher/dispatcher_helpers.h"

namespace boxcar {
namespace {

using Key = DispatchKey;

CppFunction boxed() {
  return CppFunction::makeFromBoxedFunctor([](const OperatorHandle&, Stack&) {});
}

// Registers an operator as if a script declared it.
RegistrationHandleRAII declareInScript(const char* schema) {
  return Dispatcher::singleton().registerDef(parseSchema(schema), RegistrationSite::ofScript("script.ops", 1));
}

TEST(MissingKernel, NamesEachArgumentsKeysAndTheNearestBackend) {
  Library m = definitions();
  m.def("mixed(Tensor a, Tensor b, Tensor c) -> Tensor");
  Library cpu = implementations(Key::CPU);
  cpu.impl("mixed", boxed());
  const Tensor there = tensorWith({Key::CUDA, Key::ADInplaceOrView});
  const auto callWith = [&](const Tensor& a, const Tensor& b, const Tensor& c) {
    return errorOf([&] { callOp(find("test::mixed"), a, b, c); });
  };
  EXPECT_EQ(callWith(cpuTensor(), there, there),
            "could not run test::mixed for dispatch key CUDA, which argument 'b' (position 2) brought: no kernel is "
            "registered for it. The arguments bring: 'a' CPU; 'b' CUDA; 'c' CUDA. The operator has kernels for: CPU. "
            "Move arguments 'b' and 'c' to cpu, or let the CPU serve with registerCpuFallback(DispatchKey::CUDA), or "
            "register a kernel with BOXCAR_LIBRARY_IMPL(test, CUDA, m)");
}

TEST(MissingKernel, NamesTheArgumentWhoseDeviceAFactoryChoseTheKeyBy) {
  Library m = definitions();
  m.def("made(int size, *, Device? device=None) -> Tensor");
  Library cpu = implementations(Key::CPU);
  cpu.impl("made", boxed());
  Library select = implementations(Key::BackendSelect);
  select.impl("made", CppFunction::makeFromBoxedFunctor([](const OperatorHandle& op, DispatchKeySet, Stack& stack) {
                op.redispatchBoxed(DispatchKeySet(toDispatchKey(stack.back().toDevice().type())), stack);
              }));
  EXPECT_EQ(errorOf([&] { callOp(find("test::made"), 2, Device(DeviceType::CUDA)); }),
            "could not run test::made for dispatch key CUDA, which argument 'device' (position 2) names: no kernel is "
            "registered for it. The operator has kernels for: BackendSelect, CPU. Pass the device cpu, or register a "
            "kernel with BOXCAR_LIBRARY_IMPL(test, CUDA, m)");
}

TEST(MissingKernel, OfAFunctionalityIsAnsweredByAFallbackToo) {
  Library m = definitions();
  m.def("plain(Tensor a) -> Tensor", boxed());
  const IncludeDispatchKeyGuard include(Key::Tracer);
  EXPECT_EQ(errorOf([&] { callOp(find("test::plain"), cpuTensor()); }),
            "could not run test::plain for dispatch key Tracer, which this thread includes: no kernel is registered "
            "for it. The operator has kernels for: CompositeImplicitAutograd. End the guard that includes it, or "
            "register a kernel with BOXCAR_LIBRARY_IMPL(test, Tracer, m), or a fallback with BOXCAR_LIBRARY_IMPL(_, "
            "Tracer, m) for every operator");
}

TEST(MissingKernel, WithoutABackendThatAnswersOneIsToBeRegistered) {
  Library m = definitions();
  m.def("nowhere(Tensor a) -> Tensor");
  EXPECT_EQ(errorOf([&] { callOp(find("test::nowhere"), cpuTensor()); }),
            "could not run test::nowhere for dispatch key CPU, which argument 'a' (position 1) brought: no kernel is "
            "registered for it. The operator has kernels for: none. Register a kernel with BOXCAR_LIBRARY_IMPL(test, "
            "CPU, m)");
}

TEST(MissingKernel, OfAnOperatorOfAScriptIsToldInTheWordsOfScripts) {
  const auto declared = declareInScript("test::declared(Tensor a, Tensor b) -> Tensor");
  Library cpu = implementations(Key::CPU);
  cpu.impl("declared", boxed());
  const Tensor there = tensorWith({Key::CUDA, Key::ADInplaceOrView});
  EXPECT_EQ(
      errorOf([&] { callOp(find("test::declared"), there, cpuTensor()); }),
      "could not run test::declared for dispatch key CUDA, which argument 'a' (position 1) brought: no kernel is "
      "registered for it. The arguments bring: 'a' CUDA; 'b' CPU. The operator has kernels for: CPU. Move "
      "argument 'a' to cpu with `.to(\"cpu\")`, or run with `--cpu-fallback`, or write `impl test::declared @ CUDA "
      "{ … }`");
  EXPECT_EQ(
      errorOf([&] {
        callOp(find("test::declared"), tensorWith({Key::CPU, Key::Negative}), Tensor());
      }),
      "could not run test::declared for dispatch key Negative, which argument 'a' (position 1) brought: no kernel "
      "is registered for it. The operator has kernels for: CPU. Write `impl test::declared @ Negative { … }`, or "
      "`fallback @ Negative { … }` for every operator");
}

TEST(MissingKernel, WhereTheThreadExcludesTheKeyItSaysSo) {
  Library m = definitions();
  m.def("plain(int n, Tensor a) -> Tensor");
  Library cpu = implementations(Key::CPU);
  cpu.impl("plain", boxed());
  const ExcludeDispatchKeyGuard exclude(Key::Dense);
  EXPECT_EQ(
      errorOf([&] { callOp(find("test::plain"), 1, cpuTensor()); }),
      "could not run test::plain: this thread excludes Dense, which argument 'a' (position 2) brought, and no key "
      "that is left has a kernel that computes. End the guard that excludes it");
}

TEST(MissingKernel, AtMetaIsOneThatComputesShapes) {
  Library m = definitions();
  m.def("plain(Tensor a) -> Tensor");
  const auto declared = declareInScript("test::declared(Tensor a) -> Tensor");
  EXPECT_EQ(
      errorOf([&] { callOp(find("test::plain"), metaTensor()); }),
      "test::plain was called with a meta tensor, but it has no kernel that computes shapes alone: it has kernels "
      "for: none. Register one for Meta, or a composite one");
  EXPECT_EQ(errorOf([&] { callOp(find("test::declared"), metaTensor()); }),
            "test::declared was called with a meta tensor, but it has no kernel that computes shapes alone: it has "
            "kernels for: none. Write `impl test::declared @ Meta { … }`");
}

TEST(MissingKernel, WhereEveryKernelOfAScriptLetsTheCallThroughOneIsToBeWritten) {
  const auto declared = declareInScript("test::declared(Tensor a) -> Tensor");
  Library cpu = implementations(Key::CPU);
  cpu.impl("declared", CppFunction::makeFallthrough());
  EXPECT_EQ(errorOf([&] { callOp(find("test::declared"), cpuTensor()); }),
            "could not run test::declared: every kernel for the keys of its arguments lets the call through to the "
            "next, and none computes. It has kernels for: CPU. Write `impl test::declared @ CPU { … }`");
}

}  // namespace
}  // namespace boxcar
