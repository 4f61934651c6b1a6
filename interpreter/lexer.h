#pragma once

#include <boxcar/interpreter/diagnostic.h>
#include <boxcar/interpreter/token.h>

namespace boxcar::syntax {

// Splits a source into tokens. What is no token is reported to [diagnostics] and stood in for, so that the rest can be
// read: closing brackets that are missing are put where they are missed, those that close nothing are left out.
TokenStream lex(const SourcePtr& source, Diagnostics& diagnostics);

}  // namespace boxcar::syntax
