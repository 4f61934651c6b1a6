#include <boxcar/backends/cuda/channel_kernels.h>
#include <boxcar/backends/cuda/module.h>
#include <boxcar/backends/native/batch_norm.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/device_stub.h>

#include <algorithm>

namespace boxcar::cuda {
namespace {

// Returns the number of parts that each channel is divided into: enough blocks to keep a device busy, with some
// iterations of work each.
int64_t partsOf(int64_t channels, int64_t elements) {
  constexpr int64_t kBlocks = 1024;
  constexpr int64_t kLeast = 4096;
  return std::clamp<int64_t>(elements / kLeast, 1, std::max<int64_t>(1, kBlocks / std::max<int64_t>(1, channels)));
}

// Returns [tensor] contiguous and on the input's device, or an undefined tensor.
Tensor prepared(const Tensor* tensor, Device device) {
  return tensor == nullptr ? Tensor() : native::toContiguous(native::toDevice(*tensor, device));
}

void* addressOf(const Tensor& tensor) { return tensor.defined() ? tensor.data_ptr() : nullptr; }

void batchNorm(const native::BatchNormCall& call, const Tensor& out, const Tensor& mean, const Tensor& scale) {
  const Tensor& input = call.input;
  const Device device = input.device();
  const Tensor weight = prepared(call.weight, device);
  const Tensor bias = prepared(call.bias, device);
  const Tensor running_mean = prepared(call.running_mean, device);
  const Tensor running_var = prepared(call.running_var, device);

  BatchNormLaunch launch{};
  launch.in = input.data_ptr();
  launch.out = out.data_ptr();
  launch.type = input.scalar_type();
  launch.samples = input.sizes()[0];
  launch.channels = call.channels();
  launch.length = 1;
  for (const int64_t size : input.sizes().subspan(2)) launch.length *= size;
  launch.channels_last = !input.is_contiguous();
  if (launch.length == 1) {  // both layouts are equivalent; channels_last reads contiguous memory
    launch.length = launch.samples;
    launch.samples = 1;
    launch.channels_last = true;
  }
  launch.parameter_type = mean.scalar_type();
  launch.weight = addressOf(weight);
  launch.bias = addressOf(bias);
  launch.running_mean = addressOf(running_mean);
  launch.running_var = addressOf(running_var);
  launch.mean = mean.data_ptr();
  launch.scale = scale.data_ptr();
  launch.training = call.training;
  launch.momentum = call.momentum;
  launch.eps = call.eps;

  launch.parts = partsOf(launch.channels, launch.samples * launch.length);
  constexpr auto kMomentsBytes = static_cast<int64_t>(sizeof(functors::Moments<double>));
  const int64_t moments_bytes[] = {call.training ? launch.channels * launch.parts * kMomentsBytes : 0};
  const Tensor moments = Tensor::allocate(moments_bytes, ScalarType::Byte, device);
  launch.moments = static_cast<functors::Moments<double>*>(moments.data_ptr());
  const int64_t factors_size[] = {2 * launch.channels};
  const ScalarType computed = launch.type == ScalarType::Double ? ScalarType::Double : ScalarType::Float;
  const Tensor factors = Tensor::allocate(factors_size, computed, device);
  launch.factors = factors.data_ptr();
  module().batch_norm(launch);

  if (!call.training) return;
  const auto writeBack = [](const Tensor* running, const Tensor& moved) {
    if (running != nullptr && !moved.is_same(*running)) native::copyElements(*running, moved);
  };
  writeBack(call.running_mean, running_mean);
  writeBack(call.running_var, running_var);
}

}  // namespace

BOXCAR_REGISTER_STUB(CUDA, native::normalizeChannels, batchNorm)

}  // namespace boxcar::cuda
