#include <boxcar/ivalue/cpu_generator.h>
#include <boxcar/ivalue/ivalue.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace boxcar {
namespace {

using Complex = std::complex<double>;

struct Holder final : CustomClassHolder {
  std::string className() const override { return "test.Holder"; }
};

TEST(IValueText, ScalarsAsInPython) {
  EXPECT_EQ(repr(IValue()), "None");
  EXPECT_EQ(repr(IValue(true)), "True");
  EXPECT_EQ(repr(IValue(false)), "False");
  EXPECT_EQ(repr(IValue(-42)), "-42");
  EXPECT_EQ(repr(IValue(1.0)), "1.0");
  EXPECT_EQ(repr(IValue(1e-5)), "1e-05");
  EXPECT_EQ(repr(IValue(std::numeric_limits<double>::infinity())), "inf");
  EXPECT_EQ(repr(IValue(Complex(1, 2))), "(1+2j)");
}

TEST(IValueText, StringsAreBareOutsideAndQuotedInside) {
  EXPECT_EQ(toString(IValue("it's")), "it's");
  EXPECT_EQ(repr(IValue("it's")), "\"it's\"");
  EXPECT_EQ(toString(IValue(List<std::string>{"a", "b\n"})), "['a', 'b\\n']");
}

TEST(IValueText, DevicesAreTheirNamesOutsideAndPythonObjectsInside) {
  EXPECT_EQ(toString(IValue(Device(DeviceType::CUDA, 1))), "cuda:1");
  EXPECT_EQ(repr(IValue(Device(DeviceType::CUDA, 1))), "device(type='cuda', index=1)");
  EXPECT_EQ(repr(IValue(Device(DeviceType::CPU))), "device(type='cpu')");
}

TEST(IValueText, ListsOfEveryKind) {
  EXPECT_EQ(toString(IValue(List<int64_t>{})), "[]");
  EXPECT_EQ(toString(IValue(List<int64_t>{1, 2})), "[1, 2]");
  EXPECT_EQ(toString(IValue(List<double>{1, 2.5})), "[1.0, 2.5]");
  EXPECT_EQ(toString(IValue(List<bool>{true, false})), "[True, False]");
  EXPECT_EQ(toString(IValue(List<Complex>{Complex(0, 1)})), "[1j]");
  EXPECT_EQ(toString(IValue(GenericList{IValue(1), IValue(), IValue("x")})), "[1, None, 'x']");
  EXPECT_EQ(toString(IValue(List<List<int64_t>>{List<int64_t>{1}, List<int64_t>{}})), "[[1], []]");
}

TEST(IValueText, TensorsAsInPyTorch) {
  const Tensor tensor = Tensor::allocate(std::vector<int64_t>{2}, ScalarType::Float);
  tensor.data_ptr<float>()[0] = 1;
  tensor.data_ptr<float>()[1] = 2;
  EXPECT_EQ(toString(IValue(tensor)), "tensor([1., 2.])");
  EXPECT_EQ(toString(IValue(List<Tensor>{tensor, tensor})), "[tensor([1., 2.]), tensor([1., 2.])]");
}

TEST(IValueText, Tuples) {
  EXPECT_EQ(toString(IValue(Tuple(std::vector<IValue>()))), "()");
  EXPECT_EQ(toString(IValue(Tuple({IValue(1)}))), "(1,)");
  EXPECT_EQ(toString(IValue(Tuple({IValue(1), IValue("a")}))), "(1, 'a')");
}

TEST(IValueText, Dicts) {
  Dict<std::string, int64_t> dict;
  EXPECT_EQ(toString(IValue(dict)), "{}");
  dict.insert_or_assign("b", 1);
  dict.insert_or_assign("a", 2);
  EXPECT_EQ(toString(IValue(dict)), "{'b': 1, 'a': 2}");
}

TEST(IValueText, Objects) {
  EXPECT_EQ(toString(IValue(Stream(Device(DeviceType::CUDA, 0), 3))), "Stream(device='cuda:0', id=3)");
  EXPECT_EQ(toString(IValue(makeCpuGenerator(5))), "Generator(device='cpu', seed=5)");
  EXPECT_EQ(toString(IValue(StorageImpl::allocate(12, Device(DeviceType::CPU)))), "<Storage of 12 bytes on cpu>");
  EXPECT_EQ(toString(IValue(makeIntrusive<Holder>())), "<test.Holder>");
}

TEST(IValueText, AContainerInsideItself) {
  const GenericList list{IValue(1)};
  list.push_back(IValue(list));
  EXPECT_EQ(toString(IValue(list)), "[1, [...]]");
  const GenericList holder{IValue(0)};
  const IValue tuple(Tuple({IValue(holder)}));
  holder.set(0, tuple);
  EXPECT_EQ(toString(tuple), "([(...)],)");
  GenericDict dict;
  dict.insert_or_assign(IValue("self"), IValue(dict));
  EXPECT_EQ(toString(IValue(dict)), "{'self': {...}}");
  list.clear();
  holder.clear();
  dict.clear();
}

TEST(IValueText, TheSameListTwiceIsNotInsideItself) {
  const List<int64_t> inner{1};
  EXPECT_EQ(toString(IValue(List<List<int64_t>>{inner, inner})), "[[1], [1]]");
}

TEST(IValueText, NestingIsCutFiveHundredLevelsDown) {
  IValue value(1);
  for (int i = 0; i < 100000; ++i) value = IValue(GenericList{value});
  EXPECT_EQ(toString(value), std::string(501, '[') + "..." + std::string(501, ']'));
}

TEST(IValueText, CanBeFormattedInAMessage) { EXPECT_EQ(fmt::format("{}", IValue(List<int64_t>{1})), "[1]"); }

}  // namespace
}  // namespace boxcar
