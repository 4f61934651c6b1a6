#include <boxcar/backends/meta/indexing.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <algorithm>

namespace boxcar::meta {
namespace {

auto listed(const Tensor& tensor) { return fmt::join(tensor.sizes(), ", "); }

// A tensor without dimensions counts as one-dimensional with a single element.
int64_t sizeAt(const Tensor& tensor, size_t dim) { return tensor.dim() == 0 ? 1 : tensor.sizes()[dim]; }
int64_t rankOf(const Tensor& tensor) { return std::max<int64_t>(tensor.dim(), 1); }

void checkSameRank(std::string_view name, const Tensor& index, const Tensor& other, std::string_view what) {
  BOXCAR_CHECK(rankOf(index) == rankOf(other),
               "{}(): Index tensor must have the same number of dimensions as {} tensor: {} and {}", name, what,
               index.dim(), other.dim());
}

// Whether the sizes are equal except in dimension [dim].
bool sameSlices(const Tensor& a, const Tensor& b, size_t dim) {
  if (rankOf(a) != rankOf(b)) return false;
  for (size_t i = 0; i < static_cast<size_t>(rankOf(a)); ++i) {
    if (i != dim && sizeAt(a, i) != sizeAt(b, i)) return false;
  }
  return true;
}

void checkLongIndex(std::string_view name, const Tensor& index) {
  BOXCAR_CHECK(index.scalar_type() == ScalarType::Long, "{}(): Expected dtype int64 for index, found {}", name,
               dtypeName(index.scalar_type()));
}

void checkPlaces(std::string_view name, const Tensor& index) {
  const ScalarType type = index.scalar_type();
  BOXCAR_CHECK(type == ScalarType::Long || type == ScalarType::Int,
               "{}(): Expected dtype int32 or int64 for index, found {}", name, dtypeName(type));
}

}  // namespace

int64_t checkGather(const Tensor& self, int64_t dim, const Tensor& index) {
  const int64_t along = wrapDimension(dim, self.dim());
  if (index.numel() == 0) return along;
  checkPlaces("gather", index);
  checkSameRank("gather", index, self, "input");
  for (size_t i = 0; i < static_cast<size_t>(rankOf(index)); ++i) {
    BOXCAR_CHECK(static_cast<int64_t>(i) == along || sizeAt(index, i) <= sizeAt(self, i),
                 "Size does not match at dimension {} expected index [{}] to be smaller than self [{}] apart from "
                 "dimension {}",
                 i, listed(index), listed(self), along);
  }
  return along;
}

int64_t checkScatter(std::string_view name, const Tensor& self, int64_t dim, const Tensor& index, const Tensor* src) {
  const int64_t along = wrapDimension(dim, self.dim());
  if (index.numel() > 0) checkPlaces(name, index);
  if (src != nullptr) {
    BOXCAR_CHECK(self.scalar_type() == src->scalar_type(),
                 "{}(): Expected self.dtype to be equal to src.dtype: {} and {}", name, dtypeName(self.scalar_type()),
                 dtypeName(src->scalar_type()));
  }
  if (index.numel() == 0) return along;
  checkSameRank(name, index, self, "self");
  if (src != nullptr) checkSameRank(name, index, *src, "src");
  for (size_t i = 0; i < static_cast<size_t>(rankOf(index)); ++i) {
    BOXCAR_CHECK(static_cast<int64_t>(i) == along || sizeAt(index, i) <= sizeAt(self, i),
                 "{}(): Expected index [{}] to be smaller than self [{}] apart from dimension {}", name, listed(index),
                 listed(self), along);
    BOXCAR_CHECK(src == nullptr || sizeAt(index, i) <= sizeAt(*src, i),
                 "{}(): Expected index [{}] to be smaller than src [{}]", name, listed(index), listed(*src));
  }
  return along;
}

void checkIndexVector(std::string_view name, const Tensor& index, bool takes_int32) {
  const ScalarType type = index.scalar_type();
  BOXCAR_CHECK(type == ScalarType::Long || (takes_int32 && type == ScalarType::Int),
               "{}(): Expected dtype {}int64 for index, found {}", name, takes_int32 ? "int32 or " : "",
               dtypeName(type));
  BOXCAR_CHECK(index.dim() <= 1, "{}(): Index is supposed to be a vector, but it has {} dimensions", name, index.dim());
}

DimVector indexSelectSizes(const Tensor& self, int64_t& dim, const Tensor& index) {
  checkIndexVector("index_select", index, /*takes_int32=*/true);
  dim = wrapDimension(dim, self.dim());
  BOXCAR_CHECK(self.dim() > 0 || index.numel() == 1,
               "index_select(): Index to scalar can have only 1 value, got {} value(s)", index.numel());
  DimVector sizes = toDimVector(self.sizes());
  if (self.dim() > 0) sizes[static_cast<size_t>(dim)] = index.numel();
  return sizes;
}

int64_t checkIndexAdd(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  checkIndexVector("index_add", index, /*takes_int32=*/true);
  const int64_t along = wrapDimension(dim, self.dim());
  const auto at = static_cast<size_t>(along);
  BOXCAR_CHECK(self.scalar_type() == source.scalar_type(),
               "index_add(): self ({}) and source ({}) must have the same dtype", dtypeName(self.scalar_type()),
               dtypeName(source.scalar_type()));
  BOXCAR_CHECK(sameSlices(self, source, at),
               "index_add(): source of sizes [{}] must have the sizes of self, [{}], apart from dimension {}",
               listed(source), listed(self), along);
  BOXCAR_CHECK(index.numel() == sizeAt(source, at),
               "index_add(): Number of indices ({}) should be equal to source.size({}): ({})", index.numel(), along,
               sizeAt(source, at));
  return along;
}

int64_t checkIndexCopy(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  checkIndexVector("index_copy", index, /*takes_int32=*/false);
  const int64_t along = wrapDimension(dim, self.dim());
  const auto at = static_cast<size_t>(along);
  BOXCAR_CHECK(self.scalar_type() == source.scalar_type(),
               "index_copy(): self and source expected to have the same dtype, but got (self) {} and (source) {}",
               dtypeName(self.scalar_type()), dtypeName(source.scalar_type()));
  if (source.dim() == 0) {
    BOXCAR_CHECK(index.numel() == 1, "index_copy(): When source is scalar, index should have one element (got {})",
                 index.numel());
  }
  BOXCAR_CHECK(source.dim() == self.dim() || source.dim() == 0 || self.dim() == 0,
               "index_copy(): When source and destination are not scalars, their dimensionality must match. Source "
               "dimensionality ({}), destination dimensionality ({})",
               source.dim(), self.dim());
  BOXCAR_CHECK(sameSlices(self, source, at),
               "index_copy(): Source/destination tensor must have same slice shapes, but they have sizes [{}] and [{}] "
               "apart from dimension {}",
               listed(source), listed(self), along);
  BOXCAR_CHECK(index.numel() == sizeAt(source, at),
               "index_copy(): Number of indices ({}) should be equal to source.size({}): ({})", index.numel(), along,
               sizeAt(source, at));
  return along;
}

int64_t checkIndexFill(const Tensor& self, int64_t dim, const Tensor& index) {
  checkIndexVector("index_fill", index, /*takes_int32=*/false);
  return wrapDimension(dim, self.dim());
}

void checkTake(const Tensor& self, const Tensor& index) {
  checkLongIndex("take", index);
  BOXCAR_CHECK(self.numel() > 0 || index.numel() == 0,
               "take(): tried to take {} element(s) from an empty tensor of sizes [{}]", index.numel(), listed(self));
}

void checkMask(std::string_view name, const Tensor& mask) {
  BOXCAR_CHECK(mask.scalar_type() == ScalarType::Bool,
               "{}: expected a mask of bools, but it is of {}; say mask != 0, or mask.to(bool)", name,
               dtypeName(mask.scalar_type()));
}

}  // namespace boxcar::meta
