#include <boxcar/backends/cuda/indexed_launcher.h>
#include <boxcar/backends/cuda/module.h>
#include <boxcar/backends/native/device_stub.h>
#include <boxcar/backends/native/index.h>
#include <boxcar/backends/native/indexed_loop.h>

#include <algorithm>

namespace boxcar::cuda {
namespace {

using native::IndexedLoop;

template <class Launch>
void withLaunch(const IndexedLoop& loop, const Launch& launch) {
  StridedLayout layout(loop.sizes);
  for (const DimVector* steps : {&loop.beside_steps, &loop.chosen_steps, &loop.index_steps}) {
    layout.add(loop.sizes, *steps, 1);
  }
  layout.prepare();
  if (layout.numel() == 0) return;
  launch(
      IndexedLaunch{loop.beside, loop.chosen, loop.index, &layout, loop.step, loop.size, loop.wraps, currentFailure()});
}

void read(const IndexedLoop& loop, size_t itemsize) {
  withLaunch(loop, [&](const IndexedLaunch& launch) { module().read_chosen(launch, itemsize); });
}
void write(const IndexedLoop& loop, size_t itemsize) {
  withLaunch(loop, [&](const IndexedLaunch& launch) { module().write_chosen(launch, itemsize); });
}
void combine(const IndexedLoop& loop, ScalarType type, native::Combination how, const Scalar& scale) {
  withLaunch(loop, [&](const IndexedLaunch& launch) { module().combine_chosen(launch, type, how, scale); });
}

// Checks each index once. Loops that write check their indices themselves, unless they are empty.
void checkIndices(const IndexedLoop& loop) {
  IndexedLoop looking = loop;
  if (loop.writes_chosen && std::ranges::find(loop.sizes, 0) == loop.sizes.end()) return;
  for (size_t i = 0; i < looking.sizes.size(); ++i) {
    if (looking.index_steps[i] == 0) looking.sizes[i] = 1;
  }
  withLaunch(looking, [&](const IndexedLaunch& launch) { module().check_chosen(launch); });
}

void addOffsets(const Tensor& offsets, const Tensor& index, const native::IndexedDimension& dimension) {
  constexpr auto kItemsize = static_cast<int64_t>(sizeof(int64_t));
  const DimVector nothing(offsets.sizes().size(), 0);
  StridedLayout layout(offsets.sizes());
  layout.add(offsets.sizes(), offsets.strides(), kItemsize);
  layout.add(offsets.sizes(), nothing, kItemsize);
  layout.add(index.sizes(), index.strides(), kItemsize);
  layout.prepare();
  module().add_offsets({static_cast<char*>(offsets.data_ptr()), nullptr, static_cast<const char*>(index.data_ptr()),
                        &layout, dimension.step, dimension.size, /*wraps=*/true, currentFailure()});
}

}  // namespace

BOXCAR_REGISTER_STUB(CUDA, native::addOffsets, addOffsets)
BOXCAR_REGISTER_STUB(CUDA, native::readChosen, read)
BOXCAR_REGISTER_STUB(CUDA, native::writeChosen, write)
BOXCAR_REGISTER_STUB(CUDA, native::combineChosen, combine)
BOXCAR_REGISTER_STUB(CUDA, native::checkChosen, checkIndices)

}  // namespace boxcar::cuda
