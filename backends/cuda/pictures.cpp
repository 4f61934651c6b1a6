#include <boxcar/backends/cuda/module.h>
#include <boxcar/backends/cuda/picture_kernels.h>
#include <boxcar/backends/cuda/registration.h>
#include <boxcar/backends/dense/pads.h>
#include <boxcar/backends/dense/pooling.h>
#include <boxcar/backends/dense/upsample.h>

#include <algorithm>

namespace boxcar::cuda {
namespace {

void pad(const Tensor& out, const Tensor& self, std::span<const elements::PaddedAxis> axes) {
  PadLaunch launch{self.data_ptr(), out.data_ptr(), self.itemsize(), out.numel(), {}};
  std::ranges::copy(axes, std::end(launch.axes) - axes.size());
  module().pad(launch);
}

void greatest(const dense::Windows& windows, const Tensor& out, const Tensor& indices, const Tensor& self) {
  module().greatest_of_windows({self.data_ptr(),
                                out.data_ptr(),
                                static_cast<int64_t*>(indices.data_ptr()),
                                self.scalar_type(),
                                windows.in,
                                windows.rows,
                                windows.columns,
                                {}});
}

void mean(const dense::Windows& windows, const elements::WindowDivisor& divisor, const Tensor& out,
          const Tensor& self) {
  module().mean_of_windows({self.data_ptr(), out.data_ptr(), nullptr, self.scalar_type(), windows.in, windows.rows,
                            windows.columns, divisor});
}

UpsampleLaunch launchOf(const dense::Upsampling& call, const Tensor& out, const Tensor& self) {
  return {self.data_ptr(), out.data_ptr(), self.scalar_type(), call.in,
          call.out,        call.scale_h,   call.scale_w,       call.align_corners};
}
void nearest(const dense::Upsampling& call, const Tensor& out, const Tensor& self) {
  module().upsample_nearest(launchOf(call, out, self));
}
void linear(const dense::Upsampling& call, const Tensor& out, const Tensor& self) {
  module().upsample_linear(launchOf(call, out, self));
}

}  // namespace

BOXCAR_CUDA_FUNCTION(dense::padWithOwn, pad)
BOXCAR_CUDA_FUNCTION(dense::takeGreatest, greatest)
BOXCAR_CUDA_FUNCTION(dense::takeMean, mean)
BOXCAR_CUDA_FUNCTION(dense::upsampleNearest, nearest)
BOXCAR_CUDA_FUNCTION(dense::upsampleLinear, linear)

}  // namespace boxcar::cuda
