#pragma once

#include <boxcar/ivalue/macros.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar {

// Formats rows of cells as lines of text, with columns two spaces apart and as wide as needed. [sides] says for each
// column whether its cells are aligned to the left, <, or to the right, >; its last character also applies to the
// columns after it.
BOXCAR_API std::string reportTable(const std::vector<std::vector<std::string>>& rows, std::string_view sides = "<>");

// "512 B", "1.5 KiB", "2.0 GiB".
BOXCAR_API std::string bytesText(uint64_t bytes);

// "1 call", "2 calls".
BOXCAR_API std::string plural(uint64_t count, std::string_view one);

// A count with about three digits and a unit of 1000: "12", "1.50 k", "2.00 G".
BOXCAR_API std::string countText(double count);

}  // namespace boxcar
