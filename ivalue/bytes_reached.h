#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace boxcar {

// Returns the bytes from the start of the first element to the end of the last one of a tensor whose sizes and strides
// are not negative; nothing where this or the number of elements does not fit 63 bits.
std::optional<size_t> bytesReached(std::span<const int64_t> sizes, std::span<const int64_t> strides, size_t itemsize);

}  // namespace boxcar
