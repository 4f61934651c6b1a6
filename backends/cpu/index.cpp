#include <boxcar/backends/cpu/copy.h>
#include <boxcar/backends/cpu/functors.h>
#include <boxcar/backends/cpu/index.h>
#include <boxcar/backends/cpu/iterator.h>
#include <boxcar/backends/shape/broadcast.h>
#include <boxcar/dispatcher/library.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace boxcar::cpu {
namespace {

using Indices = List<std::optional<Tensor>>;

// Which elements of a tensor some index tensors name: they stand for dimensions of it, and are broadcast together.
struct Selection {
  DimVector sizes;  // of the result
  DimVector steps;  // of the result's dimensions in the indexed tensor, in bytes; 0 for those of the index tensors
  DimVector offsets_steps;  // of the result's dimensions in [offsets]
  Tensor offsets;           // where in the indexed tensor, in bytes, each element of the index tensors leads
};

bool isMask(const Tensor& index) {
  return index.scalar_type() == ScalarType::Bool || index.scalar_type() == ScalarType::Byte;
}

// The index tensor of each dimension, none where the whole dimension is taken: a mask becomes the indices of what it
// holds, one tensor for each of its dimensions.
std::vector<std::optional<Tensor>> indexOfEachDim(const Tensor& self, const Indices& indices) {
  std::vector<std::optional<Tensor>> result;
  for (const std::optional<Tensor>& index : indices) {
    if (!index.has_value() || !index->defined()) {
      result.emplace_back();
      continue;
    }
    checkOnCpu(*index);
    BOXCAR_CHECK(isMask(*index) || index->scalar_type() == ScalarType::Long || index->scalar_type() == ScalarType::Int,
                 "tensors used as indices must be long, int, byte or bool tensors, found {}",
                 dtypeName(index->scalar_type()));
    if (!isMask(*index)) {
      result.push_back(index->scalar_type() == ScalarType::Int ? convertTo(*index, ScalarType::Long) : *index);
      continue;
    }
    for (size_t i = 0; i < index->sizes().size(); ++i) {
      const size_t dim = result.size() + i;
      BOXCAR_CHECK(
          dim < self.sizes().size() && index->sizes()[i] == self.sizes()[dim],
          "The shape of the mask [{}] at index {} does not match the shape of the indexed tensor [{}] at index "
          "{}",
          fmt::join(index->sizes(), ", "), i, fmt::join(self.sizes(), ", "), dim);
    }
    const Tensor places = nonzeroIndices(*index);
    const int64_t count = places.sizes()[0];
    for (int64_t i = 0; i < index->dim(); ++i) {
      const int64_t sizes[] = {count};
      const int64_t strides[] = {index->dim()};
      result.emplace_back(places.view(sizes, strides, i));
    }
    if (index->dim() == 0) {
      BOXCAR_FAIL("a mask without dimensions cannot be an index; use where() or an if");
    }
  }
  const auto dims = static_cast<int64_t>(result.size());
  BOXCAR_CHECK(dims <= self.dim(), "too many indices for tensor of dimension {} (got {})", self.dim(), dims);
  result.resize(self.sizes().size());
  return result;
}

DimVector broadcastIndices(const std::vector<std::optional<Tensor>>& indices) {
  DimVector sizes;
  try {
    for (const auto& index : indices) {
      if (index.has_value()) sizes = shape::broadcast(sizes, index->sizes());
    }
  } catch (const Error&) {
    std::string shapes;
    for (const auto& index : indices) {
      if (index.has_value())
        shapes += fmt::format("{}[{}]", shapes.empty() ? "" : ", ", fmt::join(index->sizes(), ", "));
    }
    BOXCAR_FAIL("shape mismatch: indexing tensors could not be broadcast together with shapes {}", shapes);
  }
  return sizes;
}

// Adds to [offsets] what [index] along dimension [dim] of [self] amounts to.
void addOffsets(const Tensor& offsets, const Tensor& index, const Tensor& self, size_t dim) {
  const int64_t size = self.sizes()[dim];
  const int64_t step = self.strides()[dim] * static_cast<int64_t>(self.itemsize());
  StridedLoop nest(offsets.sizes());
  nest.add(offsets.data_ptr(), offsets.sizes(), offsets.strides(), offsets.itemsize());
  nest.add(index.data_ptr(), index.sizes(), index.strides(), index.itemsize());
  nest.run([&](char* const* data, const int64_t* steps, int64_t n0, int64_t n1) {
    // The output is an input too.
    char* operands[] = {data[0], data[0], data[1]};
    int64_t all_steps[2 * kMaxOperands] = {steps[0], steps[0], steps[1]};
    all_steps[kMaxOperands] = all_steps[kMaxOperands + 1] = steps[kMaxOperands];
    all_steps[kMaxOperands + 2] = steps[kMaxOperands + 1];
    elementwise<int64_t, int64_t, int64_t>(operands, all_steps, n0, n1, [&](int64_t offset, int64_t place) {
      BOXCAR_CHECK(place >= -size && place < size, "index {} is out of bounds for dimension {} with size {}", place,
                   dim, size);
      return offset + (place < 0 ? place + size : place) * step;
    });
  });
}

// The dimensions of the index tensors stand where the first of them is when they follow each other, else in front.
Selection selectElements(const Tensor& self, const Indices& list) {
  const std::vector<std::optional<Tensor>> indices = indexOfEachDim(self, list);
  Selection result;
  const DimVector index_sizes = broadcastIndices(indices);
  result.offsets = Tensor::allocate(index_sizes, ScalarType::Long);
  if (result.offsets.numel() > 0) std::memset(result.offsets.data_ptr(), 0, result.offsets.nbytes());

  size_t first = indices.size();
  size_t last = 0;
  size_t given = 0;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (!indices[i].has_value()) continue;
    first = std::min(first, i);
    last = i;
    ++given;
    addOffsets(result.offsets, *indices[i], self, i);
  }
  const bool together = given > 0 && last - first + 1 == given;
  const size_t place = together ? first : 0;
  const auto addIndexDims = [&] {
    for (size_t k = 0; k < index_sizes.size(); ++k) {
      result.sizes.push_back(index_sizes[k]);
      result.steps.push_back(0);
      result.offsets_steps.push_back(result.offsets.strides()[k] * static_cast<int64_t>(sizeof(int64_t)));
    }
  };
  for (size_t i = 0; i <= indices.size(); ++i) {
    if (i == place) addIndexDims();
    if (i == indices.size() || indices[i].has_value()) continue;
    result.sizes.push_back(self.sizes()[i]);
    result.steps.push_back(self.strides()[i] * static_cast<int64_t>(self.itemsize()));
    result.offsets_steps.push_back(0);
  }
  return result;
}

// Calls body(other, element) with the address of every element that is selected and the one of [other] beside it.
template <class Body>
void forEachSelected(const Selection& selection, const Tensor& self, const Tensor& other, Body&& body) {
  StridedLoop nest(selection.sizes);
  nest.add(other.data_ptr(), other.sizes(), other.strides(), other.itemsize());
  nest.addBytes(self.data_ptr(), selection.steps);
  nest.addBytes(selection.offsets.data_ptr(), selection.offsets_steps);
  nest.run([&](char* const* data, const int64_t* steps, int64_t n0, int64_t n1) {
    for (int64_t j = 0; j < n1; ++j) {
      char* beside = data[0] + j * steps[kMaxOperands];
      char* element = data[1] + j * steps[kMaxOperands + 1];
      char* offset = data[2] + j * steps[kMaxOperands + 2];
      for (int64_t i = 0; i < n0; ++i, beside += steps[0], element += steps[1], offset += steps[2]) {
        body(beside, element + *reinterpret_cast<const int64_t*>(offset));
      }
    }
  });
}

// Calls body.operator()<Word>() with a type of [itemsize] bytes.
struct Words {
  uint64_t low, high;
};
template <class Body>
void visitWord(size_t itemsize, Body&& body) {
  switch (itemsize) {
    case 1: return body(std::type_identity<uint8_t>());
    case 2: return body(std::type_identity<uint16_t>());
    case 4: return body(std::type_identity<uint32_t>());
    case 8: return body(std::type_identity<uint64_t>());
    default: return body(std::type_identity<Words>());
  }
}

Tensor index(const Tensor& self, const Indices& indices) {
  checkOnCpu(self);
  const Selection selection = selectElements(self, indices);
  Tensor out = Tensor::allocate(selection.sizes, self.scalar_type());
  visitWord(self.itemsize(), [&]<class Word>(std::type_identity<Word>) {
    forEachSelected(selection, self, out, [](char* to, const char* from) { std::memcpy(to, from, sizeof(Word)); });
  });
  return out;
}

void checkValues(const Tensor& values, const Tensor& self, const Selection& selection) {
  BOXCAR_CHECK(values.scalar_type() == self.scalar_type(),
               "Index put requires the source and destination dtypes match, got {} for the destination and {} for the "
               "source.",
               self.scalar_type(), values.scalar_type());
  const size_t rank = selection.sizes.size();
  const size_t given = values.sizes().size();
  bool fits = given <= rank;
  for (size_t i = 0; fits && i < given; ++i) {
    const int64_t size = values.sizes()[given - 1 - i];
    fits = size == 1 || size == selection.sizes[rank - 1 - i];
  }
  BOXCAR_CHECK(fits, "shape mismatch: value tensor of shape [{}] cannot be broadcast to indexing result of shape [{}]",
               fmt::join(values.sizes(), ", "), fmt::join(selection.sizes, ", "));
}

Tensor& indexPutInPlace(Tensor& self, const Indices& indices, const Tensor& values, bool accumulate) {
  checkOnCpu(self);
  checkOnCpu(values);
  checkNoInternalOverlap(self);
  const Selection selection = selectElements(self, indices);
  checkValues(values, self, selection);
  // What is read must not change by what is written.
  const Tensor source = values.storage() == self.storage() ? convertTo(values, values.scalar_type()) : values;
  if (accumulate) {
    visitScalarType(kAllTypes, self.scalar_type(), "index_put_", [&]<class T>(std::type_identity<T>) {
      using C = Compute<T>;
      forEachSelected(selection, self, source, [](const char* from, char* to) {
        const C sum = addElements(static_cast<C>(*reinterpret_cast<const T*>(to)),
                                  static_cast<C>(*reinterpret_cast<const T*>(from)));
        *reinterpret_cast<T*>(to) = static_cast<T>(sum);
      });
    });
  } else {
    visitWord(self.itemsize(), [&]<class Word>(std::type_identity<Word>) {
      forEachSelected(selection, self, source, [](const char* from, char* to) { std::memcpy(to, from, sizeof(Word)); });
    });
  }
  self.storage()->bumpVersion();
  return self;
}

Tensor indexPut(const Tensor& self, const Indices& indices, const Tensor& values, bool accumulate) {
  checkOnCpu(self);
  Tensor copy = convertTo(self, self.scalar_type());
  return indexPutInPlace(copy, indices, values, accumulate);
}

}  // namespace

Tensor nonzeroIndices(const Tensor& self) {
  const Tensor mask = toContiguous(self.scalar_type() == ScalarType::Bool ? self : convertTo(self, ScalarType::Bool));
  const std::span<const bool> elements(mask.data_ptr<bool>(), static_cast<size_t>(mask.numel()));
  const auto rank = static_cast<size_t>(self.dim());
  const int64_t sizes[] = {std::ranges::count(elements, true), self.dim()};
  const Tensor result = Tensor::allocate(sizes, ScalarType::Long);
  auto* out = static_cast<int64_t*>(result.data_ptr());
  DimVector at(rank, 0);
  for (const bool element : elements) {
    if (element) out = std::ranges::copy(at, out).out;
    for (size_t i = rank; i-- > 0;) {
      if (++at[i] < self.sizes()[i]) break;
      at[i] = 0;
    }
  }
  return result;
}

BOXCAR_LIBRARY_IMPL(aten, CPU, m) {
  m.impl("index.Tensor", BOXCAR_FN(index));
  m.impl("index_put_", BOXCAR_FN(indexPutInPlace));
  m.impl("index_put", BOXCAR_FN(indexPut));
  m.impl("nonzero", [](const Tensor& self) {
    checkOnCpu(self);
    return nonzeroIndices(self);
  });
}

}  // namespace boxcar::cpu
