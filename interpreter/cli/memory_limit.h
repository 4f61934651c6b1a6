#pragma once

#include <cstdint>
#include <string>

namespace boxcar::cli {

// Bytes of "500000", "64K", "512M", "2G" or "1T"; an Error for other text.
uint64_t parseBytes(const std::string& text);
// That error's message; "" where there is none.
std::string faultOfBytes(const std::string& text);

// Lets this process have [bytes] of memory beside what it has now; further allocations fail. An Error where the system
// refuses.
void limitMemory(uint64_t bytes);

}  // namespace boxcar::cli
