#include <boxcar/backends/cpu/indexed_loop.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <atomic>

namespace boxcar::cpu {
namespace {

// A step that only looks at indices.
struct Look {
  static constexpr int64_t kItemsize = 0;
  void one(const char*, const char*) const {}
  void row(const char*, int64_t, const char*, int64_t, int64_t) const {}
};

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

void IndexedLoop::fail(int64_t place) const {
  BOXCAR_FAIL("{}{}index {} is out of bounds for dimension {} with size {}", name, name.empty() ? "" : "(): ", place,
              dim, size);
}

void IndexedLoop::cut(const std::function<void(const IndexedLoop&)>& body) const {
  int64_t elements = 1;
  for (const int64_t length : sizes) elements *= length;
  if (elements == 0) return;
  // The first dimension that has something for each thread, else the longest. Where elements are written, only one
  // whose parts cannot share any.
  size_t best = sizes.size();
  for (size_t i = 0; i < sizes.size() && runsInParallel(elements); ++i) {
    if (writes_chosen && chosen_steps[i] == 0) continue;
    if (best == sizes.size() || (sizes[best] < threadCount() && sizes[i] > sizes[best])) best = i;
  }
  if (best == sizes.size() || sizes[best] == 1) return body(*this);
  const int64_t grain = std::max<int64_t>(1, kParallelGrain / std::max<int64_t>(1, elements / sizes[best]));
  parallelFor(0, sizes[best], grain, [&](int64_t begin, int64_t end) {
    IndexedLoop part = *this;
    part.sizes[best] = end - begin;
    part.beside += begin * beside_steps[best];
    part.chosen += begin * chosen_steps[best];
    part.index += begin * index_steps[best];
    body(part);
  });
}

void IndexedLoop::checkIndices() const {
  // Of all indices at once: what has its sign bit set is out of range. Negative sizes do not occur.
  const auto length = static_cast<uint64_t>(size);
  const uint64_t lowest = wraps ? length : 0;
  std::atomic<uint64_t> outside{0};
  IndexedLoop looking = *this;
  looking.writes_chosen = false;
  // Each index once.
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (index_steps[i] == 0) looking.sizes[i] = 1;  // also where there are none
  }
  looking.cut([&](const IndexedLoop& part) {
    StridedLoop nest(part.sizes);
    nest.addBytes(const_cast<char*>(part.index), part.index_steps);
    uint64_t signs = 0;
    nest.run([&](char* const* data, const int64_t* steps, int64_t n0, int64_t n1) {
      const auto look = [&](uint64_t place) { signs |= (place + lowest) | (length - 1 - place); };
      for (int64_t j = 0; j < n1; ++j) {
        const char* row = data[0] + j * steps[kMaxOperands];
        if (steps[0] == sizeof(uint64_t)) {
          const auto* places = reinterpret_cast<const uint64_t*>(row);
          for (int64_t i = 0; i < n0; ++i) look(places[i]);
        } else {
          for (int64_t i = 0; i < n0; ++i) look(*reinterpret_cast<const uint64_t*>(row + i * steps[0]));
        }
      }
    });
    outside |= signs;
  });
  // Only to find the one that the error names.
  if (static_cast<int64_t>(outside.load()) < 0) looking.run(Look());
}

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

}  // namespace boxcar::cpu
