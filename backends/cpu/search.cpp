#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/functors/element.h>
#include <boxcar/backends/functors/search.h>
#include <boxcar/backends/native/pointwise.h>
#include <boxcar/backends/native/search.h>
#include <boxcar/ivalue/error.h>

#include <cstdint>

namespace boxcar::cpu {
namespace {

void checkSorter(const SearchCall& call) {
  const int64_t length = call.boundaries.sizes().back();
  const auto* places = static_cast<const int64_t*>(call.sorter.data_ptr());
  const int64_t count = call.sorter.numel();
  for (int64_t i = 0; i < count; ++i) {
    BOXCAR_CHECK(places[i] >= 0 && places[i] < length, "{}(): sorter has index {}, but there are {} boundaries",
                 call.name, places[i], length);
  }
}

template <class T, class Out>
void placesOf(const SearchCall& call, const Tensor& out) {
  const auto* elements = static_cast<const T*>(call.values.data_ptr());
  const auto* bounds = static_cast<const T*>(call.boundaries.data_ptr());
  const auto* sorter = call.sorter.defined() ? static_cast<const int64_t*>(call.sorter.data_ptr()) : nullptr;
  auto* places = static_cast<Out*>(out.data_ptr());
  const int64_t count = call.boundaries.sizes().back();
  const int64_t row = call.boundaries.dim() == 1 ? call.values.numel() : call.values.sizes().back();
  parallelFor(0, call.values.numel(), kParallelGrain / 16, [=, right = call.right](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t start = i / row * count;
      const auto at = [&](int64_t k) {
        return static_cast<Compute<T>>(bounds[start + (sorter != nullptr ? sorter[start + k] : k)]);
      };
      places[i] = static_cast<Out>(placeAmong(static_cast<Compute<T>>(elements[i]), count, right, at));
    }
  });
}

void search(const SearchCall& call, const Tensor& out) {
  if (call.sorter.defined()) checkSorter(call);
  visitScalarType(kRealTypes, call.values.scalar_type(), call.name, [&]<class T>(std::type_identity<T>) {
    if (out.scalar_type() == ScalarType::Int) return placesOf<T, int32_t>(call, out);
    placesOf<T, int64_t>(call, out);
  });
}

}  // namespace
}  // namespace boxcar::cpu

namespace boxcar::native {

BOXCAR_REGISTER_STUB(CPU, searchRows, cpu::search)

}  // namespace boxcar::native
