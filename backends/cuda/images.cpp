#include <boxcar/backends/cuda/image_kernels.h>
#include <boxcar/backends/cuda/module.h>
#include <boxcar/backends/native/device_stub.h>
#include <boxcar/backends/native/pads.h>
#include <boxcar/backends/native/pooling.h>
#include <boxcar/backends/native/upsample.h>

#include <algorithm>

namespace boxcar::cuda {
namespace {

void pad(const Tensor& out, const Tensor& self, std::span<const functors::PaddedAxis> axes) {
  PadLaunch launch{self.data_ptr(), out.data_ptr(), self.itemsize(), out.numel(), {}};
  std::ranges::copy(axes, std::end(launch.axes) - axes.size());
  module().pad(launch);
}

void greatest(const native::Windows& windows, const Tensor& out, const Tensor& indices, const Tensor& self) {
  module().greatest_of_windows({self.data_ptr(),
                                out.data_ptr(),
                                static_cast<int64_t*>(indices.data_ptr()),
                                self.scalar_type(),
                                windows.in,
                                windows.rows,
                                windows.columns,
                                {}});
}

void mean(const native::Windows& windows, const functors::WindowDivisor& divisor, const Tensor& out,
          const Tensor& self) {
  module().mean_of_windows({self.data_ptr(), out.data_ptr(), nullptr, self.scalar_type(), windows.in, windows.rows,
                            windows.columns, divisor});
}

UpsampleLaunch launchOf(const native::Upsampling& call, const Tensor& out, const Tensor& self) {
  return {self.data_ptr(), out.data_ptr(), self.scalar_type(), call.in,
          call.out,        call.scale_h,   call.scale_w,       call.align_corners};
}
void nearest(const native::Upsampling& call, const Tensor& out, const Tensor& self) {
  module().upsample_nearest(launchOf(call, out, self));
}
void linear(const native::Upsampling& call, const Tensor& out, const Tensor& self) {
  module().upsample_linear(launchOf(call, out, self));
}

}  // namespace

BOXCAR_REGISTER_STUB(CUDA, native::padWithOwn, pad)
BOXCAR_REGISTER_STUB(CUDA, native::takeGreatest, greatest)
BOXCAR_REGISTER_STUB(CUDA, native::takeMean, mean)
BOXCAR_REGISTER_STUB(CUDA, native::upsampleNearest, nearest)
BOXCAR_REGISTER_STUB(CUDA, native::upsampleLinear, linear)

}  // namespace boxcar::cuda
