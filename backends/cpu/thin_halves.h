#pragma once

#include <boxcar/ivalue/tensor.h>

#include <cstdint>

namespace boxcar::cpu {

// Whether addThinHalves() takes a product of so many rows with [b]: they are few, and the columns of [b] are short,
// each of adjacent elements, as the rows of a linear layer's weight are.
bool suitsThinHalves(int64_t rows, const Tensor& b);

// out += alpha * a @ b for matrices that suit, where [out], of float32, is contiguous, and [a] and [b] are of float16
// or bfloat16. It reads [b] in place, and widens it in the caches.
void addThinHalves(const Tensor& out, const Tensor& a, const Tensor& b, float alpha);

}  // namespace boxcar::cpu
