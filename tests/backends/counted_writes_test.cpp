#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <tuple>
#include <vector>

#include "tests/backends/tensor_helpers.h"

// Tensor::version() counts the writes of kernels, whoever wrote the kernel.

namespace boxcar {
namespace {

Tensor& increase(Tensor& x) {
  x.data_ptr<float>()[0] += 1;
  return x;
}

std::tuple<Tensor&, Tensor&> increaseBoth(Tensor& a, const Tensor&, Tensor& b) { return {increase(a), increase(b)}; }

void increaseWithoutResult(Tensor& x) { increase(x); }

Tensor& refuse(Tensor&) { BOXCAR_FAIL("refused"); }

Tensor& callTwice(Tensor& x) { return boxcar::add_(boxcar::add_(x, 1), 1); }

// Boxed kernels: one writes the memory itself, the other calls an operator that does.
void increaseBoxed(const OperatorHandle&, Stack& stack) { increase(peek(stack, 0, 1).toTensor()); }

void callOnceBoxed(const OperatorHandle&, Stack& stack) { boxcar::add_(peek(stack, 0, 1).toTensor(), 1); }

void increaseAllBoxed(const OperatorHandle&, Stack& stack) {
  for (Tensor x : pop(stack).toTensorList().vec()) increase(x);
}

struct Touch {
  static constexpr WriteCount kWriteCount = WriteCount::kNever;
  Tensor& operator()(Tensor& x) const { return x; }
};

class CountedWrites : public testing::Test {
 protected:
  CountedWrites() {
    library_.def("increase(Tensor(a!) x) -> Tensor(a!)", BOXCAR_FN(increase));
    library_.def("lambda(Tensor(a!) x) -> Tensor(a!)", [](Tensor& x) -> Tensor& { return increase(x); });
    library_.def("both(Tensor(a!) a, Tensor b, Tensor(c!) c) -> (Tensor(a!), Tensor(c!))", BOXCAR_FN(increaseBoth));
    library_.def("no_result(Tensor(a!) x) -> ()", BOXCAR_FN(increaseWithoutResult));
    library_.def("refuse(Tensor(a!) x) -> Tensor(a!)", BOXCAR_FN(refuse));
    library_.def("twice(Tensor(a!) x) -> Tensor(a!)", BOXCAR_FN(callTwice));
    library_.def("boxed(Tensor(a!) x) -> Tensor(a!)");
    library_.def("boxed_once(Tensor(a!) x) -> Tensor(a!)");
    library_.def("boxed_list(Tensor(a!)[] xs) -> ()");
    kernels_.impl("boxed", KernelFunction::makeFromBoxedFunction<&increaseBoxed>());
    kernels_.impl("boxed_once", KernelFunction::makeFromBoxedFunction<&callOnceBoxed>());
    kernels_.impl("boxed_list", KernelFunction::makeFromBoxedFunction<&increaseAllBoxed>());
    library_.def("touch(Tensor(a!) x) -> Tensor(a!)", Touch());
  }

  static OperatorHandle op(const char* name) { return Dispatcher::singleton().findSchemaOrThrow(name, ""); }
  static uint32_t versionAfter(const char* name, bool boxed) {
    Tensor x = floats({1});
    if (boxed) {
      Stack stack{x};
      op(name).callBoxed(stack);
    } else {
      op(name).typed<Tensor&(Tensor&)>().call(x);
    }
    return x.version();
  }

  Library library_ = MAKE_BOXCAR_LIBRARY(counted);
  Library kernels_{Library::IMPL, "counted", DispatchKey::CPU, __FILE__, __LINE__};
};

TEST_F(CountedWrites, AKernelWritesOnce) {
  for (const bool boxed : {false, true}) {
    EXPECT_EQ(versionAfter("counted::increase", boxed), 1U);
    EXPECT_EQ(versionAfter("counted::lambda", boxed), 1U);
  }
}

TEST_F(CountedWrites, TheWritesOfACompositeKernelAreThoseOfItsCalls) {
  for (const bool boxed : {false, true}) EXPECT_EQ(versionAfter("counted::twice", boxed), 2U);
}

TEST_F(CountedWrites, ABoxedKernelWritesOnce) {
  for (const bool boxed : {false, true}) {
    EXPECT_EQ(versionAfter("counted::boxed", boxed), 1U);
    EXPECT_EQ(versionAfter("counted::boxed_once", boxed), 1U);
  }
  const Tensor a = floats({1});
  const Tensor b = floats({1});
  Stack stack{List<Tensor>({a, b})};
  op("counted::boxed_list").callBoxed(stack);
  EXPECT_EQ((std::vector{a.version(), b.version()}), (std::vector<uint32_t>{1, 1}));
}

TEST_F(CountedWrites, AFunctorMaySayThatItChangesNothing) {
  for (const bool boxed : {false, true}) EXPECT_EQ(versionAfter("counted::touch", boxed), 0U);
}

TEST_F(CountedWrites, EachWrittenTensorIsCountedAndNoOther) {
  Tensor a = floats({1});
  const Tensor b = floats({1});
  Tensor c = floats({1});
  op("counted::both").typed<std::tuple<Tensor&, Tensor&>(Tensor&, const Tensor&, Tensor&)>().call(a, b, c);
  EXPECT_EQ((std::vector{a.version(), b.version(), c.version()}), (std::vector<uint32_t>{1, 0, 1}));
  op("counted::no_result").typed<void(Tensor&)>().call(a);
  EXPECT_EQ(a.version(), 2U);
}

TEST_F(CountedWrites, AKernelThatThrowsHasWrittenNothing) {
  Tensor x = floats({1});
  EXPECT_EQ(errorOf([&] { op("counted::refuse").typed<Tensor&(Tensor&)>().call(x); }), "refused");
  EXPECT_EQ(x.version(), 0U);
}

TEST_F(CountedWrites, OperatorsOfBackendsCountOnce) {
  Tensor x = floats({1, 2});
  boxcar::add_(x, 1);
  EXPECT_EQ(x.version(), 1U);
  boxcar::multiply_(x, floats({2}));
  EXPECT_EQ(x.version(), 2U);
  Tensor row = boxcar::select(x, 0, 1);
  boxcar::fill_(row, 3);
  EXPECT_EQ(x.version(), 3U);
  boxcar::add_out(x, x, x);
  EXPECT_EQ(x.version(), 4U);
  boxcar::detach_(x);
  EXPECT_EQ(x.version(), 4U);
}

}  // namespace
}  // namespace boxcar
