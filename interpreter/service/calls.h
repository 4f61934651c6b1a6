#pragma once

#include <boxcar/interpreter/service/analysis.h>
#include <boxcar/interpreter/service/cursor.h>
#include <boxcar/schema/function_schema.h>

#include <string>
#include <vector>

namespace boxcar::service {

// A possible meaning of a call. [skipped] arguments come before its parentheses, such as `x` in `x.f(a)`.
struct CallCandidate {
  const FunctionSchema* schema;
  std::string signature;  // as people read it
  size_t skipped;
};

// Returns everything that the open call may mean: script functions first, then built-ins, then operators.
std::vector<CallCandidate> candidatesOf(Analysis& analysis, const Cursor& cursor, const Cursor::OpenCall& call);

}  // namespace boxcar::service
