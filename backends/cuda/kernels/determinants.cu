#include <boxcar/backends/cuda/kernels/launch.h>
#include <boxcar/backends/cuda/solvers.h>
#include <boxcar/backends/functors/arithmetic.h>

namespace boxcar::cuda {
namespace {

using functors::RealOf;

constexpr int kThreads = 128;

// One block per matrix.
template <class T>
struct Determinants {
  using Real = RealOf<T>;

  struct Part {
    T product;
    Real logarithm;
  };
  struct Join {
    BOXCAR_HOST_DEVICE Part operator()(const Part& a, const Part& b) const {
      return {functors::multiplyElements(a.product, b.product), a.logarithm + b.logarithm};
    }
  };

  const T* factors;
  const int32_t* pivots;
  T* result;
  Real* logarithm;
  int64_t n;

  BOXCAR_HOST_DEVICE void operator()(const Block& block) const {
    const int64_t matrix = block.index();
    const T* const diagonal = factors + matrix * n * n;
    const Part all = block.combine(
        block.shared<Part>(),
        [&](int thread) {
          Part mine{T(1), Real(0)};
          for (int64_t i = thread; i < n; i += kThreads) {
            T pivot = diagonal[i * (n + 1)];
            if (logarithm != nullptr) {
              const Real size = functors::abs(pivot);
              pivot = size == 0 ? T(0) : functors::divideElements(pivot, T(size));
              mine.logarithm += functors::log(size);
            }
            if (pivots[matrix * n + i] != i + 1) pivot = -pivot;
            mine.product = functors::multiplyElements(mine.product, pivot);
          }
          return mine;
        },
        Join());
    block.each([&](int thread) {
      if (thread != 0) return;
      result[matrix] = all.product;
      if (logarithm != nullptr) logarithm[matrix] = all.logarithm;
    });
  }
};

}  // namespace

void launchDeterminants(const DeterminantLaunch& launch) {
  visitScalarType(kSolverTypes, launch.type, "linalg.det", [&]<class T>(std::type_identity<T>) {
    using Kernel = Determinants<T>;
    launchBlocks<kThreads>(launch.count, 33 * sizeof(typename Kernel::Part),
                           Kernel{static_cast<const T*>(launch.factors), launch.pivots, static_cast<T*>(launch.result),
                                  static_cast<RealOf<T>*>(launch.logarithm), launch.n});
  });
}

}  // namespace boxcar::cuda
