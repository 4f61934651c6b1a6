#pragma once

#include <boxcar/schema/type.h>

#include <span>
#include <string>
#include <string_view>

namespace boxcar::interp {

// The message, and ". Did you mean 'a' or 'b'?" where one of [candidates] is near.
std::string withSuggestion(std::string message, std::string_view name, std::span<const std::string_view> candidates);

// " Did you mean 'dim'?" for an argument [name] that is none of [parameters]: what NumPy, Keras and others call one of
// them, the beginning of one, or a misspelling. Empty when nothing is near.
std::string didYouMeanArgument(std::string_view name, std::span<const std::string_view> parameters);

// As tensors show them, less the `torch.`.
std::span<const std::string_view> dtypeNames() noexcept;

// "a Tensor", "an int[]", "None".
std::string withArticle(TypePtr type);

}  // namespace boxcar::interp
