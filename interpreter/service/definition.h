#pragma once

#include <boxcar/interpreter/service/workspace.h>
#include <boxcar/interpreter/syntax/source.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar::service {

// Returns where the meaning of the name at byte [offset] of [text] was defined: functions, operators (each overload
// that may be meant), modes, constants, a variable's first assignment, an argument, or the file that an `import` names.
// Empty for definitions in C++. [name]: the text's path; the sources' names are paths beside it.
BOXCAR_API std::vector<Location> definitions(std::string_view text, uint32_t offset,
                                             const std::string& name = "<input>", const Workspace& workspace = {});

}  // namespace boxcar::service
