#include <boxcar/backends/cpu/vector_functions.h>

namespace boxcar::cpu {

template <>
VectorRow<float> vectorRow<float>(VectorFunction) {
  return nullptr;
}
template <>
VectorRow<double> vectorRow<double>(VectorFunction) {
  return nullptr;
}
template <>
VectorPairRow<float> vectorPairRow<float>(VectorPair) {
  return nullptr;
}
template <>
VectorPairRow<double> vectorPairRow<double>(VectorPair) {
  return nullptr;
}

}  // namespace boxcar::cpu
