#include <boxcar/backends/cuda/device.h>
#include <boxcar/backends/cuda/module.h>
#include <boxcar/backends/cuda/reduce_launcher.h>
#include <boxcar/backends/cuda/strided_layout.h>
#include <boxcar/backends/meta/dims.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/device_stub.h>
#include <boxcar/backends/native/reduction.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <optional>

namespace boxcar::cuda {

ReduceShape ReduceShape::choose(int64_t results, int64_t count, bool along_results, int multiprocessors) {
  ReduceShape shape;
  // A block for only a few elements would leave most threads idle.
  constexpr int64_t kFew = 32;
  shape.columns = (along_results && results > 1) || (count < kFew && results > 1);
  const int64_t blocks = shape.columns ? (results + kReduceColumns - 1) / kReduceColumns : results;
  const int64_t per_round = shape.columns ? kReduceRows : kReduceThreads;
  // Enough blocks to keep the device busy, with some iterations of work each.
  constexpr int64_t kLeastRounds = 16;
  const int64_t wanted = (4 * int64_t{multiprocessors} + blocks - 1) / std::max<int64_t>(1, blocks);
  const int64_t most = count / (per_round * kLeastRounds);
  shape.parts = std::clamp<int64_t>(std::min(wanted, most), 1, 1024);
  return shape;
}

namespace {

// The sizes and strides of some of a tensor's dimensions.
struct SomeDims {
  DimVector sizes;
  DimVector strides;
  void add(int64_t size, int64_t stride) {
    sizes.push_back(size);
    strides.push_back(stride);
  }
};

template <int operands>
Offsets<operands> offsetsOf(const StridedLayout& layout, const char* what) {
  // Along one dimension, an element's position is a multiple of the stride, so the 31-bit limit of divisions does not
  // apply.
  const bool is_short = layout.numel() <= INT_MAX || (operands == 1 && layout.rank() == 1);
  BOXCAR_CHECK(layout.rank() <= Offsets<operands>::kMaxRank && is_short,
               "a reduction of {} {} in {} dimensions is too large for one kernel; reduce fewer dimensions at a time",
               layout.numel(), what, layout.rank());
  Offsets<operands> offsets;
  offsets.rank = layout.rank();
  for (int dim = 0; dim < layout.rank(); ++dim) {
    offsets.sizes[dim] = Divider(static_cast<uint32_t>(std::max<int64_t>(1, layout.sizes()[static_cast<size_t>(dim)])));
    for (int k = 0; k < operands; ++k) offsets.strides[dim][k] = layout.stride(dim, k);
  }
  return offsets;
}

int64_t smallestStep(const SomeDims& dims) {
  int64_t least = INT64_MAX;
  for (size_t i = 0; i < dims.sizes.size(); ++i) {
    if (dims.sizes[i] > 1) least = std::min(least, std::abs(dims.strides[i]));
  }
  return least;
}

void reduce(functors::Reducer reducer, const Tensor& out, const Tensor* second, const Tensor& self, uint64_t mask,
            double param) {
  if (out.numel() == 0) return;
  const bool keeps_rank = out.dim() == self.dim();
  SomeDims reduced;
  SomeDims in;
  DimVector out_strides;
  size_t out_dim = 0;
  for (size_t i = 0; i < self.sizes().size(); ++i) {
    if ((mask >> i & 1) != 0) {
      reduced.add(self.sizes()[i], self.strides()[i]);
      out_dim += keeps_rank ? 1 : 0;
      continue;
    }
    in.add(self.sizes()[i], self.strides()[i]);
    out_strides.push_back(out.strides()[out_dim++]);
  }
  const auto itemsize = static_cast<int64_t>(self.itemsize());
  StridedLayout results(in.sizes);
  results.add(in.sizes, in.strides, itemsize);
  results.add(in.sizes, out_strides, static_cast<int64_t>(out.itemsize()));
  results.add(in.sizes, out_strides, second != nullptr ? static_cast<int64_t>(second->itemsize()) : 0);
  results.prepare();
  // An element's index counts in dimension order, so the order is kept and only contiguous dimensions are merged.
  StridedLayout elements_of(reduced.sizes);
  elements_of.add(reduced.sizes, reduced.strides, itemsize);
  elements_of.joinOnly();

  ReduceLaunch launch{};
  launch.results = out.numel();
  launch.count = elements_of.numel();
  launch.in = static_cast<const char*>(self.data_ptr());
  launch.out = static_cast<char*>(out.data_ptr());
  launch.second = second != nullptr ? static_cast<char*>(second->data_ptr()) : nullptr;
  launch.results_at = offsetsOf<3>(results, "results");
  launch.elements_at = offsetsOf<1>(elements_of, "elements");
  launch.param = param;
  launch.shape = ReduceShape::choose(launch.results, launch.count, smallestStep(in) < smallestStep(reduced),
                                     propertiesOf(currentDevice()).multiprocessors);

  const ReduceLauncher& launcher =
      (*module().reductions[static_cast<size_t>(reducer)])[static_cast<size_t>(self.scalar_type())];
  std::optional<Tensor> workspace;
  if (launch.shape.parts > 1) {
    const auto bytes = static_cast<int64_t>(launcher.accumulator_bytes) * launch.results * launch.shape.parts;
    workspace = Tensor::allocate({&bytes, 1}, ScalarType::Byte, self.device());
    launch.workspace = static_cast<char*>(workspace->data_ptr());
  }
  launcher.run(launch);
}

}  // namespace

BOXCAR_REGISTER_STUB(CUDA, native::runReduction, reduce)

}  // namespace boxcar::cuda
