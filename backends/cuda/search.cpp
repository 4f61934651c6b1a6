#include <boxcar/backends/cuda/module.h>
#include <boxcar/backends/cuda/search_kernels.h>
#include <boxcar/backends/native/device_stub.h>
#include <boxcar/backends/native/indexed_loop.h>
#include <boxcar/backends/native/search.h>

namespace boxcar::cuda {
namespace {

// Notes any out-of-range index of the sorter, because the search reads only some of them.
void checkSorter(const Tensor& sorter, int64_t count) {
  constexpr auto kItemsize = static_cast<int64_t>(sizeof(int64_t));
  native::IndexedLoop loop;
  loop.sizes = {sorter.numel()};
  loop.beside_steps = {0};
  loop.chosen_steps = {0};
  loop.index = static_cast<const char*>(sorter.data_ptr());
  loop.index_steps = {kItemsize};
  loop.size = count;
  native::checkChosen(sorter.device(), loop);
}

void search(const native::SearchCall& call, const Tensor& out) {
  const int64_t count = call.boundaries.sizes().back();
  if (call.sorter.defined()) checkSorter(call.sorter, count);
  const bool shared = call.boundaries.dim() == 1;
  module().search({call.name, call.boundaries.data_ptr(), call.values.data_ptr(),
                   call.sorter.defined() ? static_cast<const int64_t*>(call.sorter.data_ptr()) : nullptr,
                   out.data_ptr(), out.scalar_type() == ScalarType::Int, call.right, call.values.scalar_type(), count,
                   shared ? call.values.numel() : call.values.sizes().back(), call.values.numel(), currentFailure()});
}

}  // namespace

BOXCAR_REGISTER_STUB(CUDA, native::searchRows, search)

}  // namespace boxcar::cuda
