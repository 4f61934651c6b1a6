#include <boxcar/backends/composite/write_out.h>
#include <boxcar/backends/meta/broadcast.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>
#include <fmt/format.h>

#include <optional>
#include <span>

// Products of vectors, matrices and batches of matrices, built from dot, mv, mm and bmm.

namespace boxcar::composite {
namespace {

using IntSpan = std::span<const int64_t>;

// Merges all dimensions before the last one.
Tensor foldRows(const Tensor& tensor) {
  const int64_t columns = tensor.sizes().back();
  const int64_t sizes[] = {numelOf(tensor.sizes().first(tensor.sizes().size() - 1)), columns};
  return boxcar::reshape(tensor, sizes);
}

// Multiplies batches of matrices; the batch dimensions of both are broadcast together and merged.
Tensor multiplyBatches(const Tensor& self, const Tensor& other) {
  const size_t rank_a = self.sizes().size();
  const size_t rank_b = other.sizes().size();
  const int64_t n = self.sizes()[rank_a - 2];
  const int64_t k = self.sizes()[rank_a - 1];
  const int64_t l = other.sizes()[rank_b - 2];
  const int64_t p = other.sizes()[rank_b - 1];
  DimVector sizes = meta::broadcast(self.sizes().first(rank_a - 2), other.sizes().first(rank_b - 2));
  const int64_t batches = numelOf(sizes);
  const auto expanded = [&](const Tensor& tensor, int64_t rows, int64_t columns) {
    DimVector all = sizes;
    all.push_back(rows);
    all.push_back(columns);
    const int64_t folded[] = {batches, rows, columns};
    return boxcar::reshape(boxcar::expand(tensor, all), folded);
  };
  const Tensor product = boxcar::bmm(expanded(self, n, k), expanded(other, l, p));
  sizes.push_back(n);
  sizes.push_back(p);
  return boxcar::_unsafe_view(product, sizes);
}

Tensor matmul(const Tensor& self, const Tensor& other) {
  const int64_t rank_a = self.dim();
  const int64_t rank_b = other.dim();
  BOXCAR_CHECK(rank_a > 0 && rank_b > 0, "both arguments to matmul need to be at least 1D, but they are {}D and {}D",
               rank_a, rank_b);
  if (rank_a == 1 && rank_b == 1) return boxcar::dot(self, other);
  if (rank_a == 2 && rank_b == 1) return boxcar::mv(self, other);
  if (rank_a == 1 && rank_b == 2) return boxcar::squeeze(boxcar::mm(boxcar::unsqueeze(self, 0), other), 0);
  if (rank_a == 2 && rank_b == 2) return boxcar::mm(self, other);
  if (rank_b <= 2) {
    // Every row of every batch is multiplied with the same matrix, so this is one large product.
    DimVector sizes = toDimVector(self.sizes().first(self.sizes().size() - 1));
    const Tensor rows = foldRows(self);
    if (rank_b == 1) return boxcar::_unsafe_view(boxcar::mv(rows, other), sizes);
    sizes.push_back(other.sizes()[1]);
    return boxcar::_unsafe_view(boxcar::mm(rows, other), sizes);
  }
  if (rank_a == 1) return boxcar::squeeze(multiplyBatches(boxcar::unsqueeze(self, 0), other), -2);
  return multiplyBatches(self, other);
}

Tensor& matmulOut(const Tensor& self, const Tensor& other, Tensor& out) {
  if (self.dim() == 2 && other.dim() == 2) return boxcar::mm_out(out, self, other);
  return writeSameType(out, boxcar::matmul(self, other));
}

// Uses one product for all rows, with the bias included.
Tensor linear(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias) {
  if (input.is_mkldnn()) return boxcar::mkldnn_linear(input, weight, bias);
  const Tensor transposed = boxcar::t(weight);
  const bool has_bias = bias.has_value() && bias->defined();
  if (!has_bias) return boxcar::matmul(input, transposed);
  if (input.dim() == 2) return boxcar::addmm(*bias, input, transposed);
  if (input.dim() < 2 || weight.dim() != 2 || bias->dim() > 1) {
    return boxcar::add(boxcar::matmul(input, transposed), *bias);
  }
  DimVector sizes = toDimVector(input.sizes());
  const Tensor product = boxcar::addmm(*bias, foldRows(input), transposed);
  sizes.back() = product.sizes()[1];
  return boxcar::_unsafe_view(product, sizes);
}
Tensor& linearOut(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, Tensor& out) {
  return writeSameType(out, boxcar::linear(input, weight, bias));
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("matmul", BOXCAR_FN(matmul));
  m.impl("matmul.out", BOXCAR_FN(matmulOut));
  m.impl("linear", BOXCAR_FN(linear));
  m.impl("linear.out", BOXCAR_FN(linearOut));
}

}  // namespace boxcar::composite
