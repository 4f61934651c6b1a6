#pragma once

// All of IValue: the class, its dicts, and the conversions to and from C++ types.

#include <boxcar/ivalue/dict.h>          // IWYU pragma: export
#include <boxcar/ivalue/ivalue_class.h>  // IWYU pragma: export
#include <boxcar/ivalue/ivalue_to.h>     // IWYU pragma: export
