#include <boxcar/backends/cuda/convolution.h>
#include <boxcar/backends/cuda/gemm.h>
#include <boxcar/backends/cuda/module/cudnn_frontend/plans.h>
#include <boxcar/backends/cuda/module/parts.h>

#include <memory>
#include <span>
#include <vector>

// Convolutions by plans. cuDNN's older functions, in cudnn/convolution.cpp, choose kernels anew in every call, which
// takes tens of microseconds.

namespace boxcar::cuda {
namespace {

namespace fe = cudnn_frontend;
using TensorAttributes = fe::graph::Tensor_attributes;

enum Place : int64_t { kInput = 1, kWeight, kOut };

std::vector<int64_t> listOf(std::span<const int64_t> values) { return {values.begin(), values.end()}; }

fe::DataType_t dataTypeOf(ScalarType type) {
  switch (type) {
    case ScalarType::Half: return fe::DataType_t::HALF;
    case ScalarType::BFloat16: return fe::DataType_t::BFLOAT16;
    default: return fe::DataType_t::FLOAT;
  }
}

template <class Attributes>
Attributes optionsOf(const meta::Convolution& c) {
  return Attributes().set_padding(listOf(c.padding)).set_stride(listOf(c.stride)).set_dilation(listOf(c.dilation));
}

void describe(fe::graph::Graph& graph, const ConvolutionCall& call) {
  const meta::Convolution& c = call.arguments;
  graph.set_io_data_type(dataTypeOf(call.type))
      .set_intermediate_data_type(fe::DataType_t::FLOAT)
      .set_compute_data_type(fe::DataType_t::FLOAT);
  const auto tensor = [&](Place place, const char* name, std::span<const int64_t> sizes) {
    return graph.tensor(TensorAttributes()
                            .set_uid(place)
                            .set_name(name)
                            .set_dim(listOf(sizes))
                            .set_stride(convolutionStrides(sizes, c.channels_last)));
  };
  const auto input = tensor(kInput, "input", call.input_sizes);
  const auto weight = tensor(kWeight, "weight", call.weight_sizes);
  // A transposed convolution is the gradient of a convolution's input.
  const auto out = c.transposed ? graph.conv_dgrad(input, weight, optionsOf<fe::graph::Conv_dgrad_attributes>(c))
                                : graph.conv_fprop(input, weight, optionsOf<fe::graph::Conv_fprop_attributes>(c));
  out->set_output(true)
      .set_uid(kOut)
      .set_dim(listOf(c.output_sizes))
      .set_stride(convolutionStrides(c.output_sizes, c.channels_last));
}

}  // namespace

bool convolveByPlan(const ConvolutionCall& call) {
  if (call.accumulates || call.type == ScalarType::Double) return false;
  const bool keeps_float = call.type == ScalarType::Float && !allowsTf32();
  const auto make = [&](cudnn::Session& own) {
    std::vector<fe::NumericalNote_t> unwanted;
    if (keeps_float) unwanted.push_back(fe::NumericalNote_t::TENSOR_CORE);  // TensorFloat-32
    return cudnn::makePlan(
        own.handle, [&](fe::graph::Graph& graph) { describe(graph, call); }, unwanted);
  };
  cudnn::Call prepared{
      "convolution",
      convolutionKey(call, keeps_float),
      call.recording,
      make,
      {{kInput, const_cast<void*>(call.input)}, {kWeight, const_cast<void*>(call.weight)}, {kOut, call.out}}};
  return cudnn::run(prepared);
}

}  // namespace boxcar::cuda
