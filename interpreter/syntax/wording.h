#pragma once

#include <boxcar/schema/type.h>

#include <span>
#include <string>
#include <string_view>

namespace boxcar::interp {

// Returns the message, with ". Did you mean 'a' or 'b'?" if one of [candidates] is near.
std::string withSuggestion(std::string message, std::string_view name, std::span<const std::string_view> candidates);

// Returns " Did you mean 'dim'?" for an argument [name] that is not in [parameters]: the name that NumPy, Keras and
// others use for one of them, the beginning of one, or a misspelling. Empty if nothing is near.
std::string didYouMeanArgument(std::string_view name, std::span<const std::string_view> parameters);

// As tensors show them, without `torch.`.
std::span<const std::string_view> dtypeNames() noexcept;

// "a Tensor", "an int[]", "None".
std::string withArticle(TypePtr type);

}  // namespace boxcar::interp
