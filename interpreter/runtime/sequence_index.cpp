#include <boxcar/interpreter/runtime/sequence_index.h>
#include <boxcar/interpreter/runtime/value_operations.h>
#include <boxcar/interpreter/syntax/utf8.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <limits>

namespace boxcar::interp {
namespace {

int64_t sliceBound(const IValue& bound, int64_t absent, const char* name) {
  if (bound.isNone()) return absent;
  if (bound.isBool()) return bound.toBool();
  BOXCAR_CHECK(bound.isInt(), "the {} of a slice must be int or None, not {}", name, kindName(bound));
  return bound.toInt();
}

}  // namespace

Characters::Characters(std::string_view text) : text_(text) {
  is_ascii_ = std::ranges::all_of(text, [](char byte) { return static_cast<signed char>(byte) >= 0; });
  if (is_ascii_) return;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i == 0 || !utf8::isContinuation(text[i])) begins_.push_back(i);
  }
}

std::string_view Characters::operator[](size_t index) const noexcept {
  if (is_ascii_) return text_.substr(index, 1);
  const size_t end = index + 1 < begins_.size() ? begins_[index + 1] : text_.size();
  return text_.substr(begins_[index], end - begins_[index]);
}

size_t wrapIndex(int64_t index, size_t size, std::string_view what) {
  const int64_t wrapped = index < 0 ? index + static_cast<int64_t>(size) : index;
  BOXCAR_CHECK(wrapped >= 0 && static_cast<uint64_t>(wrapped) < size, "index {} is out of range for a {} of {}", index,
               what, size);
  return static_cast<size_t>(wrapped);
}

SliceRange resolveSlice(const IValue& start, const IValue& stop, const IValue& step, size_t size) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  const auto length = static_cast<int64_t>(size);
  SliceRange range;
  range.step = std::max(sliceBound(step, 1, "step"), -std::numeric_limits<int64_t>::max());
  BOXCAR_CHECK(range.step != 0, "the step of a slice cannot be zero");
  const bool goes_up = range.step > 0;
  // A bound past either end is clamped.
  const auto clamp = [&](int64_t bound) {
    if (bound < 0) bound = bound < -length ? -1 : bound + length;
    return goes_up ? std::clamp<int64_t>(bound, 0, length) : std::clamp<int64_t>(bound, -1, length - 1);
  };
  const int64_t given_start = sliceBound(start, kLeast, "start");
  const int64_t given_stop = sliceBound(stop, kLeast, "stop");
  range.start = start.isNone() ? (goes_up ? 0 : length - 1) : clamp(given_start);
  const int64_t end = stop.isNone() ? (goes_up ? length : -1) : clamp(given_stop);
  if (goes_up && range.start < end) {
    range.count = static_cast<size_t>((end - range.start - 1) / range.step + 1);
  } else if (!goes_up && range.start > end) {
    range.count = static_cast<size_t>((range.start - end - 1) / -range.step + 1);
  }
  return range;
}

}  // namespace boxcar::interp
