#pragma once

#include <boxcar/ivalue/macros.h>

#include <span>
#include <string>
#include <string_view>

namespace boxcar {

// Returns "a, b or c" for sentences that list what is allowed; "" for no names.
BOXCAR_API std::string alternatives(std::span<const std::string_view> names);

}  // namespace boxcar
