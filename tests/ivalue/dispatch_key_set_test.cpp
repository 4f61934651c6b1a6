#include <boxcar/ivalue/dispatch_key_set.h>
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <vector>

namespace boxcar {
namespace {

using enum DispatchKey;

const DispatchKeySet kAllBackends(DispatchKeySet::RAW, full_backend_mask);

std::vector<DispatchKey> keysOf(DispatchKeySet keys) { return {keys.begin(), keys.end()}; }

BackendComponent backend(uint8_t number) { return static_cast<BackendComponent>(number); }
DispatchKey functionality(uint16_t number) { return static_cast<DispatchKey>(number); }

// Returns the keys from [first] to [last], both included.
std::vector<DispatchKey> keysFrom(DispatchKey first, DispatchKey last) {
  std::vector<DispatchKey> keys;
  for (auto k = static_cast<uint16_t>(first); k <= static_cast<uint16_t>(last); ++k) keys.push_back(functionality(k));
  return keys;
}
std::vector<DispatchKey> aliasKeys() { return keysFrom(StartOfAliasKeys, EndOfAliasKeys); }

// Computes the table index step by step from its definition.
int slowTableIndex(DispatchKeySet keys) {
  int functionality_number = 0;
  for (int k = 1; k < num_functionality_keys; ++k) {
    if (keys.raw_repr() >> (num_backends + k - 1) & 1) functionality_number = k;
  }
  int backend_number = 0;
  for (int b = 0; b < num_backends; ++b) {
    if (keys.raw_repr() >> b & 1) backend_number = b;
  }
  int index = 0;
  for (int k = 0; k < functionality_number; ++k)
    index += isPerBackendFunctionalityKey(functionality(k)) ? num_backends : 1;
  return index + (isPerBackendFunctionalityKey(functionality(functionality_number)) ? backend_number : 0);
}

TEST(DispatchKeySet, EmptyHasNothing) {
  const DispatchKeySet empty;
  EXPECT_TRUE(empty.empty());
  EXPECT_EQ(empty, DispatchKeySet(Undefined));
  EXPECT_EQ(empty.raw_repr(), 0u);
  for (const DispatchKey key : keysFrom(Undefined, EndOfAliasKeys)) EXPECT_FALSE(empty.has(key)) << toString(key);
  EXPECT_EQ(empty.highestPriorityTypeId(), Undefined);
  EXPECT_EQ(empty.highestFunctionalityKey(), Undefined);
  EXPECT_EQ(empty.highestBackendKey(), BackendComponent::InvalidBit);
  EXPECT_EQ(empty.indexOfHighestBit(), 0);
  EXPECT_EQ(empty.getDispatchTableIndexForDispatchKeySet(), 0);
  EXPECT_EQ(empty.begin(), empty.end());
}

TEST(DispatchKeySet, BitsLieWhereTheLayoutSays) {
  EXPECT_EQ(DispatchKeySet(BackendComponent::CPUBit).raw_repr(), 1u);
  EXPECT_EQ(DispatchKeySet(BackendComponent::MetaBit).raw_repr(), uint64_t{1} << 14);
  EXPECT_EQ(DispatchKeySet(Dense).raw_repr(), uint64_t{1} << 15);
  EXPECT_EQ(DispatchKeySet(PythonDispatcher).raw_repr(), uint64_t{1} << 59);
  EXPECT_EQ(DispatchKeySet(CPU).raw_repr(), uint64_t{1} << 15 | 1);
  EXPECT_EQ(DispatchKeySet(AutogradCUDA).raw_repr(), uint64_t{1} << 38 | 2);
  EXPECT_EQ(DispatchKeySet(DispatchKeySet::FULL).raw_repr(), (uint64_t{1} << 60) - 1);
}

TEST(DispatchKeySet, UndefinedAndAliasKeysSetNoBit) {
  EXPECT_TRUE(DispatchKeySet(Undefined).empty());
  for (const DispatchKey alias : aliasKeys()) EXPECT_TRUE(DispatchKeySet(alias).empty()) << toString(alias);
  EXPECT_TRUE(DispatchKeySet(BackendComponent::InvalidBit).empty());
  EXPECT_FALSE(DispatchKeySet(DispatchKeySet::FULL).has(CompositeImplicitAutograd));
}

TEST(DispatchKeySet, RuntimeKeyIsItsFunctionalityAndItsBackend) {
  for (const DispatchKey per_backend : {Dense, Quantized, Sparse, NestedTensor, AutogradFunctionality}) {
    for (uint8_t b = 1; b <= num_backends; ++b) {
      const DispatchKey key = toRuntimePerBackendFunctionalityKey(per_backend, backend(b));
      const DispatchKeySet keys(key);
      EXPECT_EQ(keys, DispatchKeySet(per_backend) | DispatchKeySet(backend(b)));
      EXPECT_TRUE(keys.has(key));
      EXPECT_TRUE(keys.has(per_backend));
      EXPECT_TRUE(keys.has_backend(backend(b)));
      EXPECT_EQ(keys.highestPriorityTypeId(), key);
      EXPECT_EQ(keys.highestFunctionalityKey(), per_backend);
      EXPECT_EQ(keys.highestBackendKey(), backend(b));
      EXPECT_EQ(keysOf(keys), std::vector{key});
    }
  }
}

TEST(DispatchKeySet, FunctionalitySingletonHoldsItAlone) {
  for (uint16_t k = 1; k < num_functionality_keys; ++k) {
    const DispatchKeySet keys(functionality(k));
    EXPECT_EQ(keys, DispatchKeySet().add(functionality(k)));
    EXPECT_EQ(keys.highestFunctionalityKey(), functionality(k));
    EXPECT_EQ(keys.highestBackendKey(), BackendComponent::InvalidBit);
    EXPECT_EQ(keys.indexOfHighestBit(), num_backends + k);
    EXPECT_TRUE(keys.remove(functionality(k)).empty());
    for (uint16_t other = 1; other < num_functionality_keys; ++other) {
      EXPECT_EQ(keys.has(functionality(other)), other == k);
    }
  }
}

TEST(DispatchKeySet, BackendsAloneHaveNoRuntimeKey) {
  const DispatchKeySet keys({BackendComponent::CPUBit, BackendComponent::CUDABit});
  EXPECT_EQ(keys.raw_repr(), 3u);
  EXPECT_EQ(keys.highestFunctionalityKey(), Undefined);
  EXPECT_EQ(keys.highestBackendKey(), BackendComponent::CUDABit);
  EXPECT_EQ(keys.highestPriorityTypeId(), Undefined);
  EXPECT_TRUE(keysOf(keys).empty());
}

TEST(DispatchKeySet, HasAllHasAnyAndSupersets) {
  const DispatchKeySet keys({CPU, AutogradCPU, ADInplaceOrView});
  EXPECT_TRUE(keys.has_all(DispatchKeySet({CPU, ADInplaceOrView})));
  EXPECT_FALSE(keys.has_all(DispatchKeySet({CPU, Python})));
  EXPECT_TRUE(keys.has_any(DispatchKeySet({Python, ADInplaceOrView})));
  EXPECT_FALSE(keys.has_any(DispatchKeySet({Python, Named})));
  EXPECT_TRUE(keys.isSupersetOf(DispatchKeySet()));
  EXPECT_TRUE(keys.isSupersetOf(keys));
  EXPECT_FALSE(keys.isSupersetOf(keys.add(Python)));
  EXPECT_FALSE(keys.has(CUDA));
  EXPECT_FALSE(keys.has_backend(BackendComponent::CUDABit));
  EXPECT_FALSE(keys.has_backend(BackendComponent::InvalidBit));
}

TEST(DispatchKeySet, SubtractionKeepsBackends) {
  const DispatchKeySet keys({CPU, AutogradCUDA});
  EXPECT_EQ(keys - DispatchKeySet(AutogradCUDA),
            DispatchKeySet(Dense) | DispatchKeySet({BackendComponent::CPUBit, BackendComponent::CUDABit}));
  EXPECT_EQ(keys.remove(AutogradCUDA), keys - DispatchKeySet(AutogradCUDA));
  EXPECT_EQ(keys - kAllBackends, keys);
  EXPECT_EQ(keys.remove_backend(BackendComponent::CUDABit), DispatchKeySet({CPU, AutogradCPU}));
  EXPECT_EQ(keys.remove_backend(BackendComponent::HIPBit), keys);
}

TEST(DispatchKeySet, DoubletonsFormACrossProduct) {
  const DispatchKeySet keys = DispatchKeySet(CPU) | DispatchKeySet(AutogradCUDA);
  EXPECT_EQ(keysOf(keys), (std::vector{CPU, CUDA, AutogradCPU, AutogradCUDA}));
  EXPECT_TRUE(keys.has(CUDA));
  EXPECT_TRUE(keys.has(AutogradCPU));
  EXPECT_EQ(keys.highestPriorityTypeId(), AutogradCUDA);
}

TEST(DispatchKeySet, EveryTwoPerBackendKeysFormTheirCrossProduct) {
  std::vector<DispatchKey> all;
  for (const DispatchKey per_backend : {Dense, Quantized, Sparse, NestedTensor, AutogradFunctionality}) {
    for (uint8_t b = 1; b <= num_backends; ++b) {
      all.push_back(toRuntimePerBackendFunctionalityKey(per_backend, backend(b)));
    }
  }
  ASSERT_EQ(all.size(), 75U);
  for (const DispatchKey first : all) {
    for (const DispatchKey second : all) {
      std::set<DispatchKey> expected;
      for (const DispatchKey key : {toFunctionalityKey(first), toFunctionalityKey(second)}) {
        for (const BackendComponent b : {toBackendComponent(first), toBackendComponent(second)}) {
          expected.insert(toRuntimePerBackendFunctionalityKey(key, b));
        }
      }
      const std::vector<DispatchKey> found = keysOf(DispatchKeySet({first, second}));
      ASSERT_EQ(found, std::vector<DispatchKey>(expected.begin(), expected.end())) << toString(first);
    }
  }
}

TEST(DispatchKeySet, IteratorsCompareAndStep) {
  const DispatchKeySet full(DispatchKeySet::FULL);
  EXPECT_EQ(full.begin(), full.begin());
  EXPECT_EQ(full.begin(), full.begin()++);
  EXPECT_NE(full.begin(), ++full.begin());
  EXPECT_NE(full.begin(), full.end());
  EXPECT_EQ(++DispatchKeySet(Python).begin(), DispatchKeySet(Python).end());
  EXPECT_EQ(*DispatchKeySet(CPU).begin(), CPU);
}

TEST(DispatchKeySet, AlgebraHoldsForRandomSets) {
  std::mt19937_64 random(1);
  const DispatchKeySet full(DispatchKeySet::FULL);
  for (int i = 0; i < 2000; ++i) {
    const DispatchKeySet a(DispatchKeySet::RAW, random() & full.raw_repr());
    const DispatchKeySet b(DispatchKeySet::RAW, random() & full.raw_repr());
    EXPECT_EQ((a | b).raw_repr(), a.raw_repr() | b.raw_repr());
    EXPECT_EQ((a & b).raw_repr(), a.raw_repr() & b.raw_repr());
    EXPECT_EQ((a ^ b).raw_repr(), a.raw_repr() ^ b.raw_repr());
    EXPECT_EQ((a - b) & kAllBackends, a & kAllBackends);
    EXPECT_EQ(((a - b) & b) - kAllBackends, (a & b) & kAllBackends);
    EXPECT_EQ(a == b, !(a != b));
    EXPECT_TRUE((a | b).isSupersetOf(a));
    EXPECT_EQ(a.add(b), a | b);
    DispatchKeySet in_place = a;
    in_place |= b;
    EXPECT_EQ(in_place, a | b);
    in_place &= a;
    EXPECT_EQ(in_place, a);
  }
}

TEST(DispatchKeySet, IterationRunsFromLowToHighAndSkipsWhatHasNoBackend) {
  const DispatchKeySet keys = DispatchKeySet({BackendComponent::CPUBit, BackendComponent::HIPBit}) |
                              DispatchKeySet({PythonDispatcher, AutogradFunctionality, FPGA, Dense});
  EXPECT_EQ(keysOf(keys), (std::vector{CPU, HIP, FPGA, AutogradCPU, AutogradHIP, PythonDispatcher}));
  EXPECT_EQ(keysOf(DispatchKeySet({Dense, Sparse, Python, AutogradFunctionality})), std::vector{Python});
  EXPECT_EQ(keysOf(DispatchKeySet({Dense, Sparse})), std::vector<DispatchKey>{});
}

TEST(DispatchKeySet, IteratingTheFullSetVisitsEveryRuntimeKeyOnce) {
  std::vector<DispatchKey> expected;
  for (uint16_t k = 1; k < num_functionality_keys; ++k) {
    if (!isPerBackendFunctionalityKey(functionality(k))) {
      expected.push_back(functionality(k));
      continue;
    }
    for (uint8_t b = 1; b <= num_backends; ++b) {
      expected.push_back(toRuntimePerBackendFunctionalityKey(functionality(k), backend(b)));
    }
  }
  EXPECT_EQ(keysOf(DispatchKeySet(DispatchKeySet::FULL)), expected);
  EXPECT_EQ(expected.size(), num_runtime_entries - 1u);
  DispatchKeySet::iterator iterator = DispatchKeySet({CPU, Python}).begin();
  EXPECT_EQ(*iterator++, CPU);
  EXPECT_EQ(*iterator, Python);
}

TEST(DispatchKeySet, TheEndGivesTheKeyBehindTheLast) {
  const DispatchKeySet empty;
  EXPECT_EQ(*empty.begin(), EndOfFunctionalityKeys);
  EXPECT_EQ(*empty.end(), EndOfFunctionalityKeys);
  EXPECT_EQ(*DispatchKeySet::iterator(), EndOfFunctionalityKeys);
  // A per-backend functionality without a backend has no runtime key.
  EXPECT_EQ(*DispatchKeySet(Dense).begin(), EndOfFunctionalityKeys);
  for (const DispatchKeySet keys :
       {DispatchKeySet(CPU), DispatchKeySet(PythonDispatcher), DispatchKeySet({CUDA, AutogradCUDA}),
        DispatchKeySet(DispatchKeySet::FULL), DispatchKeySet(DispatchKeySet::FULL_AFTER, Python), kAllBackends}) {
    EXPECT_EQ(*keys.end(), EndOfFunctionalityKeys);
    auto at = keys.begin();
    while (at != keys.end()) ++at;
    EXPECT_EQ(*at, EndOfFunctionalityKeys);
    EXPECT_EQ(++at, keys.end());
    EXPECT_EQ(*at, EndOfFunctionalityKeys);
  }
  static_assert(*DispatchKeySet(CPU).end() == EndOfFunctionalityKeys);
}

TEST(DispatchKeySet, FullHoldsEveryRuntimeKey) {
  const DispatchKeySet full(DispatchKeySet::FULL);
  for (uint16_t k = 1; k < num_functionality_keys; ++k) EXPECT_TRUE(full.has(functionality(k)));
  for (uint8_t b = 1; b <= num_backends; ++b) EXPECT_TRUE(full.has_backend(backend(b)));
  EXPECT_EQ(full.highestPriorityTypeId(), PythonDispatcher);
}

TEST(DispatchKeySet, FullAfterHoldsWhatIsBelowAndPythonDispatcher) {
  for (uint16_t limit = 1; limit < num_functionality_keys; ++limit) {
    const DispatchKeySet keys(DispatchKeySet::FULL_AFTER, functionality(limit));
    for (uint16_t k = 1; k < num_functionality_keys; ++k) {
      EXPECT_EQ(keys.has(functionality(k)), k < limit || functionality(k) == PythonDispatcher);
    }
    EXPECT_TRUE(keys.has_all(kAllBackends));
  }
  EXPECT_EQ(DispatchKeySet(DispatchKeySet::FULL_AFTER, AutogradCPU),
            DispatchKeySet(DispatchKeySet::FULL_AFTER, AutogradFunctionality));
}

TEST(DispatchKeySet, TableIndicesAreThoseOfTheLayout) {
  const std::pair<DispatchKey, int> indices[] = {
      {Undefined, 0},
      {CPU, 1},
      {CUDA, 2},
      {Meta, 15},
      {FPGA, 16},
      {ORT, 17},
      {Vulkan, 18},
      {Metal, 19},
      {QuantizedCPU, 20},
      {QuantizedMeta, 34},
      {CustomRNGKeyId, 35},
      {MkldnnCPU, 36},
      {SparseCPU, 37},
      {SparseMeta, 51},
      {SparseCsrCPU, 52},
      {SparseCsrCUDA, 53},
      {NestedTensorCPU, 54},
      {NestedTensorMeta, 68},
      {BackendSelect, 69},
      {Python, 70},
      {ADInplaceOrView, 78},
      {AutogradOther, 79},
      {AutogradCPU, 80},
      {AutogradMeta, 94},
      {AutogradNestedTensor, 95},
      {Tracer, 96},
      {AutocastCPU, 97},
      {FuncTorchBatched, 104},
      {PreDispatch, 114},
      {PythonDispatcher, 115},
  };
  for (const auto& [key, index] : indices) EXPECT_EQ(getDispatchTableIndexForDispatchKey(key), index) << toString(key);
  // The full set contains every key of the table once, in order of their indices.
  int expected = 1;
  for (const DispatchKey key : DispatchKeySet(DispatchKeySet::FULL)) {
    EXPECT_EQ(getDispatchTableIndexForDispatchKey(key), expected++) << toString(key);
  }
  static_assert(getDispatchTableIndexForDispatchKey(AutogradCUDA) == 81);
}

TEST(DispatchKeySet, TableIndexAgreesWithItsDefinition) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 20000; ++i) {
    // Some sets have fewer bits, so that every functionality is the highest at times.
    // NOLINTNEXTLINE(misc-redundant-expression): random() gives another number each time
    const uint64_t bits = random() & random() & (DispatchKeySet(DispatchKeySet::FULL).raw_repr() >> (i % 60));
    const DispatchKeySet keys(DispatchKeySet::RAW, bits);
    ASSERT_EQ(keys.getDispatchTableIndexForDispatchKeySet(), slowTableIndex(keys)) << bits;
  }
}

TEST(DispatchKeySet, BackendIndexCountsFromCpu) {
  EXPECT_EQ(DispatchKeySet().getBackendIndex(), 0u);
  EXPECT_EQ(DispatchKeySet(CPU).getBackendIndex(), 0u);
  EXPECT_EQ(DispatchKeySet({CPU, CUDA}).getBackendIndex(), 1u);
  EXPECT_EQ(DispatchKeySet({Meta, Python}).getBackendIndex(), 14u);
}

TEST(DispatchKeySet, PrintsItsRuntimeKeys) {
  EXPECT_EQ(toString(DispatchKeySet()), "DispatchKeySet()");
  EXPECT_EQ(toString(DispatchKeySet({ADInplaceOrView, CPU})), "DispatchKeySet(CPU, ADInplaceOrView)");
  EXPECT_EQ(toString(DispatchKeySet({CPU, CUDA, AutogradCUDA})),
            "DispatchKeySet(CPU, CUDA, AutogradCPU, AutogradCUDA)");
}

TEST(DispatchKeySet, ConstantsHoldTheirKeys) {
  EXPECT_EQ(toString(default_included_set), "DispatchKeySet(BackendSelect, ADInplaceOrView)");
  EXPECT_EQ(toString(default_excluded_set),
            "DispatchKeySet(AutocastCPU, AutocastXPU, AutocastIPU, AutocastHPU, AutocastXLA, AutocastCUDA, "
            "AutocastPrivateUse1)");
  EXPECT_EQ(default_excluded_set, autocast_dispatch_keyset);
  EXPECT_EQ(autograd_dispatch_keyset, DispatchKeySet({AutogradOther, AutogradFunctionality, AutogradNestedTensor}));
  EXPECT_EQ(autograd_dispatch_keyset_with_ADInplaceOrView - autograd_dispatch_keyset, DispatchKeySet(ADInplaceOrView));
  EXPECT_TRUE(after_autograd_keyset.has(ADInplaceOrView));
  EXPECT_FALSE(after_autograd_keyset.has_any(autograd_dispatch_keyset));
  EXPECT_TRUE(after_autograd_keyset.has(PythonDispatcher));
  EXPECT_FALSE(after_autograd_keyset.has(AutocastCPU));
  EXPECT_FALSE(after_ADInplaceOrView_keyset.has(ADInplaceOrView));
  EXPECT_TRUE(after_ADInplaceOrView_keyset.has(ZeroTensor));
  EXPECT_FALSE(after_func_keyset.has(Functionalize));
  EXPECT_FALSE(after_func_keyset.has(ADInplaceOrView));
  EXPECT_TRUE(after_func_keyset.has(BackendSelect));
  EXPECT_EQ((DispatchKeySet({CPU, AutogradCPU, ADInplaceOrView}) & after_autograd_keyset).highestPriorityTypeId(),
            ADInplaceOrView);
}

TEST(DispatchKeySet, AliasKeysHaveTheirRuntimeKeys) {
  EXPECT_EQ(getRuntimeDispatchKeySet(CPU), DispatchKeySet(CPU));
  EXPECT_EQ(getRuntimeDispatchKeySet(FuncTorchBatchedDecomposition), DispatchKeySet(FuncTorchBatched));
  EXPECT_EQ(getRuntimeDispatchKeySet(Autograd), autograd_dispatch_keyset | kAllBackends);
  EXPECT_EQ(keysOf(getRuntimeDispatchKeySet(Autograd)).size(), 15u + 2u);
  EXPECT_EQ(getRuntimeDispatchKeySet(CompositeExplicitAutograd),
            kAllBackends | DispatchKeySet({Dense, FPGA, ORT, Vulkan, Metal, Quantized, CustomRNGKeyId, MkldnnCPU,
                                           Sparse, SparseCsrCPU, SparseCsrCUDA}));
  EXPECT_EQ(getRuntimeDispatchKeySet(CompositeImplicitAutograd), getRuntimeDispatchKeySet(CompositeExplicitAutograd) |
                                                                     autograd_dispatch_keyset |
                                                                     DispatchKeySet({NestedTensor, Functionalize}));
  EXPECT_EQ(getRuntimeDispatchKeySet(CompositeImplicitAutogradNestedTensor),
            kAllBackends | DispatchKeySet({NestedTensor, AutogradNestedTensor}));
  const DispatchKeySet non_functional = getRuntimeDispatchKeySet(CompositeExplicitAutogradNonFunctional);
  EXPECT_TRUE(non_functional.has(CPU));
  EXPECT_FALSE(non_functional.has(XLA));
  EXPECT_FALSE(non_functional.has(Lazy));
  EXPECT_FALSE(non_functional.has(SparseCPU));
}

TEST(DispatchKeySet, InclusionInAnAliasIsMembership) {
  for (const DispatchKey alias : aliasKeys()) {
    const DispatchKeySet members = getRuntimeDispatchKeySet(alias);
    for (const DispatchKey key : DispatchKeySet(DispatchKeySet::FULL)) {
      EXPECT_EQ(runtimeDispatchKeySetHas(alias, key), members.has(key)) << toString(key);
      EXPECT_EQ(isIncludedInAlias(key, alias), members.has(key)) << toString(key);
    }
    EXPECT_FALSE(isIncludedInAlias(Undefined, alias));
  }
  EXPECT_TRUE(runtimeDispatchKeySetHas(CPU, CPU));
  EXPECT_FALSE(runtimeDispatchKeySetHas(AutogradCPU, CPU));
  EXPECT_TRUE(isIncludedInAlias(FuncTorchBatched, FuncTorchBatchedDecomposition));
  EXPECT_FALSE(isIncludedInAlias(NestedTensorCPU, CompositeExplicitAutograd));
  EXPECT_TRUE(isIncludedInAlias(NestedTensorCPU, CompositeImplicitAutograd));
}

TEST(DispatchKeySet, BackendFunctionalitiesAreDenseQuantizedAndSparseOnes) {
  EXPECT_EQ(backend_functionality_keys,
            kAllBackends | DispatchKeySet({Dense, Quantized, Sparse, SparseCsrCPU, SparseCsrCUDA}));
}

TEST(DispatchKeySet, BackendKeysAreThoseOfKernels) {
  for (const DispatchKey key : {CPU, HIP, Meta, Dense, QuantizedCPU, SparseVE, FPGA, MkldnnCPU, SparseCsrCPU}) {
    EXPECT_TRUE(isBackendDispatchKey(key)) << toString(key);
  }
  for (const DispatchKey key : {Undefined, NestedTensor, NestedTensorCPU, AutogradCPU, Python, BackendSelect,
                                CompositeExplicitAutograd, Functionalize}) {
    EXPECT_FALSE(isBackendDispatchKey(key)) << toString(key);
  }
}

TEST(DispatchKeySet, AutogradKeysServeEveryBackend) {
  for (uint8_t b = 1; b <= num_backends; ++b) {
    const DispatchKey dense = toRuntimePerBackendFunctionalityKey(Dense, backend(b));
    const DispatchKey autograd = toRuntimePerBackendFunctionalityKey(AutogradFunctionality, backend(b));
    EXPECT_EQ(getBackendKeySetFromAutograd(autograd), DispatchKeySet(dense)) << toString(autograd);
    EXPECT_EQ(getAutogradRelatedKeySetFromBackend(backend(b)), DispatchKeySet({ADInplaceOrView, autograd}));
  }
  EXPECT_EQ(getBackendKeySetFromAutograd(AutogradHIP), DispatchKeySet(HIP));
  EXPECT_EQ(getBackendKeySetFromAutograd(AutogradVE), DispatchKeySet(VE));
  EXPECT_EQ(getBackendKeySetFromAutograd(AutogradMTIA), DispatchKeySet(MTIA));
  EXPECT_EQ(getBackendKeySetFromAutograd(AutogradOther), autogradother_backends);
  EXPECT_EQ(getBackendKeySetFromAutograd(AutogradNestedTensor), DispatchKeySet(NestedTensor) | kAllBackends);
  EXPECT_TRUE(getBackendKeySetFromAutograd(CPU).empty());
  EXPECT_TRUE(getBackendKeySetFromAutograd(Autograd).empty());
  EXPECT_TRUE(getBackendKeySetFromAutograd(AutogradFunctionality).empty());
  EXPECT_EQ(getAutogradRelatedKeySetFromBackend(BackendComponent::InvalidBit),
            DispatchKeySet({ADInplaceOrView, AutogradOther}));
}

TEST(DispatchKeySet, AutocastKeysBelongToSevenBackends) {
  EXPECT_EQ(getAutocastRelatedKeySetFromBackend(BackendComponent::CPUBit), DispatchKeySet(AutocastCPU));
  EXPECT_EQ(getAutocastRelatedKeySetFromBackend(BackendComponent::CUDABit), DispatchKeySet(AutocastCUDA));
  EXPECT_EQ(getAutocastRelatedKeySetFromBackend(BackendComponent::XLABit), DispatchKeySet(AutocastXLA));
  EXPECT_EQ(getAutocastRelatedKeySetFromBackend(BackendComponent::XPUBit), DispatchKeySet(AutocastXPU));
  EXPECT_EQ(getAutocastRelatedKeySetFromBackend(BackendComponent::IPUBit), DispatchKeySet(AutocastIPU));
  EXPECT_EQ(getAutocastRelatedKeySetFromBackend(BackendComponent::HPUBit), DispatchKeySet(AutocastHPU));
  EXPECT_EQ(getAutocastRelatedKeySetFromBackend(BackendComponent::PrivateUse1Bit), DispatchKeySet(AutocastPrivateUse1));
  EXPECT_TRUE(getAutocastRelatedKeySetFromBackend(BackendComponent::HIPBit).empty());
  EXPECT_TRUE(getAutocastRelatedKeySetFromBackend(BackendComponent::InvalidBit).empty());
}

TEST(DispatchKeySet, HighestBackendTypeIgnoresWhatIsAboveBackends) {
  EXPECT_EQ(highestPriorityBackendTypeId(DispatchKeySet({CPU, AutogradCPU, ADInplaceOrView})), CPU);
  EXPECT_EQ(highestPriorityBackendTypeId(DispatchKeySet({SparseCUDA, CUDA})), SparseCUDA);
  EXPECT_EQ(highestPriorityBackendTypeId(DispatchKeySet({Python})), Undefined);
  EXPECT_EQ(highestPriorityBackendTypeId(DispatchKeySet({SparseCsrCPU, AutogradOther, ADInplaceOrView})), SparseCsrCPU);
  EXPECT_EQ(highestPriorityBackendTypeId(DispatchKeySet({SparseCsrCUDA, CUDA, Python})), SparseCsrCUDA);
}

}  // namespace
}  // namespace boxcar
