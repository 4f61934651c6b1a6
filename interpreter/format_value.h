#pragma once

#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/macros.h>

#include <string>
#include <string_view>

namespace boxcar::interp {

// What `{value:spec}` in an f-string gives, as in Python; [spec] is `[[fill]<>^][+][0][width][,][.n][dfegxs%]`, empty
// for the text that print shows. An Error where the kind of value has no such form.
BOXCAR_API std::string formatValue(const IValue& value, std::string_view spec);

}  // namespace boxcar::interp
