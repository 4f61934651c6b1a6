#pragma once

#include <boxcar/ivalue/macros.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar::service {

// Returns where the last part of the path [written] begins.
inline size_t lastPart(std::string_view written) noexcept { return written.rfind('/') + 1; }

// Returns the completions of that last part, in order: folders, followed by a slash, and files that end in one of
// [endings], or any files if there are none. Hidden entries are included if the part begins with a dot. Relative paths
// start from [folder].
BOXCAR_API std::vector<std::string> filesThatBegin(std::string_view written, const std::string& folder,
                                                   std::span<const std::string_view> endings);

}  // namespace boxcar::service
