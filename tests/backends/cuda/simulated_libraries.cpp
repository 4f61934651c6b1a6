// Replaces NVIDIA's libraries on the simulated device by the CPU's kernels.

#include <boxcar/backends/cuda/attention.h>
#include <boxcar/backends/cuda/convolution.h>
#include <boxcar/backends/cuda/module/parts.h>
#include <boxcar/backends/cuda/simulated_launch.h>
#include <boxcar/backends/meta/factories.h>
#include <boxcar/backends/native/convolution.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/products.h>
#include <boxcar/ivalue/storage.h>
#include <boxcar/ivalue/tensor.h>
#include <boxcar/ops.h>

#include <array>
#include <optional>

#include "tests/backends/cuda/simulated_device.h"

namespace boxcar::cuda {
namespace {

// Returns a CPU tensor over memory of the simulated device.
Tensor overMemory(void* data, ScalarType type, std::span<const int64_t> sizes, std::span<const int64_t> strides) {
  int64_t reached = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) reached = 0;
    reached += reached == 0 ? 0 : (sizes[i] - 1) * strides[i];
  }
  const Storage storage =
      StorageImpl::wrap(data, static_cast<size_t>(reached) * elementSize(type), DeviceType::CPU, nullptr, nullptr);
  return Tensor(makeIntrusive<TensorImpl>(storage, type, sizes, strides, 0));
}

Tensor matrices(const GemmCall& call, const MatrixOperand& operand, int64_t rows, int64_t columns) {
  const std::array<int64_t, 3> sizes{call.batch, rows, columns};
  const std::array<int64_t, 3> strides{operand.batch_step, operand.row_step, operand.column_step};
  return overMemory(operand.data, call.type, sizes, strides);
}

Tensor images(const void* data, ScalarType type, std::span<const int64_t> sizes, bool channels_last) {
  const MemoryFormat format = channels_last ? MemoryFormat::ChannelsLast : MemoryFormat::Contiguous;
  return overMemory(const_cast<void*>(data), type, sizes, meta::stridesIn(format, sizes));
}

Tensor operandOf(const AttentionOperand& operand, ScalarType type) {
  return native::convertTo(overMemory(operand.data, type, operand.sizes, operand.strides), ScalarType::Float);
}

}  // namespace

bool attendByCudnn(const AttentionCall& call) {
  if (!simulated::device().has_attention) return false;
  simulated::device().attentions.push_back(planKey(call));
  enqueueSimulated([call] {
    const Tensor bias = call.bias.data == nullptr ? Tensor() : operandOf(call.bias, call.type);
    const Tensor out = overMemory(call.out.data, call.type, call.out.sizes, call.out.strides);
    native::copyElements(out, boxcar::scaled_dot_product_attention(
                                  operandOf(call.query, call.type), operandOf(call.key, call.type),
                                  operandOf(call.value, call.type), bias.defined() ? std::optional(bias) : std::nullopt,
                                  0.0, call.is_causal, call.scale, call.query.sizes[1] != call.key.sizes[1]));
  });
  return true;
}

bool multiplyByLibrary(const GemmCall& call) {
  enqueueSimulated([call] {
    const Tensor out = matrices(call, call.c, call.m, call.n);
    Scalar beta = call.beta;
    if (call.bias != nullptr) {  // no caller combines it with the old values of [out]
      native::copyElements(out, matrices(call, {const_cast<void*>(call.bias), 0, 1, 0}, call.m, call.n));
      beta = 1;
    }
    native::multiplyMatrices(DeviceType::CPU, out, matrices(call, call.a, call.m, call.k),
                             matrices(call, call.b, call.k, call.n), call.alpha, beta);
  });
  return true;
}

bool convolveByCudnn(const ConvolutionCall& call) {
  enqueueSimulated([call] {
    const bool channels_last = call.arguments.channels_last;
    const Tensor out = images(call.out, call.type, call.arguments.output_sizes, channels_last);
    const Tensor input = images(call.input, call.type, call.input_sizes, channels_last);
    const Tensor weight = images(call.weight, call.type, call.weight_sizes, channels_last);
    if (!call.accumulates) return native::convolve(DeviceType::CPU, call.arguments, out, input, weight, Tensor());
    const auto widened = [](const Tensor& tensor) { return native::convertTo(tensor, ScalarType::Float); };
    const Tensor sums = boxcar::empty_like(out, ScalarType::Float);
    native::convolve(DeviceType::CPU, call.arguments, sums, widened(input), widened(weight), Tensor());
    native::copyElements(out, boxcar::add(sums, widened(out)));
  });
  return true;
}

}  // namespace boxcar::cuda
