#include <boxcar/dispatcher/call/mode.h>
#include <boxcar/dispatcher/call/record_function.h>
#include <boxcar/dispatcher/handlers/fault/bit_flip.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/dispatcher/values/tensor_bytes.h>
#include <boxcar/dispatcher/values/tensor_range.h>
#include <boxcar/dispatcher/values/value_copy.h>
#include <boxcar/ivalue/allocator.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "tests/backends/tensor_helpers.h"

namespace boxcar {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::vector<float> floatsIn(const Tensor& tensor) {
  const ElementBytes elements(tensor);
  std::vector<float> values(elements.bytes().size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), elements.bytes().data(), elements.bytes().size());
  return values;
}

TEST(ElementBytes, StandInTheOrderOfTheDimensions) {
  const Tensor x = floats({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_EQ(floatsIn(x), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(floatsIn(transpose(x, 0, 1)), (std::vector<float>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(floatsIn(select(x, 1, 2)), (std::vector<float>{3, 6}));
  EXPECT_EQ(floatsIn(expand(select(x, 0, 1), {2, 3})), (std::vector<float>{4, 5, 6, 4, 5, 6}));
  EXPECT_EQ(floatsIn(zeros({0, 3})), std::vector<float>{});
  EXPECT_EQ(floatsIn(sum(x)), std::vector<float>{21});
  EXPECT_EQ(elementOffsets(transpose(x, 0, 1)), (std::vector<int64_t>{0, 12, 4, 16, 8, 20}));
}

TEST(ElementBytes, AreNotCopiedWhereTheyLieInOrder) {
  const Tensor x = floats({1, 2});
  EXPECT_EQ(static_cast<const void*>(ElementBytes(x).bytes().data()), x.data_ptr());
}

TEST(SameBits, TellsBitsAndNotValues) {
  EXPECT_TRUE(sameBits(tensorOf<double>({kNan}), tensorOf<double>({kNan})));
  EXPECT_FALSE(sameBits(tensorOf<double>({0.0}), tensorOf<double>({-0.0})));
  EXPECT_FALSE(sameBits(floats({1}), tensorOf<double>({1})));
  EXPECT_FALSE(sameBits(floats({1, 2}), floats({1, 2}, {1, 2})));
  EXPECT_TRUE(sameBits(Tensor(), Tensor()));
  EXPECT_FALSE(sameBits(Tensor(), floats({1})));
  EXPECT_TRUE(sameBits(IValue(kNan), IValue(kNan)));
  EXPECT_FALSE(sameBits(IValue(1), IValue(1.0)));
  EXPECT_TRUE(sameBits(IValue(List<Tensor>{floats({1})}), IValue(List<Tensor>{floats({1})})));
  EXPECT_FALSE(sameBits(IValue(List<Tensor>{floats({1})}), IValue(List<Tensor>{floats({2})})));
  EXPECT_FALSE(sameBits(IValue(List<double>{1}), IValue(List<double>{1, 2})));
  const GenericList itself;
  itself.push_back(itself);
  const GenericList other;
  other.push_back(other);
  EXPECT_TRUE(sameBits(IValue(itself), IValue(other)));
  itself.clear();  // break the reference cycle
  other.clear();
}

TEST(TensorRange, CountsWhatIsNotFiniteInEveryType) {
  const TensorRange range = rangeOf(tensorOf<double>({1, kNan, -kInf, kInf, -3}));
  EXPECT_EQ(range.nans, 1);
  EXPECT_EQ(range.infinities, 2);
  EXPECT_EQ(range.least, -3);
  EXPECT_EQ(range.greatest, 1);
  for (const ScalarType dtype : {ScalarType::Half, ScalarType::BFloat16, ScalarType::Float, ScalarType::Double,
                                 ScalarType::ComplexFloat, ScalarType::ComplexDouble}) {
    Tensor x = ones({33}, dtype);
    EXPECT_TRUE(allFinite(x)) << dtypeName(dtype);
    for (const int64_t place : {0, 20, 32}) {
      x = ones({33}, dtype);
      Tensor element = select(x, 0, place);
      fill_(element, place == 20 ? kNan : -kInf);
      EXPECT_FALSE(allFinite(x)) << dtypeName(dtype);
      EXPECT_EQ(rangeOf(x).nans + rangeOf(x).infinities, 1) << dtypeName(dtype);
      EXPECT_EQ(rangeOf(x).greatest, 1) << dtypeName(dtype);
    }
  }
}

TEST(TensorRange, IsDescribedInOneLine) {
  const auto text = [](const Tensor& tensor) { return describe(tensor, rangeOf(tensor)); };
  EXPECT_EQ(text(floats({1, -2.5f}, {2, 1})), "float32[2, 1], from -2.5 to 1, clean");
  EXPECT_EQ(text(ints({3, 4})), "int64[2], from 3 to 4, clean");
  EXPECT_EQ(text(bools({true})), "bool[1], clean");
  EXPECT_EQ(text(zeros({0})), "float32[0], clean");
  EXPECT_EQ(text(tensorOf<double>({kNan})), "float64[1], 1 NaN");
  EXPECT_EQ(text(tensorOf<double>({kNan, kInf, 2})), "float64[3], 1 NaN and 1 Inf, the finite from 2 to 2");
  EXPECT_EQ(text(tensorOf<std::complex<double>>({{1, 2}, {3, kInf}})), "complex128[2], 1 Inf, the finite from 1 to 3");
  EXPECT_EQ(text(Tensor()), "an undefined tensor, clean");
}

TEST(ValueCopier, KeepsStridesAndWhatIsShared) {
  const Tensor base = floats({1, 2, 3, 4}, {2, 2});
  const Tensor turned = transpose(base, 0, 1);
  const Stack copies = copyValues(Stack{IValue(base), IValue(List<Tensor>{turned, base}), IValue(3), IValue()});
  Tensor copy = copies[0].toTensor();
  const List<Tensor> list = copies[1].toTensorList();
  EXPECT_NE(copy.storage(), base.storage());
  EXPECT_EQ(list[0].storage(), copy.storage());
  EXPECT_TRUE(list[1].is_same(copy));
  EXPECT_EQ(stridesOf(list[0]), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(copies[2].toInt(), 3);
  EXPECT_TRUE(copies[3].isNone());
  zero_(copy);
  EXPECT_EQ(toString(list[0]), "tensor([[0., 0.],\n        [0., 0.]])");
  EXPECT_EQ(toString(base), "tensor([[1., 2.],\n        [3., 4.]])");
}

TEST(ValueCopier, CopiesContainersOnceAndThoseThatHoldThemselves) {
  const GenericList itself;
  itself.push_back(itself);
  const GenericList copy = ValueCopier().copy(IValue(itself)).toList();
  EXPECT_FALSE(copy.is(itself));
  EXPECT_TRUE(copy.get(0).toList().is(copy));
  itself.clear();
  copy.clear();
  const Dict<std::string, Tensor> dict;
  dict.insert("w", floats({1}));
  const IValue pair = Tuple({IValue(dict), IValue(dict)});
  const Tuple copied = ValueCopier().copy(pair).toTuple();
  EXPECT_TRUE(copied.elements()[0].is(copied.elements()[1]));
  EXPECT_TRUE(sameBits(pair, IValue(copied)));
  EXPECT_FALSE(copied.elements()[0].is(IValue(dict)));
}

TEST(ValueCopier, MakesMetaTensorsWithTheSameLayout) {
  ValueCopier copier(ValueCopier::Target::kMeta);
  const Tensor copy = copier.copy(transpose(floats({1, 2, 3, 4, 5, 6}, {2, 3}), 0, 1));
  EXPECT_TRUE(copy.is_meta());
  EXPECT_EQ(sizesOf(copy), (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(stridesOf(copy), (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(copier.copy(IValue(Device(DeviceType::CPU))).toDevice(), Device(DeviceType::Meta));
}

// A device whose copies ignore strides; its memory is host memory here.
class OtherDevice final {
 public:
  OtherDevice() : kernels_(Library::IMPL, "aten", DispatchKey::PrivateUse1, "tensor_bytes_test.cpp", 1) {
    static constexpr Allocator kAllocator = {[](size_t bytes, DeviceIndex) { return std::malloc(bytes); },
                                             [](void* memory, size_t, DeviceIndex) { std::free(memory); }};
    setAllocator(DeviceType::PrivateUse1, &kAllocator);
    kernels_.impl("copy_", [](Tensor& self, const Tensor& src, bool) -> Tensor& {
      std::memcpy(self.data_ptr(), src.data_ptr(), src.nbytes());
      return self;
    });
  }
  OtherDevice(const OtherDevice&) = delete;
  OtherDevice& operator=(const OtherDevice&) = delete;
  ~OtherDevice() { setAllocator(DeviceType::PrivateUse1, nullptr); }

  static Tensor bring(const Tensor& tensor) {
    Tensor there = Tensor::allocate(tensor.sizes(), tensor.scalar_type(), DeviceType::PrivateUse1);
    copy_(there, tensor);
    return there;
  }

 private:
  Library kernels_;
};

TEST(ElementBytes, ComeFromOtherDevicesByTheirCopies) {
  const OtherDevice device;
  const Tensor turned = transpose(OtherDevice::bring(floats({1, 2, 3, 4}, {2, 2})), 0, 1);
  EXPECT_EQ(floatsIn(turned), (std::vector<float>{1, 3, 2, 4}));
  const Tensor copy = ValueCopier().copy(turned);
  EXPECT_EQ(copy.device().type(), DeviceType::PrivateUse1);
  EXPECT_TRUE(sameBits(copy, turned));
  EXPECT_EQ(rangeOf(turned).greatest, 4);
}

TEST(ElementBytes, NobodySeesTheCopiesOfHandlers) {
  const OtherDevice device;
  const Tensor x = OtherDevice::bring(floats({1, 2}));
  std::vector<std::string> seen;
  const CallbackHandle observer = addThreadLocalCallback(
      RecordFunctionCallback([&](const RecordFunction& call) -> std::unique_ptr<ObserverContext> {
        seen.emplace_back(call.name());
        return nullptr;
      }));
  {
    const ModeGuard mode([&](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
      seen.push_back(toString(op.operator_name()));
      op.redispatchBoxed(keys, stack);
    });
    const IValue values[] = {x};
    EXPECT_NE(flipBit(values, 0), "");
    EXPECT_EQ(ElementBytes(x).bytes().size(), 8U);
    ValueCopier().copy(x);
  }
  removeCallback(observer);
  EXPECT_EQ(seen, std::vector<std::string>());
}

TEST(ElementBytes, AreNoneWhereThereIsNoMemory) {
  EXPECT_TRUE(ElementBytes(Tensor()).bytes().empty());
  EXPECT_TRUE(ElementBytes(zeros({0, 3})).bytes().empty());
  EXPECT_TRUE(
      ElementBytes(Tensor::allocate(std::vector<int64_t>{2}, ScalarType::Float, DeviceType::Meta)).bytes().empty());
}

}  // namespace
}  // namespace boxcar
