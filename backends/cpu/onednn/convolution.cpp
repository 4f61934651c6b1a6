#include <boxcar/backends/cpu/convolution.h>
#include <boxcar/backends/cpu/onednn/convolution_primitive.h>
#include <boxcar/backends/cpu/onednn/engine.h>

namespace boxcar::cpu {

bool convolveByLibrary(const ConvolutionCall& call) {
  const ScalarType type = call.out.scalar_type();
  if (type != ScalarType::Float && type != ScalarType::BFloat16) return false;
  if (call.input.numel() == 0 || call.weight.numel() == 0) return false;
  const onednn::Threads threads(onednn::multiplyAddsOf(call));
  onednn::ConvolutionExtras extras;
  extras.has_bias = call.bias.defined();
  onednn::OwnConvolution& own = onednn::preparedConvolution(call, extras, threads.count());
  if (!own.prepared.forward) return false;
  if (!own.memories.has_value()) own.memories.emplace(own.prepared);
  onednn::ConvolutionOperands operands;
  if (extras.has_bias) operands.bias = call.bias.data_ptr();
  onednn::runConvolution(call, own.prepared, *own.memories, operands);
  return true;
}

}  // namespace boxcar::cpu
