#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "tests/dispatcher/dispatcher_helpers.h"
#include "tests/dispatcher/registry/dispatch_model.h"

namespace boxcar {
namespace {

using Key = DispatchKey;

std::vector<Key> runtimeKeys() {
  std::vector<Key> keys{Key::Undefined};
  for (const Key key : DispatchKeySet(DispatchKeySet::FULL)) keys.push_back(key);
  return keys;
}

DispatchKeySet keySetOf(Key key) { return DispatchKeySet(key); }

// An operator `table_entry::op`. The registration line of each kernel is the number of its key.
class TableEntryTest : public ::testing::Test {
 protected:
  TableEntryTest() { m_.def("op(Tensor a) -> Tensor"); }

  void implement(std::initializer_list<Key> keys) {
    for (const Key key : keys) {
      Library& library = kernels_.emplace_back(implementations(key, "table_entry", static_cast<uint32_t>(key)));
      library.impl("op", CppFunction::makeFromBoxedFunctor([](const OperatorHandle&, Stack&) {}));
    }
  }
  TableEntry table_entry(Key key) const { return Dispatcher::singleton().computeTableEntry(op(), key); }
  OperatorHandle op() const { return find("table_entry::op"); }

  // Checks that the table entry of [key] holds the kernel registered for [from], and that a lookup finds it.
  void expectFrom(Key key, Key from) const {
    const TableEntry found = table_entry(key);
    EXPECT_EQ(found.key, from) << toString(key);
    EXPECT_EQ(found.cause, key == from ? EntryCause::Exact : EntryCause::Alias) << toString(key);
    EXPECT_EQ(found.site.line, static_cast<uint32_t>(from)) << toString(key);
    EXPECT_EQ(op().entry().lookup(keySetOf(key)), found.kernel) << toString(key);
  }
  void expectDefault(Key key, const Kernel& kernel, EntryCause cause) const {
    const TableEntry found = table_entry(key);
    EXPECT_EQ(found.kernel, &kernel) << toString(key);
    EXPECT_EQ(found.cause, cause) << toString(key);
    EXPECT_EQ(found.key, Key::Undefined) << toString(key);
    EXPECT_EQ(op().entry().lookup(keySetOf(key)), &kernel) << toString(key);
  }
  void expectFallthrough(Key key) const { expectDefault(key, detail::kFallthroughKernel, EntryCause::Default); }
  void expectMissing(Key key) const { expectDefault(key, detail::kMissingKernel, EntryCause::Missing); }
  void expectModes(Key key) const { expectDefault(key, detail::kModesKernel, EntryCause::Default); }

 private:
  Library m_ = definitions("table_entry");
  std::vector<Library> kernels_;
};

TEST_F(TableEntryTest, DefaultsOfAnOperatorWithoutKernels) {
  for (const Key key : runtimeKeys()) {
    const Key functionality = toFunctionalityKey(key);
    if (autograd_dispatch_keyset_with_ADInplaceOrView.has(functionality) || autocast_dispatch_keyset.has(key) ||
        key == Key::BackendSelect || key == Key::VmapMode || key == Key::FuncTorchVmapMode) {
      expectFallthrough(key);
    } else if (key == Key::Named) {
      expectDefault(key, detail::kNamedNotSupportedKernel, EntryCause::Default);
    } else if (key == Key::PreDispatch || key == Key::Python) {
      expectModes(key);
    } else if (key == Key::Meta) {
      expectDefault(key, detail::kMissingMetaKernel, EntryCause::Missing);
    } else if (key == Key::MkldnnCPU && Dispatcher::singleton().hasBackendFallbackForDispatchKey(key)) {
      EXPECT_EQ(table_entry(key).cause, EntryCause::Fallback);  // the backends', where they are linked in
    } else {
      expectMissing(key);
    }
  }
}

TEST_F(TableEntryTest, OfAnOperatorWithoutSchemaExplain) {
  Library kernels = implementations(Key::CPU);
  kernels.impl("only_implemented", CppFunction::makeFallthrough());
  const OperatorHandle op = *Dispatcher::singleton().findOp({"test::only_implemented", ""});
  for (const Key key : runtimeKeys()) {
    EXPECT_EQ(Dispatcher::singleton().computeTableEntry(op, key).cause, EntryCause::Undefined);
    EXPECT_EQ(op.entry().lookup(keySetOf(key)), &detail::kUndefinedOperatorKernel);
  }
}

TEST_F(TableEntryTest, ExactKernelComesFirst) {
  implement({Key::CompositeExplicitAutogradNonFunctional, Key::CompositeExplicitAutograd,
             Key::CompositeImplicitAutograd, Key::CPU, Key::Autograd, Key::AutogradCPU, Key::Undefined});
  expectFrom(Key::CPU, Key::CPU);
  expectFrom(Key::AutogradCPU, Key::AutogradCPU);
  expectFrom(Key::CUDA, Key::CompositeExplicitAutogradNonFunctional);
}

TEST_F(TableEntryTest, NonFunctionalIsBeforeExplicitWhereItServes) {
  implement({Key::CompositeExplicitAutogradNonFunctional, Key::CompositeExplicitAutograd});
  for (const Key key : {Key::CPU, Key::HIP, Key::QuantizedCUDA, Key::FPGA, Key::Meta, Key::Undefined}) {
    expectFrom(key, Key::CompositeExplicitAutogradNonFunctional);
  }
  for (const Key key : {Key::XLA, Key::Lazy, Key::SparseCPU, Key::QuantizedXLA}) {
    expectFrom(key, Key::CompositeExplicitAutograd);
  }
  for (const Key key : {Key::NestedTensorCPU, Key::Functionalize}) expectMissing(key);
  expectModes(Key::Python);
  for (const Key key : {Key::AutogradCPU, Key::AutogradOther, Key::AutogradNestedTensor}) expectFallthrough(key);
}

TEST_F(TableEntryTest, ExplicitIsBeforeImplicitAndKeepsItFromAutograd) {
  implement({Key::CompositeExplicitAutograd, Key::CompositeImplicitAutograd});
  for (const Key key : {Key::CPU, Key::SparseHIP, Key::Vulkan, Key::Undefined}) {
    expectFrom(key, Key::CompositeExplicitAutograd);
  }
  for (const Key key : {Key::AutogradCPU, Key::AutogradVE, Key::AutogradNestedTensor, Key::AutogradOther}) {
    expectFallthrough(key);
  }
}

TEST_F(TableEntryTest, ExplicitWithdrawsImplicitFromEveryKeyThatItDoesNotServe) {
  implement({Key::CompositeExplicitAutograd, Key::CompositeImplicitAutograd});
  for (const Key key : runtimeKeys()) EXPECT_NE(table_entry(key).key, Key::CompositeImplicitAutograd) << toString(key);
  for (const Key key : {Key::NestedTensorCPU, Key::NestedTensorMeta, Key::Functionalize}) expectMissing(key);
  // The same with CompositeExplicitAutogradNonFunctional, which does not serve functional backends, whichever of the
  // two takes precedence at a key.
  implement({Key::CompositeExplicitAutogradNonFunctional});
  for (const Key key : {Key::NestedTensorCUDA, Key::Functionalize}) expectMissing(key);
  for (const Key key : {Key::XLA, Key::SparseCPU}) expectFrom(key, Key::CompositeExplicitAutograd);
  // Kernels for nested tensors themselves are not withdrawn.
  implement({Key::CompositeImplicitAutogradNestedTensor});
  for (const Key key : {Key::NestedTensorCPU, Key::AutogradNestedTensor}) {
    expectFrom(key, Key::CompositeImplicitAutogradNestedTensor);
  }
}

TEST_F(TableEntryTest, ImplicitComesBackEverywhereWhenExplicitGoes) {
  implement({Key::CompositeImplicitAutograd});
  {
    Library explicit_one = implementations(Key::CompositeExplicitAutograd, "table_entry");
    explicit_one.impl("op", CppFunction::makeNamedNotSupported());
    expectMissing(Key::NestedTensorCPU);
    expectMissing(Key::Functionalize);
  }
  for (const Key key : {Key::NestedTensorCPU, Key::Functionalize, Key::AutogradCPU, Key::CPU, Key::Undefined}) {
    expectFrom(key, Key::CompositeImplicitAutograd);
  }
}

TEST_F(TableEntryTest, NonFunctionalAloneLeavesImplicitWhereItDoesNotServe) {
  implement({Key::CompositeExplicitAutogradNonFunctional, Key::CompositeImplicitAutograd});
  for (const Key key : {Key::CPU, Key::Meta, Key::Undefined}) {
    expectFrom(key, Key::CompositeExplicitAutogradNonFunctional);
  }
  for (const Key key : {Key::XLA, Key::Lazy, Key::SparseCPU, Key::NestedTensorCPU, Key::Functionalize, Key::AutogradCPU,
                        Key::AutogradXLA, Key::AutogradOther, Key::AutogradNestedTensor}) {
    expectFrom(key, Key::CompositeImplicitAutograd);
  }
}

TEST_F(TableEntryTest, NestedTensorCompositeIsBeforeImplicitAndNotOnUndefined) {
  implement({Key::CompositeImplicitAutogradNestedTensor});
  expectMissing(Key::Undefined);
  for (const Key key : {Key::NestedTensorCPU, Key::NestedTensorMeta, Key::AutogradNestedTensor}) {
    expectFrom(key, Key::CompositeImplicitAutogradNestedTensor);
  }
  expectMissing(Key::CPU);
  implement({Key::CompositeImplicitAutograd});
  expectFrom(Key::NestedTensorCPU, Key::CompositeImplicitAutogradNestedTensor);
  expectFrom(Key::Undefined, Key::CompositeImplicitAutograd);
  expectFrom(Key::CPU, Key::CompositeImplicitAutograd);
}

TEST_F(TableEntryTest, ImplicitServesBackendsAndAutogradAlike) {
  implement({Key::CompositeImplicitAutograd});
  for (const Key key : runtimeKeys()) {
    if (key == Key::Undefined || math_dispatch_keyset.has(key)) expectFrom(key, Key::CompositeImplicitAutograd);
  }
  expectModes(Key::Python);
  expectFallthrough(Key::ADInplaceOrView);
}

// An acceptance criterion of the dispatcher, like the next three tests.
TEST_F(TableEntryTest, BackendKernelWithdrawsImplicitFromItsAutogradKey) {
  implement({Key::CPU, Key::CompositeImplicitAutograd});
  expectFrom(Key::CPU, Key::CPU);
  expectFallthrough(Key::AutogradCPU);
  expectFrom(Key::CUDA, Key::CompositeImplicitAutograd);
  expectFrom(Key::AutogradCUDA, Key::CompositeImplicitAutograd);
  expectFrom(Key::AutogradOther, Key::CompositeImplicitAutograd);
}

TEST_F(TableEntryTest, AutogradServesWhereImplicitWasWithdrawn) {
  implement({Key::CPU, Key::CompositeImplicitAutograd, Key::Autograd});
  expectFrom(Key::AutogradCPU, Key::Autograd);
  expectFrom(Key::AutogradXLA, Key::CompositeImplicitAutograd);
  expectFrom(Key::XLA, Key::CompositeImplicitAutograd);
}

TEST_F(TableEntryTest, EveryBackendBehavesLikeCuda) {
  for (const char* name :
       {"HIP", "VE", "MTIA", "MPS", "IPU", "XPU", "HPU", "Lazy", "PrivateUse1", "PrivateUse3", "Meta", "XLA", "CUDA"}) {
    Library kernel = implementations(parseDispatchKey(name), "table_entry");
    kernel.impl("op", CppFunction::makeFallthrough());
    Library composite = implementations(Key::CompositeImplicitAutograd, "table_entry");
    composite.impl("op", CppFunction::makeNamedNotSupported());
    const Key autograd = parseDispatchKey(std::string("Autograd") + name);
    EXPECT_EQ(table_entry(parseDispatchKey(name)).cause, EntryCause::Exact) << name;
    expectFallthrough(autograd);
    EXPECT_EQ(table_entry(Key::AutogradCPU).key, Key::CompositeImplicitAutograd) << name;
    EXPECT_EQ(table_entry(Key::AutogradOther).key, Key::CompositeImplicitAutograd) << name;
  }
}

TEST_F(TableEntryTest, NestedTensorKernelWithdrawsImplicitFromItsAutogradKey) {
  implement({Key::NestedTensorCUDA, Key::CompositeImplicitAutograd});
  expectFallthrough(Key::AutogradNestedTensor);
  expectFrom(Key::NestedTensorCPU, Key::CompositeImplicitAutograd);
  expectFrom(Key::AutogradCUDA, Key::CompositeImplicitAutograd);
}

TEST_F(TableEntryTest, AutogradOtherIsAmbiguousWithAKernelOfItsBackends) {
  for (const Key backend : {Key::FPGA, Key::SparseCPU, Key::QuantizedCUDA, Key::MkldnnCPU, Key::SparseCsrCUDA}) {
    Library kernel = implementations(backend, "table_entry");
    kernel.impl("op", CppFunction::makeFallthrough());
    Library composite = implementations(Key::CompositeImplicitAutograd, "table_entry");
    composite.impl("op", CppFunction::makeFallthrough());
    expectDefault(Key::AutogradOther, detail::kAmbiguousAutogradKernel, EntryCause::Ambiguous);
    Stack stack{IValue(cpuTensor())};
    EXPECT_EQ(errorOf([&] { op().redispatchBoxed(DispatchKeySet(Key::AutogradOther), stack); }),
              "table_entry::op has kernels for both CompositeImplicitAutograd and a backend that AutogradOther serves "
              "(it has "
              "kernels for: CompositeImplicitAutograd, " +
                  std::string(toString(backend)) +
                  "): which of the two differentiates is ambiguous. Register a kernel for AutogradOther, or remove the "
                  "composite one");
    // A kernel for Autograd or for AutogradOther itself resolves the ambiguity.
    Library own = implementations(Key::AutogradOther, "table_entry");
    own.impl("op", CppFunction::makeFallthrough());
    EXPECT_EQ(table_entry(Key::AutogradOther).cause, EntryCause::Exact);
  }
}

TEST_F(TableEntryTest, AutogradServesAllAutogradKeysAndNoOther) {
  implement({Key::Autograd});
  for (const Key key : runtimeKeys()) {
    if (autograd_dispatch_keyset.has(toFunctionalityKey(key))) expectFrom(key, Key::Autograd);
  }
  expectMissing(Key::CPU);
  expectMissing(Key::Undefined);
}

TEST_F(TableEntryTest, FuncTorchBatchedDecompositionAloneServesItsKey) {
  implement({Key::FuncTorchBatchedDecomposition});
  expectFrom(Key::FuncTorchBatched, Key::FuncTorchBatchedDecomposition);
  expectMissing(Key::Batched);
}

TEST_F(TableEntryTest, FallbackIsBeforeTheDefaultAndBehindEveryKernel) {
  Library fallback = fallbacks(Key::AutogradCPU, 77);
  fallback.fallback(CppFunction::makeFromBoxedFunctor([](const OperatorHandle&, Stack&) {}));
  const TableEntry found = table_entry(Key::AutogradCPU);
  EXPECT_EQ(found.cause, EntryCause::Fallback);
  EXPECT_EQ(found.key, Key::AutogradCPU);
  EXPECT_EQ(found.site.line, 77U);
  EXPECT_EQ(op().entry().lookup(keySetOf(Key::AutogradCPU)), found.kernel);
  expectFallthrough(Key::AutogradCUDA);
  implement({Key::Autograd});
  expectFrom(Key::AutogradCPU, Key::Autograd);
}

TEST_F(TableEntryTest, NewestKernelOfAKeyWinsAlsoThroughAnAlias) {
  implement({Key::CompositeImplicitAutograd});
  {
    Library newer = implementations(Key::CompositeImplicitAutograd, "table_entry", 9000);
    newer.impl("op", CppFunction::makeFallthrough());
    EXPECT_EQ(table_entry(Key::CPU).site.line, 9000U);
    EXPECT_TRUE(op().entry().lookup(keySetOf(Key::CPU))->isFallthrough());
  }
  expectFrom(Key::CPU, Key::CompositeImplicitAutograd);
}

TEST(Registration, RefusesKeysThatNothingIsDispatchedTo) {
  Library m = definitions();
  m.def("op(Tensor a) -> Tensor");
  Library dense = implementations(Key::Dense);
  EXPECT_EQ(errorOf([&] { dense.impl("op", CppFunction::makeFallthrough()); }),
            "a kernel of test::op cannot be registered for Dense at test.cpp:2: it is a functionality with a key for "
            "each backend; register for specific ones, such as CPU");
  EXPECT_EQ(errorOf([&] { m.impl("op", dispatch(Key::EndOfFunctionalityKeys, CppFunction::makeFallthrough())); }),
            "number 46 is not a dispatch key, but a kernel of test::op has it at test.cpp:1");
  for (const Key key : {Key::AutogradFunctionality, Key::CompositeExplicitAutograd}) {
    Library fallback = fallbacks(key);
    EXPECT_EQ(errorOf([&] { fallback.fallback(CppFunction::makeFallthrough()); }),
              "a fallback cannot be registered for " + std::string(toString(key)) +
                  " at test.cpp:3: it is not a runtime key; register one for each runtime key");
  }
}

// Compares with PyTorch's own tables, as measured by tests/dispatcher/registry/pytorch_tables.py: both the dispatcher
// and the model that other tests compare it with.
TEST(Table, HoldsWhatPyTorchsHolds) {
  std::ifstream file(BOXCAR_TEST_DATA "/pytorch_tables.txt");
  std::map<Key, std::string> defaults;
  size_t lines = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    ++lines;
    std::istringstream words(line);
    std::vector<Key> registered;
    std::string word;
    while (words >> word && word != ":") registered.push_back(parseDispatchKey(word));
    std::map<Key, std::string> expected = defaults;
    while (words >> word) {
      const size_t equals = word.find('=');
      expected[parseDispatchKey(word.substr(0, equals))] = word.substr(equals + 1);
    }
    if (registered.empty()) defaults = expected;

    Library definition = definitions("pytorch");
    definition.def("op(Tensor a) -> Tensor");
    DispatchModel::Operator modelled{.is_defined = true, .kernels = {}};
    std::vector<Library> kernels;
    for (const Key key : registered) {
      kernels.push_back(implementations(key, "pytorch", static_cast<uint32_t>(key)));
      kernels.back().impl("op", CppFunction::makeFromBoxedFunctor([](const OperatorHandle&, Stack&) {}));
      modelled.kernels.push_front({key, static_cast<int>(key)});
    }
    const auto nameOf = [](int number) {
      if (number == kAmbiguous) return std::string("ambiguous");
      return number < 0 ? std::string("-") : std::string(toString(static_cast<Key>(number)));
    };
    for (const auto& [key, held] : expected) {
      const TableEntry found = Dispatcher::singleton().computeTableEntry(find("pytorch::op"), key);
      const bool is_kernel = found.cause == EntryCause::Exact || found.cause == EntryCause::Alias;
      const int number = is_kernel                              ? static_cast<int>(found.key)
                         : found.cause == EntryCause::Ambiguous ? kAmbiguous
                                                                : -1;
      const int in_model = DispatchModel().table_entry(modelled, key);
      EXPECT_EQ(nameOf(number), held == "through" ? "-" : held) << toString(key) << " of " << line;
      EXPECT_EQ(nameOf(in_model), held == "through" ? "-" : held)
          << "in the model, " << toString(key) << " of " << line;
      if (held != "through") continue;
      EXPECT_TRUE(found.kernel->isFallthrough()) << toString(key) << " of " << line;
      EXPECT_EQ(in_model, kThrough) << "in the model, " << toString(key) << " of " << line;
    }
  }
  EXPECT_EQ(lines, 89U);
}

// Checks every table entry and the mask against the rules.
void expectConsistent(const OperatorHandle& op, const std::vector<Key>& keys) {
  DispatchKeySet mask = backend_bitset_mask;
  for (const Key key : keys) {
    const Kernel* kernel = Dispatcher::singleton().computeTableEntry(op, key).kernel;
    ASSERT_EQ(op.entry().lookup(keySetOf(key)), kernel) << toString(op) << " at " << toString(key);
    if (!kernel->isFallthrough() && key != Key::Undefined) mask |= DispatchKeySet(toFunctionalityKey(key));
  }
  if (!op.hasSchema()) return;
  ASSERT_EQ(op.entry().dispatchKeyExtractor().nonFallthroughKeys(), mask) << toString(op);
}

TEST(Table, StaysWhatTheRulesSayUnderRandomChanges) {
  const std::vector<Key> runtime_keys = runtimeKeys();
  std::vector<Key> implemented = runtime_keys;
  for (uint16_t key = static_cast<uint16_t>(Key::StartOfAliasKeys); key <= static_cast<uint16_t>(Key::EndOfAliasKeys);
       ++key) {
    for (int weight = 0; weight < 6; ++weight) implemented.push_back(static_cast<Key>(key));
  }
  for (const Key key : {Key::CPU, Key::AutogradCPU, Key::SparseCPU, Key::NestedTensorCPU, Key::AutogradOther}) {
    for (int weight = 0; weight < 4; ++weight) implemented.push_back(key);
  }
  std::mt19937 random(20240501);
  const auto below = [&random](size_t bound) { return random() % bound; };
  const char* const names[] = {"one", "two", "three"};
  const auto makeKernel = [&] {
    return below(3) == 0 ? CppFunction::makeFallthrough()
                         : CppFunction::makeFromBoxedFunctor([](const OperatorHandle&, Stack&) {});
  };
  std::map<std::string, Library> defined;
  std::vector<Library> kernels;
  std::map<Key, Library> with_fallback;
  for (int step = 0; step < 6000; ++step) {
    const char* name = names[below(3)];
    const size_t choice = below(10);
    if (choice == 0) {
      if (const auto found = defined.find(name); found != defined.end()) {
        defined.erase(found);
      } else {
        defined.emplace(name, definitions("random")).first->second.def(std::string(name) + "(Tensor a) -> Tensor");
      }
    } else if (choice < 3) {
      const Key key = runtime_keys[1 + below(runtime_keys.size() - 1)];
      if (key == Key::PreDispatch || key == Key::Python) continue;  // modes run there
      if (key == Key::MkldnnCPU) continue;                          // the backends have a fallback there
      if (const auto found = with_fallback.find(key); found != with_fallback.end()) {
        with_fallback.erase(found);
      } else {
        with_fallback.emplace(key, fallbacks(key)).first->second.fallback(makeKernel());
      }
    } else if (choice < 3 + (kernels.size() < 12 ? 5 : 2)) {
      Library& library = kernels.emplace_back(definitions("random"));
      library.impl(name, dispatch(implemented[below(implemented.size())], makeKernel()));
    } else if (!kernels.empty()) {
      std::swap(kernels[below(kernels.size())], kernels.back());
      kernels.pop_back();
    }
    for (const char* each : names) {
      if (const auto op = Dispatcher::singleton().findOp({std::string("random::") + each, ""})) {
        expectConsistent(*op, runtime_keys);
      }
    }
    ASSERT_FALSE(::testing::Test::HasFailure()) << "at step " << step;
  }
}

}  // namespace
}  // namespace boxcar
