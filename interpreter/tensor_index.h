#pragma once

#include <boxcar/ivalue/ivalue.h>

#include <span>
#include <string_view>

namespace boxcar::interp {

// What an index of a tensor means.
struct TensorPlace {
  IValue view;     // what ints, slices, Nones and `...` leave
  IValue indices;  // Tensor?[] into it, None where no tensor indexes
};

// The place of an index whose parts only the run knows. [form] has a letter for each part: `v` for one of [values], `:`
// for a slice, whose start, stop and step lie there, `.` for `...`. A tuple that stands alone is the index written out.
TensorPlace tensorPlace(const IValue& tensor, std::string_view form, std::span<const IValue> values);

IValue elementAt(const TensorPlace& place);
// [value] is a Tensor or a number.
void setElementAt(const TensorPlace& place, const IValue& value);

}  // namespace boxcar::interp
