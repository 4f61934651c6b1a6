#include <boxcar/dispatcher/call/local_dispatch_key_set.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

namespace boxcar {
namespace {

using Key = DispatchKey;

DispatchKeySet included() { return tls_local_dispatch_key_set().included_; }
DispatchKeySet excluded() { return tls_local_dispatch_key_set().excluded_; }

void expectDefaults() {
  EXPECT_EQ(included(), default_included_set);
  EXPECT_EQ(excluded(), default_excluded_set);
}

TEST(LocalDispatchKeySet, EveryThreadStartsWithTheDefaults) {
  expectDefaults();
  EXPECT_TRUE(tls_is_dispatch_key_included(Key::BackendSelect));
  EXPECT_TRUE(tls_is_dispatch_key_included(Key::ADInplaceOrView));
  EXPECT_TRUE(tls_is_dispatch_key_excluded(Key::AutocastCUDA));
  const IncludeDispatchKeyGuard include(Key::Tracer);
  const ExcludeDispatchKeyGuard exclude(Key::AutogradCPU);
  std::thread(expectDefaults).join();
  EXPECT_TRUE(included().has(Key::Tracer));
}

TEST(LocalDispatchKeySet, GuardsNestAndPutBackWhatWasThere) {
  {
    const IncludeDispatchKeyGuard outer(DispatchKeySet({Key::Tracer, Key::Batched}));
    {
      const IncludeDispatchKeyGuard inner(DispatchKeySet({Key::Tracer, Key::Python}));
      EXPECT_EQ(included(), default_included_set | DispatchKeySet({Key::Tracer, Key::Batched, Key::Python}));
    }
    EXPECT_EQ(included(), default_included_set | DispatchKeySet({Key::Tracer, Key::Batched}));
    const IncludeDispatchKeyGuard default_key(Key::BackendSelect);
  }
  {
    const ExcludeDispatchKeyGuard outer(autograd_dispatch_keyset);
    {
      const ExcludeDispatchKeyGuard inner(DispatchKeySet({Key::AutogradOther, Key::Tracer, Key::AutocastCPU}));
      EXPECT_EQ(excluded(), default_excluded_set | autograd_dispatch_keyset.add(Key::Tracer));
    }
    EXPECT_EQ(excluded(), default_excluded_set | autograd_dispatch_keyset);
  }
  expectDefaults();
}

TEST(LocalDispatchKeySet, GuardsHoldOnExceptions) {
  try {
    const IncludeDispatchKeyGuard include(Key::Tracer);
    const ExcludeDispatchKeyGuard exclude(Key::Python);
    const ForceDispatchKeyGuard force{DispatchKeySet(), DispatchKeySet()};
    throw std::runtime_error("out");
  } catch (const std::runtime_error&) {
  }
  expectDefaults();
}

TEST(LocalDispatchKeySet, ForceSetsBothAndPutsBothBack) {
  const IncludeDispatchKeyGuard include(Key::Tracer);
  {
    const ForceDispatchKeyGuard force(DispatchKeySet{Key::Python}, DispatchKeySet{Key::Conjugate});
    EXPECT_EQ(included(), DispatchKeySet(Key::Python));
    EXPECT_EQ(excluded(), DispatchKeySet(Key::Conjugate));
    const IncludeDispatchKeyGuard inner(Key::Tracer);
    EXPECT_EQ(included(), DispatchKeySet({Key::Python, Key::Tracer}));
  }
  EXPECT_EQ(included(), default_included_set.add(Key::Tracer));
  EXPECT_EQ(excluded(), default_excluded_set);
}

TEST(LocalDispatchKeySet, BackendsComeFromTensorsAlone) {
  const IncludeDispatchKeyGuard include(Key::SparseCUDA);
  const ExcludeDispatchKeyGuard exclude(Key::AutogradCPU);
  EXPECT_EQ(included() & backend_bitset_mask, DispatchKeySet());
  EXPECT_EQ(excluded() & backend_bitset_mask, DispatchKeySet());
  const DispatchKeySet cpu({Key::CPU, Key::AutogradCPU});
  EXPECT_EQ(detail::computeDispatchKeySet(cpu, DispatchKeySet(DispatchKeySet::FULL)).highestPriorityTypeId(),
            Key::ADInplaceOrView);
  EXPECT_TRUE(detail::computeDispatchKeySet(cpu, DispatchKeySet(DispatchKeySet::FULL)).has(Key::SparseCPU));
}

TEST(LocalDispatchKeySet, ExcludedKeysWinOverIncludedOnesAndTheArguments) {
  const IncludeDispatchKeyGuard include(Key::Tracer);
  const ExcludeDispatchKeyGuard exclude(DispatchKeySet({Key::Tracer, Key::CPU}));
  EXPECT_EQ(detail::computeDispatchKeySet(DispatchKeySet(Key::CPU), DispatchKeySet(DispatchKeySet::FULL)),
            default_included_set | DispatchKeySet(BackendComponent::CPUBit));
}

TEST(LocalDispatchKeySet, SingleKeysAreAskedAndChanged) {
  tls_set_dispatch_key_included(Key::Tracer, true);
  tls_set_dispatch_key_excluded(Key::AutogradCUDA, true);
  EXPECT_TRUE(tls_is_dispatch_key_included(Key::Tracer));
  EXPECT_TRUE(tls_is_dispatch_key_excluded(Key::AutogradCPU));  // both keys are one functionality
  EXPECT_FALSE(tls_is_dispatch_key_excluded(Key::Autograd));    // an alias is in no set
  tls_set_dispatch_key_included(Key::Tracer, false);
  tls_set_dispatch_key_excluded(Key::AutogradCUDA, false);
  expectDefaults();
}

TEST(LocalDispatchKeySet, BelowAutogradAndBelowADInplaceOrView) {
  {
    const AutoDispatchBelowAutograd guard;
    EXPECT_EQ(excluded(), default_excluded_set | autograd_dispatch_keyset);
    const AutoDispatchBelowADInplaceOrView lower;
    EXPECT_EQ(excluded(), default_excluded_set | autograd_dispatch_keyset_with_ADInplaceOrView);
  }
  expectDefaults();
}

}  // namespace
}  // namespace boxcar
