#include <boxcar/backends/composite/dtype.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

// Norms of vectors and matrices, built from linalg_vector_norm, sums, extremes and singular values.

namespace boxcar::composite {
namespace {

using IntSpan = std::span<const int64_t>;
using OptionalDims = std::optional<IntSpan>;
using OptionalType = std::optional<ScalarType>;
using OptionalScalar = std::optional<Scalar>;

// The operators named `norm` are vector norms, whatever the number of dimensions.
Tensor normOver(const Tensor& self, const OptionalScalar& p, IntSpan dim, bool keepdim, OptionalType dtype) {
  return boxcar::linalg_vector_norm(self, p.value_or(2), dim, keepdim, dtype);
}
Tensor norm(const Tensor& self, const Scalar& p) { return normOver(self, p, {}, false, std::nullopt); }
Tensor normAs(const Tensor& self, const OptionalScalar& p, ScalarType dtype) {
  return normOver(self, p, {}, false, dtype);
}
Tensor normDims(const Tensor& self, const OptionalScalar& p, IntSpan dim, bool keepdim) {
  return normOver(self, p, dim, keepdim, std::nullopt);
}
Tensor normDimsAs(const Tensor& self, const OptionalScalar& p, IntSpan dim, bool keepdim, ScalarType dtype) {
  return normOver(self, p, dim, keepdim, dtype);
}
Tensor& normDimsOut(const Tensor& self, const OptionalScalar& p, IntSpan dim, bool keepdim, Tensor& out) {
  return boxcar::linalg_vector_norm_out(out, self, p.value_or(2), dim, keepdim);
}
Tensor& normDimsAsOut(const Tensor& self, const OptionalScalar& p, IntSpan dim, bool keepdim, ScalarType dtype,
                      Tensor& out) {
  return boxcar::linalg_vector_norm_out(out, self, p.value_or(2), dim, keepdim, dtype);
}

// -1 stands for all elements; -2 counts from the last dimension. A dimension more at the end, which is left out again,
// keeps the list of dimensions from being empty, which would mean all of them.
Tensor normExceptDim(const Tensor& v, int64_t pow, int64_t dim) {
  if (dim == -1) return boxcar::norm(v, pow);
  BOXCAR_CHECK(v.dim() > 0, "norm_except_dim: v has no dimension {}, because it is one number; give dim=-1", dim);
  const int64_t kept = wrapDimension(dim, v.dim());
  std::vector<int64_t> others;
  for (int64_t i = 0; i <= v.dim(); ++i) {
    if (i != kept) others.push_back(i);
  }
  return boxcar::squeeze(boxcar::norm(boxcar::unsqueeze(v, -1), pow, others, /*keepdim=*/true), -1);
}

Tensor weightNorm(const Tensor& v, const Tensor& g, int64_t dim) {
  const Tensor directions = boxcar::contiguous(v);
  return boxcar::mul(directions, boxcar::div(g, boxcar::norm_except_dim(directions, 2, dim)));
}

// The two matrix dimensions of [self]; if none are given, the whole tensor is one matrix.
struct MatrixDims {
  int64_t rows;
  int64_t columns;

  MatrixDims(const Tensor& self, OptionalDims dim) {
    if (dim.has_value()) {
      BOXCAR_CHECK(dim->size() == 2, "linalg.matrix_norm: dim must be a 2-tuple. Got [{}]", fmt::join(*dim, ", "));
      rows = wrapDimension((*dim)[0], self.dim());
      columns = wrapDimension((*dim)[1], self.dim());
    } else {
      BOXCAR_CHECK(self.dim() == 2,
                   "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {}D.", self.dim());
      rows = 0;
      columns = 1;
    }
    BOXCAR_CHECK(rows != columns, "linalg.matrix_norm: dims must be different. Got ({}, {})", rows, columns);
  }
};

void checkMatrices(const Tensor& self) {
  BOXCAR_CHECK(self.is_floating_point() || self.is_complex(),
               "linalg.matrix_norm: Expected a floating point or complex tensor as input. Got {}",
               dtypeName(self.scalar_type()));
  BOXCAR_CHECK(self.dim() >= 2, "linalg.matrix_norm: The input tensor A must have at least 2 dimensions.");
}

// Returns the singular values, in the last dimension, of the matrices that [dims] selects.
Tensor singularValues(const Tensor& self, const MatrixDims& dims) {
  const int64_t from[] = {dims.rows, dims.columns};
  const int64_t to[] = {-2, -1};
  return boxcar::linalg_svdvals(boxcar::movedim(self, from, to));
}

// Returns one value per matrix; the matrix dimensions are kept with size 1 if requested.
Tensor withDims(const Tensor& values, const MatrixDims& dims, bool keepdim) {
  if (!keepdim) return values;
  const int64_t first = std::min(dims.rows, dims.columns);
  const int64_t second = std::max(dims.rows, dims.columns);
  return boxcar::unsqueeze(boxcar::unsqueeze(values, first), second);
}

// Returns the matrices with elements of [dtype], if it is given. It may neither drop nor add an imaginary part, nor
// narrow.
Tensor matricesAs(const Tensor& self, OptionalType dtype) {
  checkMatrices(self);
  if (!dtype.has_value()) return self;
  const ScalarType type = self.scalar_type();
  BOXCAR_CHECK(isFloatingType(*dtype) || isComplexType(*dtype),
               "linalg.matrix_norm: dtype should be floating point or complex, but got {}", *dtype);
  BOXCAR_CHECK(isComplexType(type) == isComplexType(*dtype),
               "linalg.matrix_norm: dtype should be {0} for {0} inputs, but got {1}",
               self.is_complex() ? "complex" : "real", *dtype);
  BOXCAR_CHECK(promoteTypes(type, *dtype) == *dtype,
               "linalg.matrix_norm: the dtype of the input ({}) should be convertible without narrowing to the "
               "specified dtype ({})",
               type, *dtype);
  return converted(self, dtype);
}

Tensor matrixNorm(const Tensor& matrices, double order, OptionalDims dim, bool keepdim, OptionalType dtype) {
  const Tensor self = matricesAs(matrices, dtype);
  const MatrixDims dims(self, dim);
  const double magnitude = std::abs(order);
  BOXCAR_CHECK(magnitude == 1 || magnitude == 2 || std::isinf(magnitude), "linalg.matrix_norm: Order {} not supported.",
               order);
  const auto extreme = [&](const Tensor& values, int64_t along) {
    const IntSpan over(&along, 1);
    if (order > 0 && values.size(along) == 0) return boxcar::sum(values, over);  // zeros
    return order > 0 ? boxcar::amax(values, over) : boxcar::amin(values, over);
  };
  if (magnitude == 2) return withDims(extreme(singularValues(self, dims), -1), dims, keepdim);
  // Order 1 sums columns, order infinity sums rows.
  const int64_t summed = magnitude == 1 ? dims.rows : dims.columns;
  const int64_t compared = magnitude == 1 ? dims.columns : dims.rows;
  const Tensor sums = boxcar::linalg_vector_norm(self, 1, IntSpan(&summed, 1), /*keepdim=*/false);
  return withDims(extreme(sums, compared > summed ? compared - 1 : compared), dims, keepdim);
}

Tensor linalgNorm(const Tensor& self, const OptionalScalar& order, OptionalDims dim, bool keepdim, OptionalType dtype) {
  if (dim.has_value()) {
    BOXCAR_CHECK(dim->size() == 1 || dim->size() == 2 || !order.has_value(),
                 "linalg.norm: If dim is specified, it must be of length 1 or 2. Got [{}]", fmt::join(*dim, ", "));
  } else {
    BOXCAR_CHECK(!order.has_value() || self.dim() == 1 || self.dim() == 2,
                 "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {}D.", self.dim());
  }
  const bool of_matrices = order.has_value() && (dim.has_value() ? dim->size() == 2 : self.dim() == 2);
  if (of_matrices) return matrixNorm(self, order->toDouble(), dim, keepdim, dtype);
  return boxcar::linalg_vector_norm(self, order.value_or(2), dim, keepdim, dtype);
}

Tensor linalgNormNamed(const Tensor& self, std::string_view order, OptionalDims dim, bool keepdim, OptionalType dtype) {
  BOXCAR_CHECK(order == "fro" || order == "nuc", "linalg.matrix_norm: Order {} not supported.", order);
  const Tensor x = matricesAs(self, dtype);
  const MatrixDims dims(x, dim);
  const int64_t both[] = {dims.rows, dims.columns};
  if (order == "fro") return boxcar::linalg_vector_norm(x, 2, both, keepdim);
  const int64_t last = -1;
  return withDims(boxcar::sum(singularValues(x, dims), IntSpan(&last, 1)), dims, keepdim);
}

Tensor matrixNormOrder(const Tensor& self, const Scalar& order, IntSpan dim, bool keepdim, OptionalType dtype) {
  return matrixNorm(self, order.toDouble(), dim, keepdim, dtype);
}
Tensor matrixNormNamed(const Tensor& self, std::string_view order, IntSpan dim, bool keepdim, OptionalType dtype) {
  return linalgNormNamed(self, order, dim, keepdim, dtype);
}

// Resizes [out] and writes [result] to it; [result] is non-negative, so abs() copies it.
Tensor& write(Tensor& out, const Tensor& result) {
  BOXCAR_CHECK(out.scalar_type() == result.scalar_type(),
               "linalg.norm: Expected out tensor to have dtype {}, but got {} instead", dtypeName(result.scalar_type()),
               dtypeName(out.scalar_type()));
  return boxcar::abs_out(out, result);
}
Tensor& linalgNormOut(const Tensor& self, const OptionalScalar& order, OptionalDims dim, bool keepdim,
                      OptionalType dtype, Tensor& out) {
  return write(out, boxcar::linalg_norm(self, order, dim, keepdim, dtype));
}
Tensor& linalgNormNamedOut(const Tensor& self, std::string_view order, OptionalDims dim, bool keepdim,
                           OptionalType dtype, Tensor& out) {
  return write(out, boxcar::linalg_norm(self, order, dim, keepdim, dtype));
}

Tensor& matrixNormOrderOut(const Tensor& self, const Scalar& order, IntSpan dim, bool keepdim, OptionalType dtype,
                           Tensor& out) {
  return write(out, matrixNormOrder(self, order, dim, keepdim, dtype));
}
Tensor& matrixNormNamedOut(const Tensor& self, std::string_view order, IntSpan dim, bool keepdim, OptionalType dtype,
                           Tensor& out) {
  return write(out, matrixNormNamed(self, order, dim, keepdim, dtype));
}

constexpr int64_t kLastTwo[] = {-2, -1};
Tensor nuclearNormDims(const Tensor& self, IntSpan dim, bool keepdim) {
  return matrixNormNamed(self, "nuc", dim, keepdim, std::nullopt);
}
Tensor nuclearNorm(const Tensor& self, bool keepdim) { return nuclearNormDims(self, kLastTwo, keepdim); }
Tensor& nuclearNormDimsOut(const Tensor& self, IntSpan dim, bool keepdim, Tensor& out) {
  return write(out, nuclearNormDims(self, dim, keepdim));
}
Tensor& nuclearNormOut(const Tensor& self, bool keepdim, Tensor& out) {
  return nuclearNormDimsOut(self, kLastTwo, keepdim, out);
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("norm.Scalar", BOXCAR_FN(norm));
  m.impl("norm.ScalarOpt_dtype", BOXCAR_FN(normAs));
  m.impl("norm.ScalarOpt_dim", BOXCAR_FN(normDims));
  m.impl("norm.ScalarOpt_dim_dtype", BOXCAR_FN(normDimsAs));
  m.impl("norm.out", BOXCAR_FN(normDimsOut));
  m.impl("norm.dtype_out", BOXCAR_FN(normDimsAsOut));
}

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("norm_except_dim", BOXCAR_FN(normExceptDim));
  m.impl("_weight_norm", BOXCAR_FN(weightNorm));
  m.impl("nuclear_norm", BOXCAR_FN(nuclearNorm));
  m.impl("nuclear_norm.out", BOXCAR_FN(nuclearNormOut));
  m.impl("nuclear_norm.dim", BOXCAR_FN(nuclearNormDims));
  m.impl("nuclear_norm.dim_out", BOXCAR_FN(nuclearNormDimsOut));
  m.impl("linalg_norm", BOXCAR_FN(linalgNorm));
  m.impl("linalg_norm.out", BOXCAR_FN(linalgNormOut));
  m.impl("linalg_norm.ord_str", BOXCAR_FN(linalgNormNamed));
  m.impl("linalg_norm.ord_str_out", BOXCAR_FN(linalgNormNamedOut));
  m.impl("linalg_matrix_norm", BOXCAR_FN(matrixNormOrder));
  m.impl("linalg_matrix_norm.out", BOXCAR_FN(matrixNormOrderOut));
  m.impl("linalg_matrix_norm.str_ord", BOXCAR_FN(matrixNormNamed));
  m.impl("linalg_matrix_norm.str_ord_out", BOXCAR_FN(matrixNormNamedOut));
}

}  // namespace boxcar::composite
