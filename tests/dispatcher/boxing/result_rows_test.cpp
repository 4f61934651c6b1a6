#include <boxcar/ivalue/cpu_generator.h>

#include <complex>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "tests/dispatcher/boxing/adapter_rows.h"

// The rows of the type table with zero, two and four results; adapter_rows_test.cpp tests each with one.

namespace boxcar {
namespace {

// The last argument of an unboxed kernel.
IValue taken;

// Returns [x] as a result: [x] itself if the operator returns the tensor that it writes to.
template <class Arg, class Result>
Result give(Arg& x) {
  if constexpr (std::is_lvalue_reference_v<Result>) {
    taken = IValue(x);
    return x;
  } else {
    Result result = asResult<Result>(x);
    taken = IValue(result);
    return result;
  }
}

CppFunction boxedGiving(const Stack& results) {
  return CppFunction::makeFromBoxedFunctor([results](const OperatorHandle&, Stack& stack) {
    taken = pop(stack);
    for (const IValue& result : results) push(stack, result);
  });
}

void expectSameStacks(const Stack& found, const Stack& expected, const char* path) {
  ASSERT_EQ(found.size(), expected.size()) << path;
  for (size_t i = 0; i < found.size(); ++i) expectSame(found[i], expected[i], path);
}

// Calls [kernel] and an equivalent boxed one, typed and boxed. Each must take [boxed] and return [results].
template <class R, class Arg, class Value>
void expectResults(const std::string& schema, R (*kernel)(Arg), Value& value, const IValue& boxed,
                   const Stack& results) {
  for (const bool is_boxed : {false, true}) {
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, schema + (is_boxed ? ", boxed kernel" : ", unboxed kernel"));
    Library m = definitions("row");
    m.def(schema, is_boxed ? boxedGiving(results) : CppFunction(kernel));
    const auto op = find("row::many").typed<R(Arg)>();
    Stack found;
    taken = IValue();
    if constexpr (std::is_void_v<R>) {
      op.call(value);
    } else {
      detail::pushResults(found, op.call(value));
    }
    expectSameStacks(found, results, "typed");
    expectSame(taken, boxed, "typed argument");
    Stack stack{boxed};
    op.callBoxed(stack);
    expectSameStacks(stack, results, "boxed");
    expectSame(taken, boxed, "boxed argument");
  }
}

// Tests `many(TYPE x)` with no result, with (TYPE, int) and with (str, TYPE, float, bool); each TYPE result is [value].
template <class Arg, class Result = std::remove_cvref_t<Arg>>
void row(const std::string& type, std::remove_cvref_t<Arg> value, const IValue& boxed) {
  using Two = std::tuple<Result, int64_t>;
  using Four = std::tuple<std::string, Result, double, bool>;
  expectResults<void, Arg>("many(" + type + " x) -> ()", [](Arg x) { static_cast<void>(give<Arg, Result>(x)); }, value,
                           boxed, {});
  expectResults<Two, Arg>("many(" + type + " x) -> (" + type + ", int)",
                          [](Arg x) { return Two(give<Arg, Result>(x), 2); }, value, boxed, {boxed, IValue(2)});
  expectResults<Four, Arg>("many(" + type + " x) -> (str, " + type + ", float, bool)",
                           [](Arg x) { return Four("s", give<Arg, Result>(x), 0.5, true); }, value, boxed,
                           {IValue("s"), boxed, IValue(0.5), IValue(true)});
}

TEST(ResultRows, TensorsAndTheirLists) {
  const Tensor a = cpuTensor();
  const std::vector<Tensor> both{a, cpuTensor()};
  row<const Tensor&>("Tensor", a, a);
  row<Tensor&, Tensor&>("Tensor(a!)", a, a);
  row<const std::optional<Tensor>&>("Tensor?", std::nullopt, {});
  row<TensorList, std::vector<Tensor>>("Tensor[]", both, both);
  row<const List<Tensor>&>("Tensor[]", List<Tensor>{a}, std::vector<Tensor>{a});
  const List<std::optional<Tensor>> some{a, std::nullopt};
  row<const List<std::optional<Tensor>>&>("Tensor?[]", some, some);
}

TEST(ResultRows, NumbersAndTheirLists) {
  using Complex = std::complex<double>;
  const std::vector<int64_t> ints{1, 2};
  const std::vector<SymInt> sym_ints{1, 2};
  const std::vector<double> floats{0.5};
  const std::vector<Complex> complexes{Complex(1, 2)};
  static constexpr bool kBools[] = {true, false};
  row<int64_t>("int", -7, -7);
  row<SymInt>("SymInt", 7, 7);
  row<double>("float", 0.5, 0.5);
  row<bool>("bool", true, true);
  row<Complex>("complex", Complex(1, 2), Complex(1, 2));
  row<const Scalar&>("Scalar", 2.5, 2.5);
  row<std::span<const int64_t>, std::vector<int64_t>>("int[]", ints, ints);
  row<const List<int64_t>&>("int[]", List<int64_t>{1, 2}, ints);
  row<std::span<const SymInt>, std::vector<SymInt>>("SymInt[]", sym_ints, ints);
  row<std::span<const double>, std::vector<double>>("float[]", floats, floats);
  row<std::span<const bool>, std::vector<bool>>("bool[]", kBools, IValue(std::vector<bool>{true, false}));
  row<std::span<const Complex>, std::vector<Complex>>("complex[]", complexes, complexes);
  row<std::optional<SymInt>>("SymInt?", 7, 7);
  row<std::optional<std::span<const SymInt>>, std::optional<std::vector<SymInt>>>("SymInt[]?", sym_ints, ints);
}

TEST(ResultRows, WhatDescribesTensorsAndWhatTheyAreMadeOf) {
  const Device device(DeviceType::CUDA, 1);
  const Generator generator = makeCpuGenerator(1);
  const Storage storage = StorageImpl::allocate(16, Device(DeviceType::CPU));
  row<std::string_view, std::string>("str", "text", "text");
  row<ScalarType>("ScalarType", ScalarType::Half, 5);
  row<Layout>("Layout", Layout::Mkldnn, 3);
  row<MemoryFormat>("MemoryFormat", MemoryFormat::ChannelsLast, 2);
  row<Device>("Device", device, device);
  row<Stream>("Stream", Stream(device, 4), Stream(device, 4));
  row<const Generator&>("Generator", generator, generator);
  row<const Storage&>("Storage", storage, storage);
}

class Parcel final : public CustomClassHolder {
 public:
  std::string className() const override { return "__torch__.torch.classes.test.Parcel"; }
};

TEST(ResultRows, ContainersAnyAndClasses) {
  const Tensor a = cpuTensor();
  const List<std::string> names{"a", "b"};
  row<const List<std::string>&>("str[]", names, names);
  row<const std::vector<std::string>&>("str[]", {"a", "b"}, names);
  Dict<std::string, Tensor> dict;
  dict.insert_or_assign("a", a);
  row<const Dict<std::string, Tensor>&>("Dict(str, Tensor)", dict, dict);
  const std::vector<int64_t> ints{1, 2};
  row<const std::optional<List<int64_t>>&>("int[]?", List<int64_t>{1, 2}, ints);
  row<const std::optional<List<int64_t>>&>("int[]?", std::nullopt, {});
  using Inner = Dict<int64_t, std::string>;
  using Deep = List<Dict<std::string, List<std::optional<Inner>>>>;
  Inner inner;
  inner.insert_or_assign(1, "one");
  Dict<std::string, List<std::optional<Inner>>> outer;
  outer.insert_or_assign("key", List<std::optional<Inner>>{inner, std::nullopt});
  const Deep deep{outer};
  row<const Deep&>("Dict(str, Dict(int, str)?[])[]", deep, deep);
  using Pair = std::tuple<int64_t, Tensor>;
  row<const Pair&>("(int, Tensor)", Pair(3, a), IValue(Pair(3, a)));
  row<const IValue&>("Any", IValue(a), a);
  const auto parcel = makeIntrusive<Parcel>();
  row<const IntrusivePtr<Parcel>&>("__torch__.torch.classes.test.Parcel", parcel, parcel);
}

}  // namespace
}  // namespace boxcar
