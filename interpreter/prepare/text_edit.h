#pragma once

#include <boxcar/interpreter/syntax/source.h>

#include <string>
#include <string_view>
#include <vector>

namespace boxcar::interp {

// A change of a text: what is written at [span] becomes [text].
struct Edit {
  Span span;
  std::string text;
};

// Returns the text with all [edits] made, which may not overlap.
std::string edited(std::string_view text, std::vector<Edit> edits);

// Returns the change that removes a statement, with its line if nothing else is on it.
Edit withoutStatement(const Source& source, Span statement);

}  // namespace boxcar::interp
