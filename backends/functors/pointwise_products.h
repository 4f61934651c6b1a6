#pragma once

#include <boxcar/backends/functors/arithmetic.h>
#include <boxcar/backends/functors/host_device.h>
#include <boxcar/ivalue/scalar.h>

namespace boxcar::functors {

// beta * self + alpha * a * b; self is ignored if beta is 0.
template <class T>
struct Addr {
  T beta;
  T alpha;
  explicit Addr(const Scalar* params) : beta(params[0].to<T>()), alpha(params[1].to<T>()) {}
  BOXCAR_HOST_DEVICE T operator()(T self, T a, T b) const {
    const T product = multiplyElements(alpha, multiplyElements(a, b));
    return beta == T(0) ? product : addElements(multiplyElements(beta, self), product);
  }
};

}  // namespace boxcar::functors
