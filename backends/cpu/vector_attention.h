#pragma once

#include <cstddef>

// Parts of attention for rows of scores, floats or doubles, vectorised for the CPU that the program runs on.

namespace boxcar::cpu {

template <class T>
struct AttentionRows {
  // Adds [n] elements of a mask to scores; [moves] is 0 if one element stands for all.
  void (*add)(T* scores, const T* mask, size_t moves, size_t n);
  // Returns the greatest of [n] scores. If there is a NaN, the result depends on its position.
  T (*greatest)(const T* scores, size_t n);
  // Replaces [n] scores by exp(score - shift), and returns the sum of these. No score is above [shift].
  T (*exponentials)(T* scores, T shift, size_t n);
  // Replaces [n] scores by their weights, exp(score - shift), and the gradients of the weights by those of the scores,
  // (gradient - share) * weight * scale.
  void (*gradients)(T* scores, T* gradients, T shift, T share, T scale, size_t n);
};

template <class T>
const AttentionRows<T>& attentionRows();
template <>
const AttentionRows<float>& attentionRows<float>();
template <>
const AttentionRows<double>& attentionRows<double>();

}  // namespace boxcar::cpu
