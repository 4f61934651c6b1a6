#pragma once

#include <string>
#include <string_view>

// Names that an imported program gives its functions and variables.

namespace boxcar::interp::pt2 {

// Returns the name of the function for modules of [type]: "torchvision.models.resnet.BasicBlock" gives "basic_block".
// It is no keyword, no operator, and no function of nn.ops.
std::string functionName(std::string_view type);

// Returns the name for a value that PyTorch calls [value]: without its number, and no keyword.
std::string variableName(std::string_view value);

// The same for a value that an operator gives; "y" where the operator's name, "view", does not say what the value is.
std::string resultName(std::string_view value);

}  // namespace boxcar::interp::pt2
