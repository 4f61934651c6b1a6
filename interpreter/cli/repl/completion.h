#pragma once

#include <boxcar/interpreter/session/session.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar::cli {

// Returns the completions of the word that ends at byte [at] of [line], each in full; sets [begin] to where that word
// begins. [before]: the earlier lines of the same input. It runs nothing.
std::vector<std::string> completionsAtPrompt(const Session& session, std::string_view before, std::string_view line,
                                             size_t at, size_t& begin);

}  // namespace boxcar::cli
