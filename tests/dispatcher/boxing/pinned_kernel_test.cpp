#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/dispatcher/dispatcher_helpers.h"

namespace boxcar {
namespace {

using Key = DispatchKey;
using Count = int64_t(const Tensor&);

// Runs [when] in its destructor.
struct AtEnd {
  explicit AtEnd(std::function<void()> when) : when_(std::move(when)) {}
  ~AtEnd() { when_(); }
  std::function<void()> when_;
};

// An operator `pin::count` whose kernels have state.
class PinnedKernel : public ::testing::Test {
 protected:
  PinnedKernel() { m_.def("count(Tensor x) -> int"); }

  OperatorHandle op() const { return find("pin::count"); }
  int64_t call() const { return op().typed<Count>().call(x_); }
  int64_t callBoxed() const {
    Stack stack{IValue(x_)};
    op().callBoxed(stack);
    return pop(stack).toInt();
  }
  static DispatchKeySet keys() { return DispatchKeySet(Key::CPU); }
  static Library kernel(Key key, auto functor) {
    Library library = implementations(key, "pin");
    library.impl("count", std::move(functor));
    return library;
  }
  // Calls [record] like a caller that read it from the table some time ago.
  int64_t callRecord(const Kernel* record) const {
    Stack stack{IValue(x_)};
    record->boxed(record, op(), keys(), stack);
    return pop(stack).toInt();
  }
  int64_t callRecordTyped(const Kernel* record) const {
    return static_cast<const UnboxedKernel<Count>*>(record)->unboxed(record, keys(), x_);
  }

  Tensor x_ = cpuTensor();

 private:
  Library m_ = definitions("pin");
};

TEST_F(PinnedKernel, StateIsFreedWhenTheRegistrationGoes) {
  const auto state = std::make_shared<int>(5);
  {
    const Library cpu = kernel(Key::CPU, [state](const Tensor&) { return int64_t{*state}; });
    EXPECT_EQ(call(), 5);
    EXPECT_EQ(callBoxed(), 5);
    EXPECT_GT(state.use_count(), 1);
  }
  EXPECT_EQ(state.use_count(), 1);
}

TEST_F(PinnedKernel, StateLivesAsLongAsACallIsInsideAndIsFreedWhenItLeaves) {
  const auto state = std::make_shared<int>(5);
  std::optional<Library> cpu;
  cpu = kernel(Key::CPU, [state, &cpu](const Tensor&) {
    cpu.reset();  // removes the kernel that is running
    EXPECT_GT(state.use_count(), 1);
    return int64_t{*state};
  });
  EXPECT_EQ(call(), 5);
  EXPECT_EQ(state.use_count(), 1);
  cpu = kernel(Key::CPU, [state, &cpu](const Tensor&) {
    cpu.reset();
    return int64_t{*state};
  });
  EXPECT_EQ(callBoxed(), 5);
  EXPECT_EQ(state.use_count(), 1);
}

TEST_F(PinnedKernel, BoxedKernelAndFallbackMayRemoveThemselvesToo) {
  const auto state = std::make_shared<int>(5);
  std::optional<Library> library;
  const auto remover = [state, &library](const OperatorHandle&, Stack& stack) {
    library.reset();
    EXPECT_GT(state.use_count(), 1);
    drop(stack, 1);
    push(stack, int64_t{*state});
  };
  library = kernel(Key::CPU, CppFunction::makeFromBoxedFunctor(remover));
  EXPECT_EQ(call(), 5);
  EXPECT_EQ(state.use_count(), 2);  // the second reference is in `remover`
  library = fallbacks(Key::CPU);
  library->fallback(CppFunction::makeFromBoxedFunctor(remover));
  EXPECT_EQ(callBoxed(), 5);
  EXPECT_EQ(state.use_count(), 2);
}

TEST_F(PinnedKernel, CallThatRecursesKeepsTheStateUntilTheOutermostLeaves) {
  const auto state = std::make_shared<int>(5);
  std::optional<Library> cpu;
  int depth = 0;
  cpu = kernel(Key::CPU, [&, state](const Tensor&) -> int64_t {
    if (++depth < 4) return call() + 1;
    cpu.reset();
    return *state;
  });
  EXPECT_EQ(call(), 8);
  EXPECT_EQ(state.use_count(), 1);
}

TEST_F(PinnedKernel, KernelThatThrowsLeavesItsStateFree) {
  const auto state = std::make_shared<int>(5);
  std::optional<Library> cpu;
  cpu = kernel(Key::CPU, [&, state](const Tensor&) -> int64_t {
    cpu.reset();
    throw std::runtime_error("gone");
  });
  EXPECT_EQ(errorOf([&] { call(); }), "pin::count() failed: gone");
  EXPECT_EQ(state.use_count(), 1);
}

// Removal clears table entries first and destroys state after that. In the other order, a call from the destructor
// would still find the state that is being destroyed.
TEST_F(PinnedKernel, TablesHoldNoStateAnyMoreWhenItIsDestroyed) {
  const Library below = kernel(Key::CPU, [](const Tensor&) { return int64_t{1}; });
  std::vector<int64_t> seen;
  const auto makeGuard = [&] {
    return std::make_shared<AtEnd>([&] { seen.push_back(call()), seen.push_back(callBoxed()); });
  };
  {
    const Library cpu = kernel(Key::CPU, [guard = makeGuard()](const Tensor&) { return int64_t{2}; });
  }
  EXPECT_EQ(seen, (std::vector<int64_t>{1, 1}));

  // The same if the state is destroyed with the last call inside it.
  seen.clear();
  std::optional<Library> cpu;
  cpu = kernel(Key::CPU, [&cpu, guard = makeGuard()](const Tensor&) {
    cpu.reset();
    return int64_t{3};
  });
  EXPECT_EQ(call(), 3);
  EXPECT_EQ(seen, (std::vector<int64_t>{1, 1}));

  // The same for a fallback, at a key that is in every call of this thread.
  seen.clear();
  const IncludeDispatchKeyGuard include(Key::VmapMode);
  {
    Library fallback = fallbacks(Key::VmapMode);
    fallback.fallback(CppFunction::makeFromBoxedFunctor([guard = makeGuard()](const OperatorHandle&, Stack& stack) {
      drop(stack, 1);
      push(stack, int64_t{4});
    }));
    EXPECT_EQ(call(), 4);
  }
  EXPECT_EQ(seen, (std::vector<int64_t>{1, 1}));
}

// A caller that read a table entry but calls it late must look again, because the slot may serve another kernel by
// then.
TEST_F(PinnedKernel, LateCallerReachesWhatTheTableHoldsByThen) {
  const Library below = kernel(Key::CPU, [](const Tensor&) { return int64_t{1}; });
  const Kernel* record = nullptr;
  {
    const Library cpu = kernel(Key::CPU, [n = int64_t{2}](const Tensor&) { return n; });
    record = op().entry().lookup(keys());
    EXPECT_EQ(callRecord(record), 2);
    EXPECT_EQ(callRecordTyped(record), 2);
  }
  EXPECT_EQ(callRecord(record), 1);
  EXPECT_EQ(callRecordTyped(record), 1);
  // The slot is reused for another key: the late caller must not run that kernel.
  const Library cuda = kernel(Key::CUDA, [n = int64_t{3}](const Tensor&) { return n; });
  ASSERT_EQ(op().entry().lookup(DispatchKeySet(Key::CUDA)), record);
  EXPECT_EQ(callRecord(record), 1);
  EXPECT_EQ(callRecordTyped(record), 1);
  // A new kernel for the same key is the one that the caller wants.
  const Library again = kernel(Key::CPU, [n = int64_t{4}](const Tensor&) { return n; });
  EXPECT_EQ(callRecord(op().entry().lookup(keys())), 4);
}

TEST_F(PinnedKernel, LateCallerOfABoxedKernelLooksAgainToo) {
  const auto boxed = [](int64_t n) {
    return CppFunction::makeFromBoxedFunctor([n](const OperatorHandle&, Stack& stack) {
      drop(stack, 1);
      push(stack, n);
    });
  };
  const Library below = kernel(Key::CPU, boxed(1));
  const Kernel* record = nullptr;
  {
    const Library cpu = kernel(Key::CPU, boxed(2));
    record = op().entry().lookup(keys());
    EXPECT_EQ(callRecord(record), 2);
  }
  EXPECT_EQ(callRecord(record), 1);
  const Library cuda = kernel(Key::CUDA, boxed(3));
  ASSERT_EQ(op().entry().lookup(DispatchKeySet(Key::CUDA)), record);
  EXPECT_EQ(callRecord(record), 1);
}

TEST_F(PinnedKernel, LateTypedCallerMayReachABoxedKernel) {
  const Library below = kernel(Key::CPU, CppFunction::makeFromBoxedFunctor([](const OperatorHandle&, Stack& stack) {
                                 drop(stack, 1);
                                 push(stack, int64_t{1});
                               }));
  const Kernel* record = nullptr;
  {
    const Library cpu = kernel(Key::CPU, [n = int64_t{2}](const Tensor&) { return n; });
    record = op().entry().lookup(keys());
  }
  EXPECT_EQ(callRecordTyped(record), 1);
}

TEST_F(PinnedKernel, LateCallerOfARemovedOperatorIsToldSo) {
  const Kernel* record = nullptr;
  OperatorHandle gone = op();
  {
    Library m = definitions("pin");
    m.def("gone(Tensor x) -> int", [n = int64_t{2}](const Tensor&) { return n; });
    gone = find("pin::gone");
    record = gone.entry().lookup(keys());
  }
  Stack stack{IValue(x_)};
  EXPECT_EQ(errorOf([&] { record->boxed(record, gone, keys(), stack); }),
            "operator pin::gone is not defined any more: its definition at test.cpp:1 was removed");
}

// A kernel never reads below the bottom of a short stack, no matter which caller passed it.
TEST_F(PinnedKernel, KernelOfADefinitionWithMoreArgumentsFindsTooFew) {
  std::optional<Library> m = definitions("pin");
  m->def("grows(Tensor x) -> int", [n = int64_t{1}](const Tensor&) { return n; });
  const OperatorHandle grows = find("pin::grows");
  const Kernel* late = grows.entry().lookup(keys());
  m = definitions("pin");
  m->def("grows(Tensor x, Tensor y, Tensor z) -> int",
         [n = int64_t{3}](const Tensor&, const Tensor&, const Tensor&) { return n; });
  const std::string expected =
      "pin::grows() reached a kernel that takes 3 arguments, but the stack holds 1 values: a handler above it consumed "
      "arguments, or the operator was redefined during the call. Pass all arguments on. Schema: "
      "pin::grows(Tensor "
      "x, Tensor y, Tensor z) -> int";
  Stack stack{IValue(x_)};
  EXPECT_EQ(errorOf([&] { grows.redispatchBoxed(keys(), stack); }), expected);
  EXPECT_EQ(errorOf([&] { late->boxed(late, grows, keys(), stack); }), expected);
  EXPECT_EQ(stack.size(), 1U);
  // The same for a late typed caller of a boxed kernel.
  Library boxed = implementations(Key::CPU, "pin");
  boxed.impl("grows", CppFunction::makeFromBoxedFunctor([](const OperatorHandle&, Stack&) {}));
  EXPECT_EQ(errorOf([&] { callRecordTyped(late); }),
            "pin::grows() takes 3 arguments since it was redefined, but was called with 1 through an older handle; "
            "make a new handle with typed<>(). Schema: pin::grows(Tensor x, Tensor y, Tensor z) -> int");
}

// Handles of two types are both valid while there is no unboxed kernel.
TEST_F(PinnedKernel, TypedHandlesOfTwoTypesBothReachAKernelThatComesLater) {
  Library m = definitions("pin");
  m.def("total(Tensor[] xs) -> int");
  const auto by_span = find("pin::total").typed<int64_t(TensorList)>();
  const auto by_list = find("pin::total").typed<int64_t(const List<Tensor>&)>();
  Library cpu = implementations(Key::CPU, "pin");
  cpu.impl("total", [](TensorList xs) { return static_cast<int64_t>(xs.size()); });
  EXPECT_EQ(by_span.call(std::vector<Tensor>{x_, x_}), 2);
  EXPECT_EQ(by_list.call(List<Tensor>{x_, x_, x_}), 3);
}

TEST_F(PinnedKernel, OtherThreadMayBeTheLastToLeave) {
  const auto state = std::make_shared<std::atomic<int>>(0);
  std::optional<Library> cpu;
  cpu = kernel(Key::CPU, [state](const Tensor&) -> int64_t {
    *state = 1;
    while (*state != 2) std::this_thread::yield();
    return 7;
  });
  int64_t result = 0;
  std::thread caller([&] { result = call(); });
  while (*state != 1) std::this_thread::yield();
  cpu.reset();
  EXPECT_EQ(state.use_count(), 2);  // the second reference is in the call
  *state = 2;
  caller.join();
  EXPECT_EQ(result, 7);
  EXPECT_EQ(state.use_count(), 1);
}

// Replaces kernels and fallbacks with state, and whole libraries, many times.
TEST_F(PinnedKernel, MemoryIsBoundedOverManyReplacements) {
  const auto replace = [&](int count) {
    for (int i = 0; i < count; ++i) {
      const Library cpu = kernel(Key::CPU, [i](const Tensor&) { return int64_t{i}; });
      const Library boxed =
          kernel(Key::Autograd,
                 CppFunction::makeFromBoxedFunctor([i](const OperatorHandle&, Stack& stack) { stack[0] = IValue(i); }));
      Library fallback = fallbacks(Key::Tracer);
      fallback.fallback(
          CppFunction::makeFromBoxedFunctor([i](const OperatorHandle&, Stack& stack) { stack[0] = IValue(i); }));
      Library m = definitions("pin");
      m.def("short_lived(Tensor x) -> int", [i](const Tensor&) { return int64_t{i}; });
      if (i % 1000 == 0) {
        EXPECT_EQ(call(), i);
      }
    }
  };
  const auto bytesInUse = [] {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
  };
  replace(2000);
  const size_t before = bytesInUse();
  replace(20000);
  EXPECT_LT(bytesInUse(), before + size_t{16} * 1024);
}

TEST_F(PinnedKernel, TypedHandleFromBeforeADefinitionOfMoreArgumentsIsTold) {
  std::optional<Library> m = definitions("pin");
  m->def("grows(Tensor x) -> int", [](const Tensor&) { return int64_t{1}; });
  const auto typed = find("pin::grows").typed<Count>();
  EXPECT_EQ(typed.call(x_), 1);
  m = definitions("pin");
  EXPECT_EQ(errorOf([&] { typed.call(x_); }),
            "operator pin::grows is not defined any more: its definition at test.cpp:1 was removed");
  m->def("grows(Tensor x, Tensor y, Tensor z) -> int",
         [](const Tensor&, const Tensor&, const Tensor&) { return int64_t{3}; });
  EXPECT_EQ(errorOf([&] { typed.call(x_); }),
            "pin::grows() takes 3 arguments since it was redefined, but was called with 1 through an older handle; "
            "make a new handle with typed<>(). Schema: pin::grows(Tensor x, Tensor y, Tensor z) -> int");
}

// Typed callers rely on the type of their first handle; kernels of another type are called boxed.
TEST_F(PinnedKernel, TypedHandleOutlivesAChangeOfTheKernelsCppType) {
  Library m = definitions("pin");
  m.def("sum(Tensor[] xs) -> int");
  using Span = int64_t(TensorList);
  using Listed = int64_t(const List<Tensor>&);
  const OperatorHandle sum = find("pin::sum");
  const std::vector<Tensor> tensors{x_, x_};
  std::optional<TypedOperatorHandle<Span>> typed;
  {
    Library cpu = implementations(Key::CPU, "pin");
    cpu.impl("sum", [](TensorList xs) { return static_cast<int64_t>(xs.size()); });
    typed = sum.typed<Span>();
    EXPECT_EQ(typed->call(tensors), 2);
  }
  Library cpu = implementations(Key::CPU, "pin");
  for (const bool stateful : {false, true}) {
    Library newer = implementations(Key::CPU, "pin");
    if (stateful) {
      newer.impl("sum", [n = int64_t{20}](const List<Tensor>& xs) { return n + static_cast<int64_t>(xs.size()); });
    } else {
      newer.impl("sum", [](const List<Tensor>& xs) { return 10 + static_cast<int64_t>(xs.size()); });
    }
    const int64_t expected = stateful ? 22 : 12;
    EXPECT_EQ(typed->call(tensors), expected);
    EXPECT_EQ(sum.typed<Listed>().call(List<Tensor>{x_, x_}), expected);
    Stack stack{IValue(List<Tensor>{x_, x_})};
    sum.callBoxed(stack);
    EXPECT_EQ(pop(stack).toInt(), expected);
    EXPECT_NE(errorOf([&] {
                static_cast<void>(sum.typed<Span>());
              }).find("was accessed at tests/dispatcher/boxing/pinned_kernel_test.cpp:"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace boxcar
