#include <boxcar/ivalue/cpu_generator.h>
#include <boxcar/ivalue/ivalue.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/test_support.h"

namespace boxcar {
namespace {

using Tag = IValue::Tag;
using Complex = std::complex<double>;

static_assert(sizeof(IValue) == 16);
static_assert(std::is_nothrow_copy_constructible_v<IValue> && std::is_nothrow_move_constructible_v<IValue>);
static_assert(std::is_nothrow_copy_assignable_v<IValue> && std::is_nothrow_move_assignable_v<IValue>);
static_assert(!std::is_constructible_v<IValue, int*>, "a pointer is not a truth value");
static_assert(!std::is_constructible_v<IValue, std::nullptr_t>);

struct Holder final : CustomClassHolder {
  std::string className() const override { return "__torch__.torch.classes.test.Holder"; }
};

Tensor someTensor() { return Tensor::allocate(std::vector<int64_t>{2}, ScalarType::Float); }

struct KindCase {
  IValue value;
  Tag tag;
  const char* name;
};

std::vector<KindCase> everyKind() {
  return {
      {IValue(), Tag::None, "None"},
      {IValue(true), Tag::Bool, "Bool"},
      {IValue(3), Tag::Int, "Int"},
      {IValue(2.5), Tag::Double, "Double"},
      {IValue(Device(DeviceType::CPU)), Tag::Device, "Device"},
      {IValue(Stream(Device(DeviceType::CUDA, 0), 1)), Tag::Stream, "Stream"},
      {IValue(someTensor()), Tag::Tensor, "Tensor"},
      {IValue("text"), Tag::String, "String"},
      {IValue(Complex(1, 2)), Tag::ComplexDouble, "ComplexDouble"},
      {IValue(List<int64_t>{1}), Tag::IntList, "IntList"},
      {IValue(List<double>{1}), Tag::DoubleList, "DoubleList"},
      {IValue(List<bool>{true}), Tag::BoolList, "BoolList"},
      {IValue(List<Complex>{1}), Tag::ComplexDoubleList, "ComplexDoubleList"},
      {IValue(List<Tensor>{Tensor()}), Tag::TensorList, "TensorList"},
      {IValue(List<std::string>{"a"}), Tag::GenericList, "GenericList"},
      {IValue(Dict<std::string, Tensor>()), Tag::GenericDict, "GenericDict"},
      {IValue(Tuple({IValue(1)})), Tag::Tuple, "Tuple"},
      {IValue(makeCpuGenerator()), Tag::Generator, "Generator"},
      {IValue(StorageImpl::allocate(4, Device(DeviceType::CPU))), Tag::Storage, "Storage"},
      {IValue(makeIntrusive<Holder>()), Tag::Object, "Object"},
      {IValue(makeIntrusive<Future>()), Tag::Future, "Future"},
      {IValue(makeIntrusive<EnumHolder>("a.Color", "RED", IValue(1))), Tag::Enum, "Enum"},
  };
}

TEST(IValue, KnowsTheKindOfWhatItHolds) {
  for (const KindCase& each : everyKind()) {
    EXPECT_EQ(each.value.tag(), each.tag) << each.name;
    EXPECT_STREQ(each.value.tagKind(), each.name);
  }
}

TEST(IValue, ExactlyOneQuestionIsAnsweredYes) {
  bool (IValue::*const questions[])() const noexcept = {
      &IValue::isNone,
      &IValue::isBool,
      &IValue::isInt,
      &IValue::isDouble,
      &IValue::isDevice,
      &IValue::isStream,
      &IValue::isTensor,
      &IValue::isString,
      &IValue::isComplexDouble,
      &IValue::isIntList,
      &IValue::isDoubleList,
      &IValue::isBoolList,
      &IValue::isComplexDoubleList,
      &IValue::isTensorList,
      &IValue::isGenericList,
      &IValue::isGenericDict,
      &IValue::isTuple,
      &IValue::isGenerator,
      &IValue::isStorage,
      &IValue::isObject,
      &IValue::isFuture,
      &IValue::isEnum,
  };
  const std::vector<KindCase> cases = everyKind();
  ASSERT_EQ(std::size(questions), cases.size());
  for (size_t kind = 0; kind < cases.size(); ++kind) {
    for (size_t question = 0; question < cases.size(); ++question) {
      EXPECT_EQ((cases[kind].value.*questions[question])(), kind == question) << cases[kind].name << question;
    }
    const bool number = (kind >= 1 && kind <= 3) || kind == 8;
    EXPECT_EQ(cases[kind].value.isScalar(), number);
  }
}

TEST(IValue, CopyMoveAssignAndSwapOfEveryPairOfKinds) {
  for (const KindCase& a : everyKind()) {
    for (const KindCase& b : everyKind()) {
      IValue first = a.value;
      IValue second = b.value;
      EXPECT_TRUE(first.is(a.value));
      first.swap(second);
      EXPECT_TRUE(first.is(b.value) && second.is(a.value));
      first = second;
      EXPECT_TRUE(first.is(a.value) && second.is(a.value));
      first = IValue(b.value);
      EXPECT_TRUE(first.is(b.value));
      first = std::move(second);
      EXPECT_TRUE(first.is(a.value));
      EXPECT_TRUE(second.isNone());
    }
  }
}

TEST(IValue, AssignmentAndSwapWithItself) {
  for (const KindCase& each : everyKind()) {
    IValue value = each.value;
    IValue& same = value;
    value = same;
    EXPECT_TRUE(value.is(each.value)) << each.name;
    value = std::move(same);
    EXPECT_TRUE(value.is(each.value)) << each.name;
    value.swap(same);
    EXPECT_TRUE(value.is(each.value)) << each.name;
  }
}

TEST(IValue, CountsReferencesExactly) {
  const Tensor tensor = someTensor();
  const auto count = [&] { return tensor.unsafeGetTensorImpl()->useCount(); };
  {
    IValue first(tensor);
    EXPECT_EQ(count(), 2u);
    IValue second = first;
    EXPECT_EQ(count(), 3u);
    const IValue third = std::move(first);
    EXPECT_EQ(count(), 3u);
    second = third;
    EXPECT_EQ(count(), 3u);
    second = IValue(1);
    EXPECT_EQ(count(), 2u);
    second = IValue(tensor);
    second.swap(first);
    EXPECT_EQ(count(), 3u);
    EXPECT_TRUE(second.isNone());
    const Tensor& borrowed = std::as_const(first).toTensor();
    EXPECT_TRUE(borrowed.is_same(tensor));
    EXPECT_EQ(count(), 3u);
    const Tensor taken = std::move(first).toTensor();
    EXPECT_EQ(count(), 3u);
    EXPECT_TRUE(first.isNone());
  }
  EXPECT_EQ(count(), 1u);
}

TEST(IValue, WhatIsTakenOutLeavesNone) {
  const std::function<void(IValue &&)> takers[] = {
      [](IValue&& v) { EXPECT_TRUE(std::move(v).toTensor().defined()); },
      [](IValue&& v) { EXPECT_EQ(std::move(v).toIntList().size(), 1u); },
      [](IValue&& v) { EXPECT_EQ(std::move(v).toDoubleList().size(), 1u); },
      [](IValue&& v) { EXPECT_EQ(std::move(v).toBoolList().size(), 1u); },
      [](IValue&& v) { EXPECT_EQ(std::move(v).toComplexDoubleList().size(), 1u); },
      [](IValue&& v) { EXPECT_EQ(std::move(v).toTensorList().size(), 1u); },
      [](IValue&& v) { EXPECT_EQ(std::move(v).toList().size(), 1u); },
      [](IValue&& v) { EXPECT_EQ(std::move(v).toGenericDict().size(), 0u); },
      [](IValue&& v) { EXPECT_EQ(std::move(v).toTuple().size(), 1u); },
      [](IValue&& v) { EXPECT_TRUE(std::move(v).toGenerator().defined()); },
      [](IValue&& v) { EXPECT_TRUE(std::move(v).toStorage()); },
      [](IValue&& v) { EXPECT_TRUE(std::move(v).toObject()); },
      [](IValue&& v) { EXPECT_TRUE(std::move(v).toFuture()); },
      [](IValue&& v) { EXPECT_TRUE(std::move(v).toEnumHolder()); },
  };
  std::vector<IValue> values;
  for (const KindCase& each : everyKind()) {
    if (each.tag >= IValue::kFirstHeapTag && each.tag != Tag::String && each.tag != Tag::ComplexDouble) {
      values.push_back(each.value);
    }
  }
  ASSERT_EQ(values.size(), std::size(takers));
  for (size_t i = 0; i < values.size(); ++i) {
    const IValue kept = values[i];
    const size_t references = kept.use_count();
    takers[i](std::move(values[i]));
    EXPECT_TRUE(values[i].isNone()) << kept.tagKind();
    EXPECT_EQ(kept.use_count(), references - 1) << kept.tagKind();
    IValue wrong(1);
    EXPECT_NE(errorOf([&] { takers[i](std::move(wrong)); }), "no error");
    EXPECT_EQ(wrong.toInt(), 1);
  }
}

TEST(IValue, EveryListIsAListAndOnlyGenericOnesAreGeneric) {
  for (const KindCase& each : everyKind()) {
    EXPECT_EQ(each.value.isGenericList(), each.tag == Tag::GenericList) << each.name;
    EXPECT_EQ(each.value.isList(), std::string(each.name).ends_with("List")) << each.name;
  }
  EXPECT_EQ(errorOf([] { IValue(List<int64_t>{1}).toList(); }),
            "expected a value of kind GenericList, found IntList, whose elements are contiguous: toIntList() shares "
            "it, to<std::vector<IValue>>() copies its elements");
  EXPECT_EQ(IValue(List<int64_t>{7}).to<std::vector<IValue>>().at(0).toInt(), 7);
}

TEST(IValue, TheTensorInsideCanBeReplaced) {
  IValue value(someTensor());
  const Tensor other = someTensor();
  value.toTensor() = other;
  EXPECT_TRUE(value.toTensor().is_same(other));
}

TEST(IValue, WrongKindsAreNamed) {
  const IValue number(3);
  const std::pair<std::function<void(const IValue&)>, const char*> cases[] = {
      {[](const IValue& v) { v.toBool(); }, "Bool"},
      {[](const IValue& v) { v.toDouble(); }, "Double"},
      {[](const IValue& v) { v.toComplexDouble(); }, "ComplexDouble"},
      {[](const IValue& v) { v.toDevice(); }, "Device"},
      {[](const IValue& v) { v.toStream(); }, "Stream"},
      {[](const IValue& v) { v.toTensor(); }, "Tensor"},
      {[](const IValue& v) { v.toStringRef(); }, "String"},
      {[](const IValue& v) { v.toStringView(); }, "String"},
      {[](const IValue& v) { v.toIntList(); }, "IntList"},
      {[](const IValue& v) { v.toDoubleList(); }, "DoubleList"},
      {[](const IValue& v) { v.toBoolList(); }, "BoolList"},
      {[](const IValue& v) { v.toComplexDoubleList(); }, "ComplexDoubleList"},
      {[](const IValue& v) { v.toTensorList(); }, "TensorList"},
      {[](const IValue& v) { v.toList(); }, "GenericList"},
      {[](const IValue& v) { v.toGenericDict(); }, "GenericDict"},
      {[](const IValue& v) { v.toTuple(); }, "Tuple"},
      {[](const IValue& v) { v.toGenerator(); }, "Generator"},
      {[](const IValue& v) { v.toStorage(); }, "Storage"},
      {[](const IValue& v) { v.toObject(); }, "Object"},
      {[](const IValue& v) { v.toFuture(); }, "Future"},
      {[](const IValue& v) { v.toEnumHolder(); }, "Enum"},
  };
  for (const auto& [read, wanted] : cases) {
    EXPECT_EQ(errorOf([&, &reading = read] { reading(number); }),
              std::string("expected a value of kind ") + wanted + ", found Int");
  }
  EXPECT_EQ(errorOf([] { IValue("x").toInt(); }), "expected a value of kind Int, found String");
  EXPECT_EQ(errorOf([] { IValue("x").toScalar(); }), "expected a number (a Scalar), found a value of kind String");
}

TEST(IValue, LengthAndElementsOfEveryContainer) {
  const IValue containers[] = {
      IValue(List<int64_t>{1, 0}),
      IValue(List<double>{1, 0}),
      IValue(List<bool>{true, false}),
      IValue(List<Complex>{1, 0}),
      IValue(GenericList{IValue(1), IValue(0)}),
      IValue(Tuple({IValue(1), IValue(0)})),
  };
  for (const IValue& container : containers) {
    EXPECT_EQ(container.length(), 2u) << container.tagKind();
    EXPECT_EQ(container.elementAt(0), IValue(1)) << container.tagKind();
    EXPECT_EQ(container.elementAt(1), IValue(0)) << container.tagKind();
  }
  const Tensor tensor = someTensor();
  EXPECT_TRUE(IValue(List<Tensor>{tensor}).elementAt(0).toTensor().is_same(tensor));
  EXPECT_EQ(IValue(GenericDict()).length(), 0u);
  EXPECT_EQ(errorOf([] { IValue(1).length(); }), "a value of kind Int has no length");
  EXPECT_EQ(errorOf([] { IValue(GenericDict()).elementAt(0); }), "a value of kind GenericDict has no elements");
}

TEST(IValue, NumbersAreEqualByValue) {
  EXPECT_EQ(IValue(1), IValue(1.0));
  EXPECT_EQ(IValue(1), IValue(true));
  EXPECT_EQ(IValue(false), IValue(0.0));
  EXPECT_EQ(IValue(0.0), IValue(-0.0));
  EXPECT_EQ(IValue(Complex(2, 0)), IValue(2));
  EXPECT_FALSE(IValue(Complex(2, 1)) == IValue(2));
  EXPECT_FALSE(IValue(1) == IValue("1"));
  EXPECT_FALSE(IValue(0) == IValue());
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(IValue(nan) == IValue(nan));
  EXPECT_FALSE(IValue(Complex(nan, 0)) == IValue(Complex(nan, 0)));
}

TEST(IValue, LargeIntegersAreNotRoundedInComparisons) {
  const int64_t odd = (int64_t{1} << 53) + 1;
  EXPECT_FALSE(IValue(odd) == IValue(0x1p53));
  EXPECT_FALSE(IValue(odd) == IValue(Complex(0x1p53, 0)));
  EXPECT_EQ(IValue(odd - 1), IValue(Complex(0x1p53, 0)));
  EXPECT_FALSE(IValue(std::numeric_limits<int64_t>::max()) == IValue(0x1p63));
  EXPECT_EQ(IValue(std::numeric_limits<int64_t>::min()), IValue(-0x1p63));
}

TEST(IValue, ContainersAreEqualByTheirElements) {
  EXPECT_EQ(IValue(List<int64_t>{1, 2}), IValue(List<double>{1, 2}));
  EXPECT_EQ(IValue(List<int64_t>{1, 0}), IValue(GenericList{IValue(true), IValue(0.0)}));
  EXPECT_FALSE(IValue(List<int64_t>{1}) == IValue(List<int64_t>{1, 2}));
  EXPECT_FALSE(IValue(List<int64_t>{1}) == IValue(1));
  EXPECT_EQ(IValue("a"), IValue(std::string("a")));
  EXPECT_EQ(IValue(Device(DeviceType::CPU)), IValue(Device(DeviceType::CPU)));
}

TEST(IValue, OtherObjectsAreEqualByIdentity) {
  const Tensor tensor = someTensor();
  EXPECT_EQ(IValue(tensor), IValue(tensor));
  EXPECT_FALSE(IValue(tensor) == IValue(someTensor()));
  const Generator generator = makeCpuGenerator();
  EXPECT_EQ(IValue(generator), IValue(generator));
  EXPECT_FALSE(IValue(generator) == IValue(makeCpuGenerator()));
}

TEST(IValue, EqualValuesHaveEqualHashes) {
  EXPECT_EQ(IValue(1).hash(), IValue(1.0).hash());
  EXPECT_EQ(IValue(1).hash(), IValue(true).hash());
  EXPECT_EQ(IValue(7).hash(), IValue(Complex(7, 0)).hash());
  EXPECT_EQ(IValue(0.0).hash(), IValue(-0.0).hash());
  EXPECT_EQ(IValue("a").hash(), IValue(std::string("a")).hash());
  EXPECT_EQ(IValue(Tuple({IValue(1)})).hash(), IValue(Tuple({IValue(1.0)})).hash());
  EXPECT_NE(IValue(1).hash(), IValue(2).hash());
  EXPECT_EQ(errorOf([] { IValue(Stream(Device(DeviceType::CPU), 0)).hash(); }),
            "Stream cannot be a key of a dict: it is not hashable. Keys are numbers, strs, None, tensors, devices and "
            "tuples of these");
}

TEST(IValue, NestingWithoutEndIsAnErrorWhenComparedOrHashed) {
  const GenericList a{IValue(1)};
  const GenericList b{IValue(1)};
  a.set(0, IValue(b));
  b.set(0, IValue(a));
  const std::string message =
      "values that are nested deeper than 1000 levels cannot be compared; does one contain itself?";
  EXPECT_EQ(errorOf([&] { static_cast<void>(IValue(a) == IValue(b)); }), message);
  a.clear();
  IValue tuple(1);
  for (int i = 0; i < 100000; ++i) tuple = IValue(Tuple({tuple}));
  IValue twin(1);
  for (int i = 0; i < 100000; ++i) twin = IValue(Tuple({twin}));
  EXPECT_EQ(errorOf([&] { static_cast<void>(tuple == twin); }), message);
  EXPECT_EQ(errorOf([&] { tuple.hash(); }), "a tuple that is nested deeper than 1000 levels cannot be a key of a dict");
}

TEST(IValue, IsTellsIdentity) {
  const List<int64_t> list{1};
  EXPECT_TRUE(IValue(list).is(IValue(list)));
  EXPECT_FALSE(IValue(list).is(IValue(list.copy())));
  EXPECT_TRUE(IValue(1).is(IValue(1)));
  EXPECT_FALSE(IValue(1).is(IValue(1.0)));
  EXPECT_TRUE(IValue(Complex(1, 2)).is(IValue(Complex(1, 2))));
  EXPECT_TRUE(IValue().is(IValue()));
  EXPECT_TRUE(IValue("a").is(IValue("a")));
  EXPECT_FALSE(IValue("a").is(IValue("b")));
  EXPECT_TRUE(IValue(Device(kCUDA, 1)).is(IValue(Device(kCUDA, 1))));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(IValue(nan).is(IValue(nan)));
  EXPECT_FALSE(IValue(GenericDict()).is(IValue(GenericDict())));
  EXPECT_FALSE(IValue(Tuple({IValue(1)})).is(IValue(Tuple({IValue(1)}))));
}

TEST(IValue, TheUndefinedTensorIsNone) {
  EXPECT_TRUE(IValue().is(IValue(Tensor())));
  EXPECT_TRUE(IValue(Tensor()).is(IValue()));
  EXPECT_TRUE(IValue(Tensor()).is(IValue(Tensor())));
  EXPECT_FALSE(IValue().is(IValue(someTensor())));
  EXPECT_FALSE(IValue(Tensor()).is(IValue(someTensor())));
  EXPECT_FALSE(IValue(Tensor()).is(IValue(0)));
  EXPECT_FALSE(IValue() == IValue(Tensor()));
}

TEST(IValue, TellsItsReferencesAndItsObject) {
  const List<int64_t> list{1};
  const IValue value(list);
  EXPECT_EQ(value.use_count(), 2u);
  EXPECT_EQ(value.object(), list.object().get());
  EXPECT_EQ(IValue(1).use_count(), 1u);
  EXPECT_EQ(IValue(1).object(), nullptr);
}

TEST(IValue, NullPointersAreNone) {
  EXPECT_TRUE(IValue(Storage()).isNone());
  EXPECT_TRUE(IValue(IntrusivePtr<Holder>()).isNone());
  EXPECT_TRUE(IValue(IntrusivePtr<CustomClassHolder>()).isNone());
  EXPECT_TRUE(IValue(Generator()).isNone());
  EXPECT_TRUE(IValue(Tensor()).isTensor());
}

}  // namespace
}  // namespace boxcar
