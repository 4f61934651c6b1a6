#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace boxcar::composite {

// A parsed einsum equation: the labels of the dimensions of each operand and of the result. A label is the position of
// its letter in A-Za-z, or kEllipsis.
struct EinsumEquation {
  static constexpr int kLetters = 52;
  static constexpr int kEllipsis = kLetters;

  std::vector<std::vector<int>> operands;
  // As written if [has_arrow]; otherwise PyTorch's implicit result: `...`, then the letters that occur exactly once.
  std::vector<int> result;
  bool has_arrow;
};

// Parses an einsum equation. Throws Error if it contains characters that are not letters, dots that do not form an
// ellipsis, or result letters that are repeated or occur in no operand, or if it does not have [count] operands.
EinsumEquation parseEinsum(std::string_view equation, size_t count);

// Returns the letter of a label.
char letterOf(int label);

}  // namespace boxcar::composite
