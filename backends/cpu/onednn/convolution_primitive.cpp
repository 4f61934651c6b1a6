#include <boxcar/backends/cpu/onednn/buffer.h>
#include <boxcar/backends/cpu/onednn/convolution_primitive.h>
#include <boxcar/backends/cpu/onednn/engine.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/cpu/thread_team.h>
#include <boxcar/backends/native/copy.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace boxcar::cpu::onednn {
namespace {

using Description = dnnl::memory::desc;
using Dims = dnnl::memory::dims;
using Tag = dnnl::memory::format_tag;

// A large network has about two hundred convolutions of different sizes.
constexpr size_t kMostConvolutions = 256;
// With fewer pixels in the result, reordering the kernels for oneDNN costs more than it saves.
constexpr int64_t kFewPixels = 64;

Dims contiguousDims(const Dims& sizes) {
  Dims strides(sizes.size());
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= std::max<int64_t>(sizes[i], 1);
  }
  return strides;
}

Dims channelsLastDims(const Dims& sizes) { return {sizes[1] * sizes[2] * sizes[3], 1, sizes[1] * sizes[3], sizes[1]}; }

Dims toDims(const DimVector& values) { return {values.begin(), values.end()}; }

int64_t pixelsOf(const meta::Convolution& c) {
  int64_t count = c.output_sizes[0];
  for (size_t i = 2; i < c.output_sizes.size(); ++i) count *= c.output_sizes[i];
  return count;
}

std::optional<dnnl::reorder> reorderOf(const Description& from, const Description& to) {
  if (from == to) return std::nullopt;
  // Few elements are reordered before a second thread has woken up.
  std::optional<LibraryThreads> alone;
  if (from.get_size() < static_cast<size_t>(kQuickGrain) * sizeof(float)) alone.emplace(1);
  return dnnl::reorder(dnnl::reorder::primitive_desc(engine(), from, engine(), to));
}

// Initialises [prepared] with the primitive that [Operation] describes, dnnl::convolution_forward or
// deconvolution_forward, unless there is only oneDNN's reference implementation.
template <class Operation>
void make(const ConvolutionCall& call, const ConvolutionExtras& extras, dnnl::algorithm algorithm, Addition addition,
          Tag layout, PreparedConvolution& prepared) {
  const meta::Convolution& c = call.arguments;
  const auto type = dataTypeOf(call.out.scalar_type());
  const size_t rank = c.rank();
  const Dims src(call.input.sizes().begin(), call.input.sizes().end());
  const Dims dst(c.output_sizes.begin(), c.output_sizes.end());
  Dims weights(call.weight.sizes().begin(), call.weight.sizes().end());
  Dims weight_strides = contiguousDims(weights);
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
  prepared.own_src = {src, type, c.channels_last ? channelsLastDims(src) : contiguousDims(src)};
  prepared.own_dst = {dst, type, c.channels_last ? channelsLastDims(dst) : contiguousDims(dst)};
  prepared.own_weights = {weights, type, weight_strides};
  if (extras.has_bias) {
    const auto bias_type = call.bias.defined() ? type : dnnl::memory::data_type::f32;
    prepared.bias = {{c.output_sizes[1]}, bias_type, Tag::x};
  }

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
  const bool is_small = !c.transposed && pixelsOf(c) < kFewPixels && c.groups == 1 && !extras.packs_weight;
  const bool is_winograd = algorithm == dnnl::algorithm::convolution_winograd;
  const bool stays = (c.channels_last || is_pointwise || is_small) && !is_winograd;
  const Description any_src(src, type, layout);
  const Description any_dst(dst, type, layout);
  if (addition == Addition::kBinary && !stays) return;
  const typename Operation::desc description(dnnl::prop_kind::forward_inference, algorithm,
                                             stays ? prepared.own_src : any_src, Description(weights, type, Tag::any),
                                             prepared.bias, stays ? prepared.own_dst : any_dst, toDims(c.stride),
                                             dilation, padding, far_padding);
  const typename Operation::primitive_desc chosen(
      description, attributesOf(addition, prepared.own_dst, extras.activation), engine());
  const std::string_view implementation = chosen.impl_info_str();
  if (implementation.find("ref") != std::string_view::npos) return;
  prepared.src = chosen.src_desc();
  prepared.weights = chosen.weights_desc();
  prepared.dst = chosen.dst_desc();
  prepared.scratchpad = chosen.scratchpad_desc();
  prepared.addition = addition;
  prepared.reorder_src = reorderOf(prepared.own_src, prepared.src);
  prepared.reorder_weights = reorderOf(prepared.own_weights, prepared.weights);
  prepared.reorder_dst = reorderOf(prepared.dst, prepared.own_dst);
  if (addition == Addition::kSum) prepared.reorder_add = reorderOf(prepared.own_dst, prepared.dst);
  prepared.forward = typename Operation::Primitive(chosen);
}

struct Forward : dnnl::convolution_forward {
  using Primitive = dnnl::convolution_forward;
};
struct Transposed : dnnl::deconvolution_forward {
  using Primitive = dnnl::deconvolution_forward;
};

// Whether Winograd's algorithm is faster, with what it takes to reorder images from and to its own layout: by a tenth
// to a half with packed kernels, and hardly if it transforms the kernels in each call (backends/README.md, "Fused
// operators"). Its error is that of the direct algorithm, 1e-6 to 2e-6 of the largest element for 3x3 kernels of 64 to
// 512 channels, or below. An element that is not finite spreads to the other results of its tile.
bool paysByWinograd(const ConvolutionCall& call, const ConvolutionExtras& extras) {
  constexpr int64_t kLeastChannels = 64;
  constexpr int64_t kLeastPixels = 196;
  // Beside other layers, the transformed kernels of so many channels have left the caches.
  constexpr int64_t kManyChannels = 512;
  constexpr int64_t kLeastPixelsOfMany = 784;
  const meta::Convolution& c = call.arguments;
  const auto areAll = [](const DimVector& values, int64_t value) {
    return std::ranges::all_of(values, [&](int64_t each) { return each == value; });
  };
  if (!extras.packs_weight || call.out.scalar_type() != ScalarType::Float) return false;
  if (c.transposed || c.rank() != 2 || c.groups != 1) return false;
  if (call.weight.sizes()[2] != 3 || call.weight.sizes()[3] != 3) return false;
  if (!areAll(c.stride, 1) || !areAll(c.dilation, 1) || !areAll(c.padding, 1)) return false;
  const int64_t channels = std::min(call.weight.sizes()[0], call.weight.sizes()[1]);
  return channels >= kLeastChannels && pixelsOf(c) >= (channels < kManyChannels ? kLeastPixels : kLeastPixelsOfMany);
}

// Whether the addition of a tensor is faster as an argument than by copying it to the result before. A binary addition
// keeps oneDNN 2.6 from its kernels by batched products, which pays only where the copy takes a large part of the time:
// with few multiply-adds for each element of the result.
bool addsByArgument(const ConvolutionCall& call) {
  const int64_t kernel = call.weight.numel() / call.weight.sizes()[0];
  return kernel < 512;
}

// Whether contiguous images are reordered to blocks of channels rather than to channels-last, which oneDNN would
// choose: both reorders, which take most of a depthwise convolution's time, are twice as fast (8x96x56x56: 2.1 ms
// instead of 4.4).
bool goesByBlocks(const ConvolutionCall& call) {
  const meta::Convolution& c = call.arguments;
  const int64_t channels = call.input.sizes()[1];
  return !c.transposed && !c.channels_last && c.rank() == 2 && c.groups == channels && c.output_sizes[1] == channels &&
         channels % 16 == 0;
}

PreparedConvolution prepare(const ConvolutionCall& call, const ConvolutionExtras& extras) {
  PreparedConvolution prepared;
  const auto tryWith = [&](dnnl::algorithm algorithm, Addition addition, Tag layout = Tag::any) {
    prepared = {};
    try {
      if (call.arguments.transposed) {
        make<Transposed>(call, extras, dnnl::algorithm::deconvolution_direct, addition, layout, prepared);
      } else {
        make<Forward>(call, extras, algorithm, addition, layout, prepared);
      }
    } catch (const dnnl::error&) {
      prepared.forward = {};  // there is no primitive for this call on this CPU
    }
  };
  constexpr auto kDirect = dnnl::algorithm::convolution_direct;
  const Addition addition = extras.adds ? Addition::kSum : Addition::kNone;
  if (paysByWinograd(call, extras)) tryWith(dnnl::algorithm::convolution_winograd, addition);
  if (goesByBlocks(call)) tryWith(kDirect, addition, Tag::nChw16c);
  // In place there is nothing to copy. A binary addition would read what partial sums have been written over.
  if (!prepared.forward && extras.adds && !extras.adds_in_place && addsByArgument(call))
    tryWith(kDirect, Addition::kBinary);
  if (!prepared.forward) tryWith(kDirect, addition);
  return prepared;
}

void reorder(const std::optional<dnnl::reorder>& reorder, dnnl::memory& from, dnnl::memory& to) {
  if (reorder.has_value()) reorder->execute(stream(), from, to);
}

}  // namespace

double multiplyAddsOf(const ConvolutionCall& call) {
  const Tensor& each = call.arguments.transposed ? call.input : call.out;
  const int64_t kernel = call.weight.numel() / call.weight.sizes()[0];
  return static_cast<double>(each.numel()) * static_cast<double>(kernel);
}

void appendTo(PrimitiveKey& key, const ConvolutionCall& call, const ConvolutionExtras& extras) {
  const meta::Convolution& c = call.arguments;
  const auto bits = [](double value) { return std::bit_cast<int64_t>(value); };
  const int64_t flags[] = {c.transposed,
                           c.groups,
                           c.channels_last,
                           extras.has_bias,
                           extras.packs_weight,
                           extras.adds,
                           extras.adds_in_place,
                           static_cast<int64_t>(extras.activation.kind),
                           bits(extras.activation.parameters[0]),
                           bits(extras.activation.parameters[1])};
  key.insert(key.end(), std::begin(flags), std::end(flags));
  for (const auto sizes : {call.input.sizes(), call.weight.sizes()}) key.insert(key.end(), sizes.begin(), sizes.end());
  for (const DimVector* values : {&c.stride, &c.padding, &c.dilation, &c.output_padding}) {
    key.insert(key.end(), values->begin(), values->end());
  }
}

OwnConvolution& preparedConvolution(const ConvolutionCall& call, const ConvolutionExtras& extras, int threads) {
  thread_local PrimitiveCache<OwnConvolution> cache(kMostConvolutions);
  PrimitiveKey key{static_cast<int64_t>(call.out.scalar_type()), threads};
  appendTo(key, call, extras);
  return cache.get(key, [&] { return OwnConvolution{prepare(call, extras), std::nullopt}; });
}

// Without a reorder, the tensor's own memory is the primitive's.
ConvolutionMemories::ConvolutionMemories(const PreparedConvolution& prepared) {
  const auto memoryOf = [](const Description& description) {
    return dnnl::memory(description, engine(), DNNL_MEMORY_NONE);
  };
  src_ = memoryOf(prepared.src);
  weights_ = memoryOf(prepared.weights);
  dst_ = memoryOf(prepared.dst);
  own_src_ = prepared.reorder_src.has_value() ? memoryOf(prepared.own_src) : src_;
  own_weights_ = prepared.reorder_weights.has_value() ? memoryOf(prepared.own_weights) : weights_;
  own_dst_ = prepared.reorder_dst.has_value() ? memoryOf(prepared.own_dst) : dst_;
  arguments_.add(DNNL_ARG_SRC, src_);
  arguments_.add(DNNL_ARG_WEIGHTS, weights_);
  arguments_.add(DNNL_ARG_DST, dst_);
  if (!prepared.bias.is_zero()) {
    bias_ = memoryOf(prepared.bias);
    arguments_.add(DNNL_ARG_BIAS, bias_);
  }
  if (prepared.addition != Addition::kNone) added_ = memoryOf(prepared.own_dst);
  if (prepared.addition == Addition::kBinary) arguments_.add(kAddedArgument, added_);
  if (prepared.scratchpad.get_size() > 0) {
    scratchpad_ = memoryOf(prepared.scratchpad);
    arguments_.add(DNNL_ARG_SCRATCHPAD, scratchpad_);
  }
}

void runConvolution(const ConvolutionCall& call, const PreparedConvolution& prepared, ConvolutionMemories& memories,
                    const ConvolutionOperands& operands) {
  const auto bytes = [](bool is_needed, const Description& description) {
    return is_needed ? description.get_size() : 0;
  };
  const bool packs = operands.packed_weights == nullptr && prepared.reorder_weights.has_value();
  const CallBuffer src_buffer(bytes(prepared.reorder_src.has_value(), prepared.src));
  const CallBuffer weights_buffer(bytes(packs, prepared.weights));
  const CallBuffer dst_buffer(bytes(prepared.reorder_dst.has_value(), prepared.dst));
  const CallBuffer scratchpad(prepared.scratchpad.get_size());
  ConvolutionMemories& m = memories;
  if (scratchpad.data() != nullptr) m.scratchpad_.set_data_handle(scratchpad.data());
  if (operands.bias != nullptr) m.bias_.set_data_handle(const_cast<void*>(operands.bias));
  m.own_dst_.set_data_handle(call.out.data_ptr());
  if (prepared.reorder_dst.has_value()) m.dst_.set_data_handle(dst_buffer.data());
  if (prepared.addition != Addition::kNone) m.added_.set_data_handle(operands.add->data_ptr());
  if (prepared.addition == Addition::kSum) {
    if (prepared.reorder_add.has_value()) {
      reorder(prepared.reorder_add, m.added_, m.dst_);
    } else if (operands.add->data_ptr() != call.out.data_ptr()) {
      native::copyElements(call.out, *operands.add);
    }
  }
  m.own_src_.set_data_handle(call.input.data_ptr());
  if (prepared.reorder_src.has_value()) m.src_.set_data_handle(src_buffer.data());
  reorder(prepared.reorder_src, m.own_src_, m.src_);
  if (operands.packed_weights != nullptr) {
    m.weights_.set_data_handle(const_cast<void*>(operands.packed_weights));
  } else {
    m.own_weights_.set_data_handle(call.weight.data_ptr());
    if (packs) m.weights_.set_data_handle(weights_buffer.data());
    if (packs) reorder(prepared.reorder_weights, m.own_weights_, m.weights_);
  }
  m.arguments_.execute(prepared.forward);
  reorder(prepared.reorder_dst, m.dst_, m.own_dst_);
  stream().wait();
}

}  // namespace boxcar::cpu::onednn
