#include <boxcar/backends/meta/broadcast.h>
#include <boxcar/backends/meta/linalg.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace boxcar::meta {

void checkMatrices(std::string_view name, const Tensor& tensor, std::string_view argument) {
  const ScalarType type = tensor.scalar_type();
  BOXCAR_CHECK(tensor.dim() >= 2, "{}: The input tensor {} must have at least 2 dimensions, but it has {}.", name,
               argument, tensor.dim());
  BOXCAR_CHECK(isFloatingType(type) || isComplexType(type),
               "{}: Expected a floating point or complex tensor as input. Got {} for {}", name, type, argument);
  BOXCAR_CHECK(type != ScalarType::Half && type != ScalarType::BFloat16,
               "{}: Low precision dtypes not supported. Got {} for {}", name, type, argument);
  for (const int64_t size : tensor.sizes().last(2)) {
    BOXCAR_CHECK(size <= std::numeric_limits<int32_t>::max(),
                 "{}: matrices of {} may have at most {} rows or columns, but they are {} by {}", name, argument,
                 std::numeric_limits<int32_t>::max(), tensor.sizes().last(2)[0], tensor.sizes().last(2)[1]);
  }
}

void checkSquareMatrices(std::string_view name, const Tensor& tensor, std::string_view argument) {
  checkMatrices(name, tensor, argument);
  const auto sizes = tensor.sizes().last(2);
  BOXCAR_CHECK(sizes[0] == sizes[1], "{}: {} must be batches of square matrices, but they are {} by {} matrices", name,
               argument, sizes[0], sizes[1]);
}

std::span<const int64_t> batchSizes(const Tensor& tensor) {
  return tensor.sizes().first(static_cast<size_t>(tensor.dim() - 2));
}
std::span<const int64_t> withoutLast(const Tensor& tensor) {
  return tensor.sizes().first(static_cast<size_t>(tensor.dim() - 1));
}

DimVector matrixSizes(std::span<const int64_t> batch, int64_t rows, int64_t columns) {
  DimVector sizes = toDimVector(batch);
  sizes.push_back(rows);
  sizes.push_back(columns);
  return sizes;
}

DimVector columnMajorStrides(std::span<const int64_t> sizes) {
  DimVector strides(sizes.size(), 1);
  for (size_t i = sizes.size() - 1; i-- > 0;) strides[i] = strides[i + 1] * std::max<int64_t>(sizes[i + 1], 1);
  strides[sizes.size() - 2] = 1;
  strides[sizes.size() - 1] = std::max<int64_t>(sizes[sizes.size() - 2], 1);
  return strides;
}

ScalarType realType(ScalarType type) {
  switch (type) {
    case ScalarType::ComplexFloat: return ScalarType::Float;
    case ScalarType::ComplexDouble: return ScalarType::Double;
    default: return type;
  }
}

Equation checkEquation(std::string_view name, const Tensor& a, const Tensor& b, bool left) {
  checkSquareMatrices(name, a, "A");
  checkMatrices(name, b, "B");
  BOXCAR_CHECK(a.scalar_type() == b.scalar_type(),
               "{}: Expected A and B to have the same dtype, but found A of type {} and B of type {} instead", name,
               a.scalar_type(), b.scalar_type());
  const auto a_size = a.sizes().last(2);
  const auto b_size = b.sizes().last(2);
  BOXCAR_CHECK(a_size[1] == b_size[left ? 0 : 1],
               "{}: Incompatible shapes of A and B for the equation {} = B ({}x{} and {}x{})", name, left ? "AX" : "XA",
               a_size[0], a_size[1], b_size[0], b_size[1]);
  const DimVector batch = broadcast(batchSizes(a), batchSizes(b));
  return {matrixSizes(batch, a_size[0], a_size[1]), matrixSizes(batch, b_size[0], b_size[1])};
}

bool holdsVectors(const Tensor& a, const Tensor& b) {
  return b.dim() == 1 || (a.dim() - 1 == b.dim() && std::ranges::equal(withoutLast(a), b.sizes()));
}

bool isUpperTriangle(std::string_view uplo) {
  const bool upper = uplo == "U" || uplo == "u";
  BOXCAR_CHECK(upper || uplo == "L" || uplo == "l", "Expected UPLO argument to be 'L' or 'U', but got {}", uplo);
  return upper;
}

QrMode qrMode(std::string_view mode) {
  if (mode == "reduced") return {true, true};
  if (mode == "complete") return {true, false};
  BOXCAR_CHECK(mode == "r",
               "linalg.qr: received unrecognized mode '{}' but expected one of 'reduced' (default), 'r', or 'complete'",
               mode);
  return {false, true};
}

}  // namespace boxcar::meta
