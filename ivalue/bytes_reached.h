#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace boxcar {

// The bytes from the first element to behind the last one of a tensor whose sizes and strides are not negative; nothing
// where these, or the elements, are more than 63 bits can count.
std::optional<size_t> bytesReached(std::span<const int64_t> sizes, std::span<const int64_t> strides, size_t itemsize);

}  // namespace boxcar
