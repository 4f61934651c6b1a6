#include <boxcar/dispatcher/registry/operator_cost.h>
#include <gtest/gtest.h>

namespace boxcar {
namespace {

CostFunction costing(double flops) {
  return [flops](const FinishedCall&) { return OperatorCost{.flops = flops, .bytes = {}}; };
}

double flopsFound(const std::string& name) {
  const CostFunction found = findCost(name);
  return found ? *found({}).flops : -1;
}

TEST(OperatorCost, AnOverloadGoesBeforeTheName) {
  const RegistrationHandleRAII name = registerCost("cost_test::f", costing(1));
  const RegistrationHandleRAII overload = registerCost("cost_test::f.two", costing(2));
  EXPECT_EQ(flopsFound("cost_test::f"), 1);
  EXPECT_EQ(flopsFound("cost_test::f.other"), 1);
  EXPECT_EQ(flopsFound("cost_test::f.two"), 2);
  EXPECT_EQ(flopsFound("cost_test::g"), -1);
}

TEST(OperatorCost, TheNewestCountsUntilItGoesInAnyOrder) {
  RegistrationHandleRAII first = registerCost("cost_test::f", costing(1));
  RegistrationHandleRAII second = registerCost("cost_test::f", costing(2));
  RegistrationHandleRAII third = registerCost("cost_test::f", costing(3));
  EXPECT_EQ(flopsFound("cost_test::f"), 3);
  second = {};
  EXPECT_EQ(flopsFound("cost_test::f"), 3);
  third = {};
  EXPECT_EQ(flopsFound("cost_test::f"), 1);
  first = {};
  EXPECT_EQ(flopsFound("cost_test::f"), -1);
}

constexpr CostRow kTable[] = {
    {[](const FinishedCall&) { return OperatorCost{.flops = 1, .bytes = {}}; }, "f g.out"},
    {[](const FinishedCall&) { return OperatorCost{.flops = 2, .bytes = {}}; }, "f.two"},
};

TEST(OperatorCost, ATableNamesSeveralOperatorsAndARegistrationGoesBeforeIt) {
  const RegistrationHandleRAII older = registerCost("cost_table::g", costing(3));
  registerCosts("cost_table", kTable);
  EXPECT_EQ(flopsFound("cost_table::f"), 1);
  EXPECT_EQ(flopsFound("cost_table::f.other"), 1);
  EXPECT_EQ(flopsFound("cost_table::f.two"), 2);
  EXPECT_EQ(flopsFound("cost_table::g.out"), 1);
  EXPECT_EQ(flopsFound("cost_table::g"), 3);
  EXPECT_EQ(flopsFound("cost_table::"), -1);
  {
    const RegistrationHandleRAII newer = registerCost("cost_table::f", costing(4));
    EXPECT_EQ(flopsFound("cost_table::f"), 4);
    EXPECT_EQ(flopsFound("cost_table::f.two"), 2);
  }
  EXPECT_EQ(flopsFound("cost_table::f"), 1);
}

}  // namespace
}  // namespace boxcar
