#include <boxcar/backends/meta/overlap.h>
#include <boxcar/ivalue/cpu_generator.h>
#include <boxcar/ivalue/from_blob.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/backends/tensor_helpers.h"

// Tests which memory out= arguments may share with inputs and with each other, and what is checked before writing.

namespace boxcar {
namespace {

constexpr const char* kSharesWithInput =
    "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
    "location. Please clone() the tensor before performing the operation.";
std::string sharesWithJoined(size_t i) {
  return fmt::format(
      "unsupported operation: the input tensors cannot refer to any of the output memory locations. Found overlap in "
      "input tensor {}. Please clone() it before performing the operation.",
      i);
}
constexpr const char* kWrittenTwice =
    "unsupported operation: results 0 and 1 would be written to the same memory. Please give each its own tensor.";

using Joining = std::function<Tensor&(Tensor& out, TensorList tensors)>;

const std::vector<Joining>& joins() {
  static const std::vector<Joining> all = {
      [](Tensor& out, TensorList tensors) -> Tensor& { return cat_out(out, tensors, 0); },
      [](Tensor& out, TensorList tensors) -> Tensor& { return concat_out(out, tensors, 0); },
      [](Tensor& out, TensorList tensors) -> Tensor& { return concatenate_out(out, tensors, 0); },
      [](Tensor& out, TensorList tensors) -> Tensor& { return hstack_out(out, tensors); },
  };
  return all;
}

TEST(Outputs, ThatAreEmptyAndJoinedAreNotWritten) {
  for (const Joining& join : joins()) {
    for (const int64_t length : {1, 3, 1000, 100000}) {
      Tensor out = zeros({0});
      const Tensor parts[] = {out, out, ones({length})};
      EXPECT_EQ(errorOf([&] { join(out, parts); }), sharesWithJoined(0));
      EXPECT_EQ(sizesOf(out), std::vector<int64_t>{0});
      EXPECT_EQ(out.storage()->nbytes(), 0u);
    }
  }
  Tensor rows = zeros({0, 3});
  const Tensor parts[] = {zeros({0, 3}), rows, ones({1, 3})};
  EXPECT_EQ(errorOf([&] { cat_out(rows, parts, 0); }), sharesWithJoined(1));
  EXPECT_EQ(errorOf([&] { vstack_out(rows, parts); }), sharesWithJoined(1));
  EXPECT_EQ(sizesOf(rows), (std::vector<int64_t>{0, 3}));
}

TEST(Outputs, ThatGrowOverAJoinedViewAreNotWritten) {
  Tensor out = full({4}, 3.0);
  const Tensor parts[] = {ones({2, 2}), view(out, {2, 2})};
  EXPECT_EQ(errorOf([&] { cat_out(out, parts, 0); }), sharesWithJoined(1));
  EXPECT_EQ(elements<float>(out), (std::vector<float>{3, 3, 3, 3}));
}

TEST(Outputs, MayGrowBehindAJoinedView) {
  const Tensor base = counting({10});
  Tensor out = slice(base, 0, 8, 8);
  const Tensor parts[] = {slice(base, 0, 2, 4), ones({3})};
  EXPECT_EQ(elements<float>(cat_out(out, parts, 0)), (std::vector<float>{2, 3, 1, 1, 1}));
}

TEST(Outputs, OfJoinsMayLieBetweenTheElementsOfAView) {
  const Tensor base = counting({3, 2});
  Tensor out = select(base, 1, 1);
  const Tensor parts[] = {select(base, 1, 0)};
  EXPECT_EQ(elements<float>(cat_out(out, parts, 0)), (std::vector<float>{0, 2, 4}));
  Tensor shifted = slice(view(base, {6}), 0, 2, 6, 2);
  const Tensor first[] = {slice(view(base, {6}), 0, 0, 4, 2)};
  EXPECT_EQ(errorOf([&] { cat_out(shifted, first, 0); }), sharesWithJoined(0));
}

TEST(Outputs, ThatGrowOverAnInputAreNotWrittenByWhatChoosesElements) {
  const Tensor base = counting({7});
  const Tensor x = view(slice(base, 0, 0, 6), {2, 3});
  const Tensor index = zeros({2, 3}, ScalarType::Long);
  Tensor out = slice(base, 0, 0, 0);
  EXPECT_EQ(errorOf([&] { gather_out(out, x, 1, index); }), kSharesWithInput);
  EXPECT_EQ(errorOf([&] { take_out(out, x, index); }), kSharesWithInput);
  EXPECT_EQ(errorOf([&] { masked_select_out(out, x, gt(x, 1)); }), kSharesWithInput);
  EXPECT_EQ(errorOf([&] { index_select_out(out, x, 0, ints({1, 0})); }), kSharesWithInput);
  EXPECT_EQ(sizesOf(out), std::vector<int64_t>{0});
  EXPECT_EQ(elements<float>(base), (std::vector<float>{0, 1, 2, 3, 4, 5, 6}));
}

TEST(Outputs, OfCumulativeOperatorsMayBeTheInputAndNoPartOfIt) {
  const Tensor base = counting({4});
  const Tensor x = slice(base, 0, 0, 3);
  Tensor behind = slice(base, 0, 1, 4);
  EXPECT_EQ(errorOf([&] { cumsum_out(behind, x, 0); }), kSharesWithInput);
  EXPECT_EQ(errorOf([&] { cumprod_out(behind, x, 0); }), kSharesWithInput);
  EXPECT_EQ(errorOf([&] { logcumsumexp_out(behind, x, 0); }), kSharesWithInput);
  EXPECT_EQ(elements<float>(base), (std::vector<float>{0, 1, 2, 3}));
  Tensor same = x;
  EXPECT_EQ(elements<float>(cumsum_out(same, x, 0)), (std::vector<float>{0, 1, 3}));
}

TEST(Outputs, OfSortsMayBeTheInput) {
  Tensor x = floats({3, 1, 2});
  Tensor places = zeros({0}, ScalarType::Long);
  sort_out(x, places, x);
  EXPECT_EQ(elements<float>(x), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(elements<int64_t>(places), (std::vector<int64_t>{1, 2, 0}));
}

TEST(Outputs, ThatAreOneTensorAreRefused) {
  const Tensor x = counting({2, 3});
  Tensor out = zeros({2});
  EXPECT_EQ(errorOf([&] { aminmax_out(out, out, x, 1); }), kWrittenTwice);
  Tensor empty_out = zeros({0});
  EXPECT_EQ(errorOf([&] { aminmax_out(empty_out, empty_out, x, 1); }), kWrittenTwice);
  const Tensor base = zeros({3});
  Tensor least = slice(base, 0, 0, 2);
  Tensor greatest = slice(base, 0, 1, 3);
  EXPECT_EQ(errorOf([&] { aminmax_out(least, greatest, x, 1); }), kWrittenTwice);
  EXPECT_EQ(errorOf([&] { linalg_slogdet_out(out, out, eye(2)); }), kWrittenTwice);
  EXPECT_EQ(elements<float>(out), (std::vector<float>{0, 0}));
  EXPECT_EQ(sizesOf(empty_out), std::vector<int64_t>{0});
}

TEST(Outputs, AreAllLookedAtBeforeTheFirstIsWritten) {
  const Tensor x = counting({2, 3});
  Tensor floats_out = zeros({0});
  Tensor wrong = zeros({0}, ScalarType::Bool);
  Tensor one = expand(zeros({1}), {2});
  EXPECT_NE(errorOf([&] { aminmax_out(floats_out, one, x, 1); }), "no error");
  const Tensor matrix = add(eye(2), 1);
  EXPECT_NE(errorOf([&] { linalg_eigh_out(floats_out, wrong, matrix); }), "no error");
  EXPECT_NE(errorOf([&] { linalg_solve_ex_out(floats_out, wrong, matrix, matrix); }), "no error");
  EXPECT_EQ(sizesOf(floats_out), std::vector<int64_t>{0});

  const Tensor mean = zeros({3});
  const Tensor var = ones({3});
  Tensor save_mean = zeros({0});
  EXPECT_NE(errorOf([&] {
              native_batch_norm_out(floats_out, save_mean, wrong, x, std::nullopt, std::nullopt, mean, var, true, 0.1,
                                    1e-5);
            }),
            "no error");
  EXPECT_EQ(elements<float>(mean), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(elements<float>(var), (std::vector<float>{1, 1, 1}));
  EXPECT_EQ(sizesOf(floats_out), std::vector<int64_t>{0});
  EXPECT_EQ(sizesOf(save_mean), std::vector<int64_t>{0});
}

TEST(RunningStatistics, ShareMemoryWithNothing) {
  const Tensor x = counting({2, 3});
  const Tensor mean = zeros({3});
  const auto normalize = [&](const Tensor& input, const Tensor& weight, const Tensor& running_var) {
    return errorOf(
        [&] { native_batch_norm(input, weight, std::nullopt, mean, running_var, /*training=*/true, 0.1, 1e-5); });
  };
  EXPECT_EQ(normalize(x, ones({3}), mean), kSharesWithInput);
  EXPECT_EQ(normalize(x, mean, ones({3})), kSharesWithInput);
  EXPECT_EQ(normalize(x, ones({3}), select(x, 0, 1)), kSharesWithInput);
  EXPECT_EQ(elements<float>(mean), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(normalize(x, ones({3}), ones({3})), "no error");
}

TEST(RunningStatistics, OfInstanceNormShareMemoryWithNothing) {
  const Tensor x = counting({2, 3, 2});
  const Tensor mean = zeros({3});
  const auto normalize = [&](const Tensor& input, const Tensor& bias, const Tensor& running_var, bool training) {
    return errorOf([&] {
      instance_norm(input, std::nullopt, bias, mean, running_var, training, 0.1, 1e-5, /*cudnn_enabled=*/false);
    });
  };
  EXPECT_EQ(normalize(x, ones({3}), mean, true), kSharesWithInput);
  EXPECT_EQ(normalize(x, mean, ones({3}), true), kSharesWithInput);
  EXPECT_EQ(elements<float>(mean), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(normalize(x, mean, ones({3}), false), "no error");
  EXPECT_EQ(normalize(x, ones({3}), ones({3}), true), "no error");
}

TEST(Outputs, AreLookedAtBeforeNumbersAreDrawn) {
  const auto state = [] { return defaultCpuGenerator().unsafeGetGeneratorImpl()->state(); };
  const GeneratorState before = state();
  Tensor one = expand(zeros({1}), {3});
  Tensor whole = expand(zeros({1}, ScalarType::Long), {3});
  const Tensor half = full({3}, 0.5);
  EXPECT_NE(errorOf([&] { bernoulli_out(one, half); }), "no error");
  EXPECT_NE(errorOf([&] { multinomial_out(whole, half, 3); }), "no error");
  EXPECT_NE(errorOf([&] { normal_out(one, half, 1.0, std::nullopt); }), "no error");
  EXPECT_NE(errorOf([&] { randperm_out(whole, 3); }), "no error");
  EXPECT_EQ(state(), before);
}

TEST(Outputs, OfBernoulliAreOfAnyRealType) {
  const Tensor p = floats({0, 1, 1});
  Tensor whole = zeros({0}, ScalarType::Long);
  EXPECT_EQ(elements<int64_t>(bernoulli_out(whole, p)), (std::vector<int64_t>{0, 1, 1}));
  Tensor same = p;
  EXPECT_EQ(elements<float>(bernoulli_out(same, p)), (std::vector<float>{0, 1, 1}));
}

TEST(Outputs, OfExtremesOfAllElementsMayBeWider) {
  const Tensor x = counting({3});
  Tensor out = zeros({}, ScalarType::Double);
  EXPECT_EQ(item(max_out(out, x)).toDouble(), 2);
  EXPECT_EQ(item(min_out(out, x)).toDouble(), 0);
  Tensor whole = zeros({}, ScalarType::Long);
  EXPECT_EQ(errorOf([&] { max_out(whole, x); }), "result type Float can't be cast to the desired output type Long");
}

TEST(Outputs, OfInnerProductsAndPowersCanBeCastWhereNothingIsSummed) {
  Tensor out = zeros({2, 2}, ScalarType::Double);
  const Tensor x = mul(eye(2), 2);
  EXPECT_EQ(elements<double>(inner_out(out, full({}, 3.0), x)), (std::vector<double>{6, 0, 0, 6}));
  EXPECT_EQ(elements<double>(linalg_matrix_power_out(out, x, 1)), (std::vector<double>{2, 0, 0, 2}));
  EXPECT_EQ(elements<double>(linalg_matrix_power_out(out, x, 0)), (std::vector<double>{1, 0, 0, 1}));
  constexpr const char* kExact = "Expected out tensor to have dtype float32, but got float64 instead";
  EXPECT_EQ(errorOf([&] { inner_out(out, x, x); }), kExact);
  EXPECT_EQ(errorOf([&] { linalg_matrix_power_out(out, x, 2); }), kExact);
  EXPECT_EQ(errorOf([&] { linalg_matrix_power_out(out, x, -1); }), kExact);
}

TEST(Outputs, OfComplexHaveTheTypeOfTheirParts) {
  const Tensor x = ones({2});
  Tensor out = zeros({2}, ScalarType::ComplexDouble);
  EXPECT_EQ(errorOf([&] { complex_out(out, x, x); }),
            "complex writes to an output of dtype ComplexFloat only, but this has ComplexDouble");
  EXPECT_EQ(errorOf([&] { polar_out(out, x, x); }),
            "polar writes to an output of dtype ComplexFloat only, but this has ComplexDouble");
}

TEST(Outputs, OfChoicesPlacesAndCrossEntropiesHaveTheirTypes) {
  const Tensor x = full({2}, 0.5);
  Tensor wide = zeros({2}, ScalarType::Double);
  EXPECT_EQ(errorOf([&] { where_out(wide, gt(x, 0), x, x); }),
            "where writes to an output of dtype Float only, but this has Double");
  EXPECT_EQ(errorOf([&] { argsort_out(wide, x, true); }),
            "Expected out tensor to have dtype int64, but got float64 instead");
  EXPECT_EQ(errorOf([&] { binary_cross_entropy_out(wide, x, x); }),
            "Expected out tensor to have dtype float32, but got float64 instead");
  EXPECT_EQ(elements<double>(wide), (std::vector<double>{0, 0}));
}

TEST(Outputs, ThatWouldHaveMoreBytesThanCanBeCountedAreRefused) {
  const Tensor x = expand(zeros({1}, ScalarType::ComplexDouble), {int64_t{1} << 60});
  Tensor out = zeros({0}, ScalarType::ComplexDouble);
  EXPECT_EQ(errorOf([&] { add_out(out, x, x); }),
            "a tensor of sizes [1152921504606846976] and dtype complex128 has more bytes than 63 bits can count");
  EXPECT_EQ(sizesOf(out), std::vector<int64_t>{0});
}

TEST(Outputs, OfPointwiseOperatorsMayGrowBesideAnInput) {
  const Tensor base = counting({6});
  Tensor out = slice(base, 0, 3, 3);
  EXPECT_EQ(elements<float>(add_out(out, slice(base, 0, 0, 2), select(base, 0, 2))), (std::vector<float>{2, 3}));
  // The number is read before its memory grows and moves.
  Tensor large = slice(base, 0, 5, 5);
  EXPECT_EQ(elements<float>(add_out(large, zeros({64}), select(base, 0, 2)))[63], 2);
}

TEST(InPlace, ViewsWithGapsAreReadBeforeTheyAreWritten) {
  const Tensor x = counting({1000});
  Tensor later = slice(x, 0, 2, 1000, 2);
  add_(later, slice(x, 0, 0, 998, 2));
  std::vector<float> expected;
  for (int i = 1; i < 500; ++i) expected.push_back(static_cast<float>(2 * i + 2 * (i - 1)));
  EXPECT_EQ(elements<float>(later), expected);
}

// Returns all bytes of a region.
std::set<int64_t> bytesOf(const meta::Region& region) {
  std::set<int64_t> places{region.offset};
  for (size_t i = 0; i < region.sizes.size(); ++i) {
    std::set<int64_t> next;
    for (int64_t k = 0; k < region.sizes[i]; ++k) {
      for (const int64_t place : places) next.insert(place + k * region.strides[i]);
    }
    places = next;
  }
  std::set<int64_t> bytes;
  for (const int64_t place : places) {
    for (int64_t k = 0; k < region.itemsize; ++k) bytes.insert(place * region.itemsize + k);
  }
  return bytes;
}

TEST(Outputs, AreAllAsTheyWereWhereOneOfThemCannotGrow) {
  float memory[1] = {};
  Tensor least = zeros({0});
  Tensor greatest = from_blob(memory, {0});
  EXPECT_NE(errorOf([&] {
              aminmax_out(least, greatest, counting({2, 3}), 1);
            }).find("cannot be resized"),
            std::string::npos);
  EXPECT_EQ(sizesOf(least), std::vector<int64_t>{0});
  // The same for operators composed of other operators.
  EXPECT_NE(errorOf([&] { linalg_slogdet_out(least, greatest, eye(2)); }).find("cannot be resized"), std::string::npos);
  EXPECT_EQ(sizesOf(least), std::vector<int64_t>{0});
}

TEST(Outputs, OfComplexDrawsAreAsTheyWereWhereTheyHaveTooManyDimensions) {
  constexpr int64_t kHuge = std::numeric_limits<int64_t>::max() - 1;
  Tensor out = zeros({2}, ScalarType::ComplexFloat);
  EXPECT_EQ(errorOf([&] { randn_out(out, std::vector<int64_t>(65, 1)); }),
            "tensors with more than 64 dimensions are not supported, this has 65");
  EXPECT_EQ(sizesOf(out), std::vector<int64_t>{2});
  randn_out(out, {0, 0, kHuge});
  EXPECT_EQ(sizesOf(out), (std::vector<int64_t>{0, 0, kHuge}));
}

TEST(Outputs, OfEyeMayHaveMoreColumnsThanADiagonalsStrideCounts) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  Tensor out = zeros({2, 3});
  eye_out(out, 0, kMost);
  EXPECT_EQ(sizesOf(out), (std::vector<int64_t>{0, kMost}));
  Tensor meta = empty({3}, ScalarType::Byte, std::nullopt, Device(DeviceType::Meta));
  eye_out(meta, 1, kMost);
  EXPECT_EQ(sizesOf(meta), (std::vector<int64_t>{1, kMost}));
  EXPECT_EQ(sizesOf(diagonal(meta)), std::vector<int64_t>{1});
}

TEST(Outputs, AreAsTheyWereWhereAResultHasTooManyDimensions) {
  Tensor out = zeros({2});
  EXPECT_EQ(errorOf([&] { exp_out(out, ones(std::vector<int64_t>(65, 1))); }),
            "tensors with more than 64 dimensions are not supported, this has 65");
  EXPECT_EQ(sizesOf(out), std::vector<int64_t>{2});
}

TEST(SharedMemory, IsWhatListsOfAllBytesHaveInCommon) {
  std::mt19937 random(7);
  const auto below = [&](int64_t end) { return static_cast<int64_t>(random() % static_cast<uint64_t>(end)); };
  const Storage storage = StorageImpl::allocate(16, Device("cpu"));
  int shared = 0;
  int separate = 0;
  for (int i = 0; i < 3000; ++i) {
    std::vector<int64_t> sizes[2];
    std::vector<int64_t> strides[2];
    meta::Region regions[2];
    for (int which = 0; which < 2; ++which) {
      const int64_t rank = below(4);
      for (int64_t dim = 0; dim < rank; ++dim) {
        sizes[which].push_back(below(5));
        strides[which].push_back(below(13));
      }
      regions[which] = {storage.get(), sizes[which], strides[which], below(24), int64_t{1} << below(4)};
    }
    const std::set<int64_t> first = bytesOf(regions[0]);
    bool expected = false;
    for (const int64_t byte : bytesOf(regions[1])) expected |= first.contains(byte);
    EXPECT_EQ(meta::sharedMemory(regions[0], regions[1]) != meta::Shared::kNothing, expected);
    ++(expected ? shared : separate);
  }
  EXPECT_GT(shared, 300);
  EXPECT_GT(separate, 300);
}

TEST(SharedMemory, OfInterleavedViewsIsFoundAtOnce) {
  const Storage storage = StorageImpl::allocate(16, Device("cpu"));
  const std::vector<int64_t> sizes{1000, 1000, 1000};
  const std::vector<int64_t> strides{6000000, 6000, 6};
  const meta::Region even{storage.get(), sizes, strides, 0, 4};
  const meta::Region odd{storage.get(), sizes, strides, 3, 4};
  EXPECT_EQ(meta::sharedMemory(even, odd), meta::Shared::kNothing);
  EXPECT_EQ(meta::sharedMemory(even, even), meta::Shared::kSame);
  const meta::Region later{storage.get(), sizes, strides, 6, 4};
  EXPECT_EQ(meta::sharedMemory(even, later), meta::Shared::kSome);
}

TEST(SharedMemory, OfOtherStoragesIsNothing) {
  const std::vector<int64_t> sizes{2};
  const std::vector<int64_t> strides{1};
  const Storage one = StorageImpl::allocate(16, Device("cpu"));
  const Storage other = StorageImpl::allocate(16, Device("cpu"));
  EXPECT_EQ(meta::sharedMemory({one.get(), sizes, strides, 0, 4}, {other.get(), sizes, strides, 0, 4}),
            meta::Shared::kNothing);
}

}  // namespace
}  // namespace boxcar
