#include <boxcar/dispatcher/call/dispatch_key_extractor.h>
#include <boxcar/schema/parse_schema.h>
#include <gtest/gtest.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tests/dispatcher/dispatcher_helpers.h"

namespace boxcar {
namespace {

using Key = DispatchKey;

Tensor withKeys(DispatchKeySet keys) {
  Tensor tensor = cpuTensor();
  tensor.unsafeGetTensorImpl()->set_key_set(keys);
  return tensor;
}
Tensor tensorAt(Key key) { return withKeys(DispatchKeySet(key)); }

DispatchKeySet withDefaults(DispatchKeySet keys) { return keys | default_included_set; }

DispatchKeySet boxedKeys(const char* schema, const Stack& stack) {
  DispatchKeyExtractor extractor;
  extractor.registerSchema(parseSchema(schema));
  return extractor.getDispatchKeySetBoxed(stack);
}

// Returns the keys of a call with [argument], which must be the same boxed and unboxed.
template <class T>
DispatchKeySet keysOfCall(const char* type, const T& argument) {
  const std::string schema = std::string("f(int n, ") + type + " x, int m) -> ()";
  const DispatchKeySet boxed =
      boxedKeys(schema.c_str(), Stack{IValue("below"), IValue(1), IValue(argument), IValue(2)});
  EXPECT_EQ(DispatchKeyExtractor().getDispatchKeySetUnboxed(int64_t{1}, argument, int64_t{2}), boxed) << type;
  return boxed;
}

const DispatchKeySet kCpuAndSparse({Key::CPU, Key::SparseCUDA});

TEST(DispatchKeyExtractor, OrsTheKeysOfTensorsAndTheThreads) {
  EXPECT_EQ(keysOfCall("Tensor", cpuTensor()), withDefaults(cpuTensor().key_set()));
  const Tensor a = tensorAt(Key::CPU);
  const Tensor b = tensorAt(Key::SparseCUDA);
  EXPECT_EQ(boxedKeys("f(Tensor a, Tensor b) -> ()", {IValue(a), IValue(b)}), withDefaults(kCpuAndSparse));
  EXPECT_EQ(DispatchKeyExtractor().getDispatchKeySetUnboxed(a, b), withDefaults(kCpuAndSparse));
  const ExcludeDispatchKeyGuard exclude(Key::SparseCUDA);
  const IncludeDispatchKeyGuard include(Key::Tracer);
  EXPECT_EQ(boxedKeys("f(Tensor a, Tensor b) -> ()", {IValue(a), IValue(b)}),
            withDefaults(kCpuAndSparse.remove(Key::SparseCUDA).add(Key::Tracer)));
}

TEST(DispatchKeyExtractor, LooksIntoOptionalsAndListsOfAnyDepth) {
  const Tensor a = tensorAt(Key::CPU);
  const Tensor b = tensorAt(Key::SparseCUDA);
  EXPECT_EQ(keysOfCall("Tensor?", std::optional<Tensor>(a)), withDefaults(DispatchKeySet(Key::CPU)));
  EXPECT_EQ(keysOfCall("Tensor?", std::optional<Tensor>()), default_included_set);
  const std::vector<Tensor> both{a, b};
  EXPECT_EQ(keysOfCall("Tensor[]", TensorList(both)), withDefaults(kCpuAndSparse));
  EXPECT_EQ(keysOfCall("Tensor[]", both), withDefaults(kCpuAndSparse));
  EXPECT_EQ(keysOfCall("Tensor[]", List<Tensor>{a, b}), withDefaults(kCpuAndSparse));
  EXPECT_EQ(keysOfCall("Tensor[]", TensorList()), default_included_set);
  EXPECT_EQ(keysOfCall("Tensor[]?", std::optional<TensorList>(both)), withDefaults(kCpuAndSparse));
  EXPECT_EQ(keysOfCall("Tensor?[]", List<std::optional<Tensor>>{a, std::nullopt, b}), withDefaults(kCpuAndSparse));
  EXPECT_EQ(keysOfCall("Tensor?[]", std::vector<std::optional<Tensor>>{a, std::nullopt, b}),
            withDefaults(kCpuAndSparse));
  EXPECT_EQ(keysOfCall("Tensor[][]", List<List<Tensor>>{List<Tensor>{a}, List<Tensor>(), List<Tensor>{b}}),
            withDefaults(kCpuAndSparse));
  EXPECT_EQ(keysOfCall("Tensor[][]", std::vector<std::vector<Tensor>>{{a}, {b}}), withDefaults(kCpuAndSparse));
  EXPECT_EQ(keysOfCall("Tensor?[][]", List<List<std::optional<Tensor>>>{{a, std::nullopt}, {b}}),
            withDefaults(kCpuAndSparse));
}

TEST(DispatchKeyExtractor, CountsGenerators) {
  const Generator generator = makeGenerator(DispatchKeySet(Key::CustomRNGKeyId));
  const DispatchKeySet expected = withDefaults(DispatchKeySet(Key::CustomRNGKeyId));
  EXPECT_EQ(keysOfCall("Generator", generator), expected);
  EXPECT_EQ(keysOfCall("Generator?", std::optional<Generator>(generator)), expected);
  EXPECT_EQ(keysOfCall("Generator?", std::optional<Generator>()), default_included_set);
  EXPECT_EQ(keysOfCall("Generator[]", List<Generator>{generator}), expected);
}

TEST(DispatchKeyExtractor, UndefinedTensorsContributeNothing) {
  EXPECT_EQ(keysOfCall("Tensor", Tensor()), default_included_set);
  const std::vector<Tensor> both{Tensor(), tensorAt(Key::CPU)};
  EXPECT_EQ(keysOfCall("Tensor[]", TensorList(both)), withDefaults(DispatchKeySet(Key::CPU)));
}

TEST(DispatchKeyExtractor, WhatIsNoTensorByItsTypeBringsNothing) {
  const Tensor a = tensorAt(Key::CPU);
  EXPECT_EQ(keysOfCall("Any", IValue(a)), default_included_set);
  EXPECT_EQ(keysOfCall("Any[]", GenericList{IValue(a)}), default_included_set);
  EXPECT_EQ(keysOfCall("(int, Tensor)", std::tuple<int64_t, Tensor>(1, a)), default_included_set);
  Dict<std::string, Tensor> dict;
  dict.insert_or_assign("a", a);
  EXPECT_EQ(keysOfCall("Dict(str, Tensor)", dict), default_included_set);
  EXPECT_EQ(keysOfCall("int[]", List<int64_t>{1, 2}), default_included_set);
  EXPECT_EQ(keysOfCall("str[]", std::vector<std::string>{"a"}), default_included_set);
}

TEST(DispatchKeyExtractor, MistypedValuesAreSearchedNoDeeperThanTheTypeGoes) {
  const GenericList self;
  for (int i = 0; i < 20; ++i) self.push_back(IValue(self));
  EXPECT_EQ(boxedKeys("f(Tensor[][] x) -> ()", {IValue(self)}), default_included_set);
  EXPECT_EQ(boxedKeys("f(Tensor x) -> ()", {IValue(self)}), default_included_set);
  self.clear();  // break the reference cycle
}

TEST(DispatchKeyExtractor, SeveralRunsOfTensorArguments) {
  const Tensor a = tensorAt(Key::CPU);
  const Tensor b = tensorAt(Key::SparseCUDA);
  const char* schema = "f(int n, Tensor a, Tensor b, str s, Tensor? c, int m, Tensor d) -> ()";
  const Stack base{IValue(0), IValue(a), IValue(a), IValue("s"), IValue(), IValue(1), IValue(a)};
  for (const size_t position : {1, 2, 4, 6}) {
    Stack stack = base;
    stack[position] = IValue(b);
    EXPECT_EQ(boxedKeys(schema, stack), withDefaults(kCpuAndSparse)) << position;
    stack.insert(stack.begin(), IValue(tensorAt(Key::FPGA)));  // below the arguments on the stack
    EXPECT_EQ(boxedKeys(schema, stack), withDefaults(kCpuAndSparse)) << position;
  }
  EXPECT_EQ(boxedKeys(schema, base), withDefaults(DispatchKeySet(Key::CPU)));
}

TEST(DispatchKeyExtractor, MoreThanSixtyFourArguments) {
  constexpr int kCount = 130;
  std::string schema = "f(";
  for (int i = 0; i < kCount; ++i) {
    schema += (i == 0 ? "" : ", ") + std::string(i % 2 == 0 ? "Tensor" : "int") + " x" + std::to_string(i);
  }
  schema += ") -> ()";
  Stack base;
  for (int i = 0; i < kCount; ++i) push(base, i % 2 == 0 ? IValue(tensorAt(Key::CPU)) : IValue(i));
  EXPECT_EQ(boxedKeys(schema.c_str(), base), withDefaults(DispatchKeySet(Key::CPU)));
  for (int i = 0; i < kCount; i += 2) {
    Stack stack = base;
    stack[static_cast<size_t>(i)] = IValue(tensorAt(Key::SparseCUDA));
    EXPECT_EQ(boxedKeys(schema.c_str(), stack), withDefaults(kCpuAndSparse)) << i;
  }
}

TEST(DispatchKeyExtractor, WithoutTensorArgumentsOnlyTheThreadsKeysCount) {
  EXPECT_EQ(boxedKeys("f(int n) -> ()", {IValue(1)}), default_included_set);
  EXPECT_EQ(boxedKeys("f() -> ()", {}), default_included_set);
  EXPECT_EQ(DispatchKeyExtractor().getDispatchKeySetUnboxed(), default_included_set);
}

TEST(DispatchKeyExtractor, RegisteringAnotherSchemaForgetsTheFirst) {
  DispatchKeyExtractor extractor;
  extractor.registerSchema(parseSchema("f(Tensor a, int n, Tensor b) -> ()"));
  extractor.registerSchema(parseSchema("f(int n, int m, Tensor b) -> ()"));
  const Stack stack{IValue(tensorAt(Key::FPGA)), IValue(tensorAt(Key::FPGA)), IValue(tensorAt(Key::CPU))};
  EXPECT_EQ(extractor.getDispatchKeySetBoxed(stack), withDefaults(DispatchKeySet(Key::CPU)));
}

TEST(DispatchKeyExtractor, AnArrayRefOfTensorsBringsTheirKeysAsASpanDoes) {
  Library m = definitions();
  m.def("count(Tensor[] list, Tensor[]? more, int[] n) -> int");
  const auto registerFor = [](DispatchKey key, int64_t answer) {
    Library kernels = implementations(key);
    kernels.impl("count",
                 [answer](ArrayRef<Tensor>, const std::optional<ArrayRef<Tensor>>&, IntArrayRef) { return answer; });
    return kernels;
  };
  const Library cpu = registerFor(DispatchKey::CPU, 1);
  const Library meta = registerFor(DispatchKey::Meta, 2);
  const auto op =
      find("test::count").typed<int64_t(ArrayRef<Tensor>, const std::optional<ArrayRef<Tensor>>&, IntArrayRef)>();
  const std::vector<Tensor> on_cpu{cpuTensor()};
  const std::vector<Tensor> on_meta{metaTensor()};
  EXPECT_EQ(op.call(on_cpu, std::nullopt, {3}), 1);
  EXPECT_EQ(op.call(on_meta, std::nullopt, {3}), 2);
  EXPECT_EQ(op.call({}, ArrayRef<Tensor>(on_meta), {}), 2);
  const auto by_span =
      find("test::count").typed<int64_t(TensorList, std::optional<TensorList>, std::span<const int64_t>)>();
  EXPECT_EQ(by_span.call(on_cpu, TensorList(on_meta), {}), 2);
}

}  // namespace
}  // namespace boxcar
