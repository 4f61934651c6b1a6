#include "tests/dispatcher/boxing/adapter_rows.h"

#include <boxcar/ivalue/cpu_generator.h>

#include <complex>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

namespace boxcar {
namespace {

using Complex = std::complex<double>;

TEST(AdapterRows, Tensors) {
  const Tensor a = cpuTensor();
  const Tensor b = cpuTensor();
  argumentRow<const Tensor&>("Tensor", a, a).refuses(3, "3 of type int").refuses({}, "a value of type NoneType");
  argumentRow<Tensor>("Tensor", a, a);
  argumentRow<const Tensor&>("Tensor", Tensor(), Tensor());
  argumentRow<const std::optional<Tensor>&>("Tensor?", a, a).refuses("a", "'a' of type str");
  argumentRow<const std::optional<Tensor>&>("Tensor?", std::nullopt, {});
  const std::vector<Tensor> both{a, b};
  argumentRow<TensorList, std::vector<Tensor>>("Tensor[]", both, both)
      .refuses(a, "a value of type Tensor")
      .refuses(std::vector<int64_t>{1}, "[1] of type int[]");
  argumentRow<const std::vector<Tensor>&>("Tensor[]", both, both);
  argumentRow<const List<Tensor>&>("Tensor[]", List<Tensor>{a, b}, both);
  const List<std::optional<Tensor>> some{a, std::nullopt, b};
  argumentRow<const List<std::optional<Tensor>>&>("Tensor?[]", some, some)
      .refuses(GenericList{IValue(a), IValue(1)}, ("[" + repr(a) + ", 1] of type Any[]").c_str());
  argumentRow<const std::optional<List<Tensor>>&>("Tensor[]?", std::nullopt, {});
  argumentRow<std::optional<TensorList>, std::optional<std::vector<Tensor>>>("Tensor[]?", std::nullopt, {});
}

TEST(AdapterRows, Numbers) {
  argumentRow<int64_t>("int", -7, -7).refuses(7.0, "7.0 of type float").refuses(true, "True of type bool");
  argumentRow<SymInt>("SymInt", 7, 7).refuses("7", "'7' of type str");
  argumentRow<int64_t>("SymInt", 7, 7);
  argumentRow<SymInt>("int", 7, 7);
  argumentRow<double>("float", 2.5, 2.5).refuses(2, "2 of type int");
  argumentRow<bool>("bool", true, true).refuses(1, "1 of type int");
  argumentRow<Complex>("complex", Complex(1, 2), Complex(1, 2)).refuses(1.0, "1.0 of type float");
  argumentRow<std::optional<int64_t>>("int?", 7, 7).refuses(7.0, "7.0 of type float");
  argumentRow<std::optional<int64_t>>("int?", std::nullopt, {});
  argumentRow<std::optional<SymInt>, std::optional<int64_t>>("SymInt?", 7, 7);
  argumentRow<std::optional<SymInt>>("SymInt?", std::nullopt, {});
  argumentRow<std::optional<double>>("float?", 2.5, 2.5).refuses(2, "2 of type int");
  argumentRow<std::optional<double>>("float?", std::nullopt, {});
  argumentRow<std::optional<bool>>("bool?", false, false).refuses(0, "0 of type int");
  argumentRow<std::optional<bool>>("bool?", std::nullopt, {});
  argumentRow<std::optional<Complex>>("complex?", Complex(1, 2), Complex(1, 2)).refuses(1, "1 of type int");
  argumentRow<std::optional<Complex>>("complex?", std::nullopt, {});
}

TEST(AdapterRows, ScalarsOfEveryKind) {
  argumentRow<const Scalar&>("Scalar", true, true)
      .refuses("1", "'1' of type str")
      .refuses(IValue(), "a value of type NoneType");
  argumentRow<const Scalar&>("Scalar", 3, 3);
  argumentRow<const Scalar&>("Scalar", 2.5, 2.5);
  argumentRow<const Scalar&>("Scalar", Complex(1, 2), Complex(1, 2));
  argumentRow<const std::optional<Scalar>&>("Scalar?", Scalar(3), 3).refuses("1", "'1' of type str");
  argumentRow<const std::optional<Scalar>&>("Scalar?", std::nullopt, {});
  const List<Scalar> list{Scalar(1), Scalar(2.5), Scalar(true)};
  argumentRow<const List<Scalar>&>("Scalar[]", list, list).refuses(GenericList{IValue("1")}, "['1'] of type str[]");
}

TEST(AdapterRows, ListsOfNumbersAsSpansVectorsAndLists) {
  const std::vector<int64_t> ints{1, 2, 3};
  const std::vector<SymInt> sym_ints{1, 2, 3};
  const std::vector<double> floats{0.5, 1.5};
  const std::vector<Complex> complexes{Complex(0, 1)};
  static constexpr bool kBools[] = {true, false};
  const IValue bools(std::vector<bool>{true, false});

  argumentRow<std::span<const int64_t>, std::vector<int64_t>>("int[]", ints, ints)
      .refuses(floats, "[0.5, 1.5] of type float[]")
      .refuses(1, "1 of type int");
  argumentRow<std::span<const SymInt>, std::vector<SymInt>>("SymInt[]", sym_ints, ints)
      .refuses(floats, "[0.5, 1.5] of type float[]");
  argumentRow<std::span<const int64_t>, std::vector<int64_t>>("SymInt[]", ints, ints);
  argumentRow<const std::vector<SymInt>&>("SymInt[]", sym_ints, ints).refuses(1, "1 of type int");
  argumentRow<std::span<const double>, std::vector<double>>("float[]", floats, floats)
      .refuses(ints, "[1, 2, 3] of type int[]");
  argumentRow<std::span<const bool>, std::vector<bool>>("bool[]", kBools, bools)
      .refuses(ints, "[1, 2, 3] of type int[]");
  argumentRow<std::span<const Complex>, std::vector<Complex>>("complex[]", complexes, complexes)
      .refuses(floats, "[0.5, 1.5] of type float[]");

  argumentRow<const std::vector<int64_t>&>("int[]", ints, ints);
  argumentRow<const std::vector<bool>&>("bool[]", std::vector<bool>{true, false}, bools);
  argumentRow<const List<int64_t>&>("int[]", List<int64_t>{1, 2, 3}, ints);
  argumentRow<const List<double>&>("float[]", List<double>{0.5, 1.5}, floats);
  argumentRow<const List<bool>&>("bool[]", List<bool>{true, false}, bools);
  argumentRow<const List<Complex>&>("complex[]", List<Complex>{Complex(0, 1)}, complexes);
  argumentRow<std::span<const int64_t>, std::vector<int64_t>>("int[]", {}, std::vector<int64_t>{});

  argumentRow<std::optional<std::span<const int64_t>>, std::optional<std::vector<int64_t>>>("int[]?", std::nullopt, {})
      .refuses(floats, "[0.5, 1.5] of type float[]");
  argumentRow<const std::optional<std::vector<double>>&>("float[]?", floats, floats);
  argumentRow<std::optional<std::span<const SymInt>>, std::optional<std::vector<SymInt>>>("SymInt[]?", std::nullopt,
                                                                                          {});
}

TEST(AdapterRows, StringsAndWhatDescribesTensors) {
  argumentRow<std::string_view, std::string>("str", "text", "text").refuses(3, "3 of type int");
  argumentRow<const std::string&>("str", "text", "text");
  argumentRow<std::optional<std::string_view>, std::optional<std::string>>("str?", "text", "text")
      .refuses(3, "3 of type int");
  argumentRow<std::optional<std::string_view>, std::optional<std::string>>("str?", std::nullopt, {});
  argumentRow<ScalarType>("ScalarType", ScalarType::Half, 5)
      .refuses(17, "17 of type int")
      .refuses(-1, "-1 of type int")
      .refuses("half", "'half' of type str");
  argumentRow<std::optional<ScalarType>>("ScalarType?", ScalarType::Half, 5).refuses(300, "300 of type int");
  argumentRow<std::optional<ScalarType>>("ScalarType?", std::nullopt, {});
  argumentRow<Layout>("Layout", Layout::Mkldnn, 3).refuses(8, "8 of type int");
  argumentRow<std::optional<Layout>>("Layout?", Layout::Mkldnn, 3);
  argumentRow<std::optional<Layout>>("Layout?", std::nullopt, {});
  argumentRow<MemoryFormat>("MemoryFormat", MemoryFormat::ChannelsLast, 2).refuses(4, "4 of type int");
  argumentRow<std::optional<MemoryFormat>>("MemoryFormat?", MemoryFormat::ChannelsLast, 2);
  argumentRow<std::optional<MemoryFormat>>("MemoryFormat?", std::nullopt, {});
  const Device device(DeviceType::CUDA, 1);
  argumentRow<Device>("Device", device, device).refuses("cuda:1", "'cuda:1' of type str");
  argumentRow<const std::optional<Device>&>("Device?", device, device).refuses(1, "1 of type int");
  argumentRow<std::optional<Device>>("Device?", std::nullopt, {});
  const Stream stream(device, 4);
  argumentRow<Stream>("Stream", stream, stream).refuses(1, "1 of type int");
  argumentRow<std::optional<Stream>>("Stream?", stream, stream);
  argumentRow<std::optional<Stream>>("Stream?", std::nullopt, {});
}

TEST(AdapterRows, GeneratorsAndStorages) {
  const Generator generator = makeCpuGenerator(1);
  argumentRow<const Generator&>("Generator", generator, generator).refuses(1, "1 of type int");
  argumentRow<const std::optional<Generator>&>("Generator?", generator, generator).refuses(1, "1 of type int");
  argumentRow<std::optional<Generator>>("Generator?", std::nullopt, {});
  const Storage storage = StorageImpl::allocate(16, Device(DeviceType::CPU));
  argumentRow<const Storage&>("Storage", storage, storage).refuses(1, "1 of type int");
  argumentRow<const std::optional<Storage>&>("Storage?", storage, storage).refuses(1, "1 of type int");
  argumentRow<std::optional<Storage>>("Storage?", std::nullopt, {});
}

class Widget final : public CustomClassHolder {
 public:
  std::string className() const override { return "__torch__.torch.classes.test.Widget"; }
};
class Gadget final : public CustomClassHolder {
 public:
  std::string className() const override { return "__torch__.torch.classes.test.Gadget"; }
};

TEST(AdapterRows, ContainersAnyAndClasses) {
  const Tensor a = cpuTensor();
  Dict<std::string, Tensor> weights;
  weights.insert_or_assign("a", a);
  argumentRow<const Dict<std::string, Tensor>&>("Dict(str, Tensor)", weights, weights)
      .refuses(GenericList{}, "[] of type Any[]")
      .refuses(
          [] {
            Dict<std::string, int64_t> numbers;
            numbers.insert_or_assign("a", 1);
            return numbers;
          }(),
          "{'a': 1} of type Dict(str, int)");
  Dict<int64_t, List<double>> rows;
  rows.insert_or_assign(3, List<double>{0.5});
  argumentRow<const Dict<int64_t, List<double>>&>("Dict(int, float[])", rows, rows);

  const List<std::string> names{"a", "b"};
  argumentRow<const List<std::string>&>("str[]", names, names).refuses(std::vector<int64_t>{1}, "[1] of type int[]");
  argumentRow<const std::vector<std::string>&>("str[]", {"a", "b"}, names);
  const List<std::optional<int64_t>> perhaps{1, std::nullopt};
  argumentRow<const List<std::optional<int64_t>>&>("int?[]", perhaps, perhaps)
      .refuses(GenericList{IValue(1), IValue(2.5)}, "[1, 2.5] of type Any[]");
  const List<List<int64_t>> nested{List<int64_t>{1}, List<int64_t>{}};
  argumentRow<const List<List<int64_t>>&>("int[][]", nested, nested)
      .refuses(GenericList{IValue(std::vector<double>{1})}, "[[1.0]] of type float[][]");
  const List<Device> devices{Device(DeviceType::CPU)};
  argumentRow<const List<Device>&>("Device[]", devices, devices);

  argumentRow<const IValue&>("Any", IValue(a), a);
  argumentRow<const IValue&>("Any", IValue(), {});
  argumentRow<IValue>("Any", IValue("x"), "x");

  const auto widget = makeIntrusive<Widget>();
  argumentRow<const IntrusivePtr<Widget>&>("__torch__.torch.classes.test.Widget", widget, widget)
      .refuses(1, "1 of type int");
  argumentRow<const IntrusivePtr<CustomClassHolder>&>("__torch__.torch.classes.test.Widget", widget, widget);
  argumentRow<const IValue&>("__torch__.torch.classes.test.Widget", widget, widget);
  argumentRow<const std::optional<IntrusivePtr<Widget>>&>("__torch__.torch.classes.test.Widget?", widget, widget);
  Library m = definitions();
  m.def("use(__torch__.torch.classes.test.Widget w) -> ()", [](const IntrusivePtr<Widget>&) {});
  Stack stack{IValue(makeIntrusive<Gadget>())};
  EXPECT_NE(errorOf([&] { find("test::use").callBoxed(stack); }).find("test::use() expected a value of type "),
            std::string::npos);
  EXPECT_EQ(stack.size(), 1U);
}

TEST(AdapterRows, TuplesAsArgumentsAndAsOneResult) {
  using Pair = std::tuple<int64_t, Tensor>;
  using Swapped = std::tuple<std::tuple<Tensor, int64_t>>;
  Library m = definitions();
  m.def("swap((int, Tensor) pair) -> ((Tensor, int))", [](const Pair& pair) {
    return Swapped({std::get<1>(pair), std::get<0>(pair)});
  });
  const Tensor a = cpuTensor();
  const auto op = find("test::swap");
  const auto [swapped] = op.typed<Swapped(const Pair&)>().call({3, a});
  EXPECT_TRUE(std::get<0>(swapped).is_same(a));
  EXPECT_EQ(std::get<1>(swapped), 3);
  Stack stack{IValue(Pair{3, a})};
  op.callBoxed(stack);
  ASSERT_EQ(stack.size(), 1U);
  expectSame(stack[0], IValue(std::tuple(a, int64_t{3})), "boxed");
  for (const IValue& wrong : {IValue(std::tuple(int64_t{3})), IValue(std::tuple(a, int64_t{3})), IValue(3)}) {
    Stack mistyped{wrong};
    EXPECT_NE(errorOf([&] {
                op.callBoxed(mistyped);
              }).find("test::swap() expected a value of type (int, Tensor) for argument 'pair' (position 1 of 1)"),
              std::string::npos);
    EXPECT_TRUE(mistyped.back() == wrong);
  }
}

}  // namespace
}  // namespace boxcar
