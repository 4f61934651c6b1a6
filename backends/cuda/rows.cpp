#include <boxcar/backends/cuda/module.h>
#include <boxcar/backends/cuda/row_kernels.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/device_stub.h>
#include <boxcar/backends/native/group_norm.h>
#include <boxcar/backends/native/layer_norm.h>
#include <boxcar/backends/native/softmax.h>
#include <boxcar/ops.h>

#include <optional>

namespace boxcar::cuda {
namespace {

void softmax(const Tensor& out, const Tensor& self, const native::Lines& lines, bool logarithm) {
  module().softmax({self.data_ptr(), out.data_ptr(), self.scalar_type(), out.scalar_type() != self.scalar_type(),
                    lines.outer, lines.length, lines.inner, logarithm});
}

std::optional<Tensor> prepared(const Tensor* tensor, ScalarType type) {
  if (tensor == nullptr) return std::nullopt;
  return native::toContiguous(tensor->scalar_type() == type ? *tensor : native::convertTo(*tensor, type));
}

void layerNorm(const native::LayerNormCall& call, const Tensor& out, const Tensor& mean, const Tensor& scale) {
  const ScalarType type = call.input.scalar_type();
  const auto has_other_type = [&](const Tensor* tensor) { return tensor != nullptr && tensor->scalar_type() != type; };
  const bool mixed = has_other_type(call.weight) || has_other_type(call.bias);
  const ScalarType parameter_type = mixed && type != ScalarType::Double ? ScalarType::Float : type;
  const Tensor input = native::toContiguous(call.input);
  const std::optional<Tensor> weight = prepared(call.weight, parameter_type);
  const std::optional<Tensor> bias = prepared(call.bias, parameter_type);
  module().layer_norm({input.data_ptr(), weight ? weight->data_ptr() : nullptr, bias ? bias->data_ptr() : nullptr,
                       out.data_ptr(), mean.data_ptr(), scale.data_ptr(), mean.scalar_type(), type, parameter_type,
                       call.rows, call.length, call.eps});
}

// Normalizes the rows like layer_norm, then applies each channel's weight and bias.
void groupNorm(const native::GroupNormCall& call, const Tensor& out, const Tensor& mean, const Tensor& scale) {
  const ScalarType type = call.input.scalar_type();
  module().layer_norm({call.input.data_ptr(), nullptr, nullptr, out.data_ptr(), mean.data_ptr(), scale.data_ptr(),
                       mean.scalar_type(), type, type, call.samples * call.groups, call.channels * call.length,
                       call.eps});
  const int64_t channels = call.groups * call.channels;
  const int64_t sizes[] = {call.samples, channels, call.length};
  const int64_t strides[] = {channels * call.length, call.length, 1};
  const int64_t along_channels[] = {channels, 1};
  const int64_t ones[] = {1, 1};
  Tensor rows = out.view(sizes, strides, out.storage_offset());
  const auto perChannel = [&](const Tensor& tensor) {
    return tensor.view(along_channels, ones, tensor.storage_offset());
  };
  if (call.weight.defined()) boxcar::mul_(rows, perChannel(call.weight));
  if (call.bias.defined()) boxcar::add_(rows, perChannel(call.bias));
}

}  // namespace

BOXCAR_REGISTER_STUB(CUDA, native::groupNormRows, groupNorm)
BOXCAR_REGISTER_STUB(CUDA, native::softmaxLines, softmax)
BOXCAR_REGISTER_STUB(CUDA, native::layerNormRows, layerNorm)

}  // namespace boxcar::cuda
