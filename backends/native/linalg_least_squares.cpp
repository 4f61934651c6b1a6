#include <boxcar/backends/meta/broadcast.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/linalg.h>
#include <boxcar/backends/native/memory_checks.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/no_elements_error.h>
#include <boxcar/ops.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>

namespace boxcar::native {
namespace {

constexpr std::string_view kLstsq = "linalg.lstsq";

LeastSquares methodOf(std::string_view driver) {
  if (driver == "gels") return LeastSquares::kGels;
  if (driver == "gelsy") return LeastSquares::kGelsy;
  if (driver == "gelsd") return LeastSquares::kGelsd;
  BOXCAR_CHECK(driver == "gelss", "{}: parameter `driver` should be one of (gels, gelsy, gelsd, gelss), but it is '{}'",
               kLstsq, driver);
  return LeastSquares::kGelss;
}

// The sizes of a problem: a is m by n, b has m rows and k columns, and their batches are broadcast together.
struct Problem {
  int64_t m, n, k;
  bool has_vectors;  // b has one dimension less than a
  Tensor b;          // as matrices
  DimVector batch;

  Problem(const Tensor& a, const Tensor& right_side) : b(right_side) {
    meta::checkMatrices(kLstsq, a, "input");
    BOXCAR_CHECK(a.scalar_type() == b.scalar_type(),
                 "{}: Expected input and other to have the same dtype, but got input's dtype {} and other's dtype {}",
                 kLstsq, a.scalar_type(), b.scalar_type());
    has_vectors = a.dim() - 1 == b.dim();
    BOXCAR_CHECK(has_vectors || a.dim() == b.dim(),
                 "{}: other must have as many dimensions as input, {}, or one less, but it has {}", kLstsq, a.dim(),
                 b.dim());
    if (has_vectors) b = boxcar::unsqueeze(b, -1);
    m = a.sizes().last(2)[0];
    n = a.sizes().last(2)[1];
    k = b.sizes().back();
    BOXCAR_CHECK(b.sizes().last(2)[0] == m, "{}: input has {} rows, and other must have as many, but it has {}", kLstsq,
                 m, b.sizes().last(2)[0]);
    batch = meta::broadcast(meta::batchSizes(a), meta::batchSizes(b));
  }

  int64_t rows() const { return std::max(m, n); }
};

// Returns those of [values], one or more for each matrix of a broadcast batch, that belong to the matrices of [a].
Tensor forMatricesOf(const Tensor& a, const Tensor& values) {
  Tensor result = values;
  for (int64_t dim = 0; dim < a.dim() - 2; ++dim) {
    if (a.size(dim) < result.size(dim)) result = boxcar::narrow(result, dim, 0, a.size(dim));
  }
  return toContiguous(result);
}

Tensor none(ScalarType type, Device device) {
  constexpr int64_t kNone[] = {0};
  return Tensor::allocate(kNone, type, device);
}

std::tuple<Tensor, Tensor, Tensor, Tensor> lstsq(const Tensor& a, const Tensor& right_side, std::optional<double> rcond,
                                                 std::optional<std::string_view> driver) {
  const Device device = commonDevice({&a, &right_side});
  const Problem problem(a, right_side);
  const LeastSquares method = methodOf(driver.value_or("gelsy"));
  const ScalarType type = a.scalar_type(), real = meta::realType(type);
  const double epsilon =
      real == ScalarType::Float ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
  const int64_t least = std::min(problem.m, problem.n);

  // One column at least, so that the rank is found also if b has none.
  const Tensor b =
      allocateMatrices(meta::matrixSizes(problem.batch, problem.rows(), std::max<int64_t>(problem.k, 1)), type, device);
  Tensor all = b;
  boxcar::zero_(all);
  const Tensor filled = boxcar::narrow(boxcar::narrow(b, -2, 0, problem.m), -1, 0, problem.k);
  copyElements(filled, meta::expandTo(problem.b, filled.sizes()));
  Tensor rank = Tensor::allocate(problem.batch, ScalarType::Long, device);
  DimVector values_sizes = problem.batch;
  values_sizes.push_back(least);
  const Tensor values = Tensor::allocate(values_sizes, real, device);
  if (least > 0 && b.numel() > 0 && !b.is_meta()) {
    const Tensor info = Tensor::allocate(problem.batch, ScalarType::Int, device);
    const double limit = rcond.value_or(epsilon * static_cast<double>(problem.rows()));
    solveLeastSquares(device, kLstsq, method, limit,
                      copyMatrices(meta::matrixSizes(problem.batch, problem.m, problem.n), a), {b, rank, values, info});
    checkInfo(kLstsq, info, Failure::kRankDeficient);
  } else {
    boxcar::zero_(rank);
  }

  const bool has_rank = method != LeastSquares::kGels;
  const bool has_values = method == LeastSquares::kGelsd || method == LeastSquares::kGelss;
  Tensor residuals = none(real, device);
  if (problem.m > problem.n && method != LeastSquares::kGelsy && problem.k > 0) {
    if (has_values && b.is_meta()) {
      throw NoElementsError(fmt::format(
          "{}: whether there are residuals depends on the rank, which a meta tensor does not have; use the driver "
          "'gels' or 'gelsy'",
          kLstsq));
    }
    const bool full = !has_values || boxcar::item(boxcar::all(boxcar::eq(rank, problem.n))).toBool();
    const Tensor rest = boxcar::narrow(boxcar::narrow(b, -2, problem.n, problem.m - problem.n), -1, 0, problem.k);
    const int64_t rows = -2;
    if (full) residuals = boxcar::sum(boxcar::pow(boxcar::abs(rest), 2), std::span(&rows, 1));
  }
  Tensor solution = boxcar::narrow(boxcar::narrow(b, -2, 0, problem.n), -1, 0, problem.k);
  if (problem.has_vectors) solution = boxcar::squeeze(solution, -1);
  return {solution, residuals, has_rank ? forMatricesOf(a, rank) : none(ScalarType::Long, device),
          has_values ? forMatricesOf(a, values) : none(real, device)};
}

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, solveLeastSquares) { m.impl("linalg_lstsq", BOXCAR_FN(lstsq)); }

}  // namespace boxcar::native
