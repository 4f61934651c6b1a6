#pragma once

#include <cstdint>
#include <string_view>

namespace boxcar::interp {

// What Python's int(text) and float(text) read: spaces around it, a sign, `_` between digits, "inf", "nan". An Error
// for anything else, and for an int that 64 bits do not hold.
int64_t parseInt(std::string_view text);
double parseFloat(std::string_view text);

// round(value, digits): the float next to the decimal number that value is rounded to, halves to even.
double roundToDigits(double value, int64_t digits);

}  // namespace boxcar::interp
