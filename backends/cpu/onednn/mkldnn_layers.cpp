#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/onednn/mkldnn_tensor.h>
#include <boxcar/backends/meta/convolution.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/dispatcher/registry/library.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>

// Convolutions and linear layers of tensors of layout torch._mkldnn.

namespace boxcar::cpu {
namespace {

using onednn::dimsOf;
using onednn::elementsIn;
using onednn::elementsOf;
using onednn::makeMkldnn;
using onednn::MkldnnKey;
using onednn::MkldnnPrimitive;
using onednn::PreparedPrimitive;
using onednn::toStrided;

using IntSpan = std::span<const int64_t>;
using OptionalTensor = std::optional<Tensor>;
using Layer = dnnl::memory::desc;
using LayerDims = dnnl::memory::dims;

// The kernels' dimensions as oneDNN wants them: with one for the groups, if there are several.
LayerDims kernelDims(IntSpan sizes, int64_t groups) {
  LayerDims dims = dimsOf(sizes);
  if (groups == 1) return dims;
  dims[0] /= groups;
  dims.insert(dims.begin(), groups);
  return dims;
}

// Throws Error unless a layer of [op] takes the dtypes of both.
void checkLayerTypes(std::string_view op, const Tensor& input, const Tensor& weight) {
  const ScalarType type = input.scalar_type();
  onednn::checkFloats(op, input);
  BOXCAR_CHECK(weight.scalar_type() == type, "{}: the input has dtype {}, but the weight {}", op, dtypeName(type),
               dtypeName(weight.scalar_type()));
  BOXCAR_CHECK(input.is_cpu() && weight.is_cpu(), "{}: the input is on '{}', but the weight on '{}'", op,
               toString(input.device()), toString(weight.device()));
}

// The layer that oneDNN has chosen, with the layouts that it wants.
template <class Primitive>
PreparedPrimitive preparedLayer(const typename Primitive::primitive_desc& chosen, const Layer& bias) {
  return {Primitive(chosen), chosen.src_desc(),       chosen.weights_desc(), bias,
          chosen.dst_desc(), chosen.scratchpad_desc()};
}

// What oneDNN prepares for a convolution of images of [sizes].
const PreparedPrimitive& mkldnnConvolution(const meta::Convolution& c, IntSpan sizes, IntSpan kernel, ScalarType dtype,
                                           bool has_bias, const onednn::Threads& threads) {
  MkldnnKey key(MkldnnPrimitive::kConvolution, threads);
  key.add({static_cast<int64_t>(dtype), c.groups, has_bias});
  key.add(sizes).add(kernel).add(c.stride).add(c.padding).add(c.dilation);
  return prepared("convolution", dtype, key, [&] {
    using Tag = dnnl::memory::format_tag;
    const auto type = onednn::dataTypeOf(dtype);
    LayerDims dilation = dimsOf(c.dilation);
    for (int64_t& value : dilation) --value;
    const Layer bias = has_bias ? Layer({c.output_sizes[1]}, type, Tag::x) : Layer();
    const dnnl::convolution_forward::desc description(
        dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, Layer(dimsOf(sizes), type, Tag::any),
        Layer(kernelDims(kernel, c.groups), type, Tag::any), bias, Layer(dimsOf(c.output_sizes), type, Tag::any),
        dimsOf(c.stride), dilation, dimsOf(c.padding), dimsOf(c.padding));
    const dnnl::convolution_forward::primitive_desc chosen(description, onednn::scratchpadByCaller(), onednn::engine());
    return preparedLayer<dnnl::convolution_forward>(chosen, bias);
  });
}

onednn::Threads threadsOf(const meta::Convolution& c, IntSpan kernel) {
  double work = 1;
  for (const int64_t size : c.output_sizes) work *= static_cast<double>(size);
  for (const int64_t size : kernel.subspan(1)) work *= static_cast<double>(size);
  return onednn::Threads(work);
}

// The result has the input's layout: a strided input may have packed kernels.
Tensor convolutionOfMkldnn(const Tensor& input, const Tensor& weight, const OptionalTensor& bias, IntSpan stride,
                           IntSpan padding, IntSpan dilation, bool transposed, IntSpan output_padding, int64_t groups) {
  BOXCAR_CHECK(!transposed,
               "convolution: a transposed one takes strided tensors, not tensors of layout torch._mkldnn; call it with "
               "x.to_dense()");
  const Tensor added = bias.value_or(Tensor());
  checkLayerTypes("convolution", input, weight);
  const meta::Convolution c =
      meta::checkConvolution(input, weight, added, stride, padding, dilation, transposed, output_padding, groups);
  const ScalarType type = input.scalar_type();
  BOXCAR_CHECK(std::ranges::find(c.output_sizes, 0) == c.output_sizes.end(),
               "convolution: the result, [{}], would have no elements, which no tensor of layout torch._mkldnn has",
               fmt::join(c.output_sizes, ", "));
  const onednn::Threads threads = threadsOf(c, weight.sizes());
  const PreparedPrimitive& convolution =
      mkldnnConvolution(c, input.sizes(), weight.sizes(), type, added.defined(), threads);
  const Tensor images = input.is_mkldnn() ? onednn::withOwnSizes(input) : toContiguous(input);
  const dnnl::memory src = elementsIn(convolution.src, images);
  const Tensor kernels = weight.is_mkldnn() ? weight : toContiguous(weight);
  const dnnl::memory weights = elementsIn(convolution.weights, kernels);
  const Tensor out = makeMkldnn(convolution.dst, type);
  const dnnl::memory dst = elementsOf(out);
  if (added.defined()) {
    const Tensor numbers = toStrided(added, type);
    const dnnl::memory last = onednn::memoryOf(numbers, convolution.bias);
    run(convolution, {{DNNL_ARG_SRC, src}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_BIAS, last}, {DNNL_ARG_DST, dst}});
  } else {
    run(convolution, {{DNNL_ARG_SRC, src}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DST, dst}});
  }
  return input.is_mkldnn() ? out : toStrided(out, type);
}

Tensor reorderConvolutionWeight(const Tensor& self, IntSpan padding, IntSpan stride, IntSpan dilation, int64_t groups,
                                std::optional<IntSpan> input_size) {
  constexpr std::string_view kName = "mkldnn_reorder_conv2d_weight";
  onednn::checkMkldnn(kName, "self", self);
  checkLayerTypes(kName, self, self);
  BOXCAR_CHECK(self.dim() == 4, "{}: the kernels of a 2d convolution have 4 dimensions, not {}", kName, self.dim());
  BOXCAR_CHECK(groups >= 1 && self.sizes()[0] % groups == 0, "{}: groups must divide the {} kernels, but it is {}",
               kName, self.sizes()[0], groups);
  // Without sizes, oneDNN is asked for images of a few windows, which tell it the channels and the kernel.
  const IntSpan kernel = self.sizes();
  const LayerDims sizes =
      input_size.has_value() ? dimsOf(*input_size) : LayerDims{1, kernel[1] * groups, 14 + kernel[2], 14 + kernel[3]};
  const Tensor images = Tensor::allocate(sizes, self.scalar_type(), Device(DeviceType::Meta));
  const int64_t no_padding[] = {0};
  const meta::Convolution c =
      meta::checkConvolution(images, self, Tensor(), stride, padding, dilation, false, no_padding, groups);
  BOXCAR_CHECK(images.numel() > 0, "{}: images of sizes [{}] have no elements", kName, fmt::join(sizes, ", "));
  const Layer wanted =
      mkldnnConvolution(c, sizes, kernel, self.scalar_type(), /*has_bias=*/true, threadsOf(c, kernel)).weights;
  if (wanted == onednn::layoutOf(self)) return self.shallowCopy();
  Tensor packed = makeMkldnn(wanted, kernel, self.scalar_type());
  const Layer plain = onednn::plainLayout(wanted.dims(), self.scalar_type());
  if (onednn::layoutOf(self).dims() == wanted.dims()) {
    onednn::reorderElements(elementsOf(self), elementsOf(packed));
  } else {
    const Tensor dense = toStrided(self, self.scalar_type());
    onednn::reorderElements(onednn::memoryOf(dense, plain), elementsOf(packed));
  }
  return packed;
}

Tensor linearOfMkldnn(const Tensor& self, const Tensor& weight, const OptionalTensor& bias) {
  constexpr std::string_view kName = "mkldnn_linear";
  onednn::checkMkldnn(kName, "self", self);
  checkLayerTypes(kName, self, weight);
  const Tensor added = bias.value_or(Tensor());
  const int64_t inputs = self.sizes().back();
  BOXCAR_CHECK(weight.dim() == 2 && weight.sizes()[1] == inputs,
               "{}: the input has {} features, so the weight must be of [outputs, {}], not [{}]", kName, inputs, inputs,
               fmt::join(weight.sizes(), ", "));
  const int64_t outputs = weight.sizes()[0];
  BOXCAR_CHECK(outputs > 0, "{}: the weight has no outputs", kName);
  BOXCAR_CHECK(!added.defined() || (added.dim() == 1 && added.sizes()[0] == outputs),
               "{}: the weight has {} outputs, so the bias must be of [{}], not [{}]", kName, outputs, outputs,
               fmt::join(added.sizes(), ", "));
  const ScalarType type = self.scalar_type();
  const int64_t rows = self.numel() / inputs;
  const onednn::Threads threads(static_cast<double>(rows) * static_cast<double>(weight.numel()));
  MkldnnKey key(MkldnnPrimitive::kLinear, threads);
  key.add({static_cast<int64_t>(type), added.defined(), rows, inputs, outputs});
  const PreparedPrimitive& linear = prepared(kName, type, key, [&] {
    using Tag = dnnl::memory::format_tag;
    const auto element = onednn::dataTypeOf(type);
    const Layer sum = added.defined() ? Layer({outputs}, element, Tag::x) : Layer();
    const dnnl::inner_product_forward::desc description(
        dnnl::prop_kind::forward_inference, Layer({rows, inputs}, element, Tag::any),
        Layer({outputs, inputs}, element, Tag::any), sum, Layer({rows, outputs}, element, Tag::any));
    const dnnl::inner_product_forward::primitive_desc chosen(description, onednn::scratchpadByCaller(),
                                                             onednn::engine());
    return preparedLayer<dnnl::inner_product_forward>(chosen, sum);
  });
  // elementsIn() folds the other dimensions to rows.
  const dnnl::memory src = elementsIn(linear.src, self);
  const Tensor factors = weight.is_mkldnn() ? weight : toContiguous(weight);
  const dnnl::memory weights = elementsIn(linear.weights, factors);
  DimVector sizes = toDimVector(self.sizes());
  sizes.back() = outputs;
  // Rows can be unfolded where they lie one after another.
  const Layer plain_rows = onednn::plainLayout(LayerDims{rows, outputs}, type);
  const bool is_plain = linear.dst == plain_rows;
  Tensor out = self.dim() == 2 ? makeMkldnn(linear.dst, type) : makeMkldnn(onednn::plainLayout(sizes, type), type);
  const bool writes_out = self.dim() == 2 || is_plain;
  const Tensor written = writes_out ? out : makeMkldnn(linear.dst, type);
  const dnnl::memory dst(linear.dst, onednn::engine(), elementsOf(written).get_data_handle());
  if (added.defined()) {
    const Tensor numbers = toStrided(added, type);
    const dnnl::memory last = onednn::memoryOf(numbers, linear.bias);
    run(linear, {{DNNL_ARG_SRC, src}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_BIAS, last}, {DNNL_ARG_DST, dst}});
  } else {
    run(linear, {{DNNL_ARG_SRC, src}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DST, dst}});
  }
  if (!writes_out) {
    onednn::reorderElements(dst, {plain_rows, onednn::engine(), elementsOf(out).get_data_handle()});
  }
  return out;
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, MkldnnCPU, m) {
  m.impl("convolution", BOXCAR_FN(convolutionOfMkldnn));
  m.impl("mkldnn_reorder_conv2d_weight", BOXCAR_FN(reorderConvolutionWeight));
  m.impl("mkldnn_linear", BOXCAR_FN(linearOfMkldnn));
}

}  // namespace boxcar::cpu
