#pragma once

#include <boxcar/backends/meta/dims.h>
#include <boxcar/ivalue/scalar.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace boxcar::meta {

// Argument checks of the matrix operators. All tensors must have one dtype, except those of addr; Errors contain the
// sizes.
void checkMm(const Tensor& self, const Tensor& mat2);
void checkAddmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2);
void checkBmm(const Tensor& batch1, const Tensor& batch2);
void checkBaddbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2);
void checkMv(const Tensor& self, const Tensor& vec);
void checkAddmv(const Tensor& self, const Tensor& mat, const Tensor& vec);
void checkDot(const Tensor& self, const Tensor& tensor);
void checkAddr(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta, const Scalar& alpha);

// Returns the sizes of the cross product of vectors along [dim], broadcast together.
DimVector checkCross(const Tensor& self, const Tensor& other, int64_t dim);

// The sizes of both inputs with their batches broadcast, the sizes of the distances, and whether to compute these with
// a matrix product.
struct Distances {
  DimVector x1;
  DimVector x2;
  DimVector result;
  bool by_product;
};
Distances checkCdist(const Tensor& x1, const Tensor& x2, double p, std::optional<int64_t> compute_mode);

// Throws Error if [self], which operator [name] writes in place, does not have the sizes of the result.
void checkInPlaceSizes(std::string_view name, const Tensor& self, std::span<const int64_t> sizes);

}  // namespace boxcar::meta
