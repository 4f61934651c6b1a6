#pragma once

#include <boxcar/ivalue/macros.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar::service {

// Where the last part of the path [written] begins.
inline size_t lastPart(std::string_view written) noexcept { return written.rfind('/') + 1; }

// What that part may go on as, in order: folders, with a slash behind them, and files that end in one of [endings], or
// any where there are none. What is hidden is among them where the part begins so. Relative paths start from [folder].
BOXCAR_API std::vector<std::string> filesThatBegin(std::string_view written, const std::string& folder,
                                                   std::span<const std::string_view> endings);

}  // namespace boxcar::service
