#include <boxcar/backends/cuda/kernels/launch.h>
#include <boxcar/backends/cuda/matrix_kernels.h>
#include <boxcar/backends/functors/sequence.h>

namespace boxcar::cuda {
namespace {

using namespace functors;

constexpr int kThreads = 256;

template <class T, class At>
struct Fill {
  T* out;
  int64_t count;
  At at;

  BOXCAR_HOST_DEVICE void operator()(int64_t block, int thread) const {
    const int64_t i = block * kThreads + thread;
    if (i < count) out[i] = convertElement<T>(at(static_cast<typename At::Index>(i)));
  }
};

template <class T, class At>
void run(void* out, int64_t count, const At& at) {
  launchGrid<kThreads>(blocksFor(count, kThreads), Fill<T, At>{static_cast<T*>(out), count, at});
}

}  // namespace

void launchSequence(void* out, ScalarType type, int64_t count, const native::Sequence& sequence) {
  visitScalarType(kRealTypes + kComplexTypes, type, "arange", [&]<class T>(std::type_identity<T>) {
    using Number = BetweenNumber<T>;
    if (sequence.kind == native::Sequence::kSteps) {
      using Step = std::conditional_t<std::is_integral_v<T>, int64_t, double>;
      return run<T>(out, count, Steps<Step>{sequence.first.to<Step>(), sequence.second.to<Step>()});
    }
    const EqualDistances<Number> between(sequence.first.to<Number>(), sequence.second.to<Number>(), sequence.count);
    if (sequence.kind == native::Sequence::kClamp) return run<T>(out, count, between);
    run<T>(out, count, PowersAtDistances<Number>{between, Number(sequence.base)});
  });
}

}  // namespace boxcar::cuda
