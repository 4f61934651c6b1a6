#pragma once

#include <boxcar/interpreter/service/analysis.h>
#include <boxcar/interpreter/service/cursor.h>
#include <boxcar/schema/function_schema.h>

#include <string>
#include <vector>

namespace boxcar::service {

// What a call may mean. [skipped] arguments stand before its parentheses, as `x` in `x.f(a)`.
struct CallCandidate {
  const FunctionSchema* schema;
  std::string signature;  // as people read it
  size_t skipped;
};

// All that the open call may mean: script functions first, then built-ins, then operators.
std::vector<CallCandidate> candidatesOf(Analysis& analysis, const Cursor& cursor, const Cursor::OpenCall& call);

}  // namespace boxcar::service
