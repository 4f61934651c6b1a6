#pragma once

#include <boxcar/dispatcher/registry/operator_handle.h>

#include <string>

namespace boxcar::cli {

// Returns one operator as text, a line for each table entry. Unless [every], the backends of a functionality whose
// entries are alike share one line, and keys that nobody registered anything for are counted at the end.
std::string tableText(const OperatorHandle& op, bool every);

}  // namespace boxcar::cli
