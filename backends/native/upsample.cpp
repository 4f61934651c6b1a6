#include <boxcar/backends/meta/upsample.h>
#include <boxcar/backends/native/memory_checks.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/backends/native/upsample.h>
#include <boxcar/backends/native/write_out.h>
#include <boxcar/ivalue/error.h>

#include <optional>
#include <span>
#include <string_view>

// Resizing of signals and images.

namespace boxcar::native {

constinit DeviceStub<UpsampleFunction> upsampleNearest("upsample_nearest2d");
constinit DeviceStub<UpsampleFunction> upsampleLinear("upsample_bilinear2d");

namespace {

using IntSpan = std::span<const int64_t>;
using Scale = std::optional<double>;

constexpr auto kResizedTypes = kFloatingTypes + ElementTypes<uint8_t>{};

// Returns [self] resized to [output_size] by [function], for elements of one of [types].
template <class... Ts>
Tensor upsample(std::string_view op, const Tensor& self, IntSpan output_size, ElementTypes<Ts...> types,
                const DeviceStub<UpsampleFunction>& function, Scale scale_h, Scale scale_w,
                bool align_corners = false) {
  checkDense(self);
  const DimVector sizes = meta::upsampledSizes(op, self, output_size);
  const bool channels_last = meta::suggestsChannelsLast(self);
  const Tensor out = meta::allocateSpatial(sizes, channels_last, self.scalar_type(), self.device());
  const size_t rank = output_size.size();
  visitScalarType(types, self.scalar_type(), op, [](auto) {});
  if (out.is_meta() || out.numel() == 0) return out;
  const Tensor source = inFormat(self, channels_last);
  function(self.device(),
           {imagesOf(source, channels_last, rank), imagesOf(out, channels_last, rank), scale_h, scale_w, align_corners},
           out, source);
  return out;
}

void checkRank(std::string_view op, IntSpan output_size, size_t rank) {
  BOXCAR_CHECK(output_size.size() == rank, "{}: output_size must be a list of {} ints, but it is {}", op, rank,
               meta::listOf(output_size));
}

Tensor nearest(std::string_view op, const Tensor& self, IntSpan output_size, Scale scale_h, Scale scale_w) {
  return upsample(op, self, output_size, kResizedTypes, upsampleNearest, scale_h, scale_w);
}

Tensor linear(std::string_view op, const Tensor& self, IntSpan output_size, bool align_corners, Scale scale_h,
              Scale scale_w) {
  return upsample(op, self, output_size, kResizedTypes, upsampleLinear, scale_h, scale_w, align_corners);
}

Tensor nearest1d(const Tensor& self, IntSpan output_size, Scale scale) {
  checkRank("upsample_nearest1d", output_size, 1);
  return nearest("upsample_nearest1d", self, output_size, std::nullopt, scale);
}
Tensor& nearest1dOut(const Tensor& self, IntSpan output_size, Scale scale, Tensor& out) {
  return writeSameType(out, nearest1d(self, output_size, scale), {&self});
}

Tensor nearest2d(const Tensor& self, IntSpan output_size, Scale scale_h, Scale scale_w) {
  checkRank("upsample_nearest2d", output_size, 2);
  return nearest("upsample_nearest2d", self, output_size, scale_h, scale_w);
}
Tensor& nearest2dOut(const Tensor& self, IntSpan output_size, Scale scale_h, Scale scale_w, Tensor& out) {
  return writeSameType(out, nearest2d(self, output_size, scale_h, scale_w), {&self});
}

Tensor linear1d(const Tensor& self, IntSpan output_size, bool align_corners, Scale scale) {
  checkRank("upsample_linear1d", output_size, 1);
  return linear("upsample_linear1d", self, output_size, align_corners, std::nullopt, scale);
}
Tensor& linear1dOut(const Tensor& self, IntSpan output_size, bool align_corners, Scale scale, Tensor& out) {
  return writeSameType(out, linear1d(self, output_size, align_corners, scale), {&self});
}

Tensor bilinear2d(const Tensor& self, IntSpan output_size, bool align_corners, Scale scale_h, Scale scale_w) {
  checkRank("upsample_bilinear2d", output_size, 2);
  return linear("upsample_bilinear2d", self, output_size, align_corners, scale_h, scale_w);
}
Tensor& bilinear2dOut(const Tensor& self, IntSpan output_size, bool align_corners, Scale scale_h, Scale scale_w,
                      Tensor& out) {
  return writeSameType(out, bilinear2d(self, output_size, align_corners, scale_h, scale_w), {&self});
}

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, upsampleNearest, upsampleLinear) {
  m.impl("upsample_nearest1d", BOXCAR_FN(nearest1d));
  m.impl("upsample_nearest1d.out", BOXCAR_FN(nearest1dOut));
  m.impl("upsample_nearest2d", BOXCAR_FN(nearest2d));
  m.impl("upsample_nearest2d.out", BOXCAR_FN(nearest2dOut));
  m.impl("upsample_linear1d", BOXCAR_FN(linear1d));
  m.impl("upsample_linear1d.out", BOXCAR_FN(linear1dOut));
  m.impl("upsample_bilinear2d", BOXCAR_FN(bilinear2d));
  m.impl("upsample_bilinear2d.out", BOXCAR_FN(bilinear2dOut));
}

}  // namespace boxcar::native
