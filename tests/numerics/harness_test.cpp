#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ops.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/numerics/case_call.h"
#include "tests/numerics/case_check.h"
#include "tests/numerics/case_gradients.h"

// Tests that the harness finds faults: cases with wrong expectations must fail.

namespace boxcar::numerics {
namespace {

using nlohmann::json;

class NumericsHarness : public ::testing::Test {
 protected:
  NumericsHarness() {
    const Tensor row = Tensor::allocate(std::vector<int64_t>{10}, ScalarType::Float);
    for (int i = 0; i < 8; ++i) row.data_ptr<float>()[i] = static_cast<float>(i);
    // The weights that the first results get as gradients.
    row.data_ptr<float>()[8] = -0.265625F;
    row.data_ptr<float>()[9] = 0.671875F;
    elements_.emplace("float32", row);
  }

  // Returns what is wrong with the boxed call, "" if nothing. All ways must agree.
  std::string run(const json& text) {
    const Case one(&text, &elements_, "harness", 0);
    std::string boxed = runCase(one, Way::kBoxed).value_or("");
    for (const Way way : kAllWays) {
      // These do not look at values.
      if (way == Way::kFake || way == Way::kGradients || way == Way::kBatches) continue;
      if (way == Way::kFunctionalize || way == Way::kBits) continue;
      EXPECT_EQ(runCase(one, way).value_or("").empty(), boxed.empty()) << toString(way);
    }
    return boxed;
  }

  // A call with three tensors: 0 is [0, 1], 1 is [0, 2] in the same storage, 2 is [2, 3].
  static json call(const std::string& op, const json& args, const json& more) {
    json text = {{"op", op},
                 {"dtype", "float32"},
                 {"st", {{"float32", 0, 4}, {"float32", 2, 2}}},
                 {"te", {{0, {2}, {1}, 0}, {0, {2}, {2}, 0}, {1, {2}, {1}, 0}}},
                 {"args", args}};
    text.update(more);
    return text;
  }
  static json tensor(int index) { return {{"t", index}}; }
  static json result(const json& sizes, const json& strides, int place, int storage = -1) {
    return {{"res", {{{"x", {"float32", sizes, strides, place, storage}}}}}};
  }

  std::map<std::string, Tensor> elements_;
  // What a functional form adds.
  static inline int64_t by_ = 1;
};

TEST_F(NumericsHarness, PassesWhatIsRight) {
  EXPECT_EQ(run(call("aten::mul.Scalar", {{"self", tensor(0)}, {"other", 1}}, result({2}, {1}, 0))), "");
  EXPECT_EQ(run(call("aten::add.Scalar", {{"self", tensor(0)}, {"other", 5.0}}, result({2}, {1}, 5))), "");
  EXPECT_EQ(run(call("aten::t", {{"self", tensor(1)}}, {{"res", {{{"x", {"float32", {2}, {2}, 0, 0}}}}}})),
            "1 of 2 elements differ; at [1] expected 1, got 2 (rtol 1.3e-06, atol 1e-05)");
}

TEST_F(NumericsHarness, SeesWrongResults) {
  const json args = {{"self", tensor(0)}, {"other", 1}};
  EXPECT_EQ(run(call("aten::mul.Scalar", args, result({2}, {1}, 1))),
            "2 of 2 elements differ; at [0] expected 1, got 0 (rtol 1.3e-06, atol 1e-05)");
  EXPECT_EQ(run(call("aten::mul.Scalar", args, result({1, 2}, {2, 1}, 0))), "expected sizes [1, 2], got [2]");
  EXPECT_EQ(run(call("aten::mul.Scalar", args, result({2}, {2}, 0))), "expected strides [2], got [1] (of sizes [2])");
  EXPECT_EQ(run(call("aten::mul.Scalar", args, result({2}, {1}, 0, 0))),
            "expected a view of an argument, got other memory");
  EXPECT_EQ(run(call("aten::alias", {{"self", tensor(0)}}, result({2}, {1}, 0))),
            "expected memory of its own, got an argument's");
  EXPECT_EQ(run(call("aten::eq.Scalar", args, result({2}, {1}, 0))), "expected dtype float32, got bool");
  EXPECT_EQ(run(call("aten::mul.Scalar", args, {{"res", json::array()}})), "expected 0 results, got 1");
  EXPECT_EQ(run(call("aten::equal", {{"self", tensor(0)}, {"other", tensor(0)}}, {{"res", {false}}})),
            "expected False, got True");
  EXPECT_EQ(run(call("aten::size.int", {{"self", tensor(0)}, {"dim", 0}}, {{"res", {2.0}}})), "expected 2.0, got 2");
}

TEST_F(NumericsHarness, SeesWhatBecomesOfArguments) {
  const json args = {{"self", tensor(1)}};
  // Elements 0 and 2 of the storage are zeroed. No two elements were zero, so every expectation is wrong.
  json text = call("aten::zero_", args, result({2}, {2}, 0, 0));
  EXPECT_EQ(run(text), "1 of 2 elements differ; at [1] expected 1, got 0 (rtol 1.3e-06, atol 1e-05)");
  // An in-place call on an argument whose storage another argument shares: mul_ by 1 changes nothing.
  text = call("aten::mul_.Scalar", {{"self", tensor(0)}, {"other", 1}}, result({2}, {1}, 0, 0));
  text["after"] = {{"0", {"float32", {2}, {1}, 0, 0}}};
  EXPECT_EQ(run(text), "");
  // Elements not listed as written must not change.
  text = call("aten::add_.Scalar", {{"self", tensor(0)}, {"other", 5}}, result({2}, {1}, 5, 0));
  EXPECT_EQ(run(text), "byte 2 of storage 0 changed, which the call must not write");
  text["after"] = {{"0", {"float32", {2}, {1}, 5, 0}}};
  EXPECT_EQ(run(text), "");
}

TEST_F(NumericsHarness, SeesCallsThatShouldBeRefused) {
  EXPECT_EQ(run(call("aten::mul.Scalar", {{"self", tensor(0)}, {"other", 1}}, {{"err", "PyTorch says no"}})),
            "it should be refused (PyTorch: PyTorch says no)");
  EXPECT_EQ(run(call("aten::select.int", {{"self", tensor(0)}, {"dim", 1}, {"index", 0}}, {{"err", "bad dim"}})), "");
  EXPECT_NE(run(call("aten::select.int", {{"self", tensor(0)}, {"dim", 1}, {"index", 0}}, result({2}, {1}, 0))), "");
}

TEST_F(NumericsHarness, SeesWrongGradients) {
  const auto differentiate = [&](const std::string& op, const json& record) {
    json text = call(op, {{"self", tensor(0)}, {"other", 1}}, json::object());
    text["grad"] = record;
    text["grad"]["results"] = false;
    const Case one(&text, &elements_, "harness", 0);
    return runCase(one, Way::kGradients).value_or("");
  };
  EXPECT_EQ(differentiate("aten::mul.Scalar", {{"out", "1"}, {"in", {{"0", 8}}}}), "");
  EXPECT_EQ(differentiate("aten::mul.Scalar", {{"out", "1"}, {"in", {{"0", 1}}}}),
            "the gradient of tensor 0: 2 of 2 elements differ; at [0] expected 1, got -0.265625 (rtol 1e-05, atol "
            "1e-05)");
  EXPECT_EQ(differentiate("aten::mul.Scalar", {{"out", "1"}, {"in", {{"0", nullptr}}}}),
            "tensor 0 should not have a gradient");
  EXPECT_EQ(differentiate("aten::mul.Scalar", {{"out", "0"}, {"in", {{"0", nullptr}}}}),
            "which results require grad should be 0, is 1");
  EXPECT_EQ(differentiate("aten::mul.Scalar", {{"refused", {{"0", "no"}}}}),
            "the gradient of tensor 0 should be refused (PyTorch: no)");
  EXPECT_EQ(differentiate("aten::eq.Scalar", {{"out", "0"}, {"in", {{"0", nullptr}}}}), "");
  EXPECT_EQ(differentiate("aten::eq.Scalar", {{"out", "1"}, {"in", {{"0", 8}}}}),
            "which results require grad should be 1, is 0");
}

TEST_F(NumericsHarness, SeesFormsThatReturnSomethingElse) {
  Library m(Library::DEF, "harness", std::nullopt, "harness_test.cpp", 1);
  m.def("grow_(Tensor(a!) self) -> Tensor(a!)");
  m.def("grow(Tensor self) -> Tensor");
  Library cpu(Library::IMPL, "harness", DispatchKey::CPU, "harness_test.cpp", 2);
  cpu.impl("grow_", [](Tensor& self) -> Tensor& { return boxcar::add_(self, 1); });
  cpu.impl("grow", [](const Tensor& self) { return boxcar::add(self, by_); });
  const auto inFunctionalize = [&] {
    const json text = call("harness::grow_", {{"self", tensor(0)}}, result({2}, {1}, 1, 0));
    return runCase(Case(&text, &elements_, "harness", 0), Way::kFunctionalize).value_or("");
  };
  EXPECT_EQ(inFunctionalize(), "");
  by_ = 2;
  EXPECT_EQ(inFunctionalize(),
            "views kept: result 0: 2 of 2 elements differ, by up to 1.0 at [0]: 1 plainly, 2 functionally");
}

TEST(NumericsList, HasOnlyOperatorsWithoutFormula) {
  EXPECT_EQ(superfluousWithoutFormula(), std::vector<std::string>()) << "remove them from without_formula.txt";
}

}  // namespace
}  // namespace boxcar::numerics
