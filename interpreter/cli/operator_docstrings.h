#pragma once

#include <boxcar/interpreter/service/docstrings.h>

namespace boxcar::cli {

// What operators that are written in C++ do, as their schemas' files say; read when it is first asked for.
const service::Docstrings& operatorDocstrings();

}  // namespace boxcar::cli
