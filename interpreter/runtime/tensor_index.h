#pragma once

#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/macros.h>

#include <span>
#include <string_view>

namespace boxcar::interp {

// The meaning of a tensor's index.
struct TensorPlace {
  IValue view;     // the view after ints, slices, Nones and `...`
  IValue indices;  // Tensor?[] into the view, None if no tensor indexes
};

// Resolves an index whose parts are only known at run time. [form] has a letter for each part: `v` for one of [values],
// `:` for a slice, whose start, stop and step are three of them, `.` for `...`. A single tuple is the index written
// out.
BOXCAR_API TensorPlace tensorPlace(const IValue& tensor, std::string_view form, std::span<const IValue> values);

BOXCAR_API IValue elementAt(const TensorPlace& place);
// [value] is a Tensor or a number.
BOXCAR_API void setElementAt(const TensorPlace& place, const IValue& value);

}  // namespace boxcar::interp
