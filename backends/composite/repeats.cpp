#include <boxcar/backends/meta/dims.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

// Copies that repeat or reorder elements.

namespace boxcar::composite {
namespace {

using IntSpan = std::span<const int64_t>;

// Copies [self], expanded, into a view of the result that has two dimensions for each one: repetition and index.
Tensor repeat(const Tensor& self, IntSpan repeats) {
  BOXCAR_CHECK(repeats.size() >= self.sizes().size(),
               "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor: got [{}] "
               "for a tensor of sizes [{}]",
               fmt::join(repeats, ", "), fmt::join(self.sizes(), ", "));
  const size_t added = repeats.size() - self.sizes().size();
  DimVector sizes;
  DimVector split_sizes;
  DimVector once;
  for (size_t i = 0; i < repeats.size(); ++i) {
    const int64_t size = i < added ? 1 : self.sizes()[i - added];
    BOXCAR_CHECK(repeats[i] >= 0, "repeat(): the number of repetitions must not be negative: [{}]",
                 fmt::join(repeats, ", "));
    int64_t length = 0;
    BOXCAR_CHECK(!__builtin_mul_overflow(repeats[i], size, &length), "repeat(): {} times size {} is too large",
                 repeats[i], size);
    sizes.push_back(length);
    split_sizes.push_back(repeats[i]);
    split_sizes.push_back(size);
    once.push_back(1);
    once.push_back(size);
  }
  const Tensor result = boxcar::empty(sizes, self.scalar_type(), self.layout(), self.device());
  Tensor split = boxcar::view(result, split_sizes);
  boxcar::copy_(split, boxcar::_unsafe_view(self, once));
  return result;
}

Tensor tile(const Tensor& self, IntSpan dims) {
  const size_t missing = self.sizes().size() - std::min(self.sizes().size(), dims.size());
  DimVector repeats(missing, 1);
  repeats.insert(repeats.end(), dims.begin(), dims.end());
  return boxcar::repeat(self, repeats);
}

Tensor repeatInterleave(const Tensor& self, int64_t repeats, std::optional<int64_t> dim,
                        std::optional<int64_t> output_size) {
  BOXCAR_CHECK(repeats >= 0, "repeats must be non-negative, but got {}", repeats);
  const Tensor input = dim.has_value() ? boxcar::atleast_1d(self) : boxcar::flatten(self);
  const int64_t along = wrapDimension(dim.value_or(0), input.dim());
  int64_t length = 0;
  BOXCAR_CHECK(!__builtin_mul_overflow(input.size(along), repeats, &length),
               "repeat_interleave(): {} times size {} is too large", repeats, input.size(along));
  BOXCAR_CHECK(output_size.value_or(length) == length, "repeat_interleave: Invalid output_size, expected {} but got {}",
               length, *output_size);
  DimVector sizes = toDimVector(input.sizes());
  sizes.insert(sizes.begin() + along + 1, repeats);
  const Tensor expanded = boxcar::expand(boxcar::unsqueeze(input, along + 1), sizes);
  sizes.erase(sizes.begin() + along + 1);
  sizes[static_cast<size_t>(along)] = length;
  return boxcar::_unsafe_view(boxcar::clone(expanded, MemoryFormat::Contiguous), sizes);
}

Tensor repeatInterleaveTensor(const Tensor& self, const Tensor& repeats, std::optional<int64_t> dim,
                              std::optional<int64_t> output_size) {
  const Tensor input = dim.has_value() ? boxcar::atleast_1d(self) : boxcar::flatten(self);
  const int64_t along = wrapDimension(dim.value_or(0), input.dim());
  BOXCAR_CHECK(repeats.dim() <= 1, "repeats must be 0-dim or 1-dim tensor, but it has {} dimensions", repeats.dim());
  BOXCAR_CHECK(repeats.numel() == 1 || repeats.numel() == input.size(along),
               "repeats must have the same size as input along dim, but got repeats.size(0) = {} and input.size({}) = "
               "{}",
               repeats.numel(), along, input.size(along));
  const Tensor all =
      repeats.numel() == 1 ? boxcar::expand(boxcar::reshape(repeats, {1}), {input.size(along)}) : repeats;
  return boxcar::index_select(input, along, boxcar::repeat_interleave(all, output_size));
}

// Returns [self] rotated along [dim] so that index [start] comes first.
Tensor startingAt(const Tensor& self, int64_t start, int64_t dim) {
  const Tensor parts[] = {boxcar::slice(self, dim, start), boxcar::slice(self, dim, 0, start)};
  return boxcar::cat(parts, dim);
}

Tensor roll(const Tensor& self, IntSpan shifts, IntSpan dims) {
  BOXCAR_CHECK(!shifts.empty(), "`shifts` required");
  if (dims.empty() && shifts.size() == 1) {
    const int64_t first_dim = 0;
    const Tensor flat = boxcar::ravel(self);
    return boxcar::_unsafe_view(boxcar::roll(flat, shifts, IntSpan(&first_dim, 1)), self.sizes());
  }
  BOXCAR_CHECK(shifts.size() == dims.size(), "shifts and dimensions must align. shifts: {}, dims:{}", shifts.size(),
               dims.size());
  for (const int64_t dim : dims) (void)self.size(dim);
  if (self.numel() == 0) return boxcar::clone(self, MemoryFormat::Preserve);
  Tensor result = self;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t size = self.size(dims[i]);
    const int64_t shift = shifts[i] % size;
    result = startingAt(result, shift > 0 ? size - shift : -shift, dims[i]);
  }
  return result;
}

Tensor flipColumns(const Tensor& self) {
  BOXCAR_CHECK(self.dim() >= 2, "Input must be >= 2-d, but it has {} dimensions.", self.dim());
  return boxcar::flip(self, {1});
}
Tensor flipRows(const Tensor& self) {
  BOXCAR_CHECK(self.dim() >= 1, "Input must be >= 1-d, but it has no dimensions.");
  return boxcar::flip(self, {0});
}

Tensor rotate90(const Tensor& self, int64_t k, IntSpan dims) {
  BOXCAR_CHECK(dims.size() == 2, "expected total rotation dims == 2, but got dims = [{}]", fmt::join(dims, ", "));
  BOXCAR_CHECK(self.dim() >= 2, "expected total dims >= 2, but got total dims = {}", self.dim());
  const int64_t first = wrapDimension(dims[0], self.dim());
  const int64_t second = wrapDimension(dims[1], self.dim());
  BOXCAR_CHECK(first != second, "expected rotation dims to be different, but got dim0 = {} and dim1 = {}", dims[0],
               dims[1]);
  switch ((k % 4 + 4) % 4) {
    case 1: return boxcar::transpose(boxcar::flip(self, {second}), first, second);
    case 2: return boxcar::flip(self, {first, second});
    case 3: return boxcar::transpose(boxcar::flip(self, {first}), first, second);
    default: return boxcar::clone(self, MemoryFormat::Contiguous);
  }
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("repeat", BOXCAR_FN(repeat));
  m.impl("roll", BOXCAR_FN(roll));
  m.impl("rot90", BOXCAR_FN(rotate90));
}

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("tile", BOXCAR_FN(tile));
  m.impl("repeat_interleave.self_int", BOXCAR_FN(repeatInterleave));
  m.impl("repeat_interleave.self_Tensor", BOXCAR_FN(repeatInterleaveTensor));
  m.impl("fliplr", BOXCAR_FN(flipColumns));
  m.impl("flipud", BOXCAR_FN(flipRows));
}

}  // namespace boxcar::composite
