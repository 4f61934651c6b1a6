#pragma once

#include <boxcar/interpreter/syntax/source.h>
#include <boxcar/interpreter/syntax/text_colours.h>

#include <string>
#include <string_view>

namespace boxcar {

// Appends the line in which [span] begins, after [indent], and a line that underlines the part of the span in it. Long
// lines are shortened; [trims]: without leading and trailing blanks. Both lines end in a newline.
void appendExcerpt(std::string& out, const Source& source, Span span, std::string_view indent, bool trims,
                   TextColours colours);

}  // namespace boxcar
