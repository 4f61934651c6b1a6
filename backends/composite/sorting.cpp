#include <boxcar/backends/meta/dims.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/stop_request.h>
#include <boxcar/ops.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

// Operators built from sort, and differences of adjacent elements.

namespace boxcar::composite {
namespace {

Tensor emptyLike(const Tensor& self, ScalarType dtype) {
  const int64_t none[] = {0};
  return boxcar::empty(none, dtype, std::nullopt, self.device());
}

Tensor msort(const Tensor& self) { return std::get<0>(boxcar::sort(self, 0, false)); }
Tensor& msortOut(const Tensor& self, Tensor& out) {
  Tensor indices = emptyLike(self, ScalarType::Long);
  boxcar::sort_out(out, indices, self, 0, false);
  return out;
}

Tensor argsort(const Tensor& self, int64_t dim, bool descending) {
  return std::get<1>(boxcar::sort(self, dim, descending));
}
Tensor argsortStable(const Tensor& self, bool stable, int64_t dim, bool descending) {
  return std::get<1>(boxcar::sort(self, std::optional<bool>(stable), dim, descending));
}
void checkDiff(const Tensor& self, int64_t n, int64_t dim, const std::optional<Tensor>& other, std::string_view name) {
  BOXCAR_CHECK(self.dim() >= 1, "diff(): expects input to be at least one-dimensional");
  BOXCAR_CHECK(n >= 0, "diff(): order must be non-negative, but got {}", n);
  if (!other.has_value()) return;
  BOXCAR_CHECK(other->dim() == self.dim(), "diff(): {} must have as many dimensions as input, {}, but it has {}", name,
               self.dim(), other->dim());
  for (int64_t i = 0; i < self.dim(); ++i) {
    BOXCAR_CHECK(i == dim || other->size(i) == self.size(i),
                 "diff(): {} of sizes [{}] must have the sizes of input, [{}], apart from dimension {}", name,
                 fmt::join(other->sizes(), ", "), fmt::join(self.sizes(), ", "), dim);
  }
}

// Returns [self] with [prepend] before it and [append] after it.
Tensor extended(const Tensor& self, int64_t n, int64_t dim, const std::optional<Tensor>& prepend,
                const std::optional<Tensor>& append) {
  checkDiff(self, n, dim, prepend, "prepend");
  checkDiff(self, n, dim, append, "append");
  if (!prepend.has_value() && !append.has_value()) return self;
  std::vector<Tensor> parts;
  if (prepend.has_value()) parts.push_back(*prepend);
  parts.push_back(self);
  if (append.has_value()) parts.push_back(*append);
  return boxcar::cat(parts, dim);
}

// Returns elements and their predecessors.
std::tuple<Tensor, Tensor> neighbours(const Tensor& self, int64_t dim) {
  const int64_t pairs = std::max<int64_t>(self.size(dim) - 1, 0);
  return {boxcar::narrow(self, dim, self.size(dim) - pairs, pairs), boxcar::narrow(self, dim, 0, pairs)};
}

Tensor diff(const Tensor& self, int64_t n, int64_t dim, const std::optional<Tensor>& prepend,
            const std::optional<Tensor>& append) {
  const int64_t along = wrapDimension(dim, self.dim());
  Tensor result = extended(self, n, along, prepend, append);
  // With n = 0, nothing is prepended or appended either.
  if (n == 0) return boxcar::clone(self);
  const int64_t times = std::min(n, result.size(along));
  if (times == 0) return boxcar::clone(result);
  for (int64_t i = 0; i < times; ++i) {
    checkStop();
    const auto [later, earlier] = neighbours(result, along);
    // The difference of bools is whether they differ.
    result = result.scalar_type() == ScalarType::Bool ? boxcar::ne(later, earlier) : boxcar::sub(later, earlier);
  }
  return result;
}

Tensor& diffOut(const Tensor& self, int64_t n, int64_t dim, const std::optional<Tensor>& prepend,
                const std::optional<Tensor>& append, Tensor& out) {
  BOXCAR_CHECK(n != 0 || out.scalar_type() == self.scalar_type(), "diff(): expected out of {} but found {}",
               dtypeName(self.scalar_type()), dtypeName(out.scalar_type()));
  const Tensor result[] = {boxcar::diff(self, n, dim, prepend, append)};
  return boxcar::cat_out(out, result, 0);
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("msort", BOXCAR_FN(msort));
  m.impl("msort.out", BOXCAR_FN(msortOut));
  m.impl("argsort", BOXCAR_FN(argsort));
  m.impl("diff", BOXCAR_FN(diff));
  m.impl("diff.out", BOXCAR_FN(diffOut));
}

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) { m.impl("argsort.stable", BOXCAR_FN(argsortStable)); }

}  // namespace boxcar::composite
