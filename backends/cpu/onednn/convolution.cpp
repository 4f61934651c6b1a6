#include <boxcar/backends/cpu/convolution.h>
#include <boxcar/backends/cpu/onednn/engine.h>
#include <boxcar/backends/cpu/onednn/primitive_cache.h>
#include <boxcar/ivalue/cached_memory.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace boxcar::cpu {
namespace {

using Description = dnnl::memory::desc;
using Dims = dnnl::memory::dims;
using Tag = dnnl::memory::format_tag;

constexpr size_t kMostPrimitives = 64;
// With fewer pixels in the result, reordering the kernels for oneDNN costs more than it saves.
constexpr int64_t kFewPixels = 64;

// A convolution that is ready to run. Tensors in other layouts than it expects are reordered. The kernels are reordered
// in each call, since they may be written to between two calls; with many pixels, this takes a hundredth of the
// convolution's time.
struct Prepared {
  dnnl::primitive forward;                          // empty if oneDNN has only its reference implementation
  Description src, weights, dst, bias, scratchpad;  // what the primitive expects
  Description own_src, own_weights, own_dst;        // the tensors' own layouts
  std::optional<dnnl::reorder> reorder_src, reorder_weights, reorder_dst;
};

// Memory for reordered tensors.
class Buffer final {
 public:
  explicit Buffer(size_t bytes) : bytes_(bytes), memory_(bytes == 0 ? nullptr : allocateCached(bytes)) {}
  ~Buffer() {
    if (memory_ != nullptr) freeCached(memory_, bytes_);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  void* data() const { return memory_; }

 private:
  size_t bytes_;
  void* memory_;
};

Dims contiguousStrides(const Dims& sizes) {
  Dims strides(sizes.size());
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= std::max<int64_t>(sizes[i], 1);
  }
  return strides;
}

Dims channelsLastStrides(const Dims& sizes) {
  return {sizes[1] * sizes[2] * sizes[3], 1, sizes[1] * sizes[3], sizes[1]};
}

Dims toDims(const DimVector& values) { return {values.begin(), values.end()}; }

int64_t pixelsOf(const meta::Convolution& c) {
  int64_t count = c.output_sizes[0];
  for (size_t i = 2; i < c.output_sizes.size(); ++i) count *= c.output_sizes[i];
  return count;
}

// Initialises [prepared] with the primitive that [Operation] describes: dnnl::convolution_forward or
// deconvolution_forward.
template <class Operation>
void make(const ConvolutionCall& call, Prepared& prepared) {
  const meta::Convolution& c = call.arguments;
  const auto type = onednn::dataTypeOf(call.out.scalar_type());
  const size_t rank = c.rank();
  const Dims src(call.input.sizes().begin(), call.input.sizes().end());
  const Dims dst(c.output_sizes.begin(), c.output_sizes.end());
  Dims weights(call.weight.sizes().begin(), call.weight.sizes().end());
  Dims weight_strides = contiguousStrides(weights);
  if (c.groups > 1) {
    weights.insert(weights.begin(), c.groups);
    weights[1] /= c.groups;
    weight_strides.insert(weight_strides.begin(), weights[1] * weight_strides[0]);
  }
  // Transposed convolutions have kernels of [C, O/groups, …], but oneDNN expects [O/groups, C, …].
  if (c.transposed) {
    const size_t outputs = c.groups > 1 ? 1 : 0;
    std::swap(weights[outputs], weights[outputs + 1]);
    std::swap(weight_strides[outputs], weight_strides[outputs + 1]);
  }
  prepared.own_src = {src, type, c.channels_last ? channelsLastStrides(src) : contiguousStrides(src)};
  prepared.own_dst = {dst, type, c.channels_last ? channelsLastStrides(dst) : contiguousStrides(dst)};
  prepared.own_weights = {weights, type, weight_strides};
  if (call.bias.defined()) prepared.bias = {{call.bias.numel()}, type, Tag::x};

  Dims dilation = toDims(c.dilation);
  for (int64_t& value : dilation) --value;
  const Dims padding = toDims(c.padding);
  Dims far_padding = padding;
  bool is_pointwise = !c.transposed;
  for (size_t i = 0; i < rank; ++i) {
    if (c.transposed) far_padding[i] -= c.output_padding[i];
    is_pointwise = is_pointwise && call.weight.sizes()[i + 2] == 1 && c.stride[i] == 1 && c.padding[i] == 0;
  }
  // Such a convolution is a matrix product, which reads the tensors in their own layout.
  const bool stays = c.channels_last || is_pointwise || (!c.transposed && pixelsOf(c) < kFewPixels && c.groups == 1);
  const Description any_src(src, type, Tag::any);
  const Description any_dst(dst, type, Tag::any);
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const typename Operation::desc description(dnnl::prop_kind::forward_inference, Operation::kAlgorithm,
                                             stays ? prepared.own_src : any_src, Description(weights, type, Tag::any),
                                             prepared.bias, stays ? prepared.own_dst : any_dst, toDims(c.stride),
                                             dilation, padding, far_padding);
  const typename Operation::primitive_desc chosen(description, attributes, onednn::engine());
  const std::string_view implementation = chosen.impl_info_str();
  if (implementation.find("ref") != std::string_view::npos) return;
  prepared.src = chosen.src_desc();
  prepared.weights = chosen.weights_desc();
  prepared.dst = chosen.dst_desc();
  prepared.scratchpad = chosen.scratchpad_desc();
  const auto reorder = [](const Description& from, const Description& to) -> std::optional<dnnl::reorder> {
    if (from == to) return std::nullopt;
    return dnnl::reorder(dnnl::reorder::primitive_desc(onednn::engine(), from, onednn::engine(), to));
  };
  prepared.reorder_src = reorder(prepared.own_src, prepared.src);
  prepared.reorder_weights = reorder(prepared.own_weights, prepared.weights);
  prepared.reorder_dst = reorder(prepared.dst, prepared.own_dst);
  prepared.forward = typename Operation::Primitive(chosen);
}

// The direct algorithm: its error, 1e-6 to 2e-6 of the largest element for 3x3 kernels of 64 to 256 channels, comes
// from the sums. oneDNN's Winograd algorithm, with tiles of 4x3 outputs and large coefficients, has errors of 2.2e-6 to
// 3.6e-6 on one CPU and 6e-6 to 1.2e-5 on another, and saves about a tenth of the time.
struct Forward : dnnl::convolution_forward {
  using Primitive = dnnl::convolution_forward;
  static constexpr auto kAlgorithm = dnnl::algorithm::convolution_direct;
};
struct Transposed : dnnl::deconvolution_forward {
  using Primitive = dnnl::deconvolution_forward;
  static constexpr auto kAlgorithm = dnnl::algorithm::deconvolution_direct;
};

Prepared prepare(const ConvolutionCall& call) {
  Prepared prepared;
  try {
    if (call.arguments.transposed) {
      make<Transposed>(call, prepared);
    } else {
      make<Forward>(call, prepared);
    }
  } catch (const dnnl::error&) {
    prepared.forward = {};  // there is no primitive for this call on this CPU
  }
  return prepared;
}

double multiplyAddsOf(const ConvolutionCall& call) {
  const Tensor& each = call.arguments.transposed ? call.input : call.out;
  const int64_t kernel = call.weight.numel() / call.weight.sizes()[0];
  return static_cast<double>(each.numel()) * static_cast<double>(kernel);
}

onednn::PrimitiveKey keyOf(const ConvolutionCall& call, int threads) {
  const meta::Convolution& c = call.arguments;
  onednn::PrimitiveKey key{static_cast<int64_t>(call.out.scalar_type()),
                           threads,
                           c.transposed,
                           c.groups,
                           c.channels_last,
                           call.bias.defined()};
  for (const auto sizes : {call.input.sizes(), call.weight.sizes()}) key.insert(key.end(), sizes.begin(), sizes.end());
  for (const DimVector* values : {&c.stride, &c.padding, &c.dilation, &c.output_padding}) {
    key.insert(key.end(), values->begin(), values->end());
  }
  return key;
}

// Returns [tensor] in the layout [wanted]: in place, or reordered into [buffer].
dnnl::memory brought(const Tensor& tensor, const Description& own, const Description& wanted,
                     std::optional<dnnl::reorder>& reorder, const Buffer& buffer) {
  dnnl::memory source = onednn::memoryOf(tensor, own);
  if (!reorder.has_value()) return source;
  dnnl::memory target(wanted, onednn::engine(), buffer.data());
  reorder->execute(onednn::stream(), source, target);
  return target;
}

void run(const ConvolutionCall& call, Prepared& prepared) {
  const auto bytes = [](const std::optional<dnnl::reorder>& reorder, const Description& description) {
    return reorder.has_value() ? description.get_size() : 0;
  };
  const Buffer src_buffer(bytes(prepared.reorder_src, prepared.src));
  const Buffer weights_buffer(bytes(prepared.reorder_weights, prepared.weights));
  const Buffer dst_buffer(bytes(prepared.reorder_dst, prepared.dst));
  const Buffer scratchpad(prepared.scratchpad.get_size());
  dnnl::stream& stream = onednn::stream();
  const dnnl::memory out = onednn::memoryOf(call.out, prepared.own_dst);
  dnnl::memory dst =
      prepared.reorder_dst.has_value() ? dnnl::memory(prepared.dst, onednn::engine(), dst_buffer.data()) : out;
  std::unordered_map<int, dnnl::memory> arguments;
  arguments.emplace(DNNL_ARG_SRC,
                    brought(call.input, prepared.own_src, prepared.src, prepared.reorder_src, src_buffer));
  arguments.emplace(DNNL_ARG_WEIGHTS, brought(call.weight, prepared.own_weights, prepared.weights,
                                              prepared.reorder_weights, weights_buffer));
  if (call.bias.defined()) arguments.emplace(DNNL_ARG_BIAS, onednn::memoryOf(call.bias, prepared.bias));
  arguments.emplace(DNNL_ARG_DST, dst);
  if (scratchpad.data() != nullptr) {
    arguments.emplace(DNNL_ARG_SCRATCHPAD, dnnl::memory(prepared.scratchpad, onednn::engine(), scratchpad.data()));
  }
  prepared.forward.execute(stream, arguments);
  if (prepared.reorder_dst.has_value()) {
    dnnl::memory target = out;
    prepared.reorder_dst->execute(stream, dst, target);
  }
  stream.wait();
}

}  // namespace

bool convolveByLibrary(const ConvolutionCall& call) {
  const ScalarType type = call.out.scalar_type();
  if (type != ScalarType::Float && type != ScalarType::BFloat16) return false;
  if (call.input.numel() == 0 || call.weight.numel() == 0) return false;
  const onednn::Threads threads(multiplyAddsOf(call));
  thread_local onednn::PrimitiveCache<Prepared> cache(kMostPrimitives);
  Prepared& prepared = cache.get(keyOf(call, threads.count()), [&] { return prepare(call); });
  if (!prepared.forward) return false;
  run(call, prepared);
  return true;
}

}  // namespace boxcar::cpu
