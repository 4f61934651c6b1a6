#include <boxcar/boxcar.h>
#include <boxcar/ivalue/dlpack_abi.h>
#include <gtest/gtest.h>
#if __has_include(<dlpack/dlpack.h>)
#include <dlpack/dlpack.h>
#endif

#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "tests/backends/tensor_helpers.h"

namespace boxcar {
namespace {

using dlpack::asDLManagedTensor;
using dlpack::asManagedTensor;
using dlpack::ManagedTensor;

// Another library's tensor: a hand-made structure that counts the calls of its deleter.
struct Foreign {
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  ManagedTensor managed;
  int deleted = 0;

  Foreign(void* data, std::vector<int64_t> sizes, dlpack::ElementType dtype = {dlpack::kFloat, 32, 1},
          std::vector<int64_t> steps = {})
      : shape(std::move(sizes)), strides(std::move(steps)) {
    managed = {.version = {1, 1}, .manager_ctx = this, .deleter = remove, .flags = 0, .dl_tensor = {}};
    managed.dl_tensor = {.data = data,
                         .device = {dlpack::kCpu, 0},
                         .ndim = static_cast<int32_t>(shape.size()),
                         .dtype = dtype,
                         .shape = shape.data(),
                         .strides = strides.empty() ? nullptr : strides.data(),
                         .byte_offset = 0};
  }
  DLManagedTensorVersioned* get() { return asDLManagedTensor(&managed); }
  static void remove(DLManagedTensorVersioned* self) {
    ++static_cast<Foreign*>(asManagedTensor(self)->manager_ctx)->deleted;
  }
};

// Returns the error of fromDLPack for a tensor of two floats that [change] has spoiled. The deleter must not be called.
std::string faultOf(const std::function<void(Foreign&)>& change, DLPackCopy copy = DLPackCopy::Never) {
  alignas(16) static float data[4] = {1, 2, 3, 4};
  Foreign foreign(data, {2}, {dlpack::kFloat, 32, 1}, {1});
  change(foreign);
  const std::string message = errorOf([&] { fromDLPack(foreign.get(), copy); });
  EXPECT_EQ(foreign.deleted, 0) << message;
  const std::string begin = "cannot take the DLPack tensor: ";
  return message.starts_with(begin) ? message.substr(begin.size()) : message;
}

struct DtypeCase {
  ScalarType type;
  dlpack::ElementCode code;
  uint8_t bits;
};
constexpr DtypeCase kDtypes[] = {
    {ScalarType::Bool, dlpack::kBool, 8},
    {ScalarType::Byte, dlpack::kUInt, 8},
    {ScalarType::Char, dlpack::kInt, 8},
    {ScalarType::Short, dlpack::kInt, 16},
    {ScalarType::Int, dlpack::kInt, 32},
    {ScalarType::Long, dlpack::kInt, 64},
    {ScalarType::Half, dlpack::kFloat, 16},
    {ScalarType::BFloat16, dlpack::kBFloat, 16},
    {ScalarType::Float, dlpack::kFloat, 32},
    {ScalarType::Double, dlpack::kFloat, 64},
    {ScalarType::ComplexFloat, dlpack::kComplex, 64},
    {ScalarType::ComplexDouble, dlpack::kComplex, 128},
};

TEST(DLPack, EveryDtypeGoesOverAndComesBack) {
  for (const DtypeCase& expected : kDtypes) {
    SCOPED_TRACE(dtypeName(expected.type));
    const Tensor x = Tensor::allocate({{2, 3}}, expected.type);
    DLManagedTensorVersioned* const managed = toDLPack(x);
    const dlpack::ElementType dtype = asManagedTensor(managed)->dl_tensor.dtype;
    EXPECT_EQ(dtype.code, expected.code);
    EXPECT_EQ(dtype.bits, expected.bits);
    EXPECT_EQ(dtype.lanes, 1);
    releaseDLPack(managed);

    Foreign foreign(x.data_ptr(), {2, 3}, dtype);
    const Tensor back = fromDLPack(foreign.get());
    EXPECT_EQ(back.dtype(), expected.type);
    EXPECT_EQ(back.data_ptr(), x.data_ptr());
    EXPECT_EQ(back.nbytes(), x.nbytes());
  }
}

TEST(DLPack, ALoanSaysWhatTheTensorIs) {
  const Tensor base = counting({4, 6});
  const Tensor x = base.view({{2, 3}}, {{12, 2}}, 7);
  DLManagedTensorVersioned* const managed = toDLPack(x);
  const ManagedTensor& found = *asManagedTensor(managed);
  EXPECT_EQ(found.version.major, 1U);
  EXPECT_EQ(found.version.minor, 0U);
  EXPECT_EQ(found.flags, 0U);
  EXPECT_NE(found.deleter, nullptr);
  EXPECT_EQ(found.dl_tensor.data, base.data_ptr<float>() + 7);
  EXPECT_EQ(found.dl_tensor.byte_offset, 0U);
  EXPECT_EQ(found.dl_tensor.device.type, dlpack::kCpu);
  EXPECT_EQ(found.dl_tensor.device.index, 0);
  ASSERT_EQ(found.dl_tensor.ndim, 2);
  EXPECT_EQ(std::vector(found.dl_tensor.shape, found.dl_tensor.shape + 2), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(std::vector(found.dl_tensor.strides, found.dl_tensor.strides + 2), (std::vector<int64_t>{12, 2}));
  releaseDLPack(managed);
}

TEST(DLPack, ALoanHasTheStridesOfAContiguousTensorWhereOneElementHidesOthers) {
  DLManagedTensorVersioned* const managed = toDLPack(counting({6}).view({{1, 6}}, {{77, 1}}, 0));
  const int64_t* const strides = asManagedTensor(managed)->dl_tensor.strides;
  EXPECT_EQ(std::vector(strides, strides + 2), (std::vector<int64_t>{6, 1}));
  releaseDLPack(managed);
}

TEST(DLPack, ALoanKeepsItsShapeWhenTheTensorGetsAnother) {
  const Tensor x = counting({2, 3});
  DLManagedTensorVersioned* const managed = toDLPack(x);
  x.unsafeGetTensorImpl()->setShape({{6}}, {{1}}, 0);
  EXPECT_EQ(asManagedTensor(managed)->dl_tensor.ndim, 2);
  EXPECT_EQ(asManagedTensor(managed)->dl_tensor.shape[1], 3);
  releaseDLPack(managed);
}

TEST(DLPack, TensorsWithoutDimensionsOrElementsGoOver) {
  const Tensor number = Tensor::allocate({}, ScalarType::Long);
  DLManagedTensorVersioned* managed = toDLPack(number);
  EXPECT_EQ(asManagedTensor(managed)->dl_tensor.ndim, 0);
  EXPECT_EQ(asManagedTensor(managed)->dl_tensor.data, number.data_ptr());
  releaseDLPack(managed);

  managed = toDLPack(Tensor::allocate({{3, 0, 2}}, ScalarType::Float));
  EXPECT_EQ(asManagedTensor(managed)->dl_tensor.data, nullptr);
  EXPECT_EQ(asManagedTensor(managed)->dl_tensor.shape[1], 0);
  releaseDLPack(managed);

  int64_t seven = 7;
  Foreign foreign(&seven, {}, {dlpack::kInt, 64, 1});
  foreign.managed.dl_tensor.shape = nullptr;
  EXPECT_EQ(fromDLPack(foreign.get()).data_ptr<int64_t>()[0], 7);
  EXPECT_EQ(foreign.deleted, 1);

  // Without elements the strides may be anything; a read-only array may be empty too.
  Foreign empty(nullptr, {3, 0}, {dlpack::kFloat, 32, 1}, {-5, 1});
  empty.managed.flags = dlpack::kReadOnly;
  EXPECT_EQ(sizesOf(fromDLPack(empty.get())), (std::vector<int64_t>{3, 0}));
  EXPECT_EQ(empty.deleted, 1);
}

TEST(DLPack, TheMemoryLivesUntilTheLoanEnds) {
  Tensor x = counting({1000}).shallowCopy();
  const Storage storage = x.storage();
  EXPECT_EQ(storage->useCount(), 2U);
  DLManagedTensorVersioned* const managed = toDLPack(x);
  EXPECT_EQ(storage->useCount(), 3U);
  x = Tensor();
  EXPECT_EQ(storage->useCount(), 2U);
  EXPECT_EQ(static_cast<const float*>(asManagedTensor(managed)->dl_tensor.data)[999], 999.0F);
  releaseDLPack(managed);
  EXPECT_EQ(storage->useCount(), 1U);
}

TEST(DLPack, LoansEndOnAnyThread) {
  const Tensor x = counting({100}).shallowCopy();
  std::vector<DLManagedTensorVersioned*> loans;
  for (int i = 0; i < 2000; ++i) loans.push_back(toDLPack(x));
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&loans, t] {
      for (size_t i = t; i < loans.size(); i += 4) releaseDLPack(loans[i]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(x.storage()->useCount(), 1U);
}

TEST(DLPack, TheDeleterIsCalledOnceWhenTheLastTensorGoes) {
  float data[6] = {0, 1, 2, 3, 4, 5};
  Foreign foreign(data, {2, 3});
  {
    Tensor view;
    {
      const Tensor x = fromDLPack(foreign.get());
      const Tensor copy = x;
      view = select(x, 0, 1);
    }
    EXPECT_EQ(foreign.deleted, 0);
    EXPECT_EQ(elements<float>(view), (std::vector<float>{3, 4, 5}));
    std::thread([last = std::move(view)] {}).join();
  }
  EXPECT_EQ(foreign.deleted, 1);
}

TEST(DLPack, WritesAreSeenOnBothSides) {
  float data[4] = {1, 2, 3, 4};
  Foreign foreign(data, {2, 2});
  Tensor x = fromDLPack(foreign.get());
  add_(x, 10);
  EXPECT_EQ(data[3], 14.0F);
  data[0] = -1;
  EXPECT_EQ(elements<float>(x), (std::vector<float>{-1, 12, 13, 14}));

  Tensor own = counting({3});
  DLManagedTensorVersioned* const managed = toDLPack(own);
  static_cast<float*>(asManagedTensor(managed)->dl_tensor.data)[1] = 50;
  EXPECT_EQ(elements<float>(own), (std::vector<float>{0, 50, 2}));
  mul_(own, 2);
  EXPECT_EQ(static_cast<const float*>(asManagedTensor(managed)->dl_tensor.data)[1], 100.0F);
  releaseDLPack(managed);
}

TEST(DLPack, ARoundTripGivesTheSameMemoryAndTheSameStorage) {
  const Tensor base = counting({3, 4}).shallowCopy();
  const Tensor x = transpose(base, 0, 1);
  const Tensor back = fromDLPack(toDLPack(x));
  EXPECT_FALSE(back.is_same(x));
  EXPECT_EQ(back.data_ptr(), x.data_ptr());
  EXPECT_EQ(back.storage(), x.storage());
  EXPECT_EQ(sizesOf(back), sizesOf(x));
  EXPECT_EQ(stridesOf(back), stridesOf(x));
  // The owners are base, x and back.
  EXPECT_EQ(base.storage()->useCount(), 3U);
}

TEST(DLPack, StridesAndOffsetsOfOthersAreKept) {
  int32_t data[12];
  for (int i = 0; i < 12; ++i) data[i] = i;
  const dlpack::ElementType int32{dlpack::kInt, 32, 1};
  Foreign columns(data, {4, 2}, int32, {1, 4});
  columns.managed.dl_tensor.byte_offset = 16;
  const Tensor x = fromDLPack(columns.get());
  EXPECT_EQ(stridesOf(x), (std::vector<int64_t>{1, 4}));
  EXPECT_EQ(x.storage_offset(), 0);
  EXPECT_EQ(elements<int32_t>(x), (std::vector<int32_t>{4, 8, 5, 9, 6, 10, 7, 11}));
  EXPECT_EQ(x.storage()->nbytes(), 8 * sizeof(int32_t));

  Foreign repeated(data + 3, {2, 3}, int32, {0, 1});
  EXPECT_EQ(elements<int32_t>(fromDLPack(repeated.get())), (std::vector<int32_t>{3, 4, 5, 3, 4, 5}));

  Foreign windows(data, {3, 2}, int32, {1, 1});
  EXPECT_EQ(elements<int32_t>(fromDLPack(windows.get())), (std::vector<int32_t>{0, 1, 1, 2, 2, 3}));

  // This stride is never stepped along.
  Foreign single(data, {1, 3}, int32, {-9, 1});
  EXPECT_EQ(stridesOf(fromDLPack(single.get())), (std::vector<int64_t>{3, 1}));
}

TEST(DLPack, StridesThatAreNullMeanAContiguousArray) {
  float data[6] = {0, 1, 2, 3, 4, 5};
  Foreign foreign(data, {3, 2});
  EXPECT_EQ(foreign.managed.dl_tensor.strides, nullptr);
  EXPECT_EQ(stridesOf(fromDLPack(foreign.get())), (std::vector<int64_t>{2, 1}));
}

TEST(DLPack, ADeleterMayBeMissing) {
  float data[2] = {1, 2};
  Foreign foreign(data, {2});
  foreign.managed.deleter = nullptr;
  EXPECT_EQ(elements<float>(fromDLPack(foreign.get())), (std::vector<float>{1, 2}));
  releaseDLPack(foreign.get());
  releaseDLPack(nullptr);
  EXPECT_EQ(foreign.deleted, 0);
}

TEST(DLPack, DevicesAreThoseOfCudaAndTheCpu) {
  float data[2] = {1, 2};
  Foreign pinned(data, {2});
  pinned.managed.dl_tensor.device = {dlpack::kCudaHost, 0};
  EXPECT_EQ(fromDLPack(pinned.get()).device(), Device(DeviceType::CPU));
  EXPECT_EQ(pinned.deleted, 1);

  Foreign cuda(data, {2});
  cuda.managed.dl_tensor.device = {dlpack::kCuda, 3};
  {
    const Tensor x = fromDLPack(cuda.get());
    EXPECT_EQ(x.device(), Device(DeviceType::CUDA, 3));
    EXPECT_TRUE(x.key_set().has(DispatchKey::CUDA));
    DLManagedTensorVersioned* const managed = toDLPack(x);
    EXPECT_EQ(asManagedTensor(managed)->dl_tensor.device.type, dlpack::kCuda);
    EXPECT_EQ(asManagedTensor(managed)->dl_tensor.device.index, 3);
    EXPECT_EQ(asManagedTensor(managed)->dl_tensor.data, data);
    releaseDLPack(managed);
    EXPECT_EQ(cuda.deleted, 0);
  }
  EXPECT_EQ(cuda.deleted, 1);
}

TEST(DLPack, ReadOnlyMemoryIsCopiedOnlyWhenThatIsAsked) {
  EXPECT_EQ(faultOf([](Foreign& foreign) { foreign.managed.flags = dlpack::kReadOnly; }),
            "it is read-only, and operators may write to any tensor; let fromDLPack copy it (DLPackCopy::WhereNeeded)");
  float data[6] = {0, 1, 2, 3, 4, 5};
  Foreign foreign(data, {3, 2}, {dlpack::kFloat, 32, 1}, {1, 3});
  foreign.managed.flags = dlpack::kReadOnly;
  Tensor x = fromDLPack(foreign.get(), DLPackCopy::WhereNeeded);
  EXPECT_EQ(foreign.deleted, 1);
  EXPECT_NE(x.data_ptr(), static_cast<void*>(data));
  EXPECT_EQ(stridesOf(x), (std::vector<int64_t>{1, 3}));
  add_(x, 1);
  EXPECT_EQ(elements<float>(x), (std::vector<float>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(data[5], 5.0F);

  // Memory that can be shared is shared.
  Foreign writable(data, {6});
  writable.managed.flags = dlpack::kIsCopied;
  EXPECT_EQ(fromDLPack(writable.get(), DLPackCopy::WhereNeeded).data_ptr(), static_cast<void*>(data));
}

TEST(DLPack, ElementsThatAreNotAlignedAreCopiedOnlyWhenThatIsAsked) {
  const auto shift = [](Foreign& foreign) { foreign.managed.dl_tensor.byte_offset = 2; };
  EXPECT_EQ(faultOf(shift),
            "its elements, float32, are not aligned to 4 bytes; let fromDLPack copy it (DLPackCopy::WhereNeeded)");
  alignas(4) std::byte bytes[10] = {};
  const float numbers[2] = {1.5, -2};
  std::memcpy(bytes + 2, numbers, sizeof(numbers));
  Foreign foreign(bytes, {2});
  shift(foreign);
  EXPECT_EQ(elements<float>(fromDLPack(foreign.get(), DLPackCopy::WhereNeeded)), (std::vector<float>{1.5, -2}));
  EXPECT_EQ(foreign.deleted, 1);
  EXPECT_EQ(faultOf(
                [](Foreign& cuda) {
                  cuda.managed.flags = dlpack::kReadOnly;
                  cuda.managed.dl_tensor.device = {dlpack::kCuda, 0};
                },
                DLPackCopy::WhereNeeded),
            "it is read-only, and operators may write to any tensor; copy it before, because fromDLPack does not copy "
            "on device 'cuda:0'");
}

TEST(DLPack, WhatCannotBeTakenStaysTheCallers) {
  EXPECT_EQ(errorOf([] { fromDLPack(nullptr); }), "cannot take the DLPack tensor: the pointer is null");
  EXPECT_EQ(faultOf([](Foreign& foreign) {
              foreign.managed.version = {2, 5};
            }),
            "it has the layout of DLPack 2.5, but boxcar reads that of DLPack 1");
  EXPECT_EQ(faultOf([](Foreign& foreign) {
              foreign.managed.version = {0, 8};
            }),
            "it has the layout of DLPack 0.8, but boxcar reads that of DLPack 1");
  EXPECT_EQ(faultOf([](Foreign& foreign) {
              foreign.managed.version.minor = 9;
              foreign.managed.flags = 0x11;
            }),
            "it has flags, 0x10, that boxcar does not know (DLPack 1.9)");
  const auto shaped = [](Foreign& foreign, std::vector<int64_t> shape, std::vector<int64_t> strides) {
    foreign.shape = std::move(shape);
    foreign.strides = std::move(strides);
    foreign.managed.dl_tensor.ndim = static_cast<int32_t>(foreign.shape.size());
    foreign.managed.dl_tensor.shape = foreign.shape.data();
    foreign.managed.dl_tensor.strides = foreign.strides.data();
  };
  EXPECT_EQ(faultOf([](Foreign& foreign) { foreign.managed.dl_tensor.ndim = -1; }), "it has -1 dimensions");
  EXPECT_EQ(faultOf([](Foreign& foreign) { foreign.managed.dl_tensor.shape = nullptr; }),
            "it has 1 dimensions and no shape");
  EXPECT_EQ(faultOf([&](Foreign& foreign) {
              shaped(foreign, {2, -1}, {1, 1});
            }),
            "its shape [2, -1] has a negative size");
  EXPECT_EQ(faultOf([&](Foreign& foreign) {
              shaped(foreign, {2, 2}, {2, -1});
            }),
            "its strides [2, -1] are negative, which boxcar's tensors do not support; make it contiguous first");
  EXPECT_EQ(
      faultOf([&](Foreign& foreign) {
        shaped(foreign, {1L << 40, 1L << 40}, {0, 0});
      }),
      "with the shape [1099511627776, 1099511627776] and the strides [0, 0] it has or reaches more than 63 bits can "
      "count");
  EXPECT_EQ(faultOf([&](Foreign& foreign) { shaped(foreign, {3}, {1L << 62}); }),
            "with the shape [3] and the strides [4611686018427387904] it has or reaches more than 63 bits can count");
  EXPECT_EQ(faultOf([](Foreign& foreign) { foreign.managed.dl_tensor.data = nullptr; }),
            "its shape [2] has elements, but it has no memory");
  EXPECT_EQ(faultOf([](Foreign& foreign) { foreign.managed.dl_tensor.byte_offset = ~uint64_t{3}; }),
            "its byte_offset, 18446744073709551612, leads past the end of all memory");
}

TEST(DLPack, DtypesAndDevicesThatBoxcarLacksAreNamed) {
  const std::string known =
      "which boxcar does not have (it has bool, uint8, int8, int16, int32, int64, float16, bfloat16, float32, float64, "
      "complex64, complex128); convert them first";
  const auto typed = [](unsigned code, uint8_t bits, uint16_t lanes = 1) {
    return faultOf([=](Foreign& foreign) {
      foreign.managed.dl_tensor.dtype = {static_cast<dlpack::ElementCode>(code), bits, lanes};
    });
  };
  EXPECT_EQ(typed(1, 32), "its elements are uint of 32 bits, " + known);
  EXPECT_EQ(typed(12, 8), "its elements are float8_e5m2 of 8 bits, " + known);
  EXPECT_EQ(typed(17, 4), "its elements are float4_e2m1fn of 4 bits, " + known);
  EXPECT_EQ(typed(5, 32), "its elements are complex of 32 bits, " + known);
  EXPECT_EQ(typed(6, 1), "its elements are bool of 1 bits, " + known);
  EXPECT_EQ(typed(99, 8), "its elements are of the unknown code 99 of 8 bits, " + known);
  EXPECT_EQ(typed(2, 32, 4), "its elements are vectors of 4 lanes, float of 32 bits each; make the lanes a dimension");
  const auto placed = [](int type, int index) {
    return faultOf([=](Foreign& foreign) {
      foreign.managed.dl_tensor.device = {static_cast<dlpack::DeviceCode>(type), index};
    });
  };
  EXPECT_EQ(placed(13, 0),
            "it is on managed memory of CUDA (device type 13), but boxcar takes memory of the CPU and of CUDA; copy it "
            "there first");
  EXPECT_EQ(placed(77, 0),
            "it is on a device that boxcar does not know (device type 77), but boxcar takes memory of the CPU and of "
            "CUDA; copy it there first");
  EXPECT_EQ(placed(2, 128), "it is on the CUDA device 128, but boxcar's devices have the numbers 0 to 127");
  EXPECT_EQ(placed(2, -1), "it is on the CUDA device -1, but boxcar's devices have the numbers 0 to 127");
}

TEST(DLPack, WhatCannotBeLentIsSaid) {
  EXPECT_EQ(errorOf([] { (void)toDLPack(Tensor()); }), "cannot lend the tensor by DLPack: it is undefined");
  EXPECT_EQ(
      errorOf([] { (void)toDLPack(Tensor::allocate({{2}}, ScalarType::Float, Device(DeviceType::Meta))); }),
      "cannot lend the tensor by DLPack: it is on the meta device, or fake, and has no elements; make it on another "
      "device");
  const Tensor x = counting({2}).shallowCopy();
  x.set_requires_grad(true);
  EXPECT_EQ(errorOf([&] { (void)toDLPack(x); }),
            "cannot lend the tensor by DLPack: it requires grad, and autograd does not see what others write; lend "
            "x.detach()");
  EXPECT_EQ(x.storage()->useCount(), 1U);
}

TEST(DLPack, BorrowedMemoryCannotBeResized) {
  float data[2] = {1, 2};
  Foreign foreign(data, {2});
  const Tensor x = fromDLPack(foreign.get());
  EXPECT_EQ(errorOf([&] { x.storage()->resize(100); }),
            "a storage of 8 bytes that wraps foreign memory (a file, another library) cannot be resized to 100 bytes; "
            "clone the tensor first");
}

// Compares with the structure of an installed DLPack, if there is one.
TEST(DLPack, TheLayoutIsThatOfItsHeader) {
#ifdef DLPACK_FLAG_BITMASK_READ_ONLY
  using Theirs = DLManagedTensorVersioned;
  static_assert(sizeof(Theirs) == sizeof(ManagedTensor) && sizeof(DLTensor) == sizeof(dlpack::Array));
  static_assert(offsetof(Theirs, version) == offsetof(ManagedTensor, version));
  static_assert(offsetof(Theirs, manager_ctx) == offsetof(ManagedTensor, manager_ctx));
  static_assert(offsetof(Theirs, deleter) == offsetof(ManagedTensor, deleter));
  static_assert(offsetof(Theirs, flags) == offsetof(ManagedTensor, flags));
  static_assert(offsetof(Theirs, dl_tensor) == offsetof(ManagedTensor, dl_tensor));
  static_assert(offsetof(DLTensor, data) == offsetof(dlpack::Array, data));
  static_assert(offsetof(DLTensor, device) == offsetof(dlpack::Array, device));
  static_assert(offsetof(DLTensor, ndim) == offsetof(dlpack::Array, ndim));
  static_assert(offsetof(DLTensor, dtype) == offsetof(dlpack::Array, dtype));
  static_assert(offsetof(DLTensor, shape) == offsetof(dlpack::Array, shape));
  static_assert(offsetof(DLTensor, strides) == offsetof(dlpack::Array, strides));
  static_assert(offsetof(DLTensor, byte_offset) == offsetof(dlpack::Array, byte_offset));
  static_assert(DLPACK_FLAG_BITMASK_READ_ONLY == dlpack::kReadOnly);
  static_assert(DLPACK_FLAG_BITMASK_IS_COPIED == dlpack::kIsCopied);
  constexpr std::pair<int, int> kSame[] = {
      {kDLCPU, dlpack::kCpu},
      {kDLCUDA, dlpack::kCuda},
      {kDLCUDAHost, dlpack::kCudaHost},
      {kDLOpenCL, dlpack::kOpenCl},
      {kDLVulkan, dlpack::kVulkan},
      {kDLMetal, dlpack::kMetal},
      {kDLROCM, dlpack::kRocm},
      {kDLROCMHost, dlpack::kRocmHost},
      {kDLCUDAManaged, dlpack::kCudaManaged},
      {kDLOneAPI, dlpack::kOneApi},
      {kDLInt, dlpack::kInt},
      {kDLUInt, dlpack::kUInt},
      {kDLFloat, dlpack::kFloat},
      {kDLOpaqueHandle, dlpack::kOpaque},
      {kDLBfloat, dlpack::kBFloat},
      {kDLComplex, dlpack::kComplex},
      {kDLBool, dlpack::kBool},
  };
  for (const auto& [theirs, ours] : kSame) EXPECT_EQ(theirs, ours);
  DLManagedTensorVersioned* const managed = toDLPack(counting({2, 3}, ScalarType::BFloat16));
  EXPECT_EQ(managed->version.major, static_cast<uint32_t>(DLPACK_MAJOR_VERSION));
  EXPECT_EQ(managed->dl_tensor.device.device_type, kDLCPU);
  EXPECT_EQ(managed->dl_tensor.dtype.code, kDLBfloat);
  EXPECT_EQ(managed->dl_tensor.shape[1], 3);
  EXPECT_EQ(managed->dl_tensor.strides[0], 3);
  managed->deleter(managed);
#else
  GTEST_SKIP() << "there is no dlpack/dlpack.h of DLPack 1 here";
#endif
}

}  // namespace
}  // namespace boxcar
