#include <boxcar/backends/cpu/small_floats.h>
#include <boxcar/backends/cpu/vector_small_floats.h>
#include <boxcar/ivalue/half.h>

namespace boxcar::cpu {
namespace {

template <class T>
constexpr SmallFloatRows kSmallFloatRows = {PlainSmallFloats<T>::widen, PlainSmallFloats<T>::narrow,
                                            PlainSmallFloats<T>::round};

}  // namespace

const SmallFloatRows& smallFloatRows(ScalarType type) {
  return type == ScalarType::Half ? kSmallFloatRows<Half> : kSmallFloatRows<BFloat16>;
}

}  // namespace boxcar::cpu
