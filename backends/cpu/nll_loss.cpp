#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/registration.h>
#include <boxcar/backends/dense/copy.h>
#include <boxcar/backends/dense/write_out.h>
#include <boxcar/backends/elements/element.h>
#include <boxcar/backends/shape/class_losses.h>
#include <boxcar/ivalue/error.h>

#include <optional>
#include <tuple>

namespace boxcar::cpu {
namespace {

using OptionalTensor = std::optional<Tensor>;
using Pair = std::tuple<Tensor, Tensor>;
using PairReference = std::tuple<Tensor&, Tensor&>;
using Check = shape::ClassLoss (*)(const Tensor&, const Tensor&, const Tensor&, int64_t);

// One call on flat memory: log-probabilities of [samples, classes, pixels], and a target for each sample and pixel.
template <class T>
struct ClassLosses {
  const shape::ClassLoss& sizes;
  const T* log_probabilities;
  const int64_t* targets;
  const T* weights;  // null when all are 1
  int64_t ignored;

  void checkTargets() const {
    for (int64_t i = 0; i < sizes.samples * sizes.pixels; ++i) {
      BOXCAR_CHECK(targets[i] == ignored || (targets[i] >= 0 && targets[i] < sizes.classes),
                   "nll_loss: target {} at place {} is out of bounds for {} classes", targets[i], i, sizes.classes);
    }
  }

  // Calls body(i, loss, weight) for each target in turn; both are 0 where it is to be ignored.
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
void compute(const ClassLosses<T>& losses, shape::LossReduction reduction, bool single, T* out, T* total_weight) {
  losses.checkTargets();
  if (reduction == shape::LossReduction::kNone && !single) {
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
  const bool is_mean = reduction == shape::LossReduction::kMean;
  *out = static_cast<T>(static_cast<Compute<T>>(is_mean ? sum / weights : sum));
  *total_weight = static_cast<T>(static_cast<Compute<T>>(weights));
}

Pair forward(Check check, const Tensor& self, const Tensor& target, const OptionalTensor& weight, int64_t reduction,
             int64_t ignore_index) {
  const Tensor given = weight.value_or(Tensor());
  const Device device = given.defined() ? checkSameDevice({&self, &target, &given}) : checkSameDevice({&self, &target});
  const shape::ClassLoss sizes = check(self, target, given, reduction);
  const ScalarType type = self.scalar_type();
  Pair result{Tensor::allocate(sizes.output_sizes, type, device), Tensor::allocate({}, type, device)};
  visitScalarType(kFloatingTypes, type, "nll_loss", [&]<class T>(std::type_identity<T>) {
    if (device.type() == DeviceType::Meta) return;
    const Tensor source = toContiguous(self);
    const Tensor classes =
        toContiguous(target.scalar_type() == ScalarType::Long ? target : convertTo(target, ScalarType::Long));
    const Tensor weights = given.defined() ? toContiguous(given) : given;
    const ClassLosses<T> losses{sizes, static_cast<const T*>(source.data_ptr()), classes.const_data_ptr<int64_t>(),
                                given.defined() ? static_cast<const T*>(weights.data_ptr()) : nullptr, ignore_index};
    compute(losses, shape::lossReduction(reduction), self.dim() == 1, static_cast<T*>(std::get<0>(result).data_ptr()),
            static_cast<T*>(std::get<1>(result).data_ptr()));
  });
  return result;
}

template <Check check>
Pair nllLoss(const Tensor& self, const Tensor& target, const OptionalTensor& weight, int64_t reduction,
             int64_t ignore_index) {
  return forward(check, self, target, weight, reduction, ignore_index);
}

template <Check check>
PairReference nllLossOut(const Tensor& self, const Tensor& target, const OptionalTensor& weight, int64_t reduction,
                         int64_t ignore_index, Tensor& output, Tensor& total_weight) {
  return writeSameTypes(output, total_weight, forward(check, self, target, weight, reduction, ignore_index),
                        {&self, &target});
}

}  // namespace

BOXCAR_CPU_AND_META(aten, m) {
  m.impl("nll_loss_forward", BOXCAR_FN(nllLoss<shape::checkNllLoss>));
  m.impl("nll_loss_forward.output", BOXCAR_FN(nllLossOut<shape::checkNllLoss>));
  m.impl("nll_loss2d_forward", BOXCAR_FN(nllLoss<shape::checkNllLoss2d>));
  m.impl("nll_loss2d_forward.output", BOXCAR_FN(nllLossOut<shape::checkNllLoss2d>));
}

}  // namespace boxcar::cpu
