#include <boxcar/backends/cpu/onednn/engine.h>
#include <boxcar/backends/cpu/onednn/post_ops.h>

namespace boxcar::cpu::onednn {
namespace {

using native::Activation;

void appendActivation(dnnl::post_ops& post_ops, const native::FusedActivation& activation) {
  using Algorithm = dnnl::algorithm;
  const auto first = static_cast<float>(activation.parameters[0]);
  const auto second = static_cast<float>(activation.parameters[1]);
  const auto append = [&](Algorithm algorithm, float alpha = 0, float beta = 0) {
    post_ops.append_eltwise(1.0F, algorithm, alpha, beta);
  };
  switch (activation.kind) {
    case Activation::kNone: return;
    case Activation::kRelu: return append(Algorithm::eltwise_relu);
    case Activation::kClamp: return append(Algorithm::eltwise_clip, first, second);
    case Activation::kLeakyRelu: return append(Algorithm::eltwise_relu, first);
    case Activation::kElu: return append(Algorithm::eltwise_elu, first);
    case Activation::kSigmoid: return append(Algorithm::eltwise_logistic);
    case Activation::kTanh: return append(Algorithm::eltwise_tanh);
    case Activation::kSilu: return append(Algorithm::eltwise_swish, 1);
    case Activation::kHardswish: return append(Algorithm::eltwise_hardswish);
    case Activation::kHardsigmoid:  // oneDNN 2.6 has none of its own
      append(Algorithm::eltwise_linear, 1.0F / 6, 0.5F);
      return append(Algorithm::eltwise_clip, 0, 1);
    case Activation::kGelu: return append(Algorithm::eltwise_gelu_erf);
    case Activation::kGeluTanh: return append(Algorithm::eltwise_gelu_tanh);
  }
}

}  // namespace

dnnl::primitive_attr attributesOf(Addition addition, const dnnl::memory::desc& added,
                                  const native::FusedActivation& activation) {
  dnnl::post_ops post_ops;
  if (addition == Addition::kSum) post_ops.append_sum();
  if (addition == Addition::kBinary) post_ops.append_binary(dnnl::algorithm::binary_add, added);
  appendActivation(post_ops, activation);
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(post_ops);
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

void Arguments::execute(const dnnl::primitive& primitive) const {
  dnnl::error::wrap_c_api(dnnl_primitive_execute(primitive.get(), stream().get(), count_, arguments_),
                          "could not execute a primitive");
}

}  // namespace boxcar::cpu::onednn
