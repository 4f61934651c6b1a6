#pragma once

#include <boxcar/interpreter/syntax/diagnostic.h>
#include <boxcar/interpreter/syntax/token.h>

namespace boxcar::syntax {

// Splits a source into tokens. Reports invalid text to [diagnostics] and replaces it so that the rest can be read:
// missing closing brackets are inserted where they are missed, unmatched ones are left out.
TokenStream lex(const SourcePtr& source, Diagnostics& diagnostics);

}  // namespace boxcar::syntax
