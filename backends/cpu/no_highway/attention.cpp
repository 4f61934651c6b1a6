#include <boxcar/backends/cpu/vector_attention.h>

#include <cmath>
#include <limits>

namespace boxcar::cpu {
namespace {

template <class T>
void addToScores(T* scores, const T* mask, size_t moves, size_t n) {
  for (size_t i = 0; i < n; ++i) scores[i] += mask[i * moves];
}

template <class T>
T greatestScore(const T* scores, size_t n) {
  T greatest = -std::numeric_limits<T>::infinity();
  for (size_t i = 0; i < n; ++i) greatest = scores[i] > greatest ? scores[i] : greatest;
  return greatest;
}

template <class T>
T exponentialsOfScores(T* scores, T shift, size_t n) {
  T sum = 0;
  for (size_t i = 0; i < n; ++i) {
    scores[i] = std::exp(scores[i] - shift);
    sum += scores[i];
  }
  return sum;
}

template <class T>
void gradientsOfScores(T* scores, T* gradients, T shift, T share, T scale, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    scores[i] = std::exp(scores[i] - shift);
    gradients[i] = (gradients[i] - share) * scores[i] * scale;
  }
}

template <class T>
constexpr AttentionRows<T> kAttentionRows = {addToScores<T>, greatestScore<T>, exponentialsOfScores<T>,
                                             gradientsOfScores<T>};

}  // namespace

template <>
const AttentionRows<float>& attentionRows<float>() {
  return kAttentionRows<float>;
}
template <>
const AttentionRows<double>& attentionRows<double>() {
  return kAttentionRows<double>;
}

}  // namespace boxcar::cpu
