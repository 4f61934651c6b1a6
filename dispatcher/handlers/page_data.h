#pragma once

#include <boxcar/ivalue/macros.h>

#include <string>
#include <string_view>

namespace boxcar {

// Returns [page] with its only {{data}}, which is in a script element of type application/json, replaced by [json].
BOXCAR_API std::string pageWithData(std::string_view page, std::string_view json);

}  // namespace boxcar
