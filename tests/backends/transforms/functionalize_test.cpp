#include <boxcar/backends/autograd/autograd.h>
#include <boxcar/backends/transforms/functionalize.h>
#include <boxcar/dispatcher/call/mode.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/default_generators.h>
#include <boxcar/ops.h>
#include <gtest/gtest.h>

#include <complex>
#include <functional>
#include <string>
#include <vector>

#include "tests/backends/tensor_helpers.h"

namespace boxcar {
namespace {

using Ints = std::vector<int64_t>;

// The calls that a mode below functionalize() sees while [program] runs: "select.int add.Scalar".
std::string callsOf(FunctionalViews views, const std::function<void()>& program) {
  std::string calls;
  const ModeGuard watch(
      [&](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
        const std::string name = toString(op.operator_name());
        calls += (calls.empty() ? "" : " ") + name.substr(name.rfind(':') + 1);
        op.redispatchBoxed(keys, stack);
      },
      {.key = DispatchKey::Python});
  const FunctionalizeGuard guard(views);
  program();
  return calls;
}
std::string callsOf(const std::function<void()>& program) { return callsOf(FunctionalViews::kKeep, program); }

TEST(Functionalize, AWriteBecomesACallThatReturns) {
  const Tensor made = floats({1, 2});
  EXPECT_EQ(callsOf([&] {
              Tensor x = add(made, 1);
              add_(x, 1);
              mul_(x, x);
              EXPECT_EQ(elements<float>(x), (std::vector<float>{9, 16}));
            }),
            "add.Scalar add.Scalar mul.Tensor");
}

TEST(Functionalize, WhatIsWrittenOutsideIsCopiedBackAtTheEnd) {
  Tensor x = floats({1, 2});
  std::string calls = callsOf([&] { add_(x, 1); });
  EXPECT_EQ(calls, "add.Scalar copy_");
  EXPECT_EQ(elements<float>(x), (std::vector<float>{2, 3}));
}

TEST(Functionalize, AViewsWriteIsSeenInItsBaseAndInOtherViews) {
  EXPECT_EQ(callsOf([&] {
              const Tensor x = zeros(Ints{2, 2});
              Tensor row = select(x, 0, 0);
              const Tensor column = select(x, 1, 0);
              add_(row, 1);
              const Tensor sum = add(column, 1);
              EXPECT_EQ(elements<float>(x), (std::vector<float>{1, 1, 0, 0}));
              EXPECT_EQ(elements<float>(sum), (std::vector<float>{2, 1}));
            }),
            "zeros select.int select.int add.Scalar select_scatter select.int add.Scalar");
}

TEST(Functionalize, ViewsAreCopiedWhenTheyAreRead) {
  EXPECT_EQ(callsOf(FunctionalViews::kCopy,
                    [&] {
                      const Tensor x = zeros(Ints{2, 2});
                      Tensor row = select(x, 0, 0);
                      const Tensor column = select(x, 1, 0);
                      fill_(row, 1);
                      const Tensor sum = add(column, 1);
                      EXPECT_EQ(elements<float>(sum), (std::vector<float>{2, 1}));
                    }),
            "zeros select_copy.int fill.Scalar select_scatter select_copy.int add.Scalar");
}

TEST(Functionalize, AChainOfViewsIsUndoneStepByStep) {
  EXPECT_EQ(
      callsOf([&] {
        const Tensor x = zeros(Ints{2, 3, 2});
        Tensor part = slice(transpose(select(x, 0, 1), 0, 1), 1, 0, 2);
        mul_(part, 2);
      }),
      "zeros select.int transpose.int slice.Tensor mul.Scalar select.int transpose.int slice_scatter transpose.int "
      "select_scatter");
}

TEST(Functionalize, OutputsGetTheFunctionalFormsResult) {
  EXPECT_EQ(callsOf([&] {
              const Tensor x = ones(Ints{2});
              Tensor out = boxcar::empty(Ints{2});
              add_out(out, x, x);
              Tensor grown = boxcar::empty(Ints{0});
              mul_out(grown, x, x);
              EXPECT_EQ(sizesOf(grown), Ints{2});
              EXPECT_EQ(elements<float>(add(out, grown)), (std::vector<float>{3, 3}));
            }),
            "ones empty.memory_format add.Tensor empty.memory_format mul.Tensor add.Tensor");
}

TEST(Functionalize, AnEnlargedOutputIsResizedAtTheEnd) {
  const Tensor x = floats({1, 2});
  Tensor out = boxcar::empty(Ints{0});
  EXPECT_EQ(callsOf([&] { add_out(out, x, x); }), "add.Tensor resize_ copy_");
  EXPECT_EQ(elements<float>(out), (std::vector<float>{2, 4}));
  // This one enlarges the memory before it calls empty.out.
  Tensor products = boxcar::empty(Ints{0});
  EXPECT_EQ(callsOf([&] { outer_out(products, x, x); }), "unsqueeze mul.Tensor empty.memory_format copy resize_ copy_");
  EXPECT_EQ(elements<float>(products), (std::vector<float>{1, 2, 2, 4}));
}

TEST(Functionalize, FactoriesMakeWhatTheirOutputsAre) {
  EXPECT_EQ(callsOf([&] {
              Tensor out = boxcar::empty(Ints{3}, ScalarType::Double);
              arange_out(out, 3);
              EXPECT_EQ(elements<double>(add(out, 1)), (std::vector<double>{1, 2, 3}));
              ones_out(out, Ints{3});
              EXPECT_EQ(elements<double>(add(out, 1)), (std::vector<double>{2, 2, 2}));
            }),
            "empty.memory_format arange add.Scalar ones add.Scalar");
}

TEST(Functionalize, AShapeThatChangesInPlaceIsAView) {
  EXPECT_EQ(callsOf([&] {
              Tensor x = zeros(Ints{2, 3});
              t_(x);
              add_(x, 1);
              EXPECT_EQ(sizesOf(x), (Ints{3, 2}));
            }),
            "zeros alias t add.Scalar t");
}

TEST(Functionalize, WhatHasNoFormRunsOnCopies) {
  EXPECT_EQ(callsOf([&] {
              Tensor x = ones(Ints{2, 4});
              embedding_renorm_(x, zeros(Ints{1}, ScalarType::Long), 1, 2);
              EXPECT_EQ(elements<float>(select(x, 1, 0))[1], 1);
              EXPECT_NEAR(elements<float>(x)[0], 0.5, 1e-4);
            }),
            "ones zeros clone embedding_renorm_ select.int clone");
}

TEST(Functionalize, ResultsOfTheTypeOfSelfAreConverted) {
  EXPECT_EQ(callsOf([&] {
              Tensor x = zeros(Ints{2});
              add_(x, ones(Ints{2}, ScalarType::Double));
              EXPECT_EQ(elements<float>(x), (std::vector<float>{1, 1}));
            }),
            "zeros ones add.Tensor _to_copy");
}

TEST(Functionalize, LazyConjugatesAreMadeOfTheValueOfTheirMemory) {
  const Tensor made = tensorOf<std::complex<float>>({{1, 4}, {2, 5}});
  EXPECT_EQ(callsOf(FunctionalViews::kCopy,
                    [&] {
                      const Tensor z = mul(made, 2);
                      const Tensor part = add(imag(conj(z)), 1);
                      EXPECT_EQ(elements<float>(part), (std::vector<float>{-7, -9}));
                    }),
            "mul.Scalar view_as_real_copy select_copy.int neg add.Scalar");
  EXPECT_EQ(callsOf(FunctionalViews::kCopy,
                    [&] {
                      const Tensor z = mul(made, 2);
                      Tensor part = imag(conj(z));
                      zero_(part);
                      EXPECT_EQ(toString(z), "tensor([2.-0.j, 4.-0.j])");
                    }),
            "mul.Scalar view_as_real_copy select_copy.int neg zero copy select_scatter view_as_complex_copy "
            "view_as_real_copy select_copy.int neg select_scatter view_as_complex_copy");
  EXPECT_EQ(callsOf([&] {
              const Tensor z = mul(made, 2);
              Tensor view = t(z);
              mul_(view, 2);
              const Tensor resolved = resolve_conj(conj(view));
              EXPECT_EQ(toString(resolved), "tensor([4.-16.j, 8.-20.j])");
            }),
            "mul.Scalar t mul.Scalar t t conj_physical");
}

TEST(Functionalize, WhatPrintsALazyConjugateMakesNoCalls) {
  const Tensor made = tensorOf<std::complex<float>>({{1, 4}, {2, 5}});
  EXPECT_EQ(callsOf(FunctionalViews::kCopy,
                    [&] {
                      Tensor z = mul(made, 2);
                      const Tensor part = imag(conj(z));
                      mul_(z, 2);
                      EXPECT_EQ(toString(part), "tensor([-16., -20.])");
                      add(part, 1);
                    }),
            "mul.Scalar mul.Scalar view_as_real_copy select_copy.int neg add.Scalar");
}

TEST(Functionalize, ATensorThatNoCallMadeHasTheValueOfItsPlace) {
  const Tensor made = tensorOf<std::complex<float>>({{1, 4}, {2, 5}});
  for (const bool is_gone : {false, true}) {
    EXPECT_EQ(callsOf(FunctionalViews::kCopy,
                      [&] {
                        Tensor z = mul(made, 2);
                        Tensor parts = view_as_real(z);
                        const Tensor data = prim::data(parts);
                        if (is_gone) parts = Tensor();
                        mul_(z, 2);
                        const Tensor sum = add(data, 1);
                        EXPECT_EQ(elements<float>(sum), (std::vector<float>{5, 17, 9, 21}));
                      }),
              "mul.Scalar mul.Scalar view_as_real_copy add.Scalar");
  }
  EXPECT_EQ(callsOf([&] {
              const Tensor z = mul(made, 2);
              Tensor first = prim::data(select(view_as_real(z), -1, 0));
              mul_(first, 3);
              EXPECT_EQ(toString(z), "tensor([ 6.+8.j, 12.+10.j])");
            }),
            "mul.Scalar view_as_real select.int view_as_real select.int mul.Scalar select_scatter view_as_complex");
}

TEST(Functionalize, AMemoryOfTwoTypesHasOneValue) {
  for (const FunctionalViews views : {FunctionalViews::kKeep, FunctionalViews::kCopy}) {
    callsOf(views, [&] {
      const Tensor x = ones(Ints{2}, ScalarType::ComplexFloat);
      Tensor parts = view_as_real(x);
      add_(parts, 1);
      const Tensor bits = view(parts, ScalarType::Int);
      Tensor whole = view(bits, ScalarType::Float);
      mul_(whole, 2);
      EXPECT_EQ(elements<float>(view_as_real(mul(x, 1))), (std::vector<float>{4, 2, 4, 2}));
      EXPECT_EQ(elements<float>(add(parts, 0)), (std::vector<float>{4, 2, 4, 2}));
    });
  }
}

TEST(Functionalize, BatchNormReturnsItsStatistics) {
  Tensor mean = zeros(Ints{2});
  Tensor variance = ones(Ints{2});
  const Tensor x = counting({4, 2});
  EXPECT_EQ(callsOf([&] {
              batch_norm(x, Tensor(), Tensor(), mean, variance, true, 0.5, 1e-5, false);
              batch_norm(x, Tensor(), Tensor(), mean, variance, false, 0.5, 1e-5, false);
            }),
            "_native_batch_norm_legit_functional native_batch_norm copy_ copy_");
  EXPECT_EQ(elements<float>(mean), (std::vector<float>{1.5, 2}));
}

TEST(Functionalize, RandomNumbersAreThoseOfTheProgram) {
  const auto draw = [] {
    defaultGenerator(Device(DeviceType::CPU)).set_current_seed(7);
    Tensor x = zeros(Ints{4});
    Tensor half = slice(x, 0, 0, 2);
    uniform_(half);
    bernoulli_(x, 0.5);
    normal_(half);
    rand_out(half, Ints{2});
    return elements<float>(x);
  };
  const std::vector<float> plain = draw();
  callsOf([&] { EXPECT_EQ(draw(), plain); });
}

TEST(Functionalize, GradientsGoThrough) {
  Tensor x = floats({1, 2, 3});
  x.set_requires_grad(true);
  const auto program = [&] {
    Tensor y = mul(x, 2);
    Tensor part = slice(y, 0, 1, 3);
    mul_(part, part);
    const Tensor roots[] = {sum(y)};
    const Tensor inputs[] = {x};
    return autograd::grad(roots, inputs)[0];
  };
  const std::vector<float> plain = elements<float>(program());
  for (const FunctionalViews views : {FunctionalViews::kKeep, FunctionalViews::kCopy}) {
    callsOf(views, [&] { EXPECT_EQ(elements<float>(program()), plain); });
  }
}

TEST(Functionalize, TheEndDoesNotMakeSavedTensorsStale) {
  const Tensor x = floats({1, 2});
  x.set_requires_grad(true);
  Tensor loss;
  callsOf([&] {
    Tensor y = mul(x, 2);
    add_(y, 1);
    loss = sum(mul(y, y));
  });
  const Tensor roots[] = {loss};
  const Tensor inputs[] = {x};
  EXPECT_EQ(autograd::grad(roots, inputs).size(), 1U);
}

TEST(Functionalize, WritesOfOthersAreTheValue) {
  const FunctionalizeGuard guard;
  Tensor x = zeros(Ints{2});
  add_(x, 1);
  x.mutable_data_ptr<float>()[0] = 5;
  x.storage()->bumpVersion();
  EXPECT_EQ(elements<float>(guard.valueOf(x)), (std::vector<float>{5, 1}));
}

TEST(Functionalize, AGuardInsideAnotherDoesNothing) {
  EXPECT_EQ(callsOf([&] {
              Tensor x = zeros(Ints{2});
              {
                const FunctionalizeGuard inner(FunctionalViews::kCopy);
                add_(x, 1);
              }
              mul_(x, 2);
            }),
            "zeros add.Scalar mul.Scalar");
}

TEST(Functionalize, FailedWritesChangeNothing) {
  const FunctionalizeGuard guard;
  Tensor x = ones(Ints{2});
  Tensor counts = ones(Ints{2}, ScalarType::Long);
  add_(x, 1);
  EXPECT_THROW(add_(x, zeros(Ints{3, 2})), Error);
  EXPECT_THROW(add_(counts, 0.5), Error);
  EXPECT_EQ(elements<float>(guard.valueOf(x)), (std::vector<float>{2, 2}));
  EXPECT_EQ(elements<int64_t>(guard.valueOf(counts)), (std::vector<int64_t>{1, 1}));
}

TEST(Functionalize, ErrorsAreThoseOfTheOperatorCalled) {
  Tensor x = ones(Ints{2});
  Tensor wide = expand(x, Ints{2, 2});
  const std::function<void()> calls[] = {[&] {
                                           add_(x, zeros(Ints{3, 2}));
                                         },
                                         [&] { mul_(x, zeros(Ints{3})); }, [&] { add_(wide, 1); },
                                         [&] { index_fill_(x, 3, ones(Ints{1}), 1); }};
  for (const auto& call : calls) {
    const std::string plain = errorOf(call);
    EXPECT_NE(plain, "no error");
    const FunctionalizeGuard guard;
    EXPECT_EQ(errorOf(call), plain);
  }
}

TEST(Functionalize, WhatCannotBeFunctionalIsAnError) {
  const FunctionalizeGuard guard;
  Tensor x = ones(Ints{2});
  EXPECT_EQ(errorOf([&] { set_(x, zeros(Ints{3})); }),
            "aten::set_.source_Tensor cannot be called inside functionalize(): a tensor would get another's memory, "
            "which a program without writes does not have. Call it outside of the scope, or use the other tensor "
            "itself");
  EXPECT_EQ(errorOf([&] { resize_(x, Ints{3}); }),
            "aten::resize_ inside functionalize() cannot enlarge the memory of a tensor that has elements: make a "
            "new tensor of [3] and copy them into it");
  const Tensor part = slice(x, 0, 0, 1);
  EXPECT_EQ(errorOf([&] { add_out(x, ones(Ints{3}), ones(Ints{3})); }),
            "aten::add.out inside functionalize() cannot resize a tensor that has views: give it a new tensor, or "
            "one of the sizes of the result, [3]");
}

TEST(Functionalize, AWriteThatASchemaDoesNotTellIsAnError) {
  auto library = MAKE_BOXCAR_LIBRARY(functionalize_test);
  library.def("sly(Tensor x) -> Tensor");
  auto kernels = MAKE_BOXCAR_LIBRARY_IMPL(functionalize_test, CPU);
  kernels.impl("sly", [](const Tensor& x) {
    Tensor written = x;
    add_(written, 1);
    return clone(x);
  });
  const OperatorHandle op = Dispatcher::singleton().findSchemaOrThrow("functionalize_test::sly", "");
  const FunctionalizeGuard guard;
  Tensor x = ones(Ints{2});
  add_(x, 1);
  Stack stack{x};
  EXPECT_EQ(errorOf([&] { op.callBoxed(stack); }),
            "functionalize_test::sly writes its argument 'x', but its schema does not say so, so that "
            "functionalize() cannot follow it: write Tensor(a!) in its schema\n"
            "  functionalize_test::sly(Tensor x) -> Tensor");
}

}  // namespace
}  // namespace boxcar
