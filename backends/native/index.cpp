#include <boxcar/backends/functors/arithmetic.h>
#include <boxcar/backends/meta/broadcast.h>
#include <boxcar/backends/meta/layout.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/factories.h>
#include <boxcar/backends/native/index.h>
#include <boxcar/backends/native/indexed_loop.h>
#include <boxcar/backends/native/memory_checks.h>
#include <boxcar/backends/native/pointwise.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/backends/native/write_out.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/no_elements_error.h>
#include <boxcar/ops.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace boxcar::native {

constinit DeviceStub<AddOffsets> addOffsets("index");

namespace {

using Indices = List<std::optional<Tensor>>;

// The elements of a tensor that index tensors select. Index tensors stand for dimensions of the tensor and are
// broadcast together.
struct Selection {
  DimVector sizes;           // of the result
  DimVector steps;           // of the result's dimensions in the indexed tensor, in bytes; 0 for index dimensions
  std::vector<Tensor> like;  // the tensors that determine the memory order of the result
  // The only index tensor or, if there are several, the byte offsets in the indexed tensor that they lead to together.
  Tensor index;
  DimVector index_steps;  // of the result's dimensions in [index], in bytes
  int64_t step = 1;
  int64_t size = kChecked;
  int64_t dim = 0;

  // The size for byte offsets of several index tensors, which have been checked.
  static constexpr int64_t kChecked = std::numeric_limits<int64_t>::max();
  bool wantsCheck() const { return size != kChecked && index.numel() > 0; }
};

bool isMask(const Tensor& index) {
  return index.scalar_type() == ScalarType::Bool || index.scalar_type() == ScalarType::Byte;
}

// CPU indices, such as those from lists, may also index tensors on Meta.
bool choosesFromMeta(const Tensor& index, const Tensor& self) { return self.is_meta() && index.is_cpu(); }

// Returns the index tensor of each dimension, none if the whole dimension is taken. A mask becomes the indices of its
// true elements, one tensor for each of its dimensions.
std::vector<std::optional<Tensor>> indexOfEachDim(const Tensor& self, const Indices& indices) {
  std::vector<std::optional<Tensor>> result;
  for (const std::optional<Tensor>& index : indices) {
    if (!index.has_value() || !index->defined()) {
      result.emplace_back();
      continue;
    }
    if (!choosesFromMeta(*index, self)) checkSameDevice({&self, &*index});
    BOXCAR_CHECK(isMask(*index) || index->scalar_type() == ScalarType::Long || index->scalar_type() == ScalarType::Int,
                 "tensors used as indices must be long, int, byte or bool tensors, found {}",
                 dtypeName(index->scalar_type()));
    if (!isMask(*index)) {
      result.push_back(index->scalar_type() == ScalarType::Int ? convertTo(*index, ScalarType::Long) : *index);
      continue;
    }
    for (size_t i = 0; i < index->sizes().size(); ++i) {
      const size_t dim = result.size() + i;
      BOXCAR_CHECK_INDEX(
          dim < self.sizes().size() && index->sizes()[i] == self.sizes()[dim],
          "The shape of the mask [{}] at index {} does not match the shape of the indexed tensor [{}] at index "
          "{}",
          fmt::join(index->sizes(), ", "), i, fmt::join(self.sizes(), ", "), dim);
    }
    BOXCAR_CHECK(index->dim() > 0, "a mask without dimensions cannot be an index; use where() or an if");
    if (index->is_meta()) {
      throw NoElementsError(fmt::format(
          "how many elements a mask of sizes [{}] chooses depends on its elements, which tensors on Meta have not",
          fmt::join(index->sizes(), ", ")));
    }
    const Tensor places = boxcar::nonzero(*index);
    const int64_t count = places.sizes()[0];
    for (int64_t i = 0; i < index->dim(); ++i) {
      const int64_t sizes[] = {count};
      const int64_t strides[] = {1};
      result.emplace_back(places.view(sizes, strides, i * places.strides()[1]));
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
      if (index.has_value()) sizes = meta::broadcast(sizes, index->sizes());
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

// Throws Error if indices, broadcast to [sizes], refer to a dimension of size 0.
void checkHasPlaces(const Tensor& self, const std::vector<std::optional<Tensor>>& indices, const DimVector& sizes) {
  if (numelOf(sizes) == 0) return;
  for (size_t i = 0; i < indices.size(); ++i) {
    BOXCAR_CHECK_INDEX(!indices[i].has_value() || self.sizes()[i] > 0,
                       "index is out of bounds for dimension {} with size 0", i);
  }
}

// Returns the byte offsets that several index tensors lead to.
Tensor offsetsOf(const std::vector<std::optional<Tensor>>& indices, const Tensor& self, const DimVector& sizes) {
  const Tensor offsets = Tensor::allocate(sizes, ScalarType::Long, self.device());
  if (self.is_meta() || offsets.numel() == 0) return offsets;
  zeroBytes(self.device(), offsets.data_ptr(), offsets.nbytes());
  const auto itemsize = static_cast<int64_t>(self.itemsize());
  for (size_t i = 0; i < indices.size(); ++i) {
    if (!indices[i].has_value()) continue;
    addOffsets(self.device(), offsets, *indices[i], {i, self.sizes()[i], self.strides()[i] * itemsize});
  }
  return offsets;
}

// If the indexed dimensions are adjacent, the index dimensions replace them, else they come first.
Selection selectElements(const Tensor& self, const Indices& list) {
  const std::vector<std::optional<Tensor>> indices = indexOfEachDim(self, list);
  Selection result;
  const DimVector index_sizes = broadcastIndices(indices);
  size_t first = indices.size();
  size_t last = 0;
  size_t given = 0;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (!indices[i].has_value()) continue;
    first = std::min(first, i);
    last = i;
    ++given;
  }
  if (given == 1) {
    result.index = *indices[first];
    result.dim = static_cast<int64_t>(first);
    result.size = self.sizes()[first];
    result.step = self.strides()[first] * static_cast<int64_t>(self.itemsize());
  } else {
    result.index = offsetsOf(indices, self, index_sizes);
  }
  const size_t place = given > 0 && last - first + 1 == given ? first : 0;
  checkHasPlaces(self, indices, index_sizes);
  DimVector self_strides;
  for (size_t i = 0; i <= indices.size(); ++i) {
    if (i == place) {
      result.sizes.insert(result.sizes.end(), index_sizes.begin(), index_sizes.end());
      self_strides.insert(self_strides.end(), index_sizes.size(), 0);
    }
    if (i == indices.size() || indices[i].has_value()) continue;
    result.sizes.push_back(self.sizes()[i]);
    self_strides.push_back(self.strides()[i]);
  }
  for (const int64_t stride : self_strides) result.steps.push_back(stride * static_cast<int64_t>(self.itemsize()));

  // An index tensor expanded to the sizes of the result.
  const auto spread = [&](const Tensor& index) {
    const Tensor expanded = meta::expandTo(index, index_sizes);
    DimVector strides(result.sizes.size(), 0);
    std::ranges::copy(expanded.strides(),
                      strides.begin() + static_cast<ptrdiff_t>(std::min(place, result.sizes.size())));
    return index.view(result.sizes, strides, index.storage_offset());
  };
  const Tensor seen = spread(result.index);
  for (const int64_t stride : seen.strides()) result.index_steps.push_back(stride * int64_t{sizeof(int64_t)});
  result.like.push_back(self.view(result.sizes, self_strides, self.storage_offset()));
  for (const auto& index : indices) {
    if (index.has_value()) result.like.push_back(spread(*index));
  }
  return result;
}

// Returns the loop over the selected elements of [self], with [other], which broadcasts to them, beside.
IndexedLoop selectionLoop(const Selection& selection, const Tensor& self, const Tensor& other) {
  IndexedLoop loop;
  loop.sizes = selection.sizes;
  loop.beside = static_cast<char*>(other.data_ptr());
  loop.beside_steps = byteSteps(meta::expandTo(other, selection.sizes));
  loop.chosen = static_cast<char*>(self.data_ptr());
  loop.chosen_steps = selection.steps;
  loop.index = static_cast<const char*>(selection.index.data_ptr());
  loop.index_steps = selection.index_steps;
  loop.step = selection.step;
  loop.size = selection.size;
  loop.wraps = true;
  loop.dim = selection.dim;
  return loop;
}

Tensor select(const Tensor& self, const Indices& indices) {
  checkDense(self);
  const Selection selection = selectElements(self, indices);
  std::vector<const Tensor*> like;
  for (const Tensor& tensor : selection.like) like.push_back(&tensor);
  const DimVector strides = meta::stridesLike(selection.sizes, like);
  Tensor out = meta::allocateStrided(selection.sizes, strides, self.scalar_type(), self.device());
  if (out.is_meta()) return out;
  const IndexedLoop loop = selectionLoop(selection, self, out);
  if (out.numel() == 0 && selection.wantsCheck()) checkChosen(self.device(), loop);
  readChosen(self.device(), loop, self.itemsize());
  return out;
}

Tensor& indexOut(const Tensor& self, const Indices& indices, Tensor& out) {
  const Tensor result = select(self, indices);
  const meta::Output output = meta::outputOf(out, result, meta::OutputType::kExact);
  for (const std::optional<Tensor>& index : indices) {
    if (index.has_value() && index->defined()) meta::checkRead(output, *index, Overlap::kRefused);
  }
  return writeSameType(out, result, {&self});
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

void putElements(const Tensor& self, const Selection& selection, const Tensor& values, bool accumulate) {
  IndexedLoop loop = selectionLoop(selection, self, values);
  loop.writes_chosen = true;
  if (selection.wantsCheck()) checkChosen(self.device(), loop);
  if (!accumulate) return writeChosen(self.device(), loop, self.itemsize());
  combineChosen(self.device(), loop, self.scalar_type(), Combination::kAdd, 1);
}

Tensor& indexPutInPlace(Tensor& self, const Indices& indices, const Tensor& values, bool accumulate) {
  checkWrittenInPlace(self, {&values});
  for (const std::optional<Tensor>& index : indices) {
    if (!index.has_value() || !index->defined() || choosesFromMeta(*index, self)) continue;
    checkWrittenInPlace(self, {&*index});
  }
  // On Meta, the elements that masks select are unknown.
  const auto is_mask = [](const std::optional<Tensor>& index) {
    return index.has_value() && index->defined() && isMask(*index);
  };
  if (self.is_meta() && std::any_of(indices.begin(), indices.end(), is_mask)) return self;
  const Selection selection = selectElements(self, indices);
  checkValues(values, self, selection);
  if (self.is_meta()) return self;
  if (accumulate && isSmallFloat(self)) {
    // The selection contains byte offsets, so it must be computed again for float32.
    inFloat32(self, [&](const Tensor& wide) {
      putElements(wide, selectElements(wide, indices), convertTo(values, ScalarType::Float), accumulate);
    });
  } else {
    putElements(self, selection, values, accumulate);
  }
  return self;
}

Tensor indexPut(const Tensor& self, const Indices& indices, const Tensor& values, bool accumulate) {
  checkDense(self);
  Tensor copy = convertTo(self, self.scalar_type());
  return indexPutInPlace(copy, indices, values, accumulate);
}

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, readChosen, writeChosen, combineChosen, addOffsets) {
  m.impl("index.Tensor", BOXCAR_FN(select));
  m.impl("index.Tensor_out", BOXCAR_FN(indexOut));
  m.impl("index_put_", BOXCAR_FN(indexPutInPlace));
  m.impl("index_put", BOXCAR_FN(indexPut));
}

}  // namespace boxcar::native
