// Measures oneDNN's own primitives, of version 2 or 3, on the convolutions and products of shapes.h: the least
// microseconds of calls with packed weights, images in channels-last. compare.py builds and runs it.

#include <algorithm>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>

#include "shapes.h"

namespace {

using namespace dnnl;
using Dims = memory::dims;

const engine kEngine(engine::kind::cpu, 0);

memory::desc of(const Dims& dims, memory::format_tag tag) { return {dims, memory::data_type::f32, tag}; }

template <class Primitive>
double leastOf(const typename Primitive::primitive_desc& made) {
  stream queue(kEngine);
  const auto filled = [&](const memory::desc& layout) {
    memory result(layout, kEngine);
    auto* data = static_cast<float*>(result.get_data_handle());
    for (size_t i = 0; i < layout.get_size() / sizeof(float); ++i) data[i] = float(i % 7) - 3;
    return result;
  };
  const std::unordered_map<int, memory> arguments = {{DNNL_ARG_SRC, filled(made.src_desc())},
                                                     {DNNL_ARG_WEIGHTS, filled(made.weights_desc())},
                                                     {DNNL_ARG_DST, filled(made.dst_desc())}};
  const Primitive primitive(made);
  return shapes::least([&] {
    primitive.execute(queue, arguments);
    queue.wait();
  });
}

double convolution(const shapes::Convolution& c, algorithm kind) {
  const int64_t out = c.outSize();
  const auto source = of({c.batch, c.in, c.size, c.size}, memory::format_tag::nhwc);
  const auto result = of({c.batch, c.out, out, out}, memory::format_tag::nhwc);
  const Dims kernel = c.groups == 1 ? Dims{c.out, c.in, c.kernel, c.kernel}
                                    : Dims{c.groups, c.out / c.groups, c.in / c.groups, c.kernel, c.kernel};
  const auto weights = of(kernel, memory::format_tag::any);
  const Dims stride = {c.stride, c.stride}, padding = {c.kernel / 2, c.kernel / 2};
#if DNNL_VERSION_MAJOR >= 3
  const convolution_forward::primitive_desc made(kEngine, prop_kind::forward_inference, kind, source, weights, result,
                                                 stride, padding, padding);
#else
  const convolution_forward::primitive_desc made(
      {prop_kind::forward_inference, kind, source, weights, result, stride, padding, padding}, kEngine);
#endif
  return leastOf<convolution_forward>(made);
}

double product(const shapes::Product& p) {
  const auto source = of({p.rows, p.in}, memory::format_tag::ab), result = of({p.rows, p.out}, memory::format_tag::ab);
  const auto weights = of({p.in, p.out}, memory::format_tag::any);
#if DNNL_VERSION_MAJOR >= 3
  return leastOf<matmul>(matmul::primitive_desc(kEngine, source, weights, result));
#else
  return leastOf<matmul>(matmul::primitive_desc({source, weights, result}, kEngine));
#endif
}

}  // namespace

int main() {
  for (const auto& each : shapes::kConvolutions) {
    double best = convolution(each, algorithm::convolution_direct);
    try {
      best = std::min(best, convolution(each, algorithm::convolution_winograd));
    } catch (const dnnl::error&) {  // the shape does not suit the algorithm, or there is none for channels-last images
    }
    shapes::print(best);
  }
  for (const auto& each : shapes::kProducts) shapes::print(product(each));
}
