#include <boxcar/interpreter/syntax/text_colours.h>

namespace boxcar {
namespace {

std::string_view sequenceOf(TextInk ink) {
  switch (ink) {
    case TextInk::Error: return "\033[1;31m";
    case TextInk::Warning: return "\033[1;35m";
    case TextInk::Note: return "\033[1;36m";
    case TextInk::Place: return "\033[1m";
    case TextInk::Mark: return "\033[1;32m";
  }
  return {};
}

}  // namespace

std::string coloured(std::string_view text, TextInk ink, TextColours colours) {
  if (colours == TextColours::None) return std::string(text);
  return std::string(sequenceOf(ink)).append(text).append("\033[0m");
}

}  // namespace boxcar
