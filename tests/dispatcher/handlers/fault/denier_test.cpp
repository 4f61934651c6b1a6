#include <boxcar/dispatcher/handlers/fault/denier.h>
#include <boxcar/ops.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "tests/dispatcher/dispatcher_helpers.h"
#include "tests/test_support.h"

namespace boxcar {
namespace {

std::string denialOf(const std::string& op, const std::string& pattern) {
  return op + " is denied by the pattern '" + pattern + "': call another operator, or run without deny";
}

TEST(Denier, RefusesWhatMatchesAndNothingElse) {
  Denier denier("aten::relu");
  const HandlerGuard on(denier);
  Tensor x = ones({2});
  EXPECT_EQ(errorOf([&] { relu(x); }), denialOf("aten::relu", "aten::relu"));
  EXPECT_EQ(errorOf([&] { relu_(x); }), "no error");
  EXPECT_EQ(neg(x).const_data_ptr<float>()[0], -1);
}

TEST(Denier, PatternsNameOverloadsNamesAndGroups) {
  Tensor x = ones({2});
  const auto refusalOf = [&](const std::string& pattern, auto&& body) {
    Denier denier(pattern);
    const HandlerGuard on(denier);
    return errorOf(body);
  };
  const auto add_tensor = [&] { add(x, x); };
  const auto add_scalar = [&] { add(x, 1); };
  EXPECT_EQ(refusalOf("aten::add.Tensor", add_tensor), denialOf("aten::add.Tensor", "aten::add.Tensor"));
  EXPECT_EQ(refusalOf("aten::add.Tensor", add_scalar), "no error");
  EXPECT_EQ(refusalOf("add", add_scalar), denialOf("aten::add.Scalar", "add"));
  EXPECT_EQ(refusalOf("aten::*_", [&] { relu_(x); }), denialOf("aten::relu_", "aten::*_"));
  EXPECT_EQ(refusalOf("aten::*_", add_tensor), "no error");
  EXPECT_EQ(refusalOf("my::*", add_tensor), "no error");
  EXPECT_EQ(refusalOf("aten::[as]dd*", add_tensor), denialOf("aten::add.Tensor", "aten::[as]dd*"));
  EXPECT_EQ(refusalOf("", add_tensor), "no error");
}

TEST(Denier, RefusesCallsThatKernelsMake) {
  Library library = definitions("denier_test");
  library.def("twice(Tensor x) -> Tensor", [](const Tensor& x) { return add(x, x); });
  Denier denier("aten::add.Tensor");
  const HandlerGuard on(denier);
  Stack stack{IValue(ones({2}))};
  EXPECT_EQ(errorOf([&] { find("denier_test::twice").callBoxed(stack); }),
            denialOf("aten::add.Tensor", "aten::add.Tensor"));
}

TEST(Denier, StandsUnderOtherHandlers) {
  const Tensor x = ones({2});
  Denier outer("aten::relu");
  Denier inner("aten::neg");
  const HandlerGuard outer_on(outer);
  {
    const HandlerGuard inner_on(inner);
    EXPECT_EQ(errorOf([&] { neg(x); }), denialOf("aten::neg", "aten::neg"));
    EXPECT_EQ(errorOf([&] { relu(x); }), denialOf("aten::relu", "aten::relu"));
  }
  EXPECT_EQ(errorOf([&] { neg(x); }), "no error");
  // Operators that an inner handler calls by itself are refused, too.
  const ModeGuard calls_relu([&](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
    relu(x);
    op.redispatchBoxed(keys, stack);
  });
  EXPECT_EQ(errorOf([&] { neg(x); }), denialOf("aten::relu", "aten::relu"));
}

TEST(Denier, IsOffOutsideOfItsScopeAndOnOtherThreads) {
  const Tensor x = ones({2});
  Denier denier("aten::*");
  {
    const HandlerGuard on(denier);
    std::string error;
    std::thread([&] { error = errorOf([&] { relu(x); }); }).join();
    EXPECT_EQ(error, "no error");
    EXPECT_EQ(errorOf([&] { relu(x); }), denialOf("aten::relu", "aten::*"));
  }
  EXPECT_EQ(errorOf([&] { relu(x); }), "no error");
  EXPECT_EQ(denier.finish(false), "");
}

TEST(Denier, SaysWhereNoOperatorHasSuchAName) {
  EXPECT_EQ(Denier("aten::rellu").finish(false), "deny 'aten::rellu': no operator has such a name\n");
  EXPECT_EQ(Denier("relu").finish(false), "");
}

}  // namespace
}  // namespace boxcar
