#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/onednn/mkldnn_tensor.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/scalar.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string_view>

// Pointwise operators of tensors of layout torch._mkldnn.

namespace boxcar::cpu {
namespace {

using onednn::elementsOf;
using onednn::layoutOf;
using onednn::makeMkldnn;
using onednn::MkldnnKey;
using onednn::MkldnnPrimitive;
using onednn::PreparedPrimitive;

// A function of elements, with oneDNN's two parameters.
struct ElementFunction {
  std::string_view op;
  dnnl::algorithm algorithm;
  float alpha = 0;
  float beta = 0;
};

// Writes the function's values for [self] to [out], of the same layout, which may be [self].
void runElements(const ElementFunction& function, const Tensor& self, const Tensor& out) {
  const onednn::Threads threads = onednn::threadsFor(self);
  MkldnnKey key(MkldnnPrimitive::kEltwise, threads);
  key.add(layoutOf(self))
      .add({static_cast<int64_t>(function.algorithm), std::bit_cast<int32_t>(function.alpha),
            std::bit_cast<int32_t>(function.beta)});
  const PreparedPrimitive& primitive = prepared(function.op, self.scalar_type(), key, [&] {
    const dnnl::eltwise_forward::desc description(dnnl::prop_kind::forward_inference, function.algorithm,
                                                  layoutOf(self), function.alpha, function.beta);
    const dnnl::eltwise_forward::primitive_desc chosen(description, onednn::scratchpadByCaller(), onednn::engine());
    PreparedPrimitive made;
    made.scratchpad = chosen.scratchpad_desc();
    made.primitive = dnnl::eltwise_forward(chosen);
    return made;
  });
  run(primitive, {{DNNL_ARG_SRC, elementsOf(self)}, {DNNL_ARG_DST, elementsOf(out)}});
}

Tensor sameLayout(const Tensor& self) { return makeMkldnn(layoutOf(self), self.sizes(), self.scalar_type()); }

Tensor functionOf(const ElementFunction& function, const Tensor& self) {
  onednn::checkFloats(function.op, self);
  Tensor out = sameLayout(self);
  runElements(function, self, out);
  return out;
}

Tensor& functionInPlace(const ElementFunction& function, Tensor& self) {
  onednn::checkFloats(function.op, self);
  runElements(function, self, self);
  return self;
}

constexpr ElementFunction kMkldnnRelu{"relu", dnnl::algorithm::eltwise_relu};
constexpr ElementFunction kMkldnnSigmoid{"sigmoid", dnnl::algorithm::eltwise_logistic};
constexpr ElementFunction kMkldnnTanh{"tanh", dnnl::algorithm::eltwise_tanh};

Tensor mkldnnRelu(const Tensor& self) { return functionOf(kMkldnnRelu, self); }
Tensor& mkldnnReluInPlace(Tensor& self) { return functionInPlace(kMkldnnRelu, self); }
Tensor mkldnnSigmoid(const Tensor& self) { return functionOf(kMkldnnSigmoid, self); }
Tensor& mkldnnSigmoidInPlace(Tensor& self) { return functionInPlace(kMkldnnSigmoid, self); }
Tensor mkldnnTanh(const Tensor& self) { return functionOf(kMkldnnTanh, self); }
Tensor& mkldnnTanhInPlace(Tensor& self) { return functionInPlace(kMkldnnTanh, self); }
Tensor mkldnnGelu(const Tensor& self, std::string_view approximate) {
  BOXCAR_CHECK(approximate == "none" || approximate == "tanh", "gelu: approximate must be 'none' or 'tanh', not '{}'",
               approximate);
  const bool by_tanh = approximate == "tanh";
  return functionOf({"gelu", by_tanh ? dnnl::algorithm::eltwise_gelu_tanh : dnnl::algorithm::eltwise_gelu_erf}, self);
}

// Whether [tensor] stands for one number: a strided tensor without dimensions.
bool isNumber(const Tensor& tensor) { return tensor.defined() && !tensor.is_mkldnn() && tensor.dim() == 0; }

void checkPair(std::string_view op, const Tensor& self, const Tensor& other) {
  onednn::checkMkldnn(op, "self", self);
  onednn::checkMkldnn(op, "other", other);
  onednn::checkFloats(op, self);
  BOXCAR_CHECK(self.scalar_type() == other.scalar_type(),
               "{}: tensors of layout torch._mkldnn must have one dtype, but they have {} and {}; convert one by "
               "x.to_mkldnn(dtype)",
               op, dtypeName(self.scalar_type()), dtypeName(other.scalar_type()));
  BOXCAR_CHECK(std::ranges::equal(self.sizes(), other.sizes()),
               "{}: tensors of layout torch._mkldnn do not broadcast, but the sizes are [{}] and [{}]; call it with "
               "x.to_dense()",
               op, fmt::join(self.sizes(), ", "), fmt::join(other.sizes(), ", "));
}

// Writes self + alpha * other to [out], of the layout of [self], which may be [self].
void addTo(const Tensor& out, const Tensor& self, const Tensor& other, float alpha) {
  const dnnl::memory::desc& layout = layoutOf(self);
  const onednn::Threads threads = onednn::threadsFor(self);
  const dnnl::memory added = onednn::elementsIn(layout, other);
  MkldnnKey key(MkldnnPrimitive::kSum, threads);
  key.add(layout).add({std::bit_cast<int32_t>(alpha)});
  const PreparedPrimitive& sum = prepared("add", self.scalar_type(), key, [&] {
    const dnnl::sum::primitive_desc chosen(layout, {1.0F, alpha}, {layout, layout}, onednn::engine(),
                                           onednn::scratchpadByCaller());
    PreparedPrimitive made;
    made.scratchpad = chosen.scratchpad_desc();
    made.primitive = dnnl::sum(chosen);
    return made;
  });
  run(sum,
      {{DNNL_ARG_MULTIPLE_SRC, elementsOf(self)}, {DNNL_ARG_MULTIPLE_SRC + 1, added}, {DNNL_ARG_DST, elementsOf(out)}});
}

void multiplyTo(const Tensor& out, const Tensor& self, const Tensor& other) {
  const dnnl::memory::desc& layout = layoutOf(self);
  const onednn::Threads threads = onednn::threadsFor(self);
  const dnnl::memory factor = onednn::elementsIn(layout, other);
  MkldnnKey key(MkldnnPrimitive::kBinary, threads);
  key.add(layout);
  const PreparedPrimitive& product = prepared("mul", self.scalar_type(), key, [&] {
    const dnnl::binary::desc description(dnnl::algorithm::binary_mul, layout, layout, layout);
    const dnnl::binary::primitive_desc chosen(description, onednn::scratchpadByCaller(), onednn::engine());
    PreparedPrimitive made;
    made.scratchpad = chosen.scratchpad_desc();
    made.primitive = dnnl::binary(chosen);
    return made;
  });
  run(product, {{DNNL_ARG_SRC_0, elementsOf(self)}, {DNNL_ARG_SRC_1, factor}, {DNNL_ARG_DST, elementsOf(out)}});
}

float toFloat(const Scalar& number) { return static_cast<float>(number.toDouble()); }

// Sums and products with a number are alpha * x + beta.
ElementFunction sumWith(double number) {
  return {"add", dnnl::algorithm::eltwise_linear, 1, static_cast<float>(number)};
}
ElementFunction productWith(double number) {
  return {"mul", dnnl::algorithm::eltwise_linear, static_cast<float>(number), 0};
}

Tensor mkldnnAdd(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  if (isNumber(other) && self.is_mkldnn()) {
    return functionOf(sumWith(readNumber(other).toDouble() * alpha.toDouble()), self);
  }
  checkPair("add", self, other);
  Tensor out = sameLayout(self);
  addTo(out, self, other, toFloat(alpha));
  return out;
}

Tensor& mkldnnAddInPlace(Tensor& self, const Tensor& other, const Scalar& alpha) {
  if (isNumber(other) && self.is_mkldnn()) {
    return functionInPlace(sumWith(readNumber(other).toDouble() * alpha.toDouble()), self);
  }
  checkPair("add_", self, other);
  addTo(self, self, other, toFloat(alpha));
  return self;
}

Tensor mkldnnAddScalar(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  return functionOf(sumWith(other.toDouble() * alpha.toDouble()), self);
}
Tensor& mkldnnAddScalarInPlace(Tensor& self, const Scalar& other, const Scalar& alpha) {
  return functionInPlace(sumWith(other.toDouble() * alpha.toDouble()), self);
}

Tensor mkldnnMul(const Tensor& self, const Tensor& other) {
  if (isNumber(other) && self.is_mkldnn()) return functionOf(productWith(readNumber(other).toDouble()), self);
  if (isNumber(self) && other.is_mkldnn()) return functionOf(productWith(readNumber(self).toDouble()), other);
  checkPair("mul", self, other);
  Tensor out = sameLayout(self);
  multiplyTo(out, self, other);
  return out;
}

Tensor& mkldnnMulInPlace(Tensor& self, const Tensor& other) {
  if (isNumber(other) && self.is_mkldnn()) return functionInPlace(productWith(readNumber(other).toDouble()), self);
  checkPair("mul_", self, other);
  multiplyTo(self, self, other);
  return self;
}

Tensor mkldnnMulScalar(const Tensor& self, const Scalar& other) {
  return functionOf(productWith(other.toDouble()), self);
}
Tensor& mkldnnMulScalarInPlace(Tensor& self, const Scalar& other) {
  return functionInPlace(productWith(other.toDouble()), self);
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, MkldnnCPU, m) {
  m.impl("relu", BOXCAR_FN(mkldnnRelu));
  m.impl("relu_", BOXCAR_FN(mkldnnReluInPlace));
  m.impl("sigmoid", BOXCAR_FN(mkldnnSigmoid));
  m.impl("sigmoid_", BOXCAR_FN(mkldnnSigmoidInPlace));
  m.impl("tanh", BOXCAR_FN(mkldnnTanh));
  m.impl("tanh_", BOXCAR_FN(mkldnnTanhInPlace));
  m.impl("gelu", BOXCAR_FN(mkldnnGelu));
  m.impl("add.Tensor", BOXCAR_FN(mkldnnAdd));
  m.impl("add_.Tensor", BOXCAR_FN(mkldnnAddInPlace));
  m.impl("add.Scalar", BOXCAR_FN(mkldnnAddScalar));
  m.impl("add_.Scalar", BOXCAR_FN(mkldnnAddScalarInPlace));
  m.impl("mul.Tensor", BOXCAR_FN(mkldnnMul));
  m.impl("mul_.Tensor", BOXCAR_FN(mkldnnMulInPlace));
  m.impl("mul.Scalar", BOXCAR_FN(mkldnnMulScalar));
  m.impl("mul_.Scalar", BOXCAR_FN(mkldnnMulScalarInPlace));
}

}  // namespace boxcar::cpu
