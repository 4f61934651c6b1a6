#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace boxcar::cli {

// Bytes of "500000", "64K", "512M", "2G" or "1T"; an Error for other text.
uint64_t parseBytes(const std::string& text);
// That error's message; "" where there is none.
std::string faultOfBytes(const std::string& text);

// Lets this process have [size] of memory, as parseBytes() reads it, beside what it has now; further allocations fail.
// An Error where the system refuses.
void limitMemory(const std::string& size);
// Tells of that limit, behind an error whose [reason] is that there was no memory.
void reportMemoryLimit(std::string_view reason);

}  // namespace boxcar::cli
