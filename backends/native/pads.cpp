#include <boxcar/backends/meta/pads.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/memory_checks.h>
#include <boxcar/backends/native/pads.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/backends/native/write_out.h>

#include <array>
#include <span>
#include <string_view>

// Padding with the tensor's own elements: mirrored at the ends, or with the end elements repeated.

namespace boxcar::native {

constinit DeviceStub<PadFunction> padWithOwn("pad");

namespace {

using IntSpan = std::span<const int64_t>;

template <size_t dims>
Tensor padded(std::string_view name, const Tensor& self, IntSpan pad, bool reflects) {
  checkDense(self);
  const DimVector sizes = meta::mirroredSizes(name, self, pad, dims, reflects);
  const Tensor result = Tensor::allocate(sizes, self.scalar_type(), self.device());
  if (result.is_meta() || result.numel() == 0) return result;
  std::array<functors::PaddedAxis, dims> axes;
  const size_t first = sizes.size() - dims;
  for (size_t i = 0; i < dims; ++i) {
    axes[i] = {self.sizes()[first + i], sizes[first + i], pad[2 * (dims - 1 - i)], reflects};
  }
  padWithOwn(self.device(), result, toContiguous(self), axes);
  return result;
}

template <size_t dims>
Tensor reflect(const Tensor& self, IntSpan padding) {
  constexpr std::string_view kNames[] = {"reflection_pad1d", "reflection_pad2d", "reflection_pad3d"};
  return padded<dims>(kNames[dims - 1], self, padding, /*reflects=*/true);
}
template <size_t dims>
Tensor replicate(const Tensor& self, IntSpan padding) {
  constexpr std::string_view kNames[] = {"replication_pad1d", "replication_pad2d", "replication_pad3d"};
  return padded<dims>(kNames[dims - 1], self, padding, /*reflects=*/false);
}

template <Tensor (*pad)(const Tensor&, IntSpan)>
Tensor& writeTo(const Tensor& self, IntSpan padding, Tensor& out) {
  return writeSameType(out, pad(self, padding), {}, Overlap::kAllowed);
}

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, padWithOwn) {
  m.impl("reflection_pad1d", BOXCAR_FN(reflect<1>));
  m.impl("reflection_pad1d.out", BOXCAR_FN(writeTo<reflect<1>>));
  m.impl("reflection_pad2d", BOXCAR_FN(reflect<2>));
  m.impl("reflection_pad2d.out", BOXCAR_FN(writeTo<reflect<2>>));
  m.impl("reflection_pad3d", BOXCAR_FN(reflect<3>));
  m.impl("reflection_pad3d.out", BOXCAR_FN(writeTo<reflect<3>>));
  m.impl("replication_pad1d", BOXCAR_FN(replicate<1>));
  m.impl("replication_pad1d.out", BOXCAR_FN(writeTo<replicate<1>>));
  m.impl("replication_pad2d", BOXCAR_FN(replicate<2>));
  m.impl("replication_pad2d.out", BOXCAR_FN(writeTo<replicate<2>>));
  m.impl("replication_pad3d", BOXCAR_FN(replicate<3>));
  m.impl("replication_pad3d.out", BOXCAR_FN(writeTo<replicate<3>>));
}

}  // namespace boxcar::native
