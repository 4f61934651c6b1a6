#pragma once

#include <boxcar/interpreter/service/docstrings.h>

namespace boxcar::cli {

// Returns what the operators written in C++ do, as their schema files say. The files are read at the first call.
const service::Docstrings& operatorDocstrings();

}  // namespace boxcar::cli
