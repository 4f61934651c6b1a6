#pragma once

#include <boxcar/interpreter/syntax/token.h>

#include <string_view>

namespace boxcar::syntax {

// Returns a hint for whoever wrote [where] instead of [expected], in the construct that begins at [begin], mostly about
// habits from other languages. Empty if there is none.
std::string_view syntaxHint(const Source& source, const Token* begin, const Token* where, std::string_view expected);

}  // namespace boxcar::syntax
