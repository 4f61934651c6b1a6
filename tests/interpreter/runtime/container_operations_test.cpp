#include <boxcar/interpreter/runtime/container_operations.h>
#include <gtest/gtest.h>

#include "tests/test_support.h"

namespace boxcar::interp {
namespace {

std::string shown(auto&& body) {
  std::string text;
  const std::string error = errorOf([&] { text = repr(body()); });
  return error == "no error" ? text : error;
}
std::string slice(const IValue& object, IValue start, IValue stop, IValue step = {}) {
  return shown([&] { return sliceValue(object, start, stop, step); });
}
std::string index(const IValue& object, const IValue& at) {
  return shown([&] { return indexValue(object, at); });
}

const IValue kNone;

TEST(Containers, Lengths) {
  EXPECT_EQ(lengthOf("héé"), 3);
  EXPECT_EQ(lengthOf(List<int64_t>{1, 2}), 2);
  const int64_t sizes[] = {4, 2};
  EXPECT_EQ(lengthOf(Tensor::allocate(sizes, ScalarType::Float)), 4);
  EXPECT_EQ(errorOf([] { lengthOf(Tensor::allocate({}, ScalarType::Float)); }),
            "a Tensor without dimensions has no len()");
  EXPECT_EQ(errorOf([] { lengthOf(3); }), "int has no len()");
}

TEST(Containers, NegativeIndicesCountFromTheEnd) {
  EXPECT_EQ(index(List<int64_t>{1, 2, 3}, -1), "3");
  EXPECT_EQ(index("añb", 1), "'ñ'");
  EXPECT_EQ(index("añb", -1), "'b'");
  EXPECT_EQ(index(Tuple(std::vector<IValue>{1, "a"}), 1), "'a'");
}

TEST(Containers, IndexErrorsNameTheIndexAndTheLength) {
  EXPECT_EQ(index(List<int64_t>{1, 2, 3}, 3), "index 3 is out of range for a list of 3");
  EXPECT_EQ(index(List<int64_t>{1, 2, 3}, -4), "index -4 is out of range for a list of 3");
  EXPECT_EQ(index("ab", 2), "index 2 is out of range for a str of 2");
  EXPECT_EQ(index(List<int64_t>{1}, "a"), "a list is indexed by int, not by str");
  EXPECT_EQ(index(3, 0), "int cannot be indexed");
}

TEST(Containers, AMissingKeyGetsTheNearest) {
  GenericDict dict;
  dict.insert_or_assign("weight", 1);
  dict.insert_or_assign(2, 3);
  EXPECT_EQ(index(dict, "weight"), "1");
  EXPECT_EQ(index(dict, 2.0), "3");
  EXPECT_EQ(index(dict, "wieght"), "the dict has no key 'wieght'. Did you mean 'weight'?");
  EXPECT_EQ(index(dict, 7), "the dict has no key 7");
}

TEST(Containers, SlicesArePythons) {
  const List<int64_t> list{0, 1, 2, 3, 4};
  EXPECT_EQ(slice(list, 1, 3), "[1, 2]");
  EXPECT_EQ(slice(list, kNone, kNone), "[0, 1, 2, 3, 4]");
  EXPECT_EQ(slice(list, kNone, kNone, -1), "[4, 3, 2, 1, 0]");
  EXPECT_EQ(slice(list, -2, kNone), "[3, 4]");
  EXPECT_EQ(slice(list, -100, 100, 2), "[0, 2, 4]");
  EXPECT_EQ(slice(list, 3, 1), "[]");
  EXPECT_EQ(slice(list, 100, kNone, -2), "[4, 2, 0]");
  EXPECT_EQ(slice(list, kNone, -100, -1), "[4, 3, 2, 1, 0]");
  EXPECT_EQ(slice("añb", kNone, kNone, -1), "'bña'");
  EXPECT_EQ(slice(Tuple(std::vector<IValue>{1, 2, 3}), 1, kNone), "(2, 3)");
  const int64_t least = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(slice(list, kNone, kNone, least), "[4]");
  EXPECT_EQ(slice(list, least, least + 1), "[]");
  EXPECT_EQ(slice(list, least, std::numeric_limits<int64_t>::max()), "[0, 1, 2, 3, 4]");
  EXPECT_EQ(slice(list, 0, 1, 0), "the step of a slice cannot be zero");
  EXPECT_EQ(slice(list, 0.5, 1), "the start of a slice must be int or None, not float");
  EXPECT_EQ(slice(3, 0, 1), "int cannot be sliced");
}

TEST(Containers, SettingConvertsToTheListsType) {
  const List<double> list{1, 2};
  setIndex(list, -1, 5);
  EXPECT_EQ(repr(IValue(list)), "[1.0, 5.0]");
  EXPECT_EQ(errorOf([&] { setIndex(list, 0, "a"); }), "expected float, found str");
  EXPECT_EQ(errorOf([&] { setIndex(list, 2, 1); }), "index 2 is out of range for a list of 2");
  EXPECT_EQ(errorOf([&] { setIndex("text", 0, 1); }), "the elements of str cannot be set");
}

TEST(Containers, In) {
  EXPECT_TRUE(contains(List<int64_t>{1, 2}, 2.0));
  EXPECT_FALSE(contains(List<int64_t>{1, 2}, 3));
  EXPECT_TRUE(contains("hello", "ell"));
  GenericDict dict;
  dict.insert_or_assign("a", 1);
  EXPECT_TRUE(contains(dict, "a"));
  EXPECT_EQ(errorOf([] { contains("hello", 1); }), "'in' a str needs a str, not int");
  EXPECT_EQ(errorOf([] { contains(3, 1); }), "'in' does not work on int");
}

TEST(Containers, ListsAreOfTheKindThatIsAsked) {
  EXPECT_TRUE(makeGenericList({1, 2}).isGenericList());
  EXPECT_TRUE(makeList(Type::listOf(Type::floating()), std::vector<IValue>{1, true}).isDoubleList());
  EXPECT_EQ(errorOf([] {
              makeList(Type::listOf(Type::integer()), std::vector<IValue>{1, "a"});
            }),
            "expected int, found str");
}

TEST(Containers, UnpackingChecksTheCount) {
  Stack stack;
  unpack(List<int64_t>{1, 2}, 2, stack);
  EXPECT_EQ(stack.size(), 2U);
  EXPECT_EQ(stack[0].toInt(), 1);
  EXPECT_EQ(errorOf([&] { unpack(List<int64_t>{1, 2}, 3, stack); }), "3 names take the values of int[], which has 2");
  EXPECT_EQ(errorOf([&] { unpack(5, 2, stack); }),
            "int cannot be iterated over; lists, tuples, dicts, strs and tensors can");
}

TEST(Containers, ALoopOverAListSeesWhatIsAppended) {
  const List<int64_t> list{1};
  const IValue walked = iterable(list);
  IValue element;
  EXPECT_TRUE(nextElement(walked, 0, element));
  list.push_back(2);
  EXPECT_TRUE(nextElement(walked, 1, element));
  EXPECT_EQ(element.toInt(), 2);
  EXPECT_FALSE(nextElement(walked, 2, element));
  EXPECT_FALSE(nextElement(walked, -1, element));
}

}  // namespace
}  // namespace boxcar::interp
