#include <boxcar/backends/cuda/kernels/launch.h>
#include <boxcar/backends/cuda/search_kernels.h>
#include <boxcar/backends/functors/arithmetic.h>
#include <boxcar/backends/functors/element.h>
#include <boxcar/backends/functors/search.h>

namespace boxcar::cuda {
namespace {

using namespace functors;

constexpr int kThreads = 256;

// Returns how many of [count] sorted elements are not NaN; NaNs come last.
template <class T>
BOXCAR_HOST_DEVICE int64_t withoutNan(const T* sorted, int64_t count) {
  if (count == 0 || !isNan(sorted[count - 1])) return count;
  int64_t first = 0;
  while (count > 0) {
    const int64_t half = count / 2;
    const bool before = !isNan(sorted[first + half]);
    first = before ? first + half + 1 : first;
    count = before ? count - half - 1 : half;
  }
  return first;
}

// One thread per value.
template <class T>
struct Search {
  SearchLaunch call;

  BOXCAR_HOST_DEVICE void operator()(int64_t block, int thread) const {
    const int64_t i = block * kThreads + thread;
    if (i >= call.n) return;
    const int64_t start = i / call.row * call.count;
    const T* const boundaries = static_cast<const T*>(call.boundaries) + start;
    const auto at = [&](int64_t k) {
      if (call.sorter == nullptr) return static_cast<Compute<T>>(boundaries[k]);
      const int64_t place = call.sorter[start + k];
      if (place >= 0 && place < call.count) return static_cast<Compute<T>>(boundaries[place]);
      noteFailure(call.failure, Refusal::kIndex, place, call.count);
      return Compute<T>(0);
    };
    const auto value = static_cast<Compute<T>>(static_cast<const T*>(call.values)[i]);
    const int64_t place = placeAmong(value, call.count, call.right, at);
    if (call.out_int32) {
      static_cast<int32_t*>(call.out)[i] = static_cast<int32_t>(place);
    } else {
      static_cast<int64_t*>(call.out)[i] = place;
    }
  }
};

template <class T>
struct Find {
  FindLaunch call;

  BOXCAR_HOST_DEVICE void operator()(int64_t block, int thread) const {
    using C = Compute<T>;
    const int64_t i = block * kThreads + thread;
    if (i >= call.n) return;
    const T* const sorted = static_cast<const T*>(call.sorted);
    const auto at = [&](int64_t k) { return static_cast<C>(sorted[k]); };
    const auto value = static_cast<C>(static_cast<const T*>(call.elements)[i]);
    const int64_t count = withoutNan(sorted, call.count);
    const int64_t place = placeAmong(value, count, /*right=*/false, at);
    call.found[i] = (place < count && at(place) == value) != call.invert;
  }
};

template <class T>
struct Middle {
  MiddleLaunch call;
  const int64_t* places;

  BOXCAR_HOST_DEVICE void operator()(int64_t block, int thread) const {
    const int64_t row = block * kThreads + thread;
    if (row >= call.rows) return;
    const T* const sorted = static_cast<const T*>(call.in) + row * call.length;
    const int64_t count = withoutNan(sorted, call.length);
    // The first NaN, or 0 if there is none.
    const int64_t nan = count < call.length ? count : 0;
    const int64_t place = count == 0 || (nan > 0 && !call.skips_nan) ? nan : (count - 1) / 2;
    static_cast<T*>(call.values)[row] = sorted[place];
    call.indices[row] = places[row * call.length + place];
  }
};

}  // namespace

void launchSearch(const SearchLaunch& call) {
  visitScalarType(kRealTypes, call.type, call.name, [&]<class T>(std::type_identity<T>) {
    launchGrid<kThreads>(blocksFor(call.n, kThreads), Search<T>{call});
  });
}

void launchFind(const FindLaunch& call) {
  visitScalarType(kRealTypes, call.type, "isin", [&]<class T>(std::type_identity<T>) {
    launchGrid<kThreads>(blocksFor(call.n, kThreads), Find<T>{call});
  });
}

void launchMiddle(const MiddleLaunch& call, const int64_t* places) {
  visitScalarType(kRealTypes, call.type, call.name, [&]<class T>(std::type_identity<T>) {
    launchGrid<kThreads>(blocksFor(call.rows, kThreads), Middle<T>{call, places});
  });
}

}  // namespace boxcar::cuda
