#pragma once

#include <boxcar/ivalue/ivalue.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace boxcar::interp {

// The characters of a string, by code point.
class Characters final {
 public:
  // [text] must outlive this and stay in place.
  explicit Characters(std::string_view text);

  size_t size() const noexcept { return is_ascii_ ? text_.size() : begins_.size(); }
  std::string_view operator[](size_t index) const noexcept;

 private:
  std::string_view text_;
  bool is_ascii_;
  std::vector<size_t> begins_;  // start of every character, unless each is one byte
};

// Counts a negative [index] from the end; throws Error "index 5 is out of range for a list of 3" if it is out of range.
size_t wrapIndex(int64_t index, size_t size, std::string_view what);

// start:stop:step on a sequence of [size] elements, as in Python: the first index, the number of elements, the step.
struct SliceRange {
  int64_t start = 0;
  size_t count = 0;
  int64_t step = 1;

  size_t at(size_t i) const noexcept { return static_cast<size_t>(start + static_cast<int64_t>(i) * step); }
};
SliceRange resolveSlice(const IValue& start, const IValue& stop, const IValue& step, size_t size);

}  // namespace boxcar::interp
