#pragma once

#include <boxcar/ivalue/dispatch_key.h>

#include <string>

namespace boxcar::python {

// Returns the key of that name; throws PythonError with a ValueError that suggests one if there is none.
DispatchKey keyNamed(const std::string& name);

}  // namespace boxcar::python
