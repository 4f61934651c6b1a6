#pragma once

#include <boxcar/interpreter/source.h>
#include <boxcar/interpreter/text_colours.h>

#include <string>
#include <string_view>

namespace boxcar {

// Adds the line that [span] begins in, [indent] before it, and a line that underlines what of the span stands there.
// Long lines come in part; [trims]: without the blanks that the line begins and ends with. Both end in a newline.
void appendExcerpt(std::string& out, const Source& source, Span span, std::string_view indent, bool trims,
                   TextColours colours);

}  // namespace boxcar
