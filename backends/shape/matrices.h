#pragma once

#include <boxcar/ivalue/tensor.h>

namespace boxcar::shape {

// What the matrix operators ask of their arguments; an Error tells both shapes.
void checkMm(const Tensor& self, const Tensor& mat2);
void checkAddmm(const Tensor& mat1, const Tensor& mat2);
void checkBmm(const Tensor& self, const Tensor& mat2);
void checkMv(const Tensor& self, const Tensor& vec);
void checkDot(const Tensor& self, const Tensor& tensor);

}  // namespace boxcar::shape
