#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/dispatcher/dispatcher_helpers.h"

// Registrations for distinct (operator, key) pairs commute: tables depend on what is registered, not on the order.

namespace boxcar {
namespace {

using Key = DispatchKey;

constexpr size_t kMost = 6;

template <size_t index>
void kernelNumber(const OperatorHandle&, Stack*) {}

// Stateless kernels: each always has the same record, so that tables can be compared by record.
CppFunction kernelAt(size_t index) {
  static const auto kernels = []<size_t... I>(std::index_sequence<I...>) {
    return std::array<CppFunction, kMost>{CppFunction::makeFromBoxedFunction<&kernelNumber<I>>()...};
  }
  (std::make_index_sequence<kMost>());
  return kernels[index];
}

struct Registration {
  enum Kind { Def, Impl, Fallthrough, Fallback, FallbackFallthrough } kind;
  const char* name = "op";
  Key key = Key::Undefined;
};

Library apply(const Registration& registration, size_t index) {
  switch (registration.kind) {
    case Registration::Def: {
      Library m = definitions("commute");
      m.def(std::string(registration.name) + "(Tensor x) -> Tensor");
      return m;
    }
    case Registration::Impl:
    case Registration::Fallthrough: {
      Library m = implementations(registration.key, "commute");
      m.impl(registration.name,
             registration.kind == Registration::Impl ? kernelAt(index) : CppFunction::makeFallthrough());
      return m;
    }
    default: {
      Library m = fallbacks(registration.key);
      m.fallback(registration.kind == Registration::Fallback ? kernelAt(index) : CppFunction::makeFallthrough());
      return m;
    }
  }
}

// All table entries and the mask of both operators.
using Tables = std::vector<std::pair<std::vector<const Kernel*>, uint64_t>>;

Tables readTables() {
  Tables tables;
  for (const char* name : {"commute::op", "commute::other"}) {
    auto& [table_entries, mask] = tables.emplace_back();
    const auto op = Dispatcher::singleton().findOp({name, ""});
    if (!op.has_value() || !op->hasSchema()) continue;
    table_entries.push_back(op->entry().lookup({}));
    for (const Key key : DispatchKeySet(DispatchKeySet::FULL))
      table_entries.push_back(op->entry().lookup(DispatchKeySet(key)));
    mask = op->entry().dispatchKeyExtractor().nonFallthroughKeys().raw_repr();
  }
  return tables;
}

// Registers and removes in every order. Equal sets of registrations must give equal tables.
void expectCommuting(const std::vector<Registration>& registrations) {
  ASSERT_LE(registrations.size(), kMost);
  std::map<unsigned, Tables> tables_of;  // by the set of registrations present, as bits
  const auto expectSame = [&](unsigned present) {
    const Tables now = readTables();
    const auto [found, first_time] = tables_of.emplace(present, now);
    if (!first_time) {
      ASSERT_EQ(found->second, now) << "with the registrations " << present;
    }
  };
  std::vector<size_t> order(registrations.size());
  std::iota(order.begin(), order.end(), 0);
  do {
    std::array<std::optional<Library>, kMost> libraries;
    unsigned present = 0;
    for (const size_t index : order) {
      libraries[index] = apply(registrations[index], index);
      present |= 1u << index;
      expectSame(present);
    }
    // Removal goes through all orders, too; the order of registration no longer matters at this point.
    for (const size_t index : order) {
      libraries[index].reset();
      present &= ~(1u << index);
      expectSame(present);
    }
    if (::testing::Test::HasFatalFailure()) return;
  } while (std::ranges::next_permutation(order).found);
  EXPECT_EQ(tables_of.size(), size_t{1} << registrations.size());
}

using R = Registration;

TEST(Commutation, OfADefinitionAndKernelsAtABackendItsAutogradKeyAndTheComposites) {
  expectCommuting({{R::Def},
                   {R::Impl, "op", Key::CPU},
                   {R::Impl, "op", Key::AutogradCPU},
                   {R::Impl, "op", Key::CompositeImplicitAutograd},
                   {R::Impl, "op", Key::CompositeExplicitAutograd},
                   {R::Impl, "op", Key::Autograd}});
}

TEST(Commutation, OfAutogradOtherAndItsBackends) {
  expectCommuting({{R::Def},
                   {R::Impl, "op", Key::SparseCPU},
                   {R::Impl, "op", Key::FPGA},
                   {R::Impl, "op", Key::AutogradOther},
                   {R::Impl, "op", Key::CompositeImplicitAutograd},
                   {R::Impl, "op", Key::Autograd}});
}

TEST(Commutation, OfFallbacksAndFallthroughs) {
  expectCommuting({{R::Def},
                   {R::Fallback, "", Key::Tracer},
                   {R::FallbackFallthrough, "", Key::Conjugate},
                   {R::Fallthrough, "op", Key::CPU},
                   {R::Impl, "op", Key::Conjugate},
                   {R::Fallback, "", Key::AutogradCPU}});
}

TEST(Commutation, OfNestedTensorsAndBatching) {
  expectCommuting({{R::Def},
                   {R::Impl, "op", Key::NestedTensorCPU},
                   {R::Impl, "op", Key::CompositeImplicitAutogradNestedTensor},
                   {R::Impl, "op", Key::CompositeImplicitAutograd},
                   {R::Impl, "op", Key::FuncTorchBatchedDecomposition},
                   {R::Impl, "op", Key::FuncTorchBatched}});
}

TEST(Commutation, OfTwoOperators) {
  expectCommuting({{R::Def},
                   {R::Def, "other"},
                   {R::Impl, "op", Key::CPU},
                   {R::Impl, "other", Key::CompositeExplicitAutogradNonFunctional},
                   {R::Impl, "other", Key::Autograd},
                   {R::Fallback, "", Key::Functionalize}});
}

TEST(Commutation, OfRandomSets) {
  std::mt19937 random(97);
  std::vector<Key> keys;
  for (const Key key : DispatchKeySet(DispatchKeySet::FULL)) keys.push_back(key);
  for (int weight = 0; weight < 8; ++weight) {
    for (auto key = static_cast<uint16_t>(Key::StartOfAliasKeys); key <= static_cast<uint16_t>(Key::EndOfAliasKeys);
         ++key) {
      keys.push_back(static_cast<Key>(key));
    }
    for (const Key key : {Key::CPU, Key::AutogradCPU, Key::SparseCPU, Key::AutogradOther}) keys.push_back(key);
  }
  for (int round = 0; round < 10; ++round) {
    std::vector<Registration> registrations{{R::Def}};
    const auto isThere = [&](const Registration& wanted) {
      return std::ranges::any_of(registrations, [&](const Registration& there) {
        const bool both_fallbacks = there.kind >= R::Fallback && wanted.kind >= R::Fallback;
        const bool both_kernels = there.kind != R::Def && there.kind < R::Fallback && wanted.kind < R::Fallback;
        return there.key == wanted.key && (both_fallbacks || both_kernels);
      });
    };
    while (registrations.size() < kMost) {
      const Key key = keys[random() % keys.size()];
      Registration wanted{static_cast<R::Kind>(1 + random() % 4), "op", key};
      const bool can_be_fallback = !isAliasDispatchKey(key) && key != Key::PreDispatch && key != Key::Python;
      if (wanted.kind >= R::Fallback && !can_be_fallback) wanted.kind = R::Impl;
      if (!isThere(wanted)) registrations.push_back(wanted);
    }
    expectCommuting(registrations);
    ASSERT_FALSE(::testing::Test::HasFailure()) << "in round " << round;
  }
}

}  // namespace
}  // namespace boxcar
