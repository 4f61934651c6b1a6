#include <boxcar/backends/cpu/highway/vector_functions.h>
#include <boxcar/backends/cpu/vector_functions.h>

namespace boxcar::cpu {
namespace {

// Both are in the order of the enumerators.
#define BOXCAR_ROW(Function) run##Function,
template <class T>
constexpr VectorRow<T> kRows[] = {BOXCAR_VECTOR_FUNCTIONS(BOXCAR_ROW)};
template <class T>
constexpr VectorPairRow<T> kPairRows[] = {BOXCAR_VECTOR_PAIRS(BOXCAR_ROW)};
#undef BOXCAR_ROW

}  // namespace

template <>
VectorRow<float> vectorRow<float>(VectorFunction function) {
  return kRows<float>[static_cast<size_t>(function)];
}
template <>
VectorRow<double> vectorRow<double>(VectorFunction function) {
  return kRows<double>[static_cast<size_t>(function)];
}
template <>
VectorPairRow<float> vectorPairRow<float>(VectorPair function) {
  return kPairRows<float>[static_cast<size_t>(function)];
}
template <>
VectorPairRow<double> vectorPairRow<double>(VectorPair function) {
  return kPairRows<double>[static_cast<size_t>(function)];
}

}  // namespace boxcar::cpu
