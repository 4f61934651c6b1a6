#include <boxcar/dispatcher/call/mode.h>
#include <boxcar/dispatcher/handlers/cpu_fallback/cpu_fallback.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/allocator.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "tests/backends/tensor_helpers.h"

// Operators that a device lacks run on the CPU. The device's memory is host memory here, and the device can only copy.

namespace boxcar {
namespace {

constexpr Device kDevice(DeviceType::PrivateUse1, 0);
constexpr Allocator kAllocator = {[](size_t bytes, DeviceIndex) { return std::malloc(bytes); },
                                  [](void* memory, size_t, DeviceIndex) { std::free(memory); }};

// Returns a CPU tensor over the same memory.
Tensor onHost(const Tensor& tensor) {
  if (tensor.is_cpu()) return tensor;
  const Storage& memory = tensor.storage();
  return Tensor(
      makeIntrusive<TensorImpl>(StorageImpl::wrap(memory->data(), memory->nbytes(), DeviceType::CPU, nullptr, nullptr),
                                tensor.scalar_type(), tensor.sizes(), tensor.strides(), tensor.storage_offset()));
}

Tensor& addOne(Tensor& self) {
  copy_(self, add(self, 1));
  return self;
}

class CpuFallbackTest : public ::testing::Test {
 protected:
  CpuFallbackTest()
      : kernels_(Library::IMPL, "aten", DispatchKey::PrivateUse1, "cpu_fallback_test.cpp", 1),
        operators_(Library::FRAGMENT, "fallback_test", std::nullopt, "cpu_fallback_test.cpp", 2),
        on_cpu_(Library::IMPL, "fallback_test", DispatchKey::CPU, "cpu_fallback_test.cpp", 3) {
    setAllocator(DeviceType::PrivateUse1, &kAllocator);
    kernels_.impl("empty.memory_format",
                  [](std::span<const int64_t> size, std::optional<ScalarType> dtype, std::optional<Layout>,
                     std::optional<Device>, std::optional<bool>, std::optional<MemoryFormat>) {
                    return Tensor::allocate(size, dtype.value_or(ScalarType::Float), kDevice);
                  });
    kernels_.impl("copy_", [](Tensor& self, const Tensor& src, bool) -> Tensor& {
      Tensor target = onHost(self);
      copy_(target, onHost(src));
      return self;
    });
  }
  ~CpuFallbackTest() override { setAllocator(DeviceType::PrivateUse1, nullptr); }

  // Defines an operator fallback_test::… with a CPU kernel.
  template <class F>
  OperatorHandle define(const std::string& schema, F&& kernel, std::vector<Tag> tags = {}) {
    operators_.def(schema, std::move(tags));
    const std::string name = schema.substr(0, schema.find('('));
    on_cpu_.impl(name, std::forward<F>(kernel));
    return Dispatcher::singleton().findSchemaOrThrow(("fallback_test::" + name).c_str(), "");
  }

  static Tensor bring(const Tensor& tensor) { return to(tensor, std::nullopt, std::nullopt, kDevice); }
  static std::vector<float> floatsOf(const Tensor& tensor) { return elements<float>(onHost(tensor)); }
  static Stack callOp(const OperatorHandle& op, const auto&... args) {
    Stack stack;
    stack.emplace(args...);
    op.callBoxed(stack);
    return stack;
  }
  static OperatorHandle find(const char* name, const char* overload = "") {
    return Dispatcher::singleton().findSchemaOrThrow(name, overload);
  }

  Library kernels_;
  Library operators_;
  Library on_cpu_;
};

using Floats = std::vector<float>;

TEST_F(CpuFallbackTest, RunsWhatTheDeviceLacksAndTellsIt) {
  const Tensor there = bring(floats({-1, 2}));
  EXPECT_NE(errorOf([&] { relu(there); })
                .find("or let the CPU serve with registerCpuFallback(DispatchKey::PrivateUse1), "
                      "or register a kernel"),
            std::string::npos);
  {
    const CpuFallback fallback = registerCpuFallback(DispatchKey::PrivateUse1);
    EXPECT_EQ(fallback.report(), "");
    const Tensor result = relu(there);
    EXPECT_EQ(result.device(), kDevice);
    EXPECT_EQ(floatsOf(result), (Floats{0, 2}));
    relu(result);
    const std::vector<ServedOperator> served = fallback.served();
    ASSERT_EQ(served.size(), 1);
    EXPECT_EQ(toString(served[0].name), "aten::relu");
    EXPECT_EQ(served[0].calls, 2);
    EXPECT_EQ(served[0].bytes_to_cpu, 16);
    EXPECT_EQ(served[0].bytes_back, 16);
    EXPECT_EQ(fallback.report(),
              "CPU fallback: 2 calls of 1 operator ran on the CPU for device 'privateuseone'\n"
              "operator    calls  to the CPU  back\n"
              "aten::relu      2        16 B  16 B\n");
  }
  EXPECT_NE(errorOf([&] { relu(there); }), "no error");
}

TEST_F(CpuFallbackTest, WritesInPlaceIntoTheVeryTensorThroughViews) {
  const OperatorHandle op = define("add_one_(Tensor(a!) self) -> Tensor(a!)", addOne);
  const CpuFallback fallback = registerCpuFallback(DispatchKey::PrivateUse1);
  const Tensor base = bring(counting({2, 3}));
  const Tensor column = select(base, 1, 1);
  const Stack result = callOp(op, column);
  EXPECT_TRUE(result[0].toTensor().is_same(column));
  EXPECT_EQ(floatsOf(base), (Floats{0, 2, 2, 3, 5, 5}));
  // A typed caller gets back the reference that it passed.
  Tensor row = select(base, 0, 1);
  EXPECT_EQ(&op.typed<Tensor&(Tensor&)>().call(row), &row);
  EXPECT_EQ(floatsOf(base), (Floats{0, 2, 2, 4, 6, 6}));
}

TEST_F(CpuFallbackTest, WhatSharesMemoryDoesSoOnTheCpu) {
  bool shared = false;
  const OperatorHandle op = define("watch_(Tensor(a!) self, Tensor[] others, Tensor? none=None) -> Tensor(a!)",
                                   [&](Tensor& self, TensorList others, const std::optional<Tensor>& none) -> Tensor& {
                                     shared = self.is_cpu() && others[0].is_cpu() && !none.has_value() &&
                                              self.storage() == others[0].storage() && self.is_same(others[1]);
                                     return addOne(self);
                                   });
  const CpuFallback fallback = registerCpuFallback(DispatchKey::PrivateUse1);
  const Tensor base = bring(counting({4}));
  const Tensor self = slice(base, 0, 1, 3);
  callOp(op, self, List<Tensor>{slice(base, 0, 2, 4), self}, IValue());
  EXPECT_TRUE(shared);
  EXPECT_EQ(floatsOf(base), (Floats{0, 2, 3, 3}));
}

TEST_F(CpuFallbackTest, ResizesOutputsAndKeepsTheRestOfTheirMemory) {
  const CpuFallback fallback = registerCpuFallback(DispatchKey::PrivateUse1);
  const OperatorHandle op = find("aten::add", "out");
  const Tensor x = bring(floats({1, 2, 3}));
  for (const int64_t size : {0, 2, 3, 5}) {
    const Tensor out = bring(counting({size}));
    const Stack result = callOp(op, x, x, 1, out);
    EXPECT_TRUE(result[0].toTensor().is_same(out));
    EXPECT_EQ(sizesOf(out), (std::vector<int64_t>{3}));
    EXPECT_EQ(floatsOf(out), (Floats{2, 4, 6}));
  }
  // When a storage grows, its first element, which is outside of the view, must not change.
  const Tensor base = bring(floats({7, 8}));
  const Tensor out = slice(base, 0, 1, 2);
  callOp(op, x, x, 1, out);
  EXPECT_EQ(floatsOf(out), (Floats{2, 4, 6}));
  EXPECT_EQ(floatsOf(base), (Floats{7, 2}));
}

TEST_F(CpuFallbackTest, WhatFailsLeavesEverythingAsItWas) {
  const OperatorHandle op = define("fail_(Tensor(a!) self) -> Tensor(a!)", [](Tensor& self) -> Tensor& {
    addOne(self);
    BOXCAR_FAIL("it fails late");
  });
  const CpuFallback fallback = registerCpuFallback(DispatchKey::PrivateUse1);
  const Tensor x = bring(floats({1, 2}));
  Stack stack;
  push(stack, 5, x);
  EXPECT_EQ(errorOf([&] { op.callBoxed(stack); }), "it fails late");
  EXPECT_EQ(stack.size(), 2);
  EXPECT_EQ(floatsOf(x), (Floats{1, 2}));
  EXPECT_TRUE(fallback.served().empty());
}

TEST_F(CpuFallbackTest, WritesThatOnlyTheVersionTellsAreKept) {
  const OperatorHandle op =
      define("norm(Tensor x, Tensor? running) -> Tensor", [](const Tensor& x, const std::optional<Tensor>& running) {
        Tensor written = *running;
        addOne(written);
        return add(x, 1);
      });
  const CpuFallback fallback = registerCpuFallback(DispatchKey::PrivateUse1);
  const Tensor running = bring(floats({1, 2}));
  callOp(op, bring(floats({0})), running);
  EXPECT_EQ(floatsOf(running), (Floats{2, 3}));
}

TEST_F(CpuFallbackTest, ResultsInListsComeBackAndShareWhatTheyShared) {
  const OperatorHandle op = define("parts(Tensor x) -> (Tensor[], int, Tensor?)", [](const Tensor& x) {
    const Tensor made = add(x, 1);
    return std::tuple(std::vector<Tensor>{select(made, 0, 0), made, x}, int64_t{7}, std::optional<Tensor>());
  });
  const CpuFallback fallback = registerCpuFallback(DispatchKey::PrivateUse1);
  const Tensor x = bring(counting({2, 2}));
  const Stack results = callOp(op, x);
  ASSERT_EQ(results.size(), 3);
  const List<Tensor> parts = results[0].toTensorList();
  EXPECT_EQ(floatsOf(parts[0]), (Floats{1, 2}));
  EXPECT_EQ(floatsOf(parts[1]), (Floats{1, 2, 3, 4}));
  EXPECT_EQ(parts[0].storage(), parts[1].storage());
  EXPECT_TRUE(parts[2].is_same(x));
  EXPECT_EQ(results[1].toInt(), 7);
  EXPECT_TRUE(results[2].isNone());
}

TEST_F(CpuFallbackTest, RefusesWhatACopyCannotStandFor) {
  const auto same = [](const Tensor& x) { return x; };
  const OperatorHandle first = define("first(Tensor(a) x) -> Tensor(a)", same);
  const OperatorHandle noise = define("noise(Tensor x) -> Tensor", same, {Tag::nondeterministic_seeded});
  const CpuFallback fallback = registerCpuFallback(DispatchKey::PrivateUse1);
  const Tensor x = bring(floats({1, 2}));
  EXPECT_EQ(errorOf([&] { callOp(first, x); }),
            "fallback_test::first has no kernel for PrivateUse1, and the CPU fallback does not run it: it returns a "
            "view, and a copy on the CPU would not share its memory. Register a kernel for PrivateUse1");
  EXPECT_EQ(errorOf([&] { callOp(noise, x); }),
            "fallback_test::noise has no kernel for PrivateUse1, and the CPU fallback does not run it: it draws random "
            "numbers, and the CPU's differ from the device's. Register a kernel for PrivateUse1");
  EXPECT_EQ(errorOf([&] { empty_strided({2}, {1}, std::nullopt, std::nullopt, kDevice); }),
            "aten::empty_strided has no kernel for PrivateUse1, and the CPU fallback does not run it: it takes no "
            "tensor that would tell the device of its result. Register a kernel for PrivateUse1");
  EXPECT_EQ(errorOf([&] {
              mm(bring(counting({2, 2})), counting({2, 2}));
            }),
            "the CPU fallback does not run aten::mm on tensors of several devices: argument 'self' lies on "
            "'privateuseone:0' and argument 'mat2' on 'cpu'; move one of them with to()");
  // A CPU scalar tensor works with any device, but cannot be the output for tensors of another device.
  EXPECT_EQ(floatsOf(mul(x, select(floats({3}), 0, 0))), (Floats{3, 6}));
  EXPECT_NE(errorOf([&] { callOp(find("aten::add", "out"), x, x, 1, select(floats({3}), 0, 0)); }), "no error");
}

TEST_F(CpuFallbackTest, ForcesOperatorsAsLongAsItLives) {
  int calls = 0;
  kernels_.impl("relu", [&calls](const Tensor& x) {
    ++calls;
    return x;
  });
  const Tensor x = bring(floats({-1}));
  relu(x);
  {
    CpuFallback fallback = registerCpuFallback(DispatchKey::PrivateUse1, {.force = {"aten::relu"}});
    EXPECT_EQ(floatsOf(relu(x)), (Floats{0}));
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(errorOf([&] { fallback.force("aten::relux"); }),
              "cannot force 'aten::relux' onto the CPU: no operator has such a name");
    EXPECT_EQ(errorOf([&] { fallback.force("aten::copy_"); }),
              "cannot force 'aten::copy_' onto the CPU: aten::copy_ copies tensors to the CPU and back, so a device "
              "needs its own");
  }
  relu(x);
  EXPECT_EQ(calls, 2);
}

TEST_F(CpuFallbackTest, IsRegisteredOnceAndForDevicesOnly) {
  const CpuFallback fallback = registerCpuFallback(DispatchKey::PrivateUse1);
  EXPECT_EQ(errorOf([] { static_cast<void>(registerCpuFallback(DispatchKey::PrivateUse1)); }).substr(0, 54),
            "only one fallback can be registered for PrivateUse1: t");
  for (const DispatchKey key : {DispatchKey::CPU, DispatchKey::Meta, DispatchKey::AutogradCPU, DispatchKey::Dense}) {
    EXPECT_NE(errorOf([key] { static_cast<void>(registerCpuFallback(key)); }).find("give the key of the dense tensors"),
              std::string::npos)
        << toString(key);
  }
}

TEST_F(CpuFallbackTest, HandlersSeeOneCallOfTheOperator) {
  const CpuFallback fallback = registerCpuFallback(DispatchKey::PrivateUse1);
  const Tensor x = bring(floats({-1}));
  std::vector<std::string> seen;
  const ModeGuard mode(
      [&](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
        seen.push_back(toString(op.operator_name()));
        op.redispatchBoxed(keys, stack);
      },
      {.sees_calls_below = true});
  relu(x);
  EXPECT_EQ(std::ranges::count(seen, "aten::relu"), 1);
  // One copy to the CPU and one back; each calls the host's copy_.
  EXPECT_EQ(std::ranges::count(seen, "aten::copy_"), 4);
}

TEST_F(CpuFallbackTest, ThreadsWriteBesideEachOther) {
  const OperatorHandle op = define("add_one_(Tensor(a!) self) -> Tensor(a!)", addOne);
  const CpuFallback fallback = registerCpuFallback(DispatchKey::PrivateUse1);
  constexpr int64_t kThreads = 4;
  constexpr int kCalls = 100;
  const Tensor base = bring(zeros({8, kThreads}));
  std::vector<std::thread> threads;
  for (int64_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (int call = 0; call < kCalls; ++call) callOp(op, select(base, 1, i));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(floatsOf(base), Floats(8 * kThreads, kCalls));
  EXPECT_EQ(fallback.served()[0].calls, kThreads * kCalls);
}

}  // namespace
}  // namespace boxcar
