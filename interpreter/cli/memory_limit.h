#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace boxcar::cli {

// Returns the bytes of "500000", "64K", "512M", "2G" or "1T"; throws Error for other text.
uint64_t parseBytes(const std::string& text);
// Returns that error's message; "" if there is none.
std::string faultOfBytes(const std::string& text);

// Lets this process allocate [size] more memory, as parseBytes() reads it; further allocations fail. Throws Error if
// the system refuses.
void limitMemory(const std::string& size);
// Prints a note about that limit after an error whose [reason] is that memory ran out.
void reportMemoryLimit(std::string_view reason);

}  // namespace boxcar::cli
