#pragma once

#include <boxcar/ivalue/macros.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace boxcar {

// Whether a text has the control sequences by which a terminal shows colours. Who writes it knows where it goes.
enum class TextColours : uint8_t { None, Ansi };

// What a part of a message is, as compilers colour it.
enum class TextInk : uint8_t {
  Error,    // bold red
  Warning,  // bold magenta
  Note,     // bold cyan
  Place,    // bold: file:line:column
  Mark,     // bold green: what underlines a source line
};

// [text] in the colour of [ink]; as it is for TextColours::None.
BOXCAR_API std::string coloured(std::string_view text, TextInk ink, TextColours colours);

}  // namespace boxcar
