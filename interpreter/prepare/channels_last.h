#pragma once

#include <boxcar/interpreter/prepare/text_edit.h>
#include <boxcar/interpreter/prepare/typed_script.h>

#include <vector>

namespace boxcar::interp {

// Returns the changes that put a program's images in channels_last: the functions that others do not call convert what
// they are given, and what they return. Convolutions keep the format, and are faster in this one. There are none for
// programs without convolutions, and for those that ask for strides or make views that depend on them.
std::vector<Edit> keepChannelsLast(const TypedScript& script);

}  // namespace boxcar::interp
