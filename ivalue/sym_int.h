#pragma once

#include <cstdint>
#include <string>

namespace boxcar {

// An integer that a compiler may leave symbolic. Here it always has a value: schemas that say SymInt take and return
// plain integers, and kernels may use either type.
class SymInt final {
 public:
  constexpr SymInt(int64_t value) noexcept : value_(value) {}
  constexpr operator int64_t() const noexcept { return value_; }
  constexpr int64_t expect_int() const noexcept { return value_; }

 private:
  int64_t value_;
};

inline std::string toString(const SymInt& value) { return std::to_string(value.expect_int()); }

static_assert(sizeof(SymInt) == sizeof(int64_t));

}  // namespace boxcar
