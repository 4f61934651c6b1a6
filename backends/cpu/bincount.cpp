#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/dense/copy.h>
#include <boxcar/backends/dense/memory_checks.h>
#include <boxcar/backends/dense/pointwise.h>
#include <boxcar/backends/dense/write_out.h>
#include <boxcar/dispatcher/library.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>

namespace boxcar::cpu {
namespace {

// The most bins that a count, eight bytes each, can be held of.
constexpr int64_t kMaxBins = int64_t{1} << 58;

// How many bins the numbers in [self] need.
int64_t binsFor(std::span<const int64_t> numbers, int64_t minlength) {
  int64_t bins = minlength;
  for (const int64_t number : numbers) {
    BOXCAR_CHECK(number >= 0, "bincount only supports 1-d non-negative integral inputs, but there is {}", number);
    BOXCAR_CHECK(number < kMaxBins, "bincount(): maximum value {} of input overflowed, it should be < {}", number,
                 kMaxBins);
    bins = std::max(bins, number + 1);
  }
  return bins;
}

template <class T>
Tensor sumWeights(std::span<const int64_t> numbers, const Tensor& weights, int64_t bins, ScalarType type) {
  const Tensor flat = toContiguous(weights.scalar_type() == type ? weights : convertTo(weights, type));
  const int64_t sizes[] = {bins};
  Tensor result = Tensor::allocate(sizes, type);
  auto* sums = static_cast<T*>(result.data_ptr());
  std::fill_n(sums, bins, T(0));
  const auto* weight = static_cast<const T*>(flat.data_ptr());
  for (size_t i = 0; i < numbers.size(); ++i) sums[numbers[i]] += weight[i];
  return result;
}

Tensor bincount(const Tensor& self, const std::optional<Tensor>& weights, int64_t minlength) {
  checkCpuOrMeta(self);
  BOXCAR_CHECK(!self.is_meta(),
               "bincount(): the size of the result depends on elements, which tensors on Meta have not");
  BOXCAR_CHECK(minlength >= 0, "minlength should be >= 0, but it is {}", minlength);
  BOXCAR_CHECK(self.dim() == 1 && isIntegralType(self.scalar_type(), /*includeBool=*/false),
               "bincount only supports 1-d non-negative integral inputs, found {} of sizes [{}]",
               dtypeName(self.scalar_type()), fmt::join(self.sizes(), ", "));
  const bool weighted = weights.has_value() && weights->defined();
  if (weighted) {
    checkSameDevice({&self, &*weights});
    BOXCAR_CHECK(self.numel() == 0 || (weights->dim() == 1 && weights->numel() == self.numel()),
                 "bincount(): weights should be 1-d and have the same length as input, {}, but have sizes [{}]",
                 self.numel(), fmt::join(weights->sizes(), ", "));
    BOXCAR_CHECK(!isComplexType(weights->scalar_type()), "bincount(): weights cannot be {}",
                 dtypeName(weights->scalar_type()));
  }
  const Tensor flat = toContiguous(self.scalar_type() == ScalarType::Long ? self : convertTo(self, ScalarType::Long));
  const std::span<const int64_t> numbers(flat.data_ptr<int64_t>(), static_cast<size_t>(flat.numel()));
  const int64_t bins = binsFor(numbers, minlength);
  // Without numbers the weights say nothing, not even a type.
  if (weighted && !numbers.empty()) {
    if (weights->scalar_type() == ScalarType::Float)
      return sumWeights<float>(numbers, *weights, bins, ScalarType::Float);
    return sumWeights<double>(numbers, *weights, bins, ScalarType::Double);
  }
  const int64_t sizes[] = {bins};
  Tensor result = Tensor::allocate(sizes, ScalarType::Long);
  auto* counts = static_cast<int64_t*>(result.data_ptr());
  std::fill_n(counts, bins, 0);
  for (const int64_t number : numbers) ++counts[number];
  return result;
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CPU, m) { m.impl("bincount", BOXCAR_FN(bincount)); }

}  // namespace boxcar::cpu
