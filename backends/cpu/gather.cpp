#include <boxcar/backends/cpu/copy.h>
#include <boxcar/backends/cpu/index.h>
#include <boxcar/backends/cpu/iterator.h>
#include <boxcar/backends/cpu/lines.h>
#include <boxcar/dispatcher/library.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <cstring>

namespace boxcar::cpu {
namespace {

// [index] as int64: what places are given by may be int32 too.
Tensor toPlaces(const Tensor& index, std::string_view name) {
  const ScalarType type = index.scalar_type();
  BOXCAR_CHECK(type == ScalarType::Long || type == ScalarType::Int,
               "{}(): Expected dtype int32 or int64 for index, found {}", name, dtypeName(type));
  return type == ScalarType::Long ? index : convertTo(index, ScalarType::Long);
}

void checkGather(const Tensor& self, int64_t dim, const Tensor& index) {
  BOXCAR_CHECK(index.scalar_type() == ScalarType::Long, "gather(): Expected dtype int64 for index, found {}",
               dtypeName(index.scalar_type()));
  BOXCAR_CHECK(index.dim() == self.dim() || (index.dim() <= 1 && self.dim() <= 1),
               "Index tensor must have the same number of dimensions as input tensor: {} and {}", index.dim(),
               self.dim());
  for (size_t i = 0; i < index.sizes().size() && i < self.sizes().size(); ++i) {
    BOXCAR_CHECK(static_cast<int64_t>(i) == dim || index.sizes()[i] <= self.sizes()[i],
                 "Size does not match at dimension {} expected index [{}] to be smaller than self [{}] apart from "
                 "dimension {}",
                 i, fmt::join(index.sizes(), ", "), fmt::join(self.sizes(), ", "), dim);
  }
}

Tensor gather(const Tensor& self, int64_t dim, const Tensor& index, bool /*sparse_grad*/) {
  checkOnCpu(self);
  checkOnCpu(index);
  const int64_t along = wrapDimension(dim, self.dim());
  if (index.numel() > 0) checkGather(self, along, index);
  return gatherElements(self, along, index);
}

// The blocks of bytes that lie inside dimension [dim] of contiguous [self] are copied whole.
Tensor indexSelect(const Tensor& self, int64_t dim, const Tensor& index) {
  checkOnCpu(self);
  checkOnCpu(index);
  BOXCAR_CHECK(index.dim() <= 1, "index_select(): Index is supposed to be a vector, but it has {} dimensions",
               index.dim());
  const auto along = static_cast<size_t>(wrapDimension(dim, self.dim()));
  const Tensor places = toContiguous(toPlaces(index, "index_select"));
  const Tensor source = toContiguous(self);
  DimVector sizes = toDimVector(self.sizes());
  BOXCAR_CHECK(self.dim() > 0 || index.numel() == 1,
               "index_select(): Index to scalar can have only 1 value, got {} value(s)", index.numel());
  const int64_t length = lineLength(self, along);
  if (self.dim() > 0) sizes[along] = index.numel();
  Tensor out = Tensor::allocate(sizes, self.scalar_type());

  size_t block = self.itemsize();
  for (size_t i = along + 1; i < self.sizes().size(); ++i) block *= static_cast<size_t>(self.sizes()[i]);
  int64_t outer = 1;
  for (size_t i = 0; i < along; ++i) outer *= self.sizes()[i];
  const auto* from = static_cast<const std::byte*>(source.data_ptr());
  auto* to = static_cast<std::byte*>(out.data_ptr());
  const std::span<const int64_t> chosen(places.data_ptr<int64_t>(), static_cast<size_t>(places.numel()));
  for (const int64_t place : chosen) {
    BOXCAR_CHECK(place >= 0 && place < length, "index_select(): index {} is out of range for dimension {} with size {}",
                 place, along, length);
  }
  if (block == 0) return out;
  for (int64_t i = 0; i < outer; ++i, from += block * static_cast<size_t>(length)) {
    for (const int64_t place : chosen) {
      std::memcpy(to, from + block * static_cast<size_t>(place), block);
      to += block;
    }
  }
  return out;
}

}  // namespace

Tensor gatherElements(const Tensor& self, int64_t dim, const Tensor& index) {
  const Tensor out = Tensor::allocate(index.sizes(), self.scalar_type());
  if (index.numel() == 0) return out;
  const auto along = static_cast<size_t>(dim);
  const int64_t length = lineLength(self, along);
  const int64_t count = lineLength(index, along);
  const int64_t out_step = lineStep(out, along);
  const int64_t index_step = lineStep(index, along);
  const int64_t self_step = lineStep(self, along);
  const size_t itemsize = self.itemsize();
  const auto copyLine = [&](char* const* line) {
    for (int64_t i = 0; i < count; ++i) {
      const int64_t place = *reinterpret_cast<const int64_t*>(line[1] + i * index_step);
      BOXCAR_CHECK(place >= 0 && place < length, "index {} is out of bounds for dimension {} with size {}", place, dim,
                   length);
      std::memcpy(line[0] + i * out_step, line[2] + place * self_step, itemsize);
    }
  };
  if (self.dim() == 0) {
    char* const line[] = {static_cast<char*>(out.data_ptr()), static_cast<char*>(index.data_ptr()),
                          static_cast<char*>(self.data_ptr())};
    copyLine(line);
  } else {
    forEachLine(along, {&out, &index, &self}, copyLine);
  }
  return out;
}

BOXCAR_LIBRARY_IMPL(aten, CPU, m) {
  m.impl("gather", BOXCAR_FN(gather));
  m.impl("index_select", BOXCAR_FN(indexSelect));
}

}  // namespace boxcar::cpu
