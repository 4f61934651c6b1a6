#include <boxcar/backends/native/indexed_loop.h>

namespace boxcar::native {

constinit DeviceStub<ReadChosen> readChosen("index");
constinit DeviceStub<WriteChosen> writeChosen("scatter");
constinit DeviceStub<CombineChosen> combineChosen("scatter");
constinit DeviceStub<CheckChosen> checkChosen("index");

namespace {

int64_t itemsizeOf(const Tensor& tensor) { return static_cast<int64_t>(tensor.itemsize()); }

IndexedLoop loopFor(const Tensor& beside, const Tensor& chosen, const Tensor& index, int64_t dim) {
  const auto along = static_cast<size_t>(dim);
  IndexedLoop loop;
  loop.beside = static_cast<char*>(beside.data_ptr());
  loop.beside_steps = byteSteps(beside);
  loop.chosen = static_cast<char*>(chosen.data_ptr());
  loop.chosen_steps = byteSteps(chosen);
  loop.index = static_cast<const char*>(index.data_ptr());
  loop.step = loop.chosen_steps[along];
  loop.size = chosen.sizes()[along];
  loop.chosen_steps[along] = 0;
  loop.dim = dim;
  return loop;
}

}  // namespace

DimVector byteSteps(const Tensor& tensor) {
  DimVector steps = toDimVector(tensor.strides());
  for (int64_t& step : steps) step *= itemsizeOf(tensor);
  return steps;
}

Tensor withDimension(const Tensor& tensor) {
  if (tensor.dim() > 0) return tensor;
  const int64_t one[] = {1};
  return tensor.view(one, one, tensor.storage_offset());
}

IndexedLoop loopAlong(const Tensor& beside, const Tensor& chosen, const Tensor& index, int64_t dim) {
  IndexedLoop loop = loopFor(beside, chosen, index, dim);
  loop.sizes = toDimVector(index.sizes());
  loop.index_steps = byteSteps(index);
  return loop;
}

IndexedLoop loopOverSlices(const Tensor& beside, const Tensor& chosen, const Tensor& index, int64_t dim) {
  IndexedLoop loop = loopFor(beside, chosen, index, dim);
  loop.sizes = toDimVector(beside.sizes());
  loop.index_steps.assign(beside.sizes().size(), 0);
  loop.index_steps[static_cast<size_t>(dim)] = index.strides()[0] * itemsizeOf(index);
  return loop;
}

}  // namespace boxcar::native
