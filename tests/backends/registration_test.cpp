#include <gtest/gtest.h>

#include <string>

#include "tests/backends/tensor_helpers.h"

namespace boxcar {
namespace {

TEST(CpuBackend, HasAKernelForEveryOperatorDeclared) {
  size_t declared = 0;
  for (const OperatorName& name : Dispatcher::singleton().getAllOpNames()) {
    if (name.getNamespace() != "aten") continue;
    ++declared;
    const OperatorHandle op = *Dispatcher::singleton().findSchema(name);
    const bool served = op.hasKernelForDispatchKey(DispatchKey::CPU) ||
                        op.hasKernelForDispatchKey(DispatchKey::CompositeExplicitAutograd) ||
                        op.hasKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd);
    EXPECT_TRUE(served) << op.operator_name();
  }
  EXPECT_GT(declared, 1000u);
}

TEST(CpuBackend, FactoriesFollowTheirDevice) {
  EXPECT_EQ(empty({2}, std::nullopt, std::nullopt, Device("cpu")).device(), Device("cpu"));
  const std::string error = errorOf([] { empty({2}, std::nullopt, std::nullopt, Device("cuda")); });
  EXPECT_NE(error.find("CUDA"), std::string::npos) << error;
}

}  // namespace
}  // namespace boxcar
