#pragma once

#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/macros.h>

#include <string>
#include <string_view>

namespace boxcar::interp {

// Formats as `{value:spec}` in an f-string does, as in Python; [spec] is `[[fill]<>^][+][0][width][,][.n][dfegxs%]`,
// empty for the text that print shows. Throws Error if the kind of value does not support the format.
BOXCAR_API std::string formatValue(const IValue& value, std::string_view spec);

}  // namespace boxcar::interp
