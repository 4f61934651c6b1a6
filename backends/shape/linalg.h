#pragma once

#include <boxcar/backends/shape/dims.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <span>
#include <string_view>

// What the operators of linear algebra ask of their arguments, and the shapes of their results. [name] is the
// operator's in messages. Matrices are the last two dimensions of a tensor; those before them count a batch.

namespace boxcar::shape {

// A tensor of matrices of float32, float64 or a complex type. An Error tells the argument by the name [argument].
void checkMatrices(std::string_view name, const Tensor& tensor, std::string_view argument = "A");
// The same, of square ones.
void checkSquareMatrices(std::string_view name, const Tensor& tensor, std::string_view argument = "A");

// The sizes of all dimensions but the last two, and of all but the last.
std::span<const int64_t> batchSizes(const Tensor& tensor);
std::span<const int64_t> withoutLast(const Tensor& tensor);

// Sizes of matrices of [rows] by [columns] in a batch of [batch].
DimVector matrixSizes(std::span<const int64_t> batch, int64_t rows, int64_t columns);

// Strides of a contiguous batch of matrices that are themselves column-major.
DimVector columnMajorStrides(std::span<const int64_t> sizes);

// The real type of the parts of a complex one; the type itself when it is not complex.
ScalarType realType(ScalarType type);

// The equation A X = B, or X A = B: matrices of both, broadcast together.
struct Equation {
  DimVector a_sizes;
  DimVector b_sizes;
};
// An Error when A (square) and B do not fit, or have different dtypes.
Equation checkEquation(std::string_view name, const Tensor& a, const Tensor& b, bool left);

// Whether [b] of solve holds vectors: one, or one for each matrix of [a].
bool holdsVectors(const Tensor& a, const Tensor& b);

// An Error when neither 'L' nor 'U' was given; true for 'U'.
bool isUpperTriangle(std::string_view uplo);

// What `linalg_qr` gives of its factors.
struct QrMode {
  bool forms_q;
  bool reduced;
};
QrMode qrMode(std::string_view mode);

}  // namespace boxcar::shape
