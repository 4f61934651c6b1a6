#pragma once

#include <boxcar/ivalue/macros.h>

#include <string>
#include <string_view>

namespace boxcar {

// [page], with [json] where it says {{data}}, once, inside a script element of type application/json.
BOXCAR_API std::string pageWithData(std::string_view page, std::string_view json);

}  // namespace boxcar
