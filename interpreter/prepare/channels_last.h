#pragma once

#include <boxcar/interpreter/prepare/text_edit.h>
#include <boxcar/interpreter/prepare/typed_script.h>

#include <vector>

namespace boxcar::interp {

// Returns the changes that put a program's images in channels_last: functions with convolutions that others do not call
// convert the tensors that they are given, but for weights, and a tensor that they return. Convolutions keep the
// format, and are faster in this one. There are none for programs that ask for strides, make views that depend on them,
// or write to tensors of which there may be views, nor where a file that they import and call does. [loader] finds
// these.
std::vector<Edit> keepChannelsLast(const TypedScript& script, ModuleLoader* loader);

}  // namespace boxcar::interp
