#pragma once

#include <boxcar/ivalue/macros.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace boxcar {

// Whether a text contains a terminal's control sequences for colours. The writer knows where the text goes.
enum class TextColours : uint8_t { None, Ansi };

// The role of a part of a message, coloured as compilers do.
enum class TextInk : uint8_t {
  Error,    // bold red
  Warning,  // bold magenta
  Note,     // bold cyan
  Place,    // bold: file:line:column
  Mark,     // bold green: the underline of a source line
};

// Returns [text] in the colour of [ink]; unchanged for TextColours::None.
BOXCAR_API std::string coloured(std::string_view text, TextInk ink, TextColours colours);

}  // namespace boxcar
