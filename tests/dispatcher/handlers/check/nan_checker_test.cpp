#include <boxcar/dispatcher/handlers/check/nan_checker.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <thread>
#include <vector>

#include "tests/dispatcher/handlers/check/checker_helpers.h"

namespace boxcar {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

class NanCheckerTest : public ::testing::Test {
 protected:
  NanChecker checker_;
  Library m_ = definitions("nan_test");
};

TEST_F(NanCheckerTest, ShowsWhatWasMadeAndOfWhat) {
  EXPECT_EQ(errorUnder(checker_, find("aten::div", "Tensor"), floats({0, 1, -2, 4}, {2, 2}), floats({0, 0})),
            "aten::div.Tensor made 1 NaN and 3 Inf in the 4 elements of its result, float32[2, 2], and its inputs have "
            "none:\n"
            "  argument 'self': float32[2, 2], from -2 to 4, clean\n"
            "  argument 'other': float32[2], from 0 to 0, clean");
}

TEST_F(NanCheckerTest, LetsCleanCallsThrough) {
  const HandlerGuard guard(checker_);
  EXPECT_EQ(toString(sqrt(floats({4, 9}))), "tensor([2., 3.])");
}

TEST_F(NanCheckerTest, SaysNothingWhereAnInputHadOneAlready) {
  const OperatorHandle cat = find("aten::cat");
  EXPECT_EQ(errorUnder(checker_, cat, List<Tensor>{floats({1}), floats({kNan})}, 0), "no error");
  EXPECT_EQ(errorUnder(checker_, find("aten::mul", "Scalar"), floats({0}), double{kInf}), "no error");
  EXPECT_EQ(errorUnder(checker_, find("aten::full"), std::vector<int64_t>{2}, -double{kInf}, IValue(), IValue(),
                       IValue(), IValue()),
            "no error");
  m_.def("maybe(Tensor? x) -> Tensor", [](const std::optional<Tensor>& x) { return neg(*x); });
  EXPECT_EQ(errorUnder(checker_, find("nan_test::maybe"), floats({kInf})), "no error");
}

TEST_F(NanCheckerTest, NamesTheInnermostOperator) {
  m_.def("outer(Tensor x) -> Tensor", [](const Tensor& x) { return log(x); });
  EXPECT_EQ(errorUnder(checker_, find("nan_test::outer"), floats({0, 1})),
            "aten::log made 1 Inf in the 2 elements of its result, float32[2], and its inputs have none:\n"
            "  argument 'self': float32[2], from 0 to 1, clean");
}

TEST_F(NanCheckerTest, LooksAtWrittenArgumentsBeforeTheCall) {
  EXPECT_EQ(errorUnder(checker_, find("aten::log_"), floats({-1, 1})),
            "aten::log_ made 1 NaN in the 2 elements of argument 'self', float32[2], and its inputs have none:\n"
            "  argument 'self': float32[2], from -1 to 1, clean");
  EXPECT_EQ(errorUnder(checker_, find("aten::neg_"), floats({kNan, 1})), "no error");
}

// `y` lies in the written memory and had no NaN before.
TEST_F(NanCheckerTest, LooksAtWhatLiesInTheSameMemoryBeforeTheCall) {
  m_.def("spoil(Tensor(a!) x, Tensor y) -> ()", [](Tensor& x, const Tensor&) { x.data_ptr<float>()[0] = kNan; });
  const Tensor base = floats({1, 2});
  EXPECT_EQ(errorUnder(checker_, find("nan_test::spoil"), base, select(base, 0, 0)),
            "nan_test::spoil made 1 NaN in the 2 elements of argument 'x', float32[2], and its inputs have none:\n"
            "  argument 'x': float32[2], from 1 to 2, clean\n"
            "  argument 'y': float32[], from 1 to 1, clean");
}

// Uninitialized memory may hold anything.
TEST_F(NanCheckerTest, TakesNoOutForAnInput) {
  const Tensor x = floats({0});
  EXPECT_EQ(errorUnder(checker_, find("aten::log", "out"), x, floats({kNan})),
            "aten::log.out made 1 Inf in the one element of argument 'out', float32[1], and its inputs have none:\n"
            "  argument 'self': float32[1], from 0 to 0, clean\n"
            "  argument 'out': float32[1], not read");
}

TEST_F(NanCheckerTest, NamesResultsAndPlacesInThem) {
  m_.def("two(Tensor x) -> (Tensor good, Tensor bad)", [](const Tensor& x) {
    return std::tuple(x.view(x.sizes(), x.strides(), 0), floats({kNan, kInf}));
  });
  EXPECT_EQ(errorUnder(checker_, find("nan_test::two"), floats({1})),
            "nan_test::two made 1 NaN and 1 Inf in the 2 elements of its result 1 ('bad'), float32[2], and its inputs "
            "have none:\n"
            "  argument 'x': float32[1], from 1 to 1, clean");
  m_.def("named() -> Dict(str, Tensor)", [] {
    Dict<std::string, Tensor> dict;
    dict.insert("w", floats({kInf}));
    return dict;
  });
  EXPECT_EQ(
      errorUnder(checker_, find("nan_test::named")),
      "nan_test::named made 1 Inf in the one element of its result['w'], float32[1], and its inputs have none; it "
      "takes no tensors");
  m_.def("number(float x) -> float", [](double x) { return std::log(x); });
  EXPECT_EQ(errorUnder(checker_, find("nan_test::number"), -1.0),
            "nan_test::number made nan as its result, and its inputs have none:\n  argument 'x': -1.0");
}

TEST_F(NanCheckerTest, LooksAtNumbersThatLieDeepAndAreShared) {
  m_.def("log(float x) -> Any", [](double x) -> IValue {
    const GenericList shared{std::log(x)};
    IValue deep = shared;
    for (int i = 0; i < 1000; ++i) deep = GenericList{deep};
    return GenericList{deep, shared};
  });
  EXPECT_EQ(errorUnder(checker_, find("nan_test::log"), 1.0), "no error");
  EXPECT_NE(errorUnder(checker_, find("nan_test::log"), -1.0).find("nan_test::log made "), std::string::npos);
}

TEST_F(NanCheckerTest, ShowsTheNumbersThatWereComputedWith) {
  EXPECT_EQ(errorUnder(checker_, find("aten::div", "Scalar"), floats({0, 1}), 0),
            "aten::div.Scalar made 1 NaN and 1 Inf in the 2 elements of its result, float32[2], and its inputs have "
            "none:\n"
            "  argument 'self': float32[2], from 0 to 1, clean\n"
            "  argument 'other': 0");
  m_.def("shift(int dim, float[] by, Tensor x, float eps=1e-5, float? scale=None) -> Tensor",
         [](int64_t, std::span<const double>, const Tensor&, double, std::optional<double>) { return floats({kNan}); });
  EXPECT_EQ(errorUnder(checker_, find("nan_test::shift"), 1, std::vector<double>{0.5, 2}, floats({1}), 1e-5, 0.0),
            "nan_test::shift made 1 NaN in the one element of its result, float32[1], and its inputs have none:\n"
            "  argument 'by': [0.5, 2.0]\n"
            "  argument 'x': float32[1], from 1 to 1, clean\n"
            "  argument 'scale': 0.0");
}

TEST_F(NanCheckerTest, KnowsEveryFloatingType) {
  for (const ScalarType dtype : {ScalarType::Half, ScalarType::BFloat16, ScalarType::Float, ScalarType::Double,
                                 ScalarType::ComplexFloat, ScalarType::ComplexDouble}) {
    const Tensor x = zeros({3}, dtype);
    EXPECT_NE(errorUnder(checker_, find("aten::reciprocal"), x), "no error") << dtypeName(dtype);
    EXPECT_EQ(errorUnder(checker_, find("aten::neg"), x), "no error") << dtypeName(dtype);
  }
}

TEST_F(NanCheckerTest, PassesUninitialisedMemoryOver) {
  m_.def("garbage() -> Tensor", [] { return floats({kNan}); }, {Tag::nondeterministic_bitwise});
  EXPECT_EQ(errorUnder(checker_, find("nan_test::garbage")), "no error");
}

TEST_F(NanCheckerTest, FindsElementsBetweenStrides) {
  const Tensor x = floats({1, 0, 2, 0}, {2, 2});
  EXPECT_EQ(errorUnder(checker_, find("aten::log"), select(x, 1, 0)), "no error");
  EXPECT_NE(errorUnder(checker_, find("aten::log"), select(x, 1, 1)), "no error");
}

TEST_F(NanCheckerTest, IsOffAfterAnError) {
  EXPECT_NE(errorUnder(checker_, find("aten::log"), floats({0})), "no error");
  EXPECT_EQ(modeCount(), 0U);
  EXPECT_TRUE(std::isinf(elements<float>(log(floats({0})))[0]));
}

TEST_F(NanCheckerTest, PassesErrorsFromBelowThrough) {
  EXPECT_EQ(errorUnder(checker_, find("aten::view"), floats({1}), std::vector<int64_t>{7}),
            "shape '[7]' is invalid for input of size 1");
}

TEST_F(NanCheckerTest, ServesSeveralThreadsAtOnce) {
  std::vector<std::thread> threads;
  std::atomic<int> stopped = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int n = 0; n < 50; ++n) {
        const bool is_bad = (n + i) % 2 == 0;
        if (errorUnder(checker_, find("aten::log"), floats({is_bad ? 0.0f : 1.0f})) != "no error") ++stopped;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(stopped, 100);
}

}  // namespace
}  // namespace boxcar
