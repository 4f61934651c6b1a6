#include <boxcar/backends/meta/pooling.h>
#include <boxcar/backends/native/memory_checks.h>
#include <boxcar/backends/native/pooling.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/backends/native/write_out.h>
#include <boxcar/ivalue/error.h>

#include <optional>
#include <span>
#include <tuple>

// Every pool is a loop over windows, each a range of rows and a range of columns: sliding windows have one length,
// adaptive windows divide the input.

namespace boxcar::native {

constinit DeviceStub<GreatestFunction> takeGreatest("max_pool2d");
constinit DeviceStub<MeanFunction> takeMean("avg_pool2d");

namespace {

using functors::WindowAxis;
using functors::WindowDivisor;

using IntSpan = std::span<const int64_t>;
using Pair = std::tuple<Tensor, Tensor>;
using PairReference = std::tuple<Tensor&, Tensor&>;

// Returns the windows of [pool] over [self].
Windows windowsOf(const meta::Pool& pool, const Tensor& self) {
  const Images in = imagesOf(self, pool.channels_last);
  const IntSpan out = IntSpan(pool.output_sizes).last(2);
  const auto along = [&](size_t i, int64_t size) {
    return WindowAxis{size, out[i], false, pool.kernel[i], pool.stride[i], pool.padding[i], pool.dilation[i]};
  };
  return {in, along(0, in.height), along(1, in.width)};
}

Windows windowsOf(const meta::AdaptivePool& pool, const Tensor& self) {
  const Images in = imagesOf(self, pool.channels_last);
  const IntSpan out = IntSpan(pool.output_sizes).last(2);
  return {in, {in.height, out[0], true}, {in.width, out[1], true}};
}

// Returns the greatest elements of the windows of [pool], and their indices.
template <class Pool>
Pair greatest(const char* op, const Pool& pool, const Tensor& self) {
  const auto allocate = [&](ScalarType type) {
    return meta::allocateSpatial(pool.output_sizes, pool.channels_last, type, self.device());
  };
  Pair result{allocate(self.scalar_type()), allocate(ScalarType::Long)};
  const auto& [out, indices] = result;
  visitScalarType(kRealTypes, self.scalar_type(), op, [](auto) {});
  if (!out.is_meta() && out.numel() > 0) {
    const Tensor source = inFormat(self, pool.channels_last);
    takeGreatest(self.device(), windowsOf(pool, source), out, indices, source);
  }
  return result;
}

template <class Pool, class... Ts>
Tensor mean(const char* op, const Pool& pool, const Tensor& self, const WindowDivisor& divisor,
            ElementTypes<Ts...> types) {
  const Tensor out = meta::allocateSpatial(pool.output_sizes, pool.channels_last, self.scalar_type(), self.device());
  visitScalarType(types, self.scalar_type(), op, [](auto) {});
  if (!out.is_meta() && out.numel() > 0) {
    const Tensor source = inFormat(self, pool.channels_last);
    takeMean(self.device(), windowsOf(pool, source), divisor, out, source);
  }
  return out;
}

Pair maxPool2d(const Tensor& self, IntSpan kernel_size, IntSpan stride, IntSpan padding, IntSpan dilation,
               bool ceil_mode) {
  constexpr const char* kName = "max_pool2d";
  checkDense(self);
  return greatest(kName, meta::checkPool(kName, 2, self, kernel_size, stride, padding, dilation, ceil_mode), self);
}
PairReference maxPool2dOut(const Tensor& self, IntSpan kernel_size, IntSpan stride, IntSpan padding, IntSpan dilation,
                           bool ceil_mode, Tensor& out, Tensor& indices) {
  return writeSameTypes(out, indices, maxPool2d(self, kernel_size, stride, padding, dilation, ceil_mode), {&self});
}

Tensor avgPool2d(const Tensor& self, IntSpan kernel_size, IntSpan stride, IntSpan padding, bool ceil_mode,
                 bool count_include_pad, std::optional<int64_t> divisor_override) {
  constexpr const char* kName = "avg_pool2d";
  checkDense(self);
  BOXCAR_CHECK(divisor_override != 0, "avg_pool2d: divisor_override must not be zero");
  const int64_t dense[] = {1};
  const meta::Pool pool = meta::checkPool(kName, 2, self, kernel_size, stride, padding, dense, ceil_mode);
  return mean(kName, pool, self, {divisor_override.value_or(0), count_include_pad},
              kFloatingTypes + ElementTypes<int64_t>{});
}
Tensor& avgPool2dOut(const Tensor& self, IntSpan kernel_size, IntSpan stride, IntSpan padding, bool ceil_mode,
                     bool count_include_pad, std::optional<int64_t> divisor_override, Tensor& out) {
  return writeSameType(
      out, avgPool2d(self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override), {&self});
}

Pair adaptiveMaxPool2d(const Tensor& self, IntSpan output_size) {
  constexpr const char* kName = "adaptive_max_pool2d";
  checkDense(self);
  return greatest(kName, meta::checkAdaptivePool(kName, 2, self, output_size, /*may_lack_channels=*/false), self);
}
PairReference adaptiveMaxPool2dOut(const Tensor& self, IntSpan output_size, Tensor& out, Tensor& indices) {
  return writeSameTypes(out, indices, adaptiveMaxPool2d(self, output_size), {&self});
}

Tensor adaptiveAvgPool2d(const Tensor& self, IntSpan output_size) {
  constexpr const char* kName = "adaptive_avg_pool2d";
  checkDense(self);
  return mean(kName, meta::checkAdaptivePool(kName, 2, self, output_size, /*may_lack_channels=*/true), self, {},
              kFloatingTypes);
}
Tensor& adaptiveAvgPool2dOut(const Tensor& self, IntSpan output_size, Tensor& out) {
  return writeSameType(out, adaptiveAvgPool2d(self, output_size), {&self});
}

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, takeGreatest, takeMean) {
  m.impl("max_pool2d_with_indices", BOXCAR_FN(maxPool2d));
  m.impl("max_pool2d_with_indices.out", BOXCAR_FN(maxPool2dOut));
  m.impl("avg_pool2d", BOXCAR_FN(avgPool2d));
  m.impl("avg_pool2d.out", BOXCAR_FN(avgPool2dOut));
  m.impl("adaptive_max_pool2d", BOXCAR_FN(adaptiveMaxPool2d));
  m.impl("adaptive_max_pool2d.out", BOXCAR_FN(adaptiveMaxPool2dOut));
  m.impl("_adaptive_avg_pool2d", BOXCAR_FN(adaptiveAvgPool2d));
  m.impl("adaptive_avg_pool2d.out", BOXCAR_FN(adaptiveAvgPool2dOut));
}

}  // namespace boxcar::native
