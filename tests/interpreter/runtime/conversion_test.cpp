#include <boxcar/interpreter/runtime/conversion.h>
#include <boxcar/schema/parse_schema.h>
#include <boxcar/schema/value_type.h>
#include <gtest/gtest.h>

#include "tests/test_support.h"

namespace boxcar::interp {
namespace {

IValue convert(IValue value, std::string_view type, int32_t list_size = 0) {
  return convertValue(std::move(value), {parseType(type), list_size});
}

TEST(Conversion, NumbersWiden) {
  EXPECT_EQ(convert(3, "float").toDouble(), 3.0);
  EXPECT_EQ(convert(true, "float").toDouble(), 1.0);
  EXPECT_EQ(convert(true, "int").toInt(), 1);
  EXPECT_EQ(convert(3, "SymInt").toInt(), 3);
  EXPECT_TRUE(convert(true, "Scalar").isBool());
  EXPECT_EQ(convert(3, "float?").toDouble(), 3.0);
  EXPECT_TRUE(convert({}, "float?").isNone());
}

TEST(Conversion, ListsGetTheElementsThatTheirTypeWants) {
  const GenericList any({IValue(1), IValue(true)});
  EXPECT_EQ(convert(any, "int[]").toIntList().vec(), (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(convert(any, "float[]").toDoubleList().vec(), (std::vector<double>{1, 1}));
  EXPECT_EQ(convert(std::vector<int64_t>{1, 2}, "float[]").toDoubleList().vec(), (std::vector<double>{1, 2}));
  EXPECT_EQ(convert(Tuple({IValue(1), IValue(2)}), "SymInt[]").toIntList().vec(), (std::vector<int64_t>{1, 2}));
  EXPECT_TRUE(convert(std::vector<Tensor>(2), "Tensor?[]").isGenericList());
  EXPECT_EQ(convert(5, "int[]", 2).toIntList().vec(), (std::vector<int64_t>{5, 5}));
}

TEST(Conversion, AListThatFitsStaysTheSame) {
  const IValue list = std::vector<int64_t>{1, 2};
  EXPECT_TRUE(convert(list, "int[]").is(list));
  EXPECT_TRUE(convert(list, "int[]?").is(list));
  EXPECT_TRUE(convert(list, "Any").is(list));
}

TEST(Conversion, TextNamesADevice) { EXPECT_EQ(convert("cpu", "Device").toDevice(), Device(DeviceType::CPU)); }

TEST(Conversion, NumbersBecomeWrappedTensors) {
  EXPECT_EQ(errorOf([] { convert(2.5, "Tensor"); }), "expected Tensor, found float");
  const Tensor tensor = convertValue(IValue(2.5), {Type::tensor(), 0, true}).toTensor();
  EXPECT_EQ(tensor.dim(), 0);
  EXPECT_EQ(tensor.dtype(), ScalarType::Double);
  EXPECT_TRUE(tensor.unsafeGetTensorImpl()->is_wrapped_number());
  EXPECT_EQ(*tensor.const_data_ptr<double>(), 2.5);
  EXPECT_EQ(wrappedNumber(IValue(7)).dtype(), ScalarType::Long);
  EXPECT_EQ(wrappedNumber(IValue(true)).dtype(), ScalarType::Bool);
}

TEST(Conversion, WhatDoesNotFitIsAnError) {
  EXPECT_EQ(errorOf([] { convert("x", "int"); }), "expected int, found str");
  EXPECT_EQ(errorOf([] { convert(1.5, "int"); }), "expected int, found float; int(…) makes an int of it");
  EXPECT_EQ(errorOf([] { convert({}, "Tensor"); }), "expected Tensor, found NoneType");
  EXPECT_EQ(errorOf([] {
              convert(GenericList({IValue(1), IValue("x")}), "int[]");
            }),
            "expected int, found str\nin element 1 of Any[]");
}

TEST(Conversion, RepresentationsAreKnownFromTheTypes) {
  const auto same = [](std::string_view from, std::string_view to) {
    return isSameRepresentation(parseType(from), parseType(to));
  };
  EXPECT_TRUE(same("int", "SymInt"));
  EXPECT_TRUE(same("int[]", "SymInt[]?"));
  EXPECT_TRUE(same("ScalarType", "int"));
  EXPECT_TRUE(same("float", "Scalar"));
  EXPECT_FALSE(same("int", "float"));
  EXPECT_FALSE(same("int[]", "float[]"));
  EXPECT_FALSE(same("Tensor[]", "Tensor?[]"));
  EXPECT_FALSE(same("Any[]", "int[]"));
}

}  // namespace
}  // namespace boxcar::interp
