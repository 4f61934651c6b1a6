#pragma once

#include <boxcar/ivalue/stop_request.h>
#include <boxcar/ivalue/tensor.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace boxcar::meta {

// Throws Error if [count], the number of tensors that operator [name] would return, is more than a list can hold.
void checkPartCount(std::string_view name, int64_t count);

// Collects the parts of a tensor that an operator returns. Calls checkStop() from time to time.
class PartList final {
 public:
  // For [count] parts. Throws Error as checkPartCount() does.
  PartList(std::string_view name, int64_t count) {
    checkPartCount(name, count);
    parts_.reserve(static_cast<size_t>(count));
  }
  void add(Tensor part) {
    parts_.push_back(std::move(part));
    steps_.add(kSteps);
  }
  std::vector<Tensor> take() && { return std::move(parts_); }

 private:
  // A part takes as long as this many steps of a loop.
  static constexpr int64_t kSteps = 256;
  std::vector<Tensor> parts_;
  StopCounter steps_;
};

}  // namespace boxcar::meta
