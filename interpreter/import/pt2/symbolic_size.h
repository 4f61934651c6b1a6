#pragma once

#include <string>
#include <string_view>

namespace boxcar::interp::pt2 {

// Returns an expression of SymPy's srepr(), "Add(Mul(Integer(2), Symbol('s77')), Integer(1))", as people write it:
// "2*s77 + 1". What it cannot read it returns as it is.
std::string readableSize(std::string_view expression);

}  // namespace boxcar::interp::pt2
