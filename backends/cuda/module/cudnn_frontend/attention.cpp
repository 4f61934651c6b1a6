#include <boxcar/backends/cuda/attention.h>
#include <boxcar/backends/cuda/module/cudnn_frontend/plans.h>
#include <boxcar/backends/cuda/module/parts.h>

#include <memory>
#include <utility>
#include <vector>

namespace boxcar::cuda {
namespace {

using cudnn::Kind;
using cudnn::Plan;
using cudnn::Session;
namespace fe = cudnn_frontend;

// Number of plans of a kind that get kernels of their own; later ones share kernels that support any lengths.
constexpr int kFixedPlans = 4;
constexpr size_t kMostKinds = 64;

enum Place : int64_t { kQuery = 1, kKey, kValue, kBias, kOut };

std::shared_ptr<fe::graph::Tensor_attributes> describe(fe::graph::Graph& graph, Place place, const char* name,
                                                       const AttentionOperand& operand) {
  return graph.tensor(fe::graph::Tensor_attributes()
                          .set_uid(place)
                          .set_name(name)
                          .set_dim({operand.sizes.begin(), operand.sizes.end()})
                          .set_stride({operand.strides.begin(), operand.strides.end()}));
}

void describe(fe::graph::Graph& graph, const AttentionCall& call) {
  graph.set_io_data_type(call.type == ScalarType::Half ? fe::DataType_t::HALF : fe::DataType_t::BFLOAT16)
      .set_intermediate_data_type(fe::DataType_t::FLOAT)
      .set_compute_data_type(fe::DataType_t::FLOAT);
  auto options =
      fe::graph::SDPA_attributes().set_name("attention").set_generate_stats(false).set_attn_scale(call.scale);
  if (call.is_causal) {
    options.set_diagonal_alignment(fe::DiagonalAlignment_t::TOP_LEFT).set_diagonal_band_right_bound(0);
  }
  if (call.bias.data != nullptr) options.set_bias(describe(graph, kBias, "bias", call.bias));
  const auto results = graph.sdpa(describe(graph, kQuery, "query", call.query), describe(graph, kKey, "key", call.key),
                                  describe(graph, kValue, "value", call.value), options);
  results[0]
      ->set_output(true)
      .set_uid(kOut)
      .set_dim({call.out.sizes.begin(), call.out.sizes.end()})
      .set_stride({call.out.strides.begin(), call.out.strides.end()});
}

// Makes a plan that uses [kernels], which support any lengths, or kernels for this call's lengths only if [kernels] is
// null.
std::unique_ptr<Plan> makePlan(const AttentionCall& call, cudnnHandle_t handle,
                               const std::shared_ptr<fe::KernelCache>& kernels) {
  return cudnn::makePlan(handle, [&](fe::graph::Graph& graph) {
    describe(graph, call);
    if (kernels != nullptr) graph.set_dynamic_shape_enabled(true).set_kernel_cache(kernels);
  });
}

std::unique_ptr<Plan> makePlan(const AttentionCall& call, Session& own) {
  std::vector<int64_t> key = planKind(call);
  const bool is_known = own.kinds.contains(key);
  if (is_known || own.kinds.size() < kMostKinds) {
    Kind& kind = own.kinds[std::move(key)];
    if (++kind.plans > kFixedPlans) {
      std::unique_ptr<Plan> plan = makePlan(call, own.handle, kind.kernels);
      if (plan->is_taken) return plan;
    }
  }
  return makePlan(call, own.handle, nullptr);
}

}  // namespace

bool attendByCudnn(const AttentionCall& call) {
  cudnn::Call prepared{
      "scaled_dot_product_attention",
      planKey(call),
      call.recording,
      [&](Session& own) { return makePlan(call, own); },
      {{kQuery, call.query.data}, {kKey, call.key.data}, {kValue, call.value.data}, {kOut, call.out.data}}};
  if (call.bias.data != nullptr) prepared.memory[kBias] = call.bias.data;
  return cudnn::run(prepared);
}

}  // namespace boxcar::cuda
