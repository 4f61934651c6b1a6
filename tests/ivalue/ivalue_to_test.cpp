#include <boxcar/ivalue/cpu_generator.h>
#include <boxcar/ivalue/ivalue.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tests/test_support.h"

namespace boxcar {
namespace {

using Complex = std::complex<double>;

struct Holder final : CustomClassHolder {
  std::string className() const override { return "test.Holder"; }
};
struct OtherHolder final : CustomClassHolder {
  std::string className() const override { return "test.OtherHolder"; }
};

template <class T>
T roundTrip(const T& value) {
  return IValue(value).template to<T>();
}

TEST(IValueTo, Numbers) {
  EXPECT_EQ(roundTrip(true), true);
  EXPECT_EQ(roundTrip(int64_t{-5}), -5);
  EXPECT_EQ(roundTrip(2.5), 2.5);
  EXPECT_EQ(roundTrip(Complex(1, -2)), Complex(1, -2));
  EXPECT_EQ(IValue(int8_t{7}).toInt(), 7);
  EXPECT_EQ(IValue(7u).toInt(), 7);
  EXPECT_EQ(IValue(1.5f).toDouble(), 1.5);
}

TEST(IValueTo, ASymIntIsAnInt) {
  const IValue value(SymInt(5));
  EXPECT_TRUE(value.isInt());
  EXPECT_EQ(value.to<SymInt>().expect_int(), 5);
  EXPECT_EQ(value.to<int64_t>(), 5);
  const IValue list(std::vector<SymInt>{1, 2});
  EXPECT_TRUE(list.isIntList());
  EXPECT_EQ(list.to<std::vector<SymInt>>()[1].expect_int(), 2);
  EXPECT_EQ(IValue(std::optional<SymInt>(3)).to<std::optional<SymInt>>()->expect_int(), 3);
}

TEST(IValueTo, AScalarHasNoKindOfItsOwn) {
  EXPECT_TRUE(IValue(Scalar(true)).isBool());
  EXPECT_TRUE(IValue(Scalar(int64_t{3})).isInt());
  EXPECT_TRUE(IValue(Scalar(2.5)).isDouble());
  EXPECT_TRUE(IValue(Scalar(Complex(1, 2))).isComplexDouble());
  for (const Scalar& scalar : {Scalar(true), Scalar(int64_t{3}), Scalar(2.5), Scalar(Complex(1, 2))}) {
    const Scalar back = roundTrip(scalar);
    EXPECT_EQ(back, scalar);
    EXPECT_EQ(back.type(), scalar.type());
  }
}

TEST(IValueTo, Strings) {
  const IValue value("text");
  EXPECT_EQ(value.to<std::string>(), "text");
  EXPECT_EQ(value.to<std::string_view>(), "text");
  EXPECT_EQ(value.to<std::string_view>().data(), value.toStringRef().data());
  EXPECT_EQ(IValue(std::string_view("a\0b", 3)).toStringRef().size(), 3u);
}

TEST(IValueTo, EnumsAreInts) {
  EXPECT_TRUE(IValue(ScalarType::Half).isInt());
  EXPECT_EQ(roundTrip(ScalarType::Half), ScalarType::Half);
  EXPECT_EQ(IValue(ScalarType::Half).toScalarType(), ScalarType::Half);
  EXPECT_EQ(roundTrip(Layout::Sparse), Layout::Sparse);
  EXPECT_EQ(roundTrip(MemoryFormat::ChannelsLast), MemoryFormat::ChannelsLast);
  EXPECT_EQ(IValue(std::optional<ScalarType>()).to<std::optional<ScalarType>>(), std::nullopt);
  EXPECT_EQ(IValue(std::optional(ScalarType::Long)).to<std::optional<ScalarType>>(), ScalarType::Long);
}

TEST(IValueTo, DevicesStreamsGeneratorsAndStorages) {
  EXPECT_EQ(roundTrip(Device(DeviceType::CUDA, 2)), Device(DeviceType::CUDA, 2));
  EXPECT_EQ(roundTrip(Stream(Device(DeviceType::CUDA, 2), 9)), Stream(Device(DeviceType::CUDA, 2), 9));
  const Generator generator = makeCpuGenerator();
  EXPECT_EQ(roundTrip(generator), generator);
  EXPECT_EQ(IValue(std::optional<Generator>()).to<std::optional<Generator>>(), std::nullopt);
  const Storage storage = StorageImpl::allocate(4, Device(DeviceType::CPU));
  EXPECT_EQ(roundTrip(storage), storage);
  EXPECT_EQ(storage->useCount(), 1u);
}

TEST(IValueTo, Tensors) {
  const Tensor tensor = Tensor::allocate(std::vector<int64_t>{2}, ScalarType::Float);
  EXPECT_TRUE(roundTrip(tensor).is_same(tensor));
  EXPECT_FALSE(roundTrip(Tensor()).defined());
  EXPECT_TRUE(roundTrip(std::optional<Tensor>(tensor))->is_same(tensor));
  EXPECT_FALSE(roundTrip(std::optional<Tensor>()).has_value());
  const std::vector<Tensor> tensors{tensor, Tensor()};
  const IValue list(tensors);
  EXPECT_TRUE(list.isTensorList());
  EXPECT_TRUE(list.to<std::vector<Tensor>>()[0].is_same(tensor));
  EXPECT_TRUE(list.to<List<Tensor>>().get(0).is_same(tensor));
  const List<std::optional<Tensor>> optionals{tensor, std::nullopt};
  const List<std::optional<Tensor>> back = roundTrip(optionals);
  EXPECT_TRUE(back.is(optionals));
  EXPECT_FALSE(back[1].has_value());
  const std::vector<std::optional<Tensor>> vector = IValue(optionals).to<std::vector<std::optional<Tensor>>>();
  EXPECT_TRUE(vector[0]->is_same(tensor));
}

TEST(IValueTo, VectorsOfEveryElement) {
  EXPECT_EQ(roundTrip(std::vector<int64_t>{1, 2}), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(roundTrip(std::vector<double>{1.5}), (std::vector<double>{1.5}));
  EXPECT_EQ(roundTrip(std::vector<bool>{true, false}), (std::vector<bool>{true, false}));
  EXPECT_EQ(roundTrip(std::vector<Complex>{{1, 2}}), (std::vector<Complex>{{1, 2}}));
  EXPECT_EQ(roundTrip(std::vector<std::string>{"a", "b"}), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(roundTrip(std::vector<std::vector<int64_t>>{{1}, {2, 3}}),
            (std::vector<std::vector<int64_t>>{{1}, {2, 3}}));
  EXPECT_TRUE(IValue(std::vector<int64_t>{1}).isIntList());
  EXPECT_TRUE(IValue(std::vector<double>{1}).isDoubleList());
  EXPECT_TRUE(IValue(std::vector<bool>{true}).isBoolList());
  EXPECT_TRUE(IValue(std::vector<Complex>{1}).isComplexDoubleList());
  EXPECT_TRUE(IValue(std::vector<std::string>{"a"}).isGenericList());
  EXPECT_TRUE(IValue(std::vector<IValue>{IValue(1)}).isGenericList());
}

TEST(IValueTo, ListsAndDictsKeepTheirIdentity) {
  const List<int64_t> ints{1};
  EXPECT_TRUE(roundTrip(ints).is(ints));
  const List<double> doubles{1};
  EXPECT_TRUE(roundTrip(doubles).is(doubles));
  const List<bool> bools{true};
  EXPECT_TRUE(roundTrip(bools).is(bools));
  const List<Complex> complexes{1};
  EXPECT_TRUE(roundTrip(complexes).is(complexes));
  const List<std::string> strings{"a"};
  EXPECT_TRUE(roundTrip(strings).is(strings));
  const GenericList any{IValue(1), IValue("a")};
  EXPECT_TRUE(roundTrip(any).is(any));
  Dict<std::string, Tensor> dict;
  dict.insert_or_assign("a", Tensor());
  EXPECT_TRUE(roundTrip(dict).is(dict));
  EXPECT_EQ(IValue(dict).toGenericDict().size(), 1u);
}

TEST(IValueTo, OptionalsOfEverything) {
  EXPECT_EQ(roundTrip(std::optional<int64_t>(4)), 4);
  EXPECT_EQ(roundTrip(std::optional<int64_t>()), std::nullopt);
  EXPECT_EQ(roundTrip(std::optional<std::string>("a")), "a");
  EXPECT_EQ(roundTrip(std::optional<std::vector<int64_t>>({1, 2})), (std::vector<int64_t>{1, 2}));
  EXPECT_TRUE(IValue(std::nullopt).isNone());
  EXPECT_EQ(errorOf([] { IValue("a").to<std::optional<int64_t>>(); }), "expected a value of kind Int, found String");
}

TEST(IValueTo, AnyValueIsItself) {
  EXPECT_EQ(IValue(3).to<IValue>(), IValue(3));
  EXPECT_EQ((IValue(std::tuple<IValue, int64_t>(IValue("a"), 2)).toTuple().size()), 2u);
}

TEST(IValueTo, ObjectsOfAClass) {
  const auto holder = makeIntrusive<Holder>();
  const IValue value(holder);
  EXPECT_EQ(value.to<IntrusivePtr<Holder>>(), holder);
  EXPECT_EQ(value.to<IntrusivePtr<CustomClassHolder>>().get(), holder.get());
  EXPECT_EQ(holder->useCount(), 2u);
  EXPECT_EQ(errorOf([&] { value.to<IntrusivePtr<OtherHolder>>(); }),
            "expected an object of another class than test.Holder");
}

TEST(IValueTo, WhatIsNoListIsNamed) {
  EXPECT_EQ(errorOf([] { IValue(1).to<std::vector<std::string>>(); }), "expected a list, found a value of kind Int");
  EXPECT_EQ(errorOf([] { IValue(GenericDict()).to<std::vector<std::string>>(); }),
            "expected a list, found a value of kind GenericDict");
  EXPECT_EQ(errorOf([] { IValue(1).to<std::vector<int64_t>>(); }), "expected a value of kind IntList, found Int");
  EXPECT_EQ(errorOf([] { IValue(List<int64_t>{1}).to<std::vector<std::string>>(); }),
            "expected a value of kind String, found Int");
}

}  // namespace
}  // namespace boxcar
