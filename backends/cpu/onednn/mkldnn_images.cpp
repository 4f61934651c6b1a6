#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/onednn/mkldnn_tensor.h>
#include <boxcar/backends/meta/join.h>
#include <boxcar/backends/meta/normalization.h>
#include <boxcar/backends/meta/pooling.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/dispatcher/registry/library.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

// Pools, normalisation and concatenation of tensors of layout torch._mkldnn.

namespace boxcar::cpu {
namespace {

using onednn::elementsOf;
using onednn::layoutOf;
using onednn::makeMkldnn;
using onednn::MkldnnKey;
using onednn::MkldnnPrimitive;
using onednn::PreparedPrimitive;

using IntSpan = std::span<const int64_t>;
using OptionalTensor = std::optional<Tensor>;
using ImageLayout = dnnl::memory::desc;
using ImageDims = dnnl::memory::dims;

void checkImages(std::string_view op, const Tensor& self, int64_t rank) {
  onednn::checkFloats(op, self);
  BOXCAR_CHECK(rank == 0 || self.dim() == rank,
               "{}: a tensor of layout torch._mkldnn must have {} dimensions, the batch among them, but it has {}; "
               "reshape it",
               op, rank, self.dim());
}

Tensor poolImages(std::string_view op, const Tensor& images, const meta::Pool& pool, dnnl::algorithm algorithm) {
  const Tensor self = onednn::withOwnSizes(images);
  const ScalarType type = self.scalar_type();
  const onednn::Threads threads = onednn::threadsFor(self);
  MkldnnKey key(MkldnnPrimitive::kPool, threads);
  key.add(layoutOf(self)).add({static_cast<int64_t>(algorithm)}).add(pool.output_sizes);
  key.add(pool.kernel).add(pool.stride).add(pool.padding).add(pool.dilation);
  const PreparedPrimitive& primitive = prepared(op, type, key, [&] {
    ImageDims dilation = onednn::dimsOf(pool.dilation);
    ImageDims far_padding = onednn::dimsOf(pool.padding);
    for (size_t i = 0; i < dilation.size(); ++i) {
      // The last window may reach beyond the padding in ceil_mode.
      const int64_t reached = (pool.output_sizes[i + 2] - 1) * pool.stride[i] + (pool.kernel[i] - 1) * dilation[i] + 1;
      far_padding[i] = std::max(far_padding[i], reached - pool.padding[i] - self.sizes()[i + 2]);
      --dilation[i];
    }
    const ImageLayout any(onednn::dimsOf(pool.output_sizes), onednn::dataTypeOf(type), dnnl::memory::format_tag::any);
    const dnnl::pooling_v2_forward::desc description(dnnl::prop_kind::forward_inference, algorithm, layoutOf(self), any,
                                                     onednn::dimsOf(pool.stride), onednn::dimsOf(pool.kernel), dilation,
                                                     onednn::dimsOf(pool.padding), far_padding);
    const dnnl::pooling_v2_forward::primitive_desc chosen(description, onednn::scratchpadByCaller(), onednn::engine());
    PreparedPrimitive made;
    made.dst = chosen.dst_desc();
    made.scratchpad = chosen.scratchpad_desc();
    made.primitive = dnnl::pooling_v2_forward(chosen);
    return made;
  });
  Tensor out = makeMkldnn(primitive.dst, type);
  run(primitive, {{DNNL_ARG_SRC, elementsOf(self)}, {DNNL_ARG_DST, elementsOf(out)}});
  return out;
}

Tensor mkldnnMaxPool2d(const Tensor& self, IntSpan kernel_size, IntSpan stride, IntSpan padding, IntSpan dilation,
                       bool ceil_mode) {
  constexpr const char* kName = "max_pool2d";
  checkImages(kName, self, 4);
  const meta::Pool pool = meta::checkPool(kName, 2, self, kernel_size, stride, padding, dilation, ceil_mode);
  return poolImages(kName, self, pool, dnnl::algorithm::pooling_max);
}

Tensor mkldnnAvgPool2d(const Tensor& self, IntSpan kernel_size, IntSpan stride, IntSpan padding, bool ceil_mode,
                       bool count_include_pad, std::optional<int64_t> divisor_override) {
  constexpr const char* kName = "avg_pool2d";
  checkImages(kName, self, 4);
  BOXCAR_CHECK(!divisor_override.has_value(),
               "avg_pool2d: a tensor of layout torch._mkldnn takes no divisor_override; call it with x.to_dense()");
  const int64_t dense[] = {1};
  const meta::Pool pool = meta::checkPool(kName, 2, self, kernel_size, stride, padding, dense, ceil_mode);
  // oneDNN would count the places beyond the padding, too.
  bool is_beyond = false;
  for (size_t i = 0; i < 2; ++i) {
    is_beyond = is_beyond || (pool.output_sizes[i + 2] - 1) * pool.stride[i] + pool.kernel[i] >
                                 self.sizes()[i + 2] + 2 * pool.padding[i];
  }
  BOXCAR_CHECK(!is_beyond || !count_include_pad,
               "avg_pool2d: with ceil_mode and count_include_pad, the last window reaches beyond the padding, which "
               "oneDNN would count for tensors of layout torch._mkldnn; call it with x.to_dense()");
  return poolImages(
      kName, self, pool,
      count_include_pad ? dnnl::algorithm::pooling_avg_include_padding : dnnl::algorithm::pooling_avg_exclude_padding);
}

// Windows of one size, as PyTorch demands, too.
Tensor mkldnnAdaptiveAvgPool2d(const Tensor& self, IntSpan output_size) {
  constexpr const char* kName = "adaptive_avg_pool2d";
  checkImages(kName, self, 4);
  const meta::AdaptivePool checked = meta::checkAdaptivePool(kName, 2, self, output_size, /*may_lack_channels=*/false);
  meta::Pool pool;
  pool.output_sizes = checked.output_sizes;
  for (size_t i = 2; i < 4; ++i) {
    const int64_t in = self.sizes()[i];
    const int64_t out = checked.output_sizes[i];
    BOXCAR_CHECK(out > 0 && in % out == 0,
                 "adaptive_avg_pool2d: the sizes of images of layout torch._mkldnn must be multiples of output_size, "
                 "but {} is not one of {}; call it with x.to_dense()",
                 in, out);
    pool.kernel.push_back(in / out);
    pool.stride.push_back(in / out);
    pool.padding.push_back(0);
    pool.dilation.push_back(1);
  }
  return poolImages(kName, self, pool, dnnl::algorithm::pooling_avg_exclude_padding);
}

Tensor mkldnnSoftmax(const Tensor& input, int64_t dim, bool half_to_float) {
  constexpr const char* kName = "softmax";
  checkImages(kName, input, 0);
  BOXCAR_CHECK(!half_to_float, "softmax: a tensor of layout torch._mkldnn keeps its dtype; call it with x.to_dense()");
  const auto axis = static_cast<int>(wrapDimension(dim, input.dim()));
  const Tensor self = onednn::withOwnSizes(input);
  const onednn::Threads threads = onednn::threadsFor(self);
  MkldnnKey key(MkldnnPrimitive::kSoftmax, threads);
  key.add(layoutOf(self)).add({axis});
  const PreparedPrimitive& softmax = prepared(kName, self.scalar_type(), key, [&] {
    const dnnl::softmax_forward::desc description(dnnl::prop_kind::forward_inference, layoutOf(self), axis);
    const dnnl::softmax_forward::primitive_desc chosen(description, onednn::scratchpadByCaller(), onednn::engine());
    PreparedPrimitive made;
    made.scratchpad = chosen.scratchpad_desc();
    made.primitive = dnnl::softmax_forward(chosen);
    return made;
  });
  Tensor out = makeMkldnn(layoutOf(self), self.scalar_type());
  run(softmax, {{DNNL_ARG_SRC, elementsOf(self)}, {DNNL_ARG_DST, elementsOf(out)}});
  return out;
}

// [numbers], one per channel, as float32; all [otherwise] if they are not given.
Tensor channelNumbers(const OptionalTensor& numbers, int64_t channels, float otherwise) {
  const Tensor* const given = meta::givenTensor(numbers);
  if (given != nullptr) return onednn::toStrided(*given, ScalarType::Float);
  const int64_t sizes[] = {channels};
  Tensor filled = Tensor::allocate(sizes, ScalarType::Float);
  std::fill_n(filled.mutable_data_ptr<float>(), channels, otherwise);
  return filled;
}

std::tuple<Tensor, Tensor, Tensor> mkldnnBatchNorm(const Tensor& input, const OptionalTensor& weight,
                                                   const OptionalTensor& bias, const OptionalTensor& running_mean,
                                                   const OptionalTensor& running_var, bool training,
                                                   double /*momentum*/, double eps) {
  constexpr const char* kName = "batch_norm";
  onednn::checkMkldnn(kName, "input", input);
  checkImages(kName, input, 0);
  BOXCAR_CHECK(!training,
               "batch_norm: a tensor of layout torch._mkldnn is normalised with training=False only; train with "
               "x.to_dense()");
  BOXCAR_CHECK(input.dim() >= 2, "batch_norm: expected an input of 2 dimensions at least, not {}", input.dim());
  const meta::ChannelParameters parameters{meta::givenTensor(weight), meta::givenTensor(bias),
                                           meta::givenTensor(running_mean), meta::givenTensor(running_var)};
  BOXCAR_CHECK(parameters.running_mean != nullptr && parameters.running_var != nullptr,
               "batch_norm: without training, running_mean and running_var must be given");
  const int64_t channels = input.sizes()[1];
  meta::checkChannels(parameters, channels);
  const Tensor self = onednn::withOwnSizes(input);
  const onednn::Threads threads = onednn::threadsFor(self);
  MkldnnKey key(MkldnnPrimitive::kNorm, threads);
  key.add(layoutOf(self)).add({std::bit_cast<int64_t>(eps)});
  const PreparedPrimitive& norm = prepared(kName, self.scalar_type(), key, [&] {
    using Flags = dnnl::normalization_flags;
    const dnnl::batch_normalization_forward::desc description(
        dnnl::prop_kind::forward_inference, layoutOf(self), static_cast<float>(eps),
        Flags::use_global_stats | Flags::use_scale | Flags::use_shift);
    const dnnl::batch_normalization_forward::primitive_desc chosen(description, onednn::scratchpadByCaller(),
                                                                   onednn::engine());
    PreparedPrimitive made;
    made.scratchpad = chosen.scratchpad_desc();
    made.primitive = dnnl::batch_normalization_forward(chosen);
    return made;
  });
  const ImageLayout row({channels}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::x);
  const Tensor means = channelNumbers(running_mean, channels, 0);
  const Tensor variances = channelNumbers(running_var, channels, 1);
  const Tensor scales = channelNumbers(weight, channels, 1);
  const Tensor shifts = channelNumbers(bias, channels, 0);
  Tensor out = makeMkldnn(layoutOf(self), self.scalar_type());
  run(norm, {{DNNL_ARG_SRC, elementsOf(self)},
             {DNNL_ARG_MEAN, onednn::memoryOf(means, row)},
             {DNNL_ARG_VARIANCE, onednn::memoryOf(variances, row)},
             {DNNL_ARG_SCALE, onednn::memoryOf(scales, row)},
             {DNNL_ARG_SHIFT, onednn::memoryOf(shifts, row)},
             {DNNL_ARG_DST, elementsOf(out)}});
  const int64_t none[] = {0};
  return {std::move(out), Tensor::allocate(none, ScalarType::Float), Tensor::allocate(none, ScalarType::Float)};
}

Tensor mkldnnCat(TensorList tensors, int64_t dim) {
  constexpr const char* kName = "cat";
  BOXCAR_CHECK(!tensors.empty(), "cat: expected a list of tensors that is not empty");
  std::vector<Tensor> sources;
  std::vector<ImageLayout> layouts;
  for (const Tensor& tensor : tensors) {
    onednn::checkMkldnn(kName, "tensors", tensor);
    BOXCAR_CHECK(tensor.scalar_type() == tensors[0].scalar_type(),
                 "cat: tensors of layout torch._mkldnn must have one dtype, but they have {} and {}; convert one by "
                 "x.to_mkldnn(dtype)",
                 dtypeName(tensors[0].scalar_type()), dtypeName(tensor.scalar_type()));
    sources.push_back(onednn::withOwnSizes(tensor));
    layouts.push_back(layoutOf(sources.back()));
  }
  const meta::Joined joined = meta::joinAlong(tensors, dim);
  const ScalarType type = tensors[0].scalar_type();
  double elements = 0;
  for (const Tensor& tensor : tensors) elements += static_cast<double>(tensor.numel());
  const onednn::Threads threads(16 * elements);
  MkldnnKey key(MkldnnPrimitive::kCat, threads);
  key.add({static_cast<int64_t>(joined.dim)});
  for (const ImageLayout& layout : layouts) key.add(layout);
  const PreparedPrimitive& concatenation = prepared(kName, type, key, [&] {
    const dnnl::concat::primitive_desc chosen(static_cast<int>(joined.dim), layouts, onednn::engine(),
                                              onednn::scratchpadByCaller());
    PreparedPrimitive made;
    made.dst = chosen.dst_desc();
    made.scratchpad = chosen.scratchpad_desc();
    made.primitive = dnnl::concat(chosen);
    return made;
  });
  Tensor out = makeMkldnn(concatenation.dst, joined.sizes, type);
  std::vector<dnnl::memory> memories;
  for (const Tensor& source : sources) memories.push_back(elementsOf(source));
  memories.push_back(elementsOf(out));
  std::vector<onednn::PrimitiveArgument> arguments;
  for (size_t i = 0; i < sources.size(); ++i) {
    arguments.push_back({DNNL_ARG_MULTIPLE_SRC + static_cast<int>(i), memories[i]});
  }
  arguments.push_back({DNNL_ARG_DST, memories.back()});
  run(concatenation, arguments);
  return out;
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, MkldnnCPU, m) {
  m.impl("mkldnn_max_pool2d", BOXCAR_FN(mkldnnMaxPool2d));
  m.impl("avg_pool2d", BOXCAR_FN(mkldnnAvgPool2d));
  m.impl("_adaptive_avg_pool2d", BOXCAR_FN(mkldnnAdaptiveAvgPool2d));
  m.impl("_softmax", BOXCAR_FN(mkldnnSoftmax));
  m.impl("native_batch_norm", BOXCAR_FN(mkldnnBatchNorm));
  m.impl("cat", BOXCAR_FN(mkldnnCat));
}

}  // namespace boxcar::cpu
