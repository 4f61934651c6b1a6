#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/functors/element.h>
#include <boxcar/backends/native/nll_loss.h>
#include <boxcar/ivalue/error.h>

namespace boxcar::cpu {
namespace {

// A call on contiguous memory: log-probabilities of [samples, classes, pixels], and a target for each sample and pixel.
template <class T>
struct ClassLosses {
  const meta::ClassLoss& sizes;
  const T* log_probabilities;
  const int64_t* targets;
  const T* weights;  // null if all are 1
  int64_t ignored;

  void checkTargets() const {
    for (int64_t i = 0; i < sizes.samples * sizes.pixels; ++i) {
      BOXCAR_CHECK(targets[i] == ignored || (targets[i] >= 0 && targets[i] < sizes.classes),
                   "nll_loss: target {} at place {} is out of bounds for {} classes", targets[i], i, sizes.classes);
    }
  }

  // Calls body(i, loss, weight) for each target in turn; both are 0 for ignored targets.
  template <class Body>
  void forEach(const Body& body) const {
    using C = Compute<T>;
    const T* sample = log_probabilities;
    int64_t i = 0;
    for (int64_t n = 0; n < sizes.samples; ++n, sample += sizes.classes * sizes.pixels) {
      for (int64_t p = 0; p < sizes.pixels; ++p, ++i) {
        const int64_t target = targets[i];
        if (target == ignored) {
          body(i, C(0), C(0));
          continue;
        }
        const C weight = weights == nullptr ? C(1) : static_cast<C>(weights[target]);
        body(i, -weight * static_cast<C>(sample[target * sizes.pixels + p]), weight);
      }
    }
  }
};

template <class T>
void compute(const ClassLosses<T>& losses, const native::ClassLossCall& call, T* out, T* total_weight) {
  losses.checkTargets();
  if (!call.sums) {
    *total_weight = T(0);
    losses.forEach([&](int64_t i, auto loss, auto) { out[i] = static_cast<T>(loss); });
    return;
  }
  double sum = 0;
  double weights = 0;
  losses.forEach([&](int64_t, auto loss, auto weight) {
    sum += static_cast<double>(loss);
    weights += static_cast<double>(weight);
  });
  *out = static_cast<T>(static_cast<Compute<T>>(call.is_mean ? sum / weights : sum));
  *total_weight = static_cast<T>(static_cast<Compute<T>>(weights));
}

void losses(const native::ClassLossCall& call, const Tensor& out, const Tensor& total_weight) {
  visitScalarType(kFloatingTypes, out.scalar_type(), "nll_loss", [&]<class T>(std::type_identity<T>) {
    const ClassLosses<T> made{
        call.sizes, static_cast<const T*>(call.log_probabilities.data_ptr()), call.targets.const_data_ptr<int64_t>(),
        call.weights.defined() ? static_cast<const T*>(call.weights.data_ptr()) : nullptr, call.ignored};
    compute(made, call, static_cast<T*>(out.data_ptr()), static_cast<T*>(total_weight.data_ptr()));
  });
}

}  // namespace
}  // namespace boxcar::cpu

namespace boxcar::native {

BOXCAR_REGISTER_STUB(CPU, classLosses, cpu::losses)

}  // namespace boxcar::native
