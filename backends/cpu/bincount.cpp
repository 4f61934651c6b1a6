#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/native/bincount.h>

#include <algorithm>
#include <cstdint>
#include <span>

namespace boxcar::cpu {
namespace {

template <class T>
void sumWeights(std::span<const int64_t> numbers, const Tensor& weights, const Tensor& result) {
  auto* sums = static_cast<T*>(result.data_ptr());
  std::fill_n(sums, result.numel(), T(0));
  const auto* weight = static_cast<const T*>(weights.data_ptr());
  for (size_t i = 0; i < numbers.size(); ++i) sums[numbers[i]] += weight[i];
}

Tensor count(const Tensor& flat, const Tensor& weights, int64_t minlength) {
  const std::span<const int64_t> numbers(flat.data_ptr<int64_t>(), static_cast<size_t>(flat.numel()));
  int64_t bins = minlength;
  for (const int64_t number : numbers) {
    if (number < 0 || number >= kMaxBins) [[unlikely]]
      checkCounted(number);
    bins = std::max(bins, number + 1);
  }
  const Tensor result = Tensor::allocate({&bins, 1}, weights.defined() ? weights.scalar_type() : ScalarType::Long);
  if (result.scalar_type() == ScalarType::Float) {
    sumWeights<float>(numbers, weights, result);
  } else if (result.scalar_type() == ScalarType::Double) {
    sumWeights<double>(numbers, weights, result);
  } else {
    auto* counts = static_cast<int64_t*>(result.data_ptr());
    std::fill_n(counts, bins, 0);
    for (const int64_t number : numbers) ++counts[number];
  }
  return result;
}

}  // namespace
}  // namespace boxcar::cpu

namespace boxcar::native {

BOXCAR_REGISTER_STUB(CPU, countNumbers, cpu::count)

}  // namespace boxcar::native
