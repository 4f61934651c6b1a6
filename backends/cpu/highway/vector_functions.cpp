#include <boxcar/backends/cpu/highway/vector_functions.h>
#include <boxcar/backends/cpu/vector_functions.h>

namespace boxcar::cpu {
namespace {

// Both are in the order of the enumerators.
#define BOXCAR_ROW(Function) run##Function,
template <class T>
constexpr VectorUnaryRow<T> kUnaryRows[] = {BOXCAR_VECTOR_UNARY_FUNCTIONS(BOXCAR_ROW)};
template <class T>
constexpr VectorBinaryRow<T> kBinaryRows[] = {BOXCAR_VECTOR_BINARY_FUNCTIONS(BOXCAR_ROW)};
#undef BOXCAR_ROW

}  // namespace

template <>
VectorUnaryRow<float> vectorUnaryRow<float>(VectorUnary function) {
  return kUnaryRows<float>[static_cast<size_t>(function)];
}
template <>
VectorUnaryRow<double> vectorUnaryRow<double>(VectorUnary function) {
  return kUnaryRows<double>[static_cast<size_t>(function)];
}
template <>
VectorBinaryRow<float> vectorBinaryRow<float>(VectorBinary function) {
  return kBinaryRows<float>[static_cast<size_t>(function)];
}
template <>
VectorBinaryRow<double> vectorBinaryRow<double>(VectorBinary function) {
  return kBinaryRows<double>[static_cast<size_t>(function)];
}

}  // namespace boxcar::cpu
