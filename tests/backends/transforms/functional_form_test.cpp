#include <boxcar/backends/transforms/functional_form.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/schema/function_schema.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/backends/tensor_helpers.h"

namespace boxcar::transforms {
namespace {

std::string formOf(const char* name, const char* overload = "") {
  const OperatorPlan& plan = planOf(Dispatcher::singleton().findSchemaOrThrow(name, overload));
  return plan.form ? toString(plan.form->operator_name()) : "none";
}

TEST(FunctionalForm, IsFoundByTheArguments) {
  EXPECT_EQ(formOf("aten::add_", "Tensor"), "aten::add.Tensor");
  EXPECT_EQ(formOf("aten::add", "out"), "aten::add.Tensor");
  EXPECT_EQ(formOf("aten::pow_", "Scalar"), "aten::pow.Tensor_Scalar");
  EXPECT_EQ(formOf("aten::bernoulli_", "float"), "aten::bernoulli.p");
  EXPECT_EQ(formOf("aten::normal_"), "aten::normal_functional");
  EXPECT_EQ(formOf("aten::max", "dim_max"), "aten::max.dim");
  EXPECT_EQ(formOf("aten::_native_batch_norm_legit"), "aten::_native_batch_norm_legit_functional");
  EXPECT_EQ(formOf("aten::native_batch_norm"), "aten::_native_batch_norm_legit_functional");
  EXPECT_EQ(formOf("aten::rrelu_with_noise_"), "aten::rrelu_with_noise_functional");
  EXPECT_EQ(formOf("aten::_fused_adam_"), "none");
}

TEST(FunctionalForm, OfAViewIsTheOneThatCopies) {
  EXPECT_EQ(formOf("aten::select", "int"), "aten::select_copy.int");
  EXPECT_EQ(formOf("aten::split", "Tensor"), "aten::split_copy.Tensor");
  EXPECT_EQ(formOf("aten::t_"), "aten::t");
}

// Whether calls of it never reach functionalize(), because it is made of others.
bool isMadeOfOthers(const OperatorHandle& op) {
  return Dispatcher::singleton().computeTableEntry(op, DispatchKey::Functionalize).cause == EntryCause::Alias;
}

TEST(FunctionalForm, AllWritingOperatorsOfAtenHaveOneButThese) {
  std::string missing;
  for (const OperatorName& name : Dispatcher::singleton().getAllOpNames()) {
    const OperatorHandle op = *Dispatcher::singleton().findSchema(name);
    if (!name.name.starts_with("aten::") || isMadeOfOthers(op)) continue;
    const OperatorPlan& plan = planOf(op);
    if (plan.kind == OperatorPlan::Kind::kWrite && !plan.form) missing += toString(name).substr(6) + " ";
  }
  // No operator of aten returns what the optimisers and embedding_renorm_ write. polygamma() takes its arguments in
  // another order, and the others have no form that takes what they take.
  EXPECT_EQ(missing,
            "embedding_renorm_ _fused_sgd_ _fused_sgd_.tensor_lr _fused_adam_ _fused_adam_.tensor_lr _fused_adamw_ "
            "_fused_adamw_.tensor_lr polygamma_ native_batch_norm.out rrelu_with_noise.out ");
}

TEST(FunctionalForm, AllViewsOfAtenHaveACopyButThese) {
  std::string missing;
  for (const OperatorName& name : Dispatcher::singleton().getAllOpNames()) {
    const OperatorHandle op = *Dispatcher::singleton().findSchema(name);
    if (!name.name.starts_with("aten::") || isMadeOfOthers(op)) continue;
    const OperatorPlan& plan = planOf(op);
    if (plan.kind == OperatorPlan::Kind::kView && !plan.form) missing += toString(name).substr(6) + " ";
  }
  // Their copies are made by clone().
  EXPECT_EQ(missing, "pin_memory _reshape_alias ");
}

}  // namespace
}  // namespace boxcar::transforms
