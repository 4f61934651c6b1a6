#pragma once

#include <boxcar/ivalue/macros.h>

#include <string>
#include <string_view>

namespace boxcar::detail {

// Returns [text] as a quoted string of Graphviz's language.
BOXCAR_API std::string dotText(std::string_view text);

}  // namespace boxcar::detail
