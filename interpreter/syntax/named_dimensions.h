#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

// PyTorch had tensors whose dimensions have names, until 2.13. boxcar has not: whoever gives names is told so.

namespace boxcar::interp {

inline constexpr std::string_view kNoNames =
    "tensors have no named dimensions, as PyTorch removed them: give the number of a dimension, and keep it in a "
    "variable to name it";

// Of a parameter whose type is Dimname, which no value of a script has.
inline constexpr std::string_view kNoDimname =
    "Dimname is for tensors with named dimensions, which PyTorch removed: declare the argument as an int or a str";

// What PyTorch had that is about names alone: attributes, methods and functions.
inline constexpr std::string_view kAboutNames[] = {"names",    "rename",   "rename_",       "refine_names",
                                                   "align_to", "align_as", "align_tensors", "has_names"};
inline bool isAboutNames(std::string_view name) {
  return std::ranges::find(kAboutNames, name) != std::end(kAboutNames);
}

// Whether a parameter of this name takes the numbers of dimensions: "dim", "start_dim", "dims".
inline bool takesDimensions(std::string_view parameter) { return parameter.find("dim") != std::string_view::npos; }

}  // namespace boxcar::interp
