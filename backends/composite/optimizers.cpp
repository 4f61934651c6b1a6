#include <boxcar/backends/meta/defined.h>
#include <boxcar/backends/meta/layout.h>
#include <boxcar/backends/meta/output.h>
#include <boxcar/backends/meta/overlap.h>
#include <boxcar/backends/native/optimizers.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

// One step of an optimiser for a list of weights.

namespace boxcar::composite {
namespace {

using OptionalTensor = std::optional<Tensor>;

// Checks a list that has an element for each weight, of its shape.
void checkList(std::string_view op, std::string_view name, TensorList list, TensorList weights) {
  BOXCAR_CHECK(list.size() == weights.size(), "{}(): there are {} weights and {} {}", op, weights.size(), list.size(),
               name);
  for (size_t i = 0; i < list.size(); ++i) {
    BOXCAR_CHECK(std::ranges::equal(list[i].sizes(), weights[i].sizes()),
                 "{}(): element {} of {} has shape [{}], but its weight has [{}]", op, i, name,
                 fmt::join(list[i].sizes(), ", "), fmt::join(weights[i].sizes(), ", "));
    BOXCAR_CHECK(list[i].scalar_type() == weights[i].scalar_type(),
                 "{}(): element {} of {} is {}, but its weight is {}", op, i, name, dtypeName(list[i].scalar_type()),
                 dtypeName(weights[i].scalar_type()));
  }
}

// A tensor of the call.
struct Used {
  const Tensor* tensor;
  bool is_written;
};

// Throws Error if a tensor is undefined, or if one that is written shares memory with another one.
void checkMemory(std::vector<Used> used) {
  for (const Used& each : used) {
    meta::checkDefined(*each.tensor);
    if (each.is_written) meta::checkNoInternalOverlap(*each.tensor);
  }
  const auto storageOf = [](const Used& each) { return each.tensor->storage().get(); };
  std::ranges::sort(used, {}, storageOf);
  for (size_t i = 0; i < used.size(); ++i) {
    for (size_t j = i + 1; j < used.size() && storageOf(used[i]) == storageOf(used[j]); ++j) {
      if (!used[i].is_written && !used[j].is_written) continue;
      const meta::Shared shared = meta::sharedMemory(meta::regionOf(*used[i].tensor), meta::regionOf(*used[j].tensor));
      BOXCAR_CHECK(shared == meta::Shared::kNothing, "{}", meta::kSharesWithInput);
    }
  }
}

void addAll(std::vector<Used>& used, TensorList tensors, bool is_written) {
  for (const Tensor& tensor : tensors) used.push_back({&tensor, is_written});
}

void addOptional(std::vector<Used>& used, const OptionalTensor& tensor) {
  if (tensor.has_value()) used.push_back({&*tensor, false});
}

// Throws Error, before anything is written, if a number that weights of [dtype] are computed with does not fit.
void checkNumbers(ScalarType dtype, std::initializer_list<double> numbers) {
  if (dtype == ScalarType::Double || dtype == ScalarType::ComplexDouble) return;
  for (const double number : numbers) (void)Scalar(number).to<float>();
}

// Returns the element of [tensor]; [otherwise] on meta, where nothing is computed with it.
double numberOf(const Tensor& tensor, double otherwise) {
  return tensor.is_meta() ? otherwise : boxcar::item(tensor).to<double>();
}

// Whether a gradient was found to be infinite, so that the step is left out.
bool isSkipped(const OptionalTensor& found_inf) { return found_inf.has_value() && numberOf(*found_inf, 0) != 0; }

// Returns the gradient as it is used. A scaled one is first divided by its scale, in place.
Tensor usedGradient(const Tensor& gradient, const OptionalTensor& scale, bool maximize) {
  if (scale.has_value()) {
    Tensor unscaled = gradient;
    boxcar::div_(unscaled, *scale);
  }
  return maximize ? boxcar::neg(gradient) : gradient;
}

// Whether a kernel of the weight's device, if it [has_kernel], makes a step with these tensors at once: they lie in
// memory as the weight does.
bool isOneStep(bool has_kernel, const Tensor& weight, std::initializer_list<const Tensor*> others,
               const OptionalTensor& grad_scale) {
  const ScalarType dtype = weight.scalar_type();
  if (!has_kernel || (dtype != ScalarType::Float && dtype != ScalarType::Double)) return false;
  if (grad_scale.has_value() && grad_scale->numel() != 1) return false;
  for (const Tensor* other : others) {
    if (other == nullptr) continue;
    if (other->device() != weight.device() || !std::ranges::equal(other->strides(), weight.strides())) return false;
  }
  return weight.is_contiguous() || meta::isDense(weight.sizes(), weight.strides());
}

std::optional<double> numberOf(const OptionalTensor& scale) {
  if (!scale.has_value()) return std::nullopt;
  return numberOf(*scale, 1);
}

struct Sgd {
  double weight_decay;
  double momentum;
  double lr;
  double dampening;
  bool nesterov;
  bool maximize;
  bool is_first_step;
};

void sgd(TensorList self, TensorList grads, TensorList momentum_buffer_list, const Sgd& options,
         const OptionalTensor& grad_scale, const OptionalTensor& found_inf) {
  constexpr std::string_view kName = "_fused_sgd_";
  checkList(kName, "grads", grads, self);
  if (options.momentum != 0) checkList(kName, "momentum_buffer_list", momentum_buffer_list, self);
  std::vector<Used> used;
  addAll(used, self, true);
  addAll(used, grads, grad_scale.has_value());
  addAll(used, momentum_buffer_list, options.momentum != 0);
  addOptional(used, grad_scale);
  addOptional(used, found_inf);
  checkMemory(std::move(used));
  for (const Tensor& weight : self) {
    checkNumbers(weight.scalar_type(), {options.weight_decay, options.momentum, 1 - options.dampening, options.lr});
  }
  if (isSkipped(found_inf)) return;
  for (size_t i = 0; i < self.size(); ++i) {
    Tensor weight = self[i];
    const Tensor* const sums = options.momentum != 0 ? &momentum_buffer_list[i] : nullptr;
    if (isOneStep(native::sgdStep.has(weight.device().type()), weight, {&grads[i], sums}, grad_scale)) {
      native::sgdStep(weight.device(), {.weight = weight,
                                        .gradient = grads[i],
                                        .buffer = sums,
                                        .scale = numberOf(grad_scale),
                                        .maximize = options.maximize,
                                        .weight_decay = options.weight_decay,
                                        .momentum = options.momentum,
                                        .dampened = 1 - options.dampening,
                                        .size = -options.lr,
                                        .nesterov = options.nesterov,
                                        .is_first = options.is_first_step});
      continue;
    }
    Tensor step = usedGradient(grads[i], grad_scale, options.maximize);
    if (options.weight_decay != 0) step = boxcar::add(step, weight, options.weight_decay);
    if (options.momentum != 0) {
      Tensor buffer = momentum_buffer_list[i];
      if (options.is_first_step) {
        boxcar::copy_(buffer, step);
      } else {
        boxcar::mul_(buffer, options.momentum);
        boxcar::add_(buffer, step, 1 - options.dampening);
      }
      step = options.nesterov ? boxcar::add(step, buffer, options.momentum) : buffer;
    }
    boxcar::add_(weight, step, -options.lr);
  }
}

void fusedSgd(TensorList self, TensorList grads, TensorList momentum_buffer_list, double weight_decay, double momentum,
              double lr, double dampening, bool nesterov, bool maximize, bool is_first_step,
              const OptionalTensor& grad_scale, const OptionalTensor& found_inf) {
  sgd(self, grads, momentum_buffer_list, {weight_decay, momentum, lr, dampening, nesterov, maximize, is_first_step},
      grad_scale, found_inf);
}

void fusedSgdTensorLr(TensorList self, TensorList grads, TensorList momentum_buffer_list, double weight_decay,
                      double momentum, const Tensor& lr, double dampening, bool nesterov, bool maximize,
                      bool is_first_step, const OptionalTensor& grad_scale, const OptionalTensor& found_inf) {
  sgd(self, grads, momentum_buffer_list,
      {weight_decay, momentum, numberOf(lr, 0), dampening, nesterov, maximize, is_first_step}, grad_scale, found_inf);
}

// The lists of Adam and AdamW.
struct AdamState {
  TensorList self;
  TensorList grads;
  TensorList exp_avgs;
  TensorList exp_avg_sqs;
  TensorList max_exp_avg_sqs;
  TensorList state_steps;
};

struct Adam {
  double lr;
  double beta1;
  double beta2;
  double weight_decay;
  double eps;
  bool amsgrad;
  bool maximize;
  bool decays_weights;  // AdamW: the decay is not part of the gradient
};

void adam(std::string_view name, const AdamState& state, const Adam& options, const OptionalTensor& grad_scale,
          const OptionalTensor& found_inf) {
  checkList(name, "grads", state.grads, state.self);
  checkList(name, "exp_avgs", state.exp_avgs, state.self);
  checkList(name, "exp_avg_sqs", state.exp_avg_sqs, state.self);
  if (options.amsgrad) checkList(name, "max_exp_avg_sqs", state.max_exp_avg_sqs, state.self);
  BOXCAR_CHECK(state.state_steps.size() == state.self.size(), "{}(): there are {} weights and {} state_steps", name,
               state.self.size(), state.state_steps.size());
  std::vector<Used> used;
  addAll(used, state.self, true);
  addAll(used, state.grads, grad_scale.has_value());
  addAll(used, state.exp_avgs, true);
  addAll(used, state.exp_avg_sqs, true);
  addAll(used, state.max_exp_avg_sqs, options.amsgrad);
  addAll(used, state.state_steps, false);
  addOptional(used, grad_scale);
  addOptional(used, found_inf);
  checkMemory(std::move(used));
  std::vector<double> divisors;
  std::vector<double> sizes;  // of the steps
  for (size_t i = 0; i < state.self.size(); ++i) {
    const auto step = numberOf(state.state_steps[i], 1);
    divisors.push_back(std::sqrt(1 - std::pow(options.beta2, step)));
    sizes.push_back(-options.lr / (1 - std::pow(options.beta1, step)));
    checkNumbers(state.self[i].scalar_type(), {options.lr * options.weight_decay, options.weight_decay, options.beta1,
                                               options.beta2, options.eps, divisors.back(), sizes.back()});
  }
  if (isSkipped(found_inf)) return;
  for (size_t i = 0; i < state.self.size(); ++i) {
    Tensor weight = state.self[i];
    const Tensor* const most = options.amsgrad ? &state.max_exp_avg_sqs[i] : nullptr;
    if (isOneStep(native::adamStep.has(weight.device().type()), weight,
                  {&state.grads[i], &state.exp_avgs[i], &state.exp_avg_sqs[i], most}, grad_scale)) {
      native::adamStep(weight.device(),
                       {.weight = weight,
                        .gradient = state.grads[i],
                        .mean = state.exp_avgs[i],
                        .square = state.exp_avg_sqs[i],
                        .largest = most,
                        .scale = numberOf(grad_scale),
                        .maximize = options.maximize,
                        .weight_factor = options.decays_weights ? 1 - options.lr * options.weight_decay : 1,
                        .weight_decay = options.decays_weights ? 0 : options.weight_decay,
                        .beta1 = options.beta1,
                        .beta2 = options.beta2,
                        .divisor = divisors[i],
                        .eps = options.eps,
                        .size = sizes[i]});
      continue;
    }
    Tensor gradient = usedGradient(state.grads[i], grad_scale, options.maximize);
    if (options.weight_decay != 0) {
      if (options.decays_weights) {
        boxcar::mul_(weight, 1 - options.lr * options.weight_decay);
      } else {
        gradient = boxcar::add(gradient, weight, options.weight_decay);
      }
    }
    Tensor mean = state.exp_avgs[i];
    Tensor square = state.exp_avg_sqs[i];
    boxcar::lerp_(mean, gradient, 1 - options.beta1);
    boxcar::mul_(square, options.beta2);
    boxcar::addcmul_(square, gradient, gradient, 1 - options.beta2);
    Tensor largest = square;
    if (options.amsgrad) {
      largest = state.max_exp_avg_sqs[i];
      boxcar::maximum_out(largest, largest, square);
    }
    Tensor divisor = boxcar::sqrt(largest);
    boxcar::div_(divisor, divisors[i]);
    boxcar::add_(divisor, options.eps);
    boxcar::addcdiv_(weight, mean, divisor, sizes[i]);
  }
}

template <bool decays_weights>
void fusedAdam(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs,
               TensorList max_exp_avg_sqs, TensorList state_steps, double lr, double beta1, double beta2,
               double weight_decay, double eps, bool amsgrad, bool maximize, const OptionalTensor& grad_scale,
               const OptionalTensor& found_inf) {
  adam(decays_weights ? "_fused_adamw_" : "_fused_adam_",
       {self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps},
       {lr, beta1, beta2, weight_decay, eps, amsgrad, maximize, decays_weights}, grad_scale, found_inf);
}

template <bool decays_weights>
void fusedAdamTensorLr(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs,
                       TensorList max_exp_avg_sqs, TensorList state_steps, const Tensor& lr, double beta1, double beta2,
                       double weight_decay, double eps, bool amsgrad, bool maximize, const OptionalTensor& grad_scale,
                       const OptionalTensor& found_inf) {
  fusedAdam<decays_weights>(self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, numberOf(lr, 0), beta1,
                            beta2, weight_decay, eps, amsgrad, maximize, grad_scale, found_inf);
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("_fused_sgd_", BOXCAR_FN(fusedSgd));
  m.impl("_fused_sgd_.tensor_lr", BOXCAR_FN(fusedSgdTensorLr));
  m.impl("_fused_adam_", BOXCAR_FN(fusedAdam<false>));
  m.impl("_fused_adam_.tensor_lr", BOXCAR_FN(fusedAdamTensorLr<false>));
  m.impl("_fused_adamw_", BOXCAR_FN(fusedAdam<true>));
  m.impl("_fused_adamw_.tensor_lr", BOXCAR_FN(fusedAdamTensorLr<true>));
}

}  // namespace boxcar::composite
