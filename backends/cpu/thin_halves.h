#pragma once

#include <boxcar/ivalue/tensor.h>

#include <cstdint>

namespace boxcar::cpu {

// Products of so many rows read [b] in place, and widen it in the caches.
inline constexpr int64_t kMostThinRows = 3;

// out += alpha * a @ b for matrices, where [out], of float32, is contiguous and has at most kMostThinRows rows, and [a]
// and [b] are of float16 or bfloat16. Returns false, having done nothing, if the columns of [b] are long, or do not
// lie one after another, as the rows of a linear layer's weight do.
bool addThinHalves(const Tensor& out, const Tensor& a, const Tensor& b, float alpha);

}  // namespace boxcar::cpu
