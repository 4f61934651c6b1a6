// Measures XNNPACK's operators on the convolutions and products of shapes.h: the least microseconds of calls with
// packed weights, images in channels-last. compare.py builds and runs it.

#include <xnnpack.h>

#include <cmath>
#include <cstdlib>
#include <vector>

#include "shapes.h"

namespace {

void check(xnn_status status) {
  if (status == xnn_status_success) return;
  std::fprintf(stderr, "XNNPACK: status %d\n", int(status));
  std::exit(1);
}

std::vector<float> filled(int64_t count) {
  std::vector<float> result(size_t(count) + XNN_EXTRA_BYTES / sizeof(float));
  for (size_t i = 0; i < result.size(); ++i) result[i] = float(i % 7) - 3;
  return result;
}

double convolution(const shapes::Convolution& c) {
  const int64_t out = c.outSize();
  const auto source = filled(c.batch * c.size * c.size * c.in);
  const auto kernel = filled(c.out * (c.in / c.groups) * c.kernel * c.kernel);
  auto result = filled(c.batch * out * out * c.out);
  const auto pad = uint32_t(c.kernel / 2), size = uint32_t(c.kernel), stride = uint32_t(c.stride);
  xnn_operator_t made = nullptr;
  check(xnn_create_convolution2d_nhwc_f32(pad, pad, pad, pad, size, size, stride, stride, 1, 1, uint32_t(c.groups),
                                          size_t(c.in / c.groups), size_t(c.out / c.groups), size_t(c.in),
                                          size_t(c.out), kernel.data(), nullptr, -INFINITY, INFINITY, 0, &made));
  check(xnn_setup_convolution2d_nhwc_f32(made, size_t(c.batch), size_t(c.size), size_t(c.size), source.data(),
                                         result.data(), nullptr));
  return shapes::least([&] { check(xnn_run_operator(made, nullptr)); });
}

double product(const shapes::Product& p) {
  const auto source = filled(p.rows * p.in), kernel = filled(p.in * p.out);
  auto result = filled(p.rows * p.out);
  xnn_operator_t made = nullptr;
  check(xnn_create_fully_connected_nc_f32(size_t(p.in), size_t(p.out), size_t(p.in), size_t(p.out), kernel.data(),
                                          nullptr, -INFINITY, INFINITY, 0, &made));
  check(xnn_setup_fully_connected_nc_f32(made, size_t(p.rows), source.data(), result.data(), nullptr));
  return shapes::least([&] { check(xnn_run_operator(made, nullptr)); });
}

}  // namespace

int main() {
  check(xnn_initialize(nullptr));
  for (const auto& each : shapes::kConvolutions) shapes::print(convolution(each));
  for (const auto& each : shapes::kProducts) shapes::print(product(each));
}
