#pragma once

#include <boxcar/ivalue/macros.h>

#include <complex>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar {

// Returns Python's repr(): the shortest digits that read back as the same number, "1.0", "1e-05", "inf", "nan".
BOXCAR_API std::string pythonFloat(double value);

// "(1+2j)", "2j", "(-0+1j)".
BOXCAR_API std::string pythonComplex(std::complex<double> value);

// "True", "False".
constexpr std::string_view pythonBool(bool value) { return value ? "True" : "False"; }

// Quotes as Python's repr() does: single quotes unless the text contains only those; control and invisible characters
// escaped, other UTF-8 kept, bytes that are not UTF-8 as \xNN.
BOXCAR_API std::string pythonStringRepr(std::string_view text);

// Returns at most [limit] of the [candidates] that [name] may be a misspelling of, nearest first; ignores case.
BOXCAR_API std::vector<std::string_view> nearestNames(std::string_view name,
                                                      std::span<const std::string_view> candidates, size_t limit = 3);

// Returns " Did you mean 'a' or 'b'?" for the end of an error text, from nearestNames; "" when nothing is near.
BOXCAR_API std::string didYouMean(std::string_view name, std::span<const std::string_view> candidates);

}  // namespace boxcar
