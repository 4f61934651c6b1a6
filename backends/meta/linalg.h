#pragma once

#include <boxcar/backends/meta/dims.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <span>
#include <string_view>

// Argument checks of the linear algebra operators, and the shapes of their results. [name] is the operator's name in
// messages. Matrices are the last two dimensions of a tensor; the dimensions before them are the batch.

namespace boxcar::meta {

// Throws Error, naming [argument], if [tensor] does not consist of matrices of float32, float64 or a complex type.
void checkMatrices(std::string_view name, const Tensor& tensor, std::string_view argument = "A");
// Like checkMatrices, but the matrices must also be square.
void checkSquareMatrices(std::string_view name, const Tensor& tensor, std::string_view argument = "A");

// The sizes of all dimensions except the last two, and except the last one.
std::span<const int64_t> batchSizes(const Tensor& tensor);
std::span<const int64_t> withoutLast(const Tensor& tensor);

// Returns the sizes of a batch of matrices of [rows] by [columns].
DimVector matrixSizes(std::span<const int64_t> batch, int64_t rows, int64_t columns);

// Returns the strides of a contiguous batch of column-major matrices.
DimVector columnMajorStrides(std::span<const int64_t> sizes);

// Returns the real type of the parts of a complex type; other types are returned unchanged.
ScalarType realType(ScalarType type);

// The equation A X = B, or X A = B: sizes of A and B with their batches broadcast together.
struct Equation {
  DimVector a_sizes;
  DimVector b_sizes;
};
// Throws Error if A is not square, A and B do not match, or their dtypes differ.
Equation checkEquation(std::string_view name, const Tensor& a, const Tensor& b, bool left);

// Whether [b] of solve holds vectors: a single one, or one for each matrix of [a].
bool holdsVectors(const Tensor& a, const Tensor& b);

// Returns true for 'U' and false for 'L', in either case; throws Error for anything else.
bool isUpperTriangle(std::string_view uplo);

// Which factors `linalg_qr` computes.
struct QrMode {
  bool forms_q;
  bool reduced;
};
QrMode qrMode(std::string_view mode);

}  // namespace boxcar::meta
