#include <boxcar/backends/cuda/join_kernels.h>
#include <boxcar/backends/cuda/module.h>
#include <boxcar/backends/native/cat.h>

namespace boxcar::cuda {
namespace {

bool joinRows(const Tensor& out, TensorList tensors, const meta::Joined& joined) {
  auto inner = static_cast<int64_t>(out.itemsize());
  for (size_t i = joined.dim + 1; i < joined.sizes.size(); ++i) inner *= joined.sizes[i];
  JoinLaunch launch{};
  launch.out = static_cast<char*>(out.data_ptr());
  launch.row_bytes = inner * joined.sizes[joined.dim];
  launch.rows = static_cast<int64_t>(out.nbytes()) / launch.row_bytes;
  int64_t end = 0;
  const auto flush = [&] {
    if (launch.count > 0) module().join(launch);
    launch.count = 0;
    launch.begin = end;
  };
  for (const Tensor& tensor : tensors) {
    if (tensor.numel() == 0) continue;
    if (launch.count == JoinLaunch::kMostParts) flush();
    const int64_t bytes = inner * tensor.sizes()[joined.dim];
    launch.parts[launch.count++] = {static_cast<const char*>(tensor.data_ptr()), bytes};
    end += bytes;
  }
  flush();
  return true;
}

}  // namespace

BOXCAR_REGISTER_STUB(CUDA, native::joinRows, joinRows)

}  // namespace boxcar::cuda
