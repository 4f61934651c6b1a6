#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/cpu/vector_optimizers.h>
#include <boxcar/backends/native/optimizers.h>

#include <cstddef>
#include <cstdint>

namespace boxcar::cpu {
namespace {

// A step writes some arrays, so fewer elements than those of a pointwise operator are worth a thread.
constexpr int64_t kOptimizerGrain = kParallelGrain / 2;

template <class T>
T* optimizerData(const Tensor& tensor) {
  return static_cast<T*>(tensor.data_ptr());
}
template <class T>
T* optimizerDataIf(const Tensor* tensor) {
  return tensor == nullptr ? nullptr : optimizerData<T>(*tensor);
}

template <class T>
T* movedBy(T* data, int64_t offset) {
  return data == nullptr ? nullptr : data + offset;
}

template <class T>
void stepOfAdam(const native::AdamCall& call) {
  const auto number = [](double x) { return static_cast<T>(x); };
  const AdamNumbers<T> numbers{number(call.scale.value_or(1)),
                               number(call.weight_factor),
                               number(call.weight_decay),
                               number(call.beta1),
                               number(call.beta2),
                               number(1 - call.beta1),
                               number(1 - call.beta2),
                               number(call.divisor),
                               number(call.eps),
                               number(call.size),
                               call.scale.has_value(),
                               call.maximize};
  T* const weight = optimizerData<T>(call.weight);
  T* const gradient = optimizerData<T>(call.gradient);
  T* const mean = optimizerData<T>(call.mean);
  T* const square = optimizerData<T>(call.square);
  T* const largest = optimizerDataIf<T>(call.largest);
  parallelFor(0, call.weight.numel(), kOptimizerGrain, [&](int64_t begin, int64_t end) {
    optimizerRows<T>().adam(numbers, weight + begin, gradient + begin, mean + begin, square + begin,
                            movedBy(largest, begin), static_cast<size_t>(end - begin));
  });
}

template <class T>
void stepOfSgd(const native::SgdCall& call) {
  const auto number = [](double x) { return static_cast<T>(x); };
  const SgdNumbers<T> numbers{number(call.scale.value_or(1)),
                              number(call.weight_decay),
                              number(call.momentum),
                              number(call.dampened),
                              number(call.size),
                              call.scale.has_value(),
                              call.maximize,
                              call.nesterov,
                              call.is_first};
  T* const weight = optimizerData<T>(call.weight);
  T* const gradient = optimizerData<T>(call.gradient);
  T* const buffer = optimizerDataIf<T>(call.buffer);
  parallelFor(0, call.weight.numel(), kOptimizerGrain, [&](int64_t begin, int64_t end) {
    optimizerRows<T>().sgd(numbers, weight + begin, gradient + begin, movedBy(buffer, begin),
                           static_cast<size_t>(end - begin));
  });
}

void stepOfAdamOnCpu(const native::AdamCall& call) {
  call.weight.scalar_type() == ScalarType::Float ? stepOfAdam<float>(call) : stepOfAdam<double>(call);
}
void stepOfSgdOnCpu(const native::SgdCall& call) {
  call.weight.scalar_type() == ScalarType::Float ? stepOfSgd<float>(call) : stepOfSgd<double>(call);
}

}  // namespace
}  // namespace boxcar::cpu

namespace boxcar::native {

BOXCAR_REGISTER_STUB(CPU, adamStep, cpu::stepOfAdamOnCpu)
BOXCAR_REGISTER_STUB(CPU, sgdStep, cpu::stepOfSgdOnCpu)

}  // namespace boxcar::native
