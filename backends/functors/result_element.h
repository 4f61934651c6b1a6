#pragma once

#include <boxcar/backends/functors/element.h>
#include <boxcar/backends/functors/pointwise_table.h>

#include <complex>

namespace boxcar::functors {

// The element type of a functor's result for elements of T.
template <Result result, class T>
struct ResultElementOf {
  using type = T;
};
template <class T>
struct ResultElementOf<Result::kBool, T> {
  using type = bool;
};
template <class T>
struct ResultElementOf<Result::kTruth, T> {
  using type = bool;
};
template <class T>
struct ResultElementOf<Result::kReal, T> {
  using type = RealOf<T>;
};
template <class T>
struct ResultElementOf<Result::kFloatReal, T> {
  using type = RealOf<T>;
};
template <class T>
struct ResultElementOf<Result::kComplex, T> {
  using type = std::complex<T>;
};
template <Result result, class T>
using ResultElement = typename ResultElementOf<result, T>::type;

}  // namespace boxcar::functors
