#include <boxcar/schema/parse_schema.h>
#include <boxcar/schema/value_type.h>
#include <gtest/gtest.h>

#include <complex>
#include <string>
#include <tuple>
#include <vector>

namespace boxcar {
namespace {

struct Handle : CustomClassHolder {
  explicit Handle(std::string class_name) : name(std::move(class_name)) {}
  std::string className() const override { return name; }
  std::string name;
};
IValue handle(std::string name) { return IValue(makeIntrusive<Handle>(std::move(name))); }

bool is(const IValue& value, std::string_view type) { return matches(value, parseType(type)); }
std::string_view nameOf(const IValue& value) { return typeOf(value)->text(); }
GenericList listOf(std::vector<IValue> values) {
  GenericList list;
  for (IValue& value : values) list.push_back(std::move(value));
  return list;
}
Dict<std::string, int64_t> counts() {
  Dict<std::string, int64_t> dict;
  dict.insert_or_assign("a", 1);
  return dict;
}

TEST(ValueType, MatchesByKind) {
  EXPECT_TRUE(is(Tensor(), "Tensor"));
  EXPECT_TRUE(is(true, "bool"));
  EXPECT_TRUE(is(1.5, "float"));
  EXPECT_TRUE(is("a", "str"));
  EXPECT_TRUE(is("a", "Dimname"));
  EXPECT_TRUE(is(Device("cpu"), "Device"));
  EXPECT_TRUE(is(IValue(), "NoneType"));
  EXPECT_TRUE(is(Stream(Device("cpu"), 0), "Stream"));
  EXPECT_TRUE(is(std::complex<double>(0, 1), "complex"));
  for (const std::string_view type : {"int", "SymInt", "ScalarType", "Layout", "MemoryFormat", "DeviceIndex"}) {
    EXPECT_TRUE(is(1, type)) << type;
    EXPECT_FALSE(is(1.5, type)) << type;
    EXPECT_FALSE(is(true, type)) << type;
  }
  for (const IValue& number : {IValue(true), IValue(1), IValue(1.5), IValue(std::complex<double>(1, 2))}) {
    EXPECT_TRUE(is(number, "Scalar"));
    EXPECT_TRUE(is(number, "Any"));
    EXPECT_TRUE(is(number, "t"));
  }
  EXPECT_FALSE(is("1", "Scalar"));
  EXPECT_FALSE(is(1, "float"));
  EXPECT_FALSE(is(IValue(), "Tensor"));
}

TEST(ValueType, MatchesDeeply) {
  EXPECT_TRUE(is(IValue(), "Tensor?"));
  EXPECT_TRUE(is(Tensor(), "Tensor?"));
  EXPECT_FALSE(is(1, "Tensor?"));
  EXPECT_TRUE(is(List<int64_t>{1}, "int[]"));
  EXPECT_TRUE(is(List<int64_t>{1}, "SymInt[]?"));
  EXPECT_TRUE(is(List<int64_t>{1}, "t[]"));
  EXPECT_FALSE(is(List<int64_t>{1}, "float[]"));
  EXPECT_FALSE(is(listOf({1, 2}), "int[]"));
  EXPECT_TRUE(is(List<Tensor>(), "Tensor[]"));
  EXPECT_TRUE(is(listOf({IValue(), Tensor()}), "Tensor?[]"));
  EXPECT_FALSE(is(listOf({IValue(), 1}), "Tensor?[]"));
  EXPECT_TRUE(is(listOf({List<int64_t>{1}, List<int64_t>{}}), "int[][]"));
  EXPECT_TRUE(is(counts(), "Dict(str, int)"));
  EXPECT_TRUE(is(counts(), "Dict(Any, Scalar)"));
  EXPECT_FALSE(is(counts(), "Dict(int, int)"));
  EXPECT_FALSE(is(counts(), "Dict(str, str)"));
  EXPECT_TRUE(is(std::tuple<int64_t, std::string>(1, "a"), "(int, str)"));
  EXPECT_FALSE(is(std::tuple<int64_t, std::string>(1, "a"), "(int, int)"));
  EXPECT_FALSE(is(std::tuple<int64_t>(1), "(int, int)"));
  EXPECT_TRUE(is("a", "Union(int, str)"));
  EXPECT_FALSE(is(1.5, "Union(int, str)"));
}

TEST(ValueType, MatchesClasses) {
  const IValue value = handle("__torch__.torch.classes.test.Handle");
  EXPECT_TRUE(is(value, "__torch__.torch.classes.test.Handle"));
  EXPECT_TRUE(is(value, "AnyClassType"));
  EXPECT_TRUE(is(value, "Capsule"));
  EXPECT_FALSE(is(value, "__torch__.torch.classes.test.Other"));
  EXPECT_FALSE(is(1, "AnyClassType"));
}

TEST(ValueType, TellsTheNarrowestType) {
  EXPECT_EQ(nameOf(IValue()), "NoneType");
  EXPECT_EQ(nameOf(1), "int");
  EXPECT_EQ(nameOf("a"), "str");
  EXPECT_EQ(nameOf(Tensor()), "Tensor");
  EXPECT_EQ(nameOf(List<double>{}), "float[]");
  EXPECT_EQ(nameOf(List<bool>{}), "bool[]");
  EXPECT_EQ(nameOf(listOf({"a", "b"})), "str[]");
  EXPECT_EQ(nameOf(listOf({IValue(), Tensor()})), "Tensor?[]");
  EXPECT_EQ(nameOf(listOf({Tensor(), IValue()})), "Tensor?[]");
  EXPECT_EQ(nameOf(listOf({1, "a"})), "Any[]");
  EXPECT_EQ(nameOf(listOf({})), "Any[]");
  EXPECT_EQ(nameOf(counts()), "Dict(str, int)");
  EXPECT_EQ(nameOf(std::tuple<int64_t, Tensor>(1, Tensor())), "(int, Tensor)");
  EXPECT_EQ(nameOf(handle("__torch__.torch.classes.test.Handle")), "__torch__.torch.classes.test.Handle");
  EXPECT_EQ(nameOf(handle("something else")), "Capsule");
}

TEST(ValueType, EveryValueMatchesItsType) {
  for (const IValue& value :
       {IValue(), IValue(1), IValue(listOf({IValue(), Tensor()})), IValue(counts()), IValue(List<int64_t>{1}),
        IValue(std::tuple<int64_t, Tensor>(1, Tensor())), handle("__torch__.torch.classes.test.Handle")}) {
    EXPECT_TRUE(matches(value, typeOf(value))) << nameOf(value);
  }
}

TEST(ValueType, AListInsideItselfHasAType) {
  GenericList list;
  list.push_back(list);
  list.push_back(list);
  EXPECT_TRUE(matches(list, typeOf(list)));
  list.clear();
}

}  // namespace
}  // namespace boxcar
