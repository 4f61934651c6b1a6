#include <boxcar/backends/cuda/kernels/launch.h>
#include <boxcar/backends/cuda/loss_kernels.h>
#include <boxcar/backends/functors/element.h>

namespace boxcar::cuda {
namespace {

constexpr int kThreads = 256;

template <class T>
struct ClassLosses {
  using C = functors::Compute<T>;
  ClassLossLaunch launch;

  BOXCAR_HOST_DEVICE void operator()(int64_t block, int thread) const {
    const int64_t i = block * kThreads + thread;
    if (i >= launch.samples * launch.pixels) return;
    const int64_t target = launch.targets[i];
    C loss = 0;
    C weight = 0;
    if (target != launch.ignored) {
      if (target < 0 || target >= launch.classes) {
        noteFailure(launch.failure, functors::Refusal::kClass, target, launch.classes);
      } else {
        const int64_t sample = i / launch.pixels;
        const int64_t at = (sample * launch.classes + target) * launch.pixels + i % launch.pixels;
        const auto* const weights = static_cast<const T*>(launch.weights);
        weight = weights == nullptr ? C(1) : static_cast<C>(weights[target]);
        loss = -weight * static_cast<C>(static_cast<const T*>(launch.log_probabilities)[at]);
      }
    }
    static_cast<C*>(launch.losses)[i] = loss;
    static_cast<C*>(launch.loss_weights)[i] = weight;
  }
};

}  // namespace

void launchClassLosses(const ClassLossLaunch& launch) {
  visitScalarType(kFloatingTypes, launch.type, "nll_loss", [&]<class T>(std::type_identity<T>) {
    launchGrid<kThreads>(blocksFor(launch.samples * launch.pixels, kThreads), ClassLosses<T>{launch});
  });
}

}  // namespace boxcar::cuda
