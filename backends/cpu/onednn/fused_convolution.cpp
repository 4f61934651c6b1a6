#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/onednn/convolution_primitive.h>
#include <boxcar/backends/cpu/onednn/engine.h>
#include <boxcar/backends/cpu/onednn/packed_weights.h>
#include <boxcar/backends/cpu/onednn/spare.h>
#include <boxcar/backends/cpu/onednn/winograd_weights.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/file_memory.h>
#include <boxcar/backends/native/fused.h>
#include <boxcar/backends/native/images.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace boxcar::cpu {
namespace {

using onednn::PackedWeight;
using onednn::PackedWeights;
using onednn::PreparedConvolution;

constexpr int64_t kPackedForConvolution = 1;

struct FusedConvolutionPlan {
  PreparedConvolution prepared;
  PackedWeight::Block weights;  // null if the primitive reads the call's weight
  PackedWeight::Block bias;
  onednn::Spare<onednn::ConvolutionMemories> memories;
};

std::vector<double> doublesOf(const Tensor& tensor, int64_t count, double otherwise) {
  std::vector<double> values(static_cast<size_t>(count), otherwise);
  if (!tensor.defined()) return values;
  const Tensor doubles = toContiguous(tensor, ScalarType::Double);
  std::copy_n(doubles.const_data_ptr<double>(), count, values.data());
  return values;
}

// What a convolution's result is multiplied with in each channel, and what is added then.
struct ChannelFactors {
  std::vector<double> scales;
  std::vector<double> shifts;
};

ChannelFactors factorsOf(const FusedConvolution& call) {
  const int64_t channels = call.weight.sizes()[0];
  ChannelFactors factors{doublesOf(call.norm_weight, channels, 1), doublesOf(call.bias, channels, 0)};
  if (!call.running_mean.defined()) return factors;
  const std::vector<double> means = doublesOf(call.running_mean, channels, 0);
  const std::vector<double> variances = doublesOf(call.running_var, channels, 1);
  const std::vector<double> added = doublesOf(call.norm_bias, channels, 0);
  for (size_t i = 0; i < factors.scales.size(); ++i) {
    factors.scales[i] /= std::sqrt(variances[i] + call.eps);
    factors.shifts[i] = (factors.shifts[i] - means[i]) * factors.scales[i] + added[i];
  }
  return factors;
}

// Returns the kernels, contiguous, each multiplied with the scale of its output channel.
Tensor scaledKernels(const Tensor& weight, const std::vector<double>& scales) {
  Tensor kernels = Tensor::allocate(weight.sizes(), ScalarType::Float);
  copyElements(kernels, weight);
  auto* data = kernels.mutable_data_ptr<float>();
  const int64_t length = kernels.numel() / weight.sizes()[0];
  for (const double scale : scales) {
    for (int64_t i = 0; i < length; ++i) data[i] = static_cast<float>(data[i] * scale);
    data += length;
  }
  return toContiguous(kernels, weight.scalar_type());
}

std::shared_ptr<FusedConvolutionPlan> makePlan(const ConvolutionCall& library, const onednn::ConvolutionExtras& extras,
                                               int threads, const FusedConvolution& call, PackedWeight& packed) {
  auto plan = std::make_shared<FusedConvolutionPlan>();
  plan->prepared = onednn::preparedConvolution(library, extras, threads).prepared;
  const PreparedConvolution& prepared = plan->prepared;
  if (!prepared.forward) return nullptr;
  const bool has_norm = call.running_mean.defined();
  const ChannelFactors factors = factorsOf(call);
  if (extras.has_bias) {
    if (packed.bias == nullptr) {
      auto block = std::make_shared<onednn::Buffer>(factors.shifts.size() * sizeof(float));
      std::ranges::transform(factors.shifts, static_cast<float*>(block->data()),
                             [](double shift) { return static_cast<float>(shift); });
      packed.bias = std::move(block);
    }
    plan->bias = packed.bias;
  }
  if (!has_norm && !prepared.reorder_weights.has_value() && call.weight.is_contiguous()) return plan;
  plan->weights = packed.elements(prepared.weights, [&] {
    if (onednn::isTransformed(prepared.weights)) {
      auto block = std::make_shared<onednn::Buffer>(prepared.weights.get_size());
      onednn::transformKernels(toContiguous(readOnce(call.weight)),
                               has_norm ? factors.scales : std::vector<double>(factors.scales.size(), 1.0),
                               prepared.weights, block->data());
      return block;
    }
    const Tensor kernels =
        has_norm ? scaledKernels(readOnce(call.weight), factors.scales) : toContiguous(readOnce(call.weight));
    auto block = std::make_shared<onednn::Buffer>(prepared.weights.get_size());
    dnnl::memory source = onednn::memoryOf(kernels, prepared.own_weights);
    dnnl::memory target(prepared.weights, onednn::engine(), block->data());
    dnnl::reorder(source, target).execute(onednn::stream(), source, target);
    onednn::stream().wait();
    return block;
  });
  return plan;
}

bool convolveFusedByLibrary(const meta::Convolution& arguments, const Tensor& out, const FusedConvolution& call) {
  const ScalarType type = out.scalar_type();
  if (type != ScalarType::Float && type != ScalarType::BFloat16) return false;
  if (call.input.numel() == 0 || call.weight.numel() == 0) return false;
  if (const std::optional<SeenPixels> seen = seenPixels(arguments, call.input, call.weight)) {
    return convolveFusedByLibrary(seen->arguments, out,
                                  {seen->input, call.weight, call.bias, call.norm_weight, call.norm_bias,
                                   call.running_mean, call.running_var, call.eps, call.add, call.activation});
  }
  const Tensor none;
  const Tensor input = inFormat(call.input, arguments.channels_last);
  const ConvolutionCall library{arguments, out, input, call.weight, none};
  const bool has_norm = call.running_mean.defined();
  const onednn::ConvolutionExtras extras{call.bias.defined() || has_norm, /*packs_weight=*/true, call.add.defined(),
                                         call.add.defined() && call.add.data_ptr() == out.data_ptr(), call.activation};
  const onednn::Threads threads(onednn::multiplyAddsOf(library));
  const std::array<const Tensor*, 5> others{&call.bias, &call.norm_weight, &call.norm_bias, &call.running_mean,
                                            &call.running_var};
  onednn::PrimitiveKey weight_key = PackedWeights::keyOf(kPackedForConvolution, call.weight, others);
  weight_key.push_back(arguments.groups);
  weight_key.push_back(std::bit_cast<int64_t>(call.eps));
  onednn::PrimitiveKey call_key{threads.count()};
  onednn::appendTo(call_key, library, extras);
  const PackedWeight::Plan kept =
      PackedWeights::of(call.weight)->get(call.weight, weight_key, others, call_key, [&](PackedWeight& packed) {
        return makePlan(library, extras, threads.count(), call, packed);
      });
  if (kept == nullptr) return false;
  const auto& plan = *static_cast<const FusedConvolutionPlan*>(kept.get());
  std::unique_ptr<onednn::ConvolutionMemories> memories = plan.memories.take();
  if (memories == nullptr) memories = std::make_unique<onednn::ConvolutionMemories>(plan.prepared);
  onednn::runConvolution(library, plan.prepared, *memories,
                         {plan.weights == nullptr ? nullptr : plan.weights->data(),
                          plan.bias == nullptr ? nullptr : plan.bias->data(), &call.add});
  plan.memories.giveBack(std::move(memories));
  return true;
}

}  // namespace
}  // namespace boxcar::cpu

namespace boxcar::native {

BOXCAR_REGISTER_STUB(CPU, convolveFused, cpu::convolveFusedByLibrary)

}  // namespace boxcar::native
