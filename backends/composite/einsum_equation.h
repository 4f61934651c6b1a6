#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace boxcar::composite {

// The equation of an einsum, read: for each operand and for the result the labels of its dimensions, a label being the
// place of its letter in A-Za-z, or kEllipsis.
struct EinsumEquation {
  static constexpr int kLetters = 52;
  static constexpr int kEllipsis = kLetters;

  std::vector<std::vector<int>> operands;
  // As written; unless [has_arrow], what PyTorch makes of the operands: `...` and then the letters that stand once.
  std::vector<int> result;
  bool has_arrow;
};

// An Error tells where the equation breaks the rules: characters that are no letters, dots that are no ellipsis,
// letters of the result that stand there twice or in no operand, and a number of operands other than [count].
EinsumEquation parseEinsum(std::string_view equation, size_t count);

// The letter of a label.
char letterOf(int label);

}  // namespace boxcar::composite
