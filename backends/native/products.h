#pragma once

#include <boxcar/backends/native/device_stub.h>
#include <boxcar/ivalue/scalar.h>
#include <boxcar/ivalue/tensor.h>

namespace boxcar::native {

// out = beta * out + alpha * a @ b for matrices of one type, or for batches of them with equal first dimensions. The
// old [out] is not read if [beta] is 0. [out] overlaps neither input. float16 and bfloat16 are accumulated in float32.
using MultiplyFunction = void(const Tensor& out, const Tensor& a, const Tensor& b, const Scalar& alpha,
                              const Scalar& beta);
extern DeviceStub<MultiplyFunction> multiplyMatrices;

// out = beta * sum + alpha * a @ b, where [sum] has the sizes of [out], or is [out].
using AddProductFunction = void(const Tensor& out, const Tensor& sum, const Tensor& a, const Tensor& b,
                                const Scalar& alpha, const Scalar& beta);
extern DeviceStub<AddProductFunction> addProduct;

// Throws Error if matrices of [type] have no product, or a factor does not fit into the compute type. For code that
// writes to an output before it multiplies.
void checkFactors(ScalarType type, const Scalar& alpha, const Scalar& beta);

// Calls multiplyMatrices() on the device of [out]; does nothing on Meta.
inline void multiplyInto(const Tensor& out, const Tensor& a, const Tensor& b, const Scalar& alpha, const Scalar& beta) {
  if (out.is_meta() || out.numel() == 0) return;
  multiplyMatrices(out.device(), out, a, b, alpha, beta);
}

}  // namespace boxcar::native
