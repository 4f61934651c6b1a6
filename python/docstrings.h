#pragma once

#include <boxcar/interpreter/service/docstrings.h>

namespace boxcar::python {

// What operators do, for help(): of those written in C++.
const service::Docstrings& docstrings();

}  // namespace boxcar::python
