#pragma once

#include <boxcar/interpreter/token.h>

#include <string_view>

namespace boxcar::syntax {

// What may help whoever wrote [where] in place of [expected], in the construct that begins at [begin]: habits of other
// languages, mostly. Empty when there is nothing to say.
std::string_view syntaxHint(const Source& source, const Token* begin, const Token* where, std::string_view expected);

}  // namespace boxcar::syntax
