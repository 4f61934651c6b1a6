#include <boxcar/backends/composite/einsum_equation.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <array>
#include <string>

namespace boxcar::composite {
namespace {

int labelOf(char letter) {
  if (letter >= 'A' && letter <= 'Z') return letter - 'A';
  if (letter >= 'a' && letter <= 'z') return letter - 'a' + 26;
  return -1;
}

// Parses the labels of one operand or of the result; [where] names it in errors.
std::vector<int> parseLabels(std::string_view text, const std::string& where) {
  std::vector<int> labels;
  bool has_ellipsis = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') continue;
    if (text[i] == '.') {
      BOXCAR_CHECK(text.substr(i, 3) == "...", "einsum(): found '.' for {} that is not part of any ellipsis", where);
      BOXCAR_CHECK(!has_ellipsis, "einsum(): found '.' for {} for which an ellipsis was already found", where);
      has_ellipsis = true;
      labels.push_back(EinsumEquation::kEllipsis);
      i += 2;
      continue;
    }
    const int label = labelOf(text[i]);
    BOXCAR_CHECK(label >= 0,
                 "einsum(): invalid subscript given at index {} in the equation string for {}: '{}'; "
                 "subscripts must be in [a-zA-Z]",
                 i, where, text[i]);
    labels.push_back(label);
  }
  return labels;
}

}  // namespace

char letterOf(int label) { return static_cast<char>(label < 26 ? 'A' + label : 'a' + label - 26); }

EinsumEquation parseEinsum(std::string_view equation, size_t count) {
  EinsumEquation parsed;
  const size_t arrow = equation.find("->");
  parsed.has_arrow = arrow != std::string_view::npos;
  std::string_view left = equation.substr(0, arrow);
  std::array<int, EinsumEquation::kLetters + 1> uses{};
  for (bool more = true; more;) {
    const size_t comma = left.find(',');
    more = comma != std::string_view::npos;
    parsed.operands.push_back(parseLabels(left.substr(0, comma), "operand " + std::to_string(parsed.operands.size())));
    for (const int label : parsed.operands.back()) ++uses[static_cast<size_t>(label)];
    if (more) left.remove_prefix(comma + 1);
  }
  BOXCAR_CHECK(parsed.operands.size() <= count,
               "einsum(): fewer operands were provided than specified in the equation: {} for {}", count,
               parsed.operands.size());
  BOXCAR_CHECK(parsed.operands.size() >= count,
               "einsum(): more operands were provided than specified in the equation: {} for {}", count,
               parsed.operands.size());
  if (!parsed.has_arrow) {
    if (uses[EinsumEquation::kEllipsis] > 0) parsed.result.push_back(EinsumEquation::kEllipsis);
    for (int label = 0; label < EinsumEquation::kLetters; ++label) {
      if (uses[static_cast<size_t>(label)] == 1) parsed.result.push_back(label);
    }
    return parsed;
  }
  parsed.result = parseLabels(equation.substr(arrow + 2), "the output");
  for (size_t i = 0; i < parsed.result.size(); ++i) {
    const int label = parsed.result[i];
    if (label == EinsumEquation::kEllipsis) continue;
    BOXCAR_CHECK(std::find(parsed.result.begin(), parsed.result.begin() + static_cast<std::ptrdiff_t>(i), label) ==
                     parsed.result.begin() + static_cast<std::ptrdiff_t>(i),
                 "einsum(): output subscript {} appears more than once in the output", letterOf(label));
    BOXCAR_CHECK(uses[static_cast<size_t>(label)] > 0,
                 "einsum(): output subscript {} does not appear in the equation for any input operand",
                 letterOf(label));
  }
  return parsed;
}

}  // namespace boxcar::composite
