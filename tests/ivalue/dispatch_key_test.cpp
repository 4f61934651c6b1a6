#include <boxcar/ivalue/dispatch_key.h>
#include <boxcar/ivalue/error.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/test_support.h"

namespace boxcar {
namespace {

constexpr uint16_t number(DispatchKey key) { return static_cast<uint16_t>(key); }

std::string parseError(std::string_view name) {
  return errorOf([&] { parseDispatchKey(name); });
}

TEST(DispatchKey, FunctionalityKeysHaveTheirNumbers) {
  EXPECT_EQ(number(DispatchKey::Undefined), 0);
  EXPECT_EQ(number(DispatchKey::Dense), 1);
  EXPECT_EQ(number(DispatchKey::FPGA), 2);
  EXPECT_EQ(number(DispatchKey::ORT), 3);
  EXPECT_EQ(number(DispatchKey::Vulkan), 4);
  EXPECT_EQ(number(DispatchKey::Metal), 5);
  EXPECT_EQ(number(DispatchKey::Quantized), 6);
  EXPECT_EQ(number(DispatchKey::CustomRNGKeyId), 7);
  EXPECT_EQ(number(DispatchKey::MkldnnCPU), 8);
  EXPECT_EQ(number(DispatchKey::Sparse), 9);
  EXPECT_EQ(number(DispatchKey::SparseCsrCPU), 10);
  EXPECT_EQ(number(DispatchKey::SparseCsrCUDA), 11);
  EXPECT_EQ(number(DispatchKey::NestedTensor), 12);
  EXPECT_EQ(number(DispatchKey::BackendSelect), 13);
  EXPECT_EQ(number(DispatchKey::Python), 14);
  EXPECT_EQ(number(DispatchKey::Fake), 15);
  EXPECT_EQ(number(DispatchKey::FuncTorchDynamicLayerBackMode), 16);
  EXPECT_EQ(number(DispatchKey::Functionalize), 17);
  EXPECT_EQ(number(DispatchKey::Named), 18);
  EXPECT_EQ(number(DispatchKey::Conjugate), 19);
  EXPECT_EQ(number(DispatchKey::Negative), 20);
  EXPECT_EQ(number(DispatchKey::ZeroTensor), 21);
  EXPECT_EQ(number(DispatchKey::ADInplaceOrView), 22);
  EXPECT_EQ(number(DispatchKey::AutogradOther), 23);
  EXPECT_EQ(number(DispatchKey::AutogradFunctionality), 24);
  EXPECT_EQ(number(DispatchKey::AutogradNestedTensor), 25);
  EXPECT_EQ(number(DispatchKey::Tracer), 26);
  EXPECT_EQ(number(DispatchKey::AutocastCPU), 27);
  EXPECT_EQ(number(DispatchKey::AutocastXPU), 28);
  EXPECT_EQ(number(DispatchKey::AutocastIPU), 29);
  EXPECT_EQ(number(DispatchKey::AutocastHPU), 30);
  EXPECT_EQ(number(DispatchKey::AutocastXLA), 31);
  EXPECT_EQ(number(DispatchKey::AutocastCUDA), 32);
  EXPECT_EQ(number(DispatchKey::AutocastPrivateUse1), 33);
  EXPECT_EQ(number(DispatchKey::FuncTorchBatched), 34);
  EXPECT_EQ(number(DispatchKey::FuncTorchVmapMode), 35);
  EXPECT_EQ(number(DispatchKey::Batched), 36);
  EXPECT_EQ(number(DispatchKey::VmapMode), 37);
  EXPECT_EQ(number(DispatchKey::FuncTorchGradWrapper), 38);
  EXPECT_EQ(number(DispatchKey::DeferredInit), 39);
  EXPECT_EQ(number(DispatchKey::PythonTLSSnapshot), 40);
  EXPECT_EQ(number(DispatchKey::FuncTorchDynamicLayerFrontMode), 41);
  EXPECT_EQ(number(DispatchKey::TESTING_ONLY_GenericWrapper), 42);
  EXPECT_EQ(number(DispatchKey::TESTING_ONLY_GenericMode), 43);
  EXPECT_EQ(number(DispatchKey::PreDispatch), 44);
  EXPECT_EQ(number(DispatchKey::PythonDispatcher), 45);
  EXPECT_EQ(number(DispatchKey::EndOfFunctionalityKeys), 46);
}

TEST(DispatchKey, RuntimeAndAliasKeysHaveTheirNumbers) {
  EXPECT_EQ(number(DispatchKey::StartOfDenseBackends), 47);
  EXPECT_EQ(number(DispatchKey::CPU), 48);
  EXPECT_EQ(number(DispatchKey::CUDA), 49);
  EXPECT_EQ(number(DispatchKey::Meta), 62);
  EXPECT_EQ(number(DispatchKey::StartOfQuantizedBackends), 63);
  EXPECT_EQ(number(DispatchKey::SparseCPU), 80);
  EXPECT_EQ(number(DispatchKey::NestedTensorCPU), 96);
  EXPECT_EQ(number(DispatchKey::AutogradCPU), 112);
  EXPECT_EQ(number(DispatchKey::AutogradMeta), 126);
  EXPECT_EQ(number(DispatchKey::EndOfRuntimeBackendKeys), 126);
  EXPECT_EQ(number(DispatchKey::Autograd), 127);
  EXPECT_EQ(number(DispatchKey::CompositeImplicitAutograd), 128);
  EXPECT_EQ(number(DispatchKey::FuncTorchBatchedDecomposition), 129);
  EXPECT_EQ(number(DispatchKey::CompositeImplicitAutogradNestedTensor), 130);
  EXPECT_EQ(number(DispatchKey::CompositeExplicitAutograd), 131);
  EXPECT_EQ(number(DispatchKey::CompositeExplicitAutogradNonFunctional), 132);
}

TEST(DispatchKey, BackendsHaveTheirNumbersAndNames) {
  const char* names[] = {"InvalidBit",     "CPUBit",         "CUDABit",        "HIPBit", "XLABit",  "MPSBit",
                         "IPUBit",         "XPUBit",         "HPUBit",         "VEBit",  "LazyBit", "MTIABit",
                         "PrivateUse1Bit", "PrivateUse2Bit", "PrivateUse3Bit", "MetaBit"};
  for (uint8_t i = 0; i <= num_backends; ++i) EXPECT_EQ(toString(static_cast<BackendComponent>(i)), names[i]);
  EXPECT_EQ(BackendComponent::EndOfBackendKeys, BackendComponent::MetaBit);
  EXPECT_EQ(toString(static_cast<BackendComponent>(99)), "UnknownBackendComponent");
}

TEST(DispatchKey, CountsAreThoseOfTheTable) {
  EXPECT_EQ(num_backends, 15);
  EXPECT_EQ(num_functionality_keys, 46);
  EXPECT_EQ(numPerBackendFunctionalityKeys(), 5);
  EXPECT_EQ(num_runtime_entries, 116);
}

TEST(DispatchKey, EveryKeyNameParsesBackToItsKey) {
  std::set<std::string_view> names;
  int keys = 0;
  for (uint16_t i = 0; i <= number(DispatchKey::EndOfAliasKeys); ++i) {
    const auto key = static_cast<DispatchKey>(i);
    const std::string_view name = toString(key);
    EXPECT_TRUE(names.insert(name).second) << name << " is the name of two keys";
    const bool marker = name.starts_with("StartOf") || name.starts_with("EndOf");
    EXPECT_EQ(tryParseDispatchKey(name), marker ? std::nullopt : std::optional(key)) << name;
    keys += !marker;
  }
  constexpr int kAliases = number(DispatchKey::EndOfAliasKeys) - number(DispatchKey::StartOfAliasKeys) + 1;
  EXPECT_EQ(keys, num_functionality_keys + numPerBackendFunctionalityKeys() * num_backends + kAliases);
  EXPECT_EQ(toString(DispatchKey::MkldnnCPU), "MkldnnCPU");
  EXPECT_EQ(toString(DispatchKey::QuantizedPrivateUse2), "QuantizedPrivateUse2");
  EXPECT_EQ(toString(DispatchKey::AutogradMTIA), "AutogradMTIA");
  EXPECT_EQ(toString(static_cast<DispatchKey>(number(DispatchKey::EndOfAliasKeys) + 1)), "UnknownDispatchKey");
}

TEST(DispatchKey, OlderNamesParse) {
  EXPECT_EQ(parseDispatchKey("CatchAll"), DispatchKey::Undefined);
  EXPECT_EQ(parseDispatchKey("CPUTensorId"), DispatchKey::CPU);
  EXPECT_EQ(parseDispatchKey("CUDATensorId"), DispatchKey::CUDA);
  EXPECT_EQ(parseDispatchKey("DefaultBackend"), DispatchKey::CompositeExplicitAutograd);
  EXPECT_EQ(parseDispatchKey("PrivateUse1_PreAutograd"), DispatchKey::AutogradPrivateUse1);
  EXPECT_EQ(parseDispatchKey("PrivateUse2_PreAutograd"), DispatchKey::AutogradPrivateUse2);
  EXPECT_EQ(parseDispatchKey("PrivateUse3_PreAutograd"), DispatchKey::AutogradPrivateUse3);
  EXPECT_EQ(parseDispatchKey("Autocast"), DispatchKey::AutocastCUDA);
}

TEST(DispatchKey, UnknownNameIsAnErrorThatNamesTheNearest) {
  EXPECT_EQ(parseError("CPUU"), "'CPUU' is not a dispatch key. Did you mean 'CPU'?");
  EXPECT_EQ(parseError("cuda"), "'cuda' is not a dispatch key. Did you mean 'CUDA'?");
  EXPECT_EQ(parseError("CompositeExplicit"),
            "'CompositeExplicit' is not a dispatch key; a key is a backend's (CPU, QuantizedCUDA, AutogradMeta), a "
            "functionality (BackendSelect, Python) or an alias (Autograd, CompositeExplicitAutograd)");
  EXPECT_EQ(parseError("StartOfDenseBackends").substr(0, 45), "'StartOfDenseBackends' is not a dispatch key;");
}

TEST(DispatchKey, PerBackendFunctionalitiesAreFive) {
  for (uint16_t i = 0; i <= number(DispatchKey::EndOfAliasKeys); ++i) {
    const auto key = static_cast<DispatchKey>(i);
    const bool expected = key == DispatchKey::Dense || key == DispatchKey::Quantized || key == DispatchKey::Sparse ||
                          key == DispatchKey::NestedTensor || key == DispatchKey::AutogradFunctionality;
    EXPECT_EQ(isPerBackendFunctionalityKey(key), expected) << toString(key);
  }
}

TEST(DispatchKey, RuntimeKeysSplitIntoFunctionalityAndBackend) {
  EXPECT_EQ(toFunctionalityKey(DispatchKey::CPU), DispatchKey::Dense);
  EXPECT_EQ(toFunctionalityKey(DispatchKey::QuantizedMeta), DispatchKey::Quantized);
  EXPECT_EQ(toFunctionalityKey(DispatchKey::AutogradCPU), DispatchKey::AutogradFunctionality);
  EXPECT_EQ(toFunctionalityKey(DispatchKey::Python), DispatchKey::Python);
  EXPECT_EQ(toFunctionalityKey(DispatchKey::CompositeImplicitAutograd), DispatchKey::Undefined);
  EXPECT_EQ(toBackendComponent(DispatchKey::Dense), BackendComponent::InvalidBit);
  EXPECT_EQ(toBackendComponent(DispatchKey::StartOfSparseBackends), BackendComponent::InvalidBit);
  EXPECT_EQ(toBackendComponent(DispatchKey::Autograd), BackendComponent::InvalidBit);
  for (const DispatchKey functionality : {DispatchKey::Dense, DispatchKey::Quantized, DispatchKey::Sparse,
                                          DispatchKey::NestedTensor, DispatchKey::AutogradFunctionality}) {
    for (uint8_t i = 1; i <= num_backends; ++i) {
      const auto backend = static_cast<BackendComponent>(i);
      const DispatchKey key = toRuntimePerBackendFunctionalityKey(functionality, backend);
      EXPECT_EQ(toFunctionalityKey(key), functionality) << toString(key);
      EXPECT_EQ(toBackendComponent(key), backend) << toString(key);
    }
  }
  EXPECT_EQ(toRuntimePerBackendFunctionalityKey(DispatchKey::Dense, BackendComponent::VEBit), DispatchKey::VE);
  EXPECT_EQ(toRuntimePerBackendFunctionalityKey(DispatchKey::Python, BackendComponent::CPUBit), DispatchKey::Undefined);
}

TEST(DispatchKey, AliasKeysAreSix) {
  int aliases = 0;
  for (uint16_t i = 0; i < 200; ++i) aliases += isAliasDispatchKey(static_cast<DispatchKey>(i));
  EXPECT_EQ(aliases, 6);
  EXPECT_TRUE(isAliasDispatchKey(DispatchKey::Autograd));
  EXPECT_FALSE(isAliasDispatchKey(DispatchKey::AutogradMeta));
}

}  // namespace
}  // namespace boxcar
