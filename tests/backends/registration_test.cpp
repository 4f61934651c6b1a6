#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "tests/backends/tensor_helpers.h"

namespace boxcar {
namespace {

// Every operator that ops/aten.schemas declares, as "add.Tensor".
std::vector<std::string> declaredOperators() {
  std::ifstream file(BOXCAR_TEST_DATA "/../../backends/ops/aten.schemas");
  std::vector<std::string> names;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("aten::")) names.push_back(line.substr(0, line.find('(')));
  }
  return names;
}

TEST(CpuBackend, HasAKernelForEveryOperatorDeclared) {
  const std::vector<std::string> names = declaredOperators();
  ASSERT_GT(names.size(), 200u);
  for (const std::string& name : names) {
    const OperatorName wanted = parseName(name);
    const OperatorHandle op =
        Dispatcher::singleton().findSchemaOrThrow(wanted.name.c_str(), wanted.overload_name.c_str());
    const bool served = op.hasKernelForDispatchKey(DispatchKey::CPU) ||
                        op.hasKernelForDispatchKey(DispatchKey::CompositeExplicitAutograd) ||
                        op.hasKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd);
    EXPECT_TRUE(served) << name;
  }
}

TEST(CpuBackend, FactoriesFollowTheirDevice) {
  EXPECT_EQ(empty({2}, std::nullopt, std::nullopt, Device("cpu")).device(), Device("cpu"));
  const std::string error = errorOf([] { empty({2}, std::nullopt, std::nullopt, Device("cuda")); });
  EXPECT_NE(error.find("CUDA"), std::string::npos) << error;
}

}  // namespace
}  // namespace boxcar
