#include <boxcar/dispatcher/values/device_copy.h>
#include <boxcar/ivalue/dict.h>
#include <boxcar/ivalue/tuple.h>
#include <gtest/gtest.h>

#include "tests/test_support.h"

namespace boxcar {
namespace {

Tensor oneElement() { return Tensor::allocate(std::vector<int64_t>{1}, ScalarType::Float); }

TEST(ReplaceTensors, InContainersOfAnyDepthMakesNewOnes) {
  const Tensor before = oneElement();
  Tensor after = oneElement();
  const List<Tensor> list{before, Tensor()};
  GenericList lists;
  lists.push_back(list);
  GenericDict dict;
  dict.insert_or_assign(IValue(std::string("all")), IValue(lists));
  const IValue value = Tuple({IValue(before), IValue(int64_t{3}), IValue(dict)});

  int count = 0;
  const IValue replaced = replaceTensors(value, [&](const Tensor& tensor) {
    EXPECT_TRUE(tensor.is_same(before));
    ++count;
    return after;
  });
  EXPECT_EQ(count, 2);
  const Tuple tuple = replaced.toTuple();
  EXPECT_TRUE(tuple.elements()[0].toTensor().is_same(after));
  EXPECT_EQ(tuple.elements()[1].toInt(), 3);
  const auto [key, inner] = tuple.elements()[2].toGenericDict().entryAt(0);
  EXPECT_EQ(key.toStringRef(), "all");
  const IValue first = inner.toList()[0];
  EXPECT_TRUE(first.toTensorList().get(0).is_same(after));
  EXPECT_FALSE(first.toTensorList().get(1).defined());
  EXPECT_TRUE(list.get(0).is_same(before));
}

TEST(ReplaceTensors, RefusesWhatIsNestedDeeperThanItMay) {
  GenericList inner;
  inner.push_back(IValue(Tuple({IValue(oneElement())})));
  EXPECT_EQ(errorOf([&] {
              replaceTensors(
                  inner, [](const Tensor& tensor) { return tensor; }, 1);
            }),
            "tensors are nested too deep in lists for another device");
}

}  // namespace
}  // namespace boxcar
