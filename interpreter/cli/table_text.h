#pragma once

#include <boxcar/dispatcher/registry/operator_handle.h>

#include <string>

namespace boxcar::cli {

// One operator, a line for each cell. Unless [every], the backends of a functionality whose cells are alike share one,
// and the keys that nobody registered anything for are counted at the end.
std::string tableText(const OperatorHandle& op, bool every);

}  // namespace boxcar::cli
