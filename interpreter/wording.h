#pragma once

#include <boxcar/schema/type.h>

#include <span>
#include <string>
#include <string_view>

namespace boxcar::interp {

// The message, and ". Did you mean 'a' or 'b'?" where one of [candidates] is near.
std::string withSuggestion(std::string message, std::string_view name, std::span<const std::string_view> candidates);

// "a Tensor", "an int[]", "None".
std::string withArticle(TypePtr type);

}  // namespace boxcar::interp
