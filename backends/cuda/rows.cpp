#include <boxcar/backends/cuda/module.h>
#include <boxcar/backends/cuda/registration.h>
#include <boxcar/backends/cuda/row_kernels.h>
#include <boxcar/backends/dense/copy.h>
#include <boxcar/backends/dense/layer_norm.h>
#include <boxcar/backends/dense/softmax.h>

#include <optional>

namespace boxcar::cuda {
namespace {

void softmax(const Tensor& out, const Tensor& self, const dense::Lines& lines, bool logarithm) {
  module().softmax({self.data_ptr(), out.data_ptr(), self.scalar_type(), out.scalar_type() != self.scalar_type(),
                    lines.outer, lines.length, lines.inner, logarithm});
}

std::optional<Tensor> prepared(const Tensor* tensor, ScalarType type) {
  if (tensor == nullptr) return std::nullopt;
  return dense::toContiguous(tensor->scalar_type() == type ? *tensor : dense::convertTo(*tensor, type));
}

void layerNorm(const dense::LayerNormCall& call, const Tensor& out, const Tensor& mean, const Tensor& scale) {
  const ScalarType type = call.input.scalar_type();
  const auto has_other_type = [&](const Tensor* tensor) { return tensor != nullptr && tensor->scalar_type() != type; };
  const bool mixed = has_other_type(call.weight) || has_other_type(call.bias);
  const ScalarType parameter_type = mixed && type != ScalarType::Double ? ScalarType::Float : type;
  const Tensor input = dense::toContiguous(call.input);
  const std::optional<Tensor> weight = prepared(call.weight, parameter_type);
  const std::optional<Tensor> bias = prepared(call.bias, parameter_type);
  module().layer_norm({input.data_ptr(), weight ? weight->data_ptr() : nullptr, bias ? bias->data_ptr() : nullptr,
                       out.data_ptr(), mean.data_ptr(), scale.data_ptr(), type, parameter_type, call.rows, call.length,
                       call.eps});
}

}  // namespace

BOXCAR_CUDA_FUNCTION(dense::softmaxLines, softmax)
BOXCAR_CUDA_FUNCTION(dense::layerNormRows, layerNorm)

}  // namespace boxcar::cuda
