#pragma once

#include <cstdint>
#include <string_view>

namespace boxcar::interp {

// Parse like Python's int(text) and float(text): surrounding spaces, a sign, `_` between digits, "inf", "nan". Throw
// Error for anything else, and for an int that does not fit into 64 bits.
int64_t parseInt(std::string_view text);
double parseFloat(std::string_view text);

// round(value, digits): the float nearest to the decimal number that value is rounded to, halves to even.
double roundToDigits(double value, int64_t digits);

}  // namespace boxcar::interp
