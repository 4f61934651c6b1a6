#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/cpu/sort_entries.h>
#include <boxcar/backends/functors/arithmetic.h>
#include <boxcar/backends/native/isin.h>
#include <boxcar/backends/native/pointwise.h>

#include <algorithm>
#include <vector>

namespace boxcar::cpu {
namespace {

// For each of [n] elements, writes whether it is among the numbers in [tested], which are sorted here; NaN never is.
template <class T>
void findElements(const T* elements, int64_t n, const T* tested, int64_t tested_count, bool invert, bool* found) {
  std::vector<T> sorted;
  sorted.reserve(static_cast<size_t>(tested_count));
  for (int64_t i = 0; i < tested_count; ++i) {
    if (!isNan(tested[i])) sorted.push_back(tested[i]);
  }
  std::sort(sorted.begin(), sorted.end());
  // A small set is compared element by element.
  constexpr size_t kFew = 16;
  parallelFor(0, n, kParallelGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T element = elements[i];
      const bool is_in = sorted.size() <= kFew
                             ? std::find(sorted.begin(), sorted.end(), element) != sorted.end()
                             : !isNan(element) && std::binary_search(sorted.begin(), sorted.end(), element);
      found[i] = is_in != invert;
    }
  });
}

void isin(const Tensor& found, const Tensor& elements, const Tensor& tested, bool invert) {
  const ScalarType type = orderedType(kRealTypes, elements.scalar_type(), "isin");
  const Tensor wide = asOrdered(elements, type);
  const Tensor wide_tested = asOrdered(tested, type);
  visitScalarType(kOrderedTypes, type, "isin", [&]<class T>(std::type_identity<T>) {
    findElements(static_cast<const T*>(wide.data_ptr()), wide.numel(), static_cast<const T*>(wide_tested.data_ptr()),
                 tested.numel(), invert, static_cast<bool*>(found.data_ptr()));
  });
}

}  // namespace
}  // namespace boxcar::cpu

namespace boxcar::native {

BOXCAR_REGISTER_STUB(CPU, findEach, cpu::isin)

}  // namespace boxcar::native
