#pragma once

#include <boxcar/backends/autograd/node.h>
#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/storage.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace boxcar::autograd {

// Whether this thread looks for what goes wrong in backward passes: calls that are recorded remember the line of the
// script that made them, so do calls that write tensors, and gradients that are not a number are Errors. Errors of
// backward passes then name these lines. It is off at first, and makes every call slower.
class BOXCAR_API AnomalyMode final {
 public:
  static bool is_enabled() noexcept;
  static bool should_check_nan() noexcept;
};

// Switches the thread's AnomalyMode on while it lives. Guards nest.
class BOXCAR_API DetectAnomalyGuard final {
 public:
  explicit DetectAnomalyGuard(bool check_nan = true);
  ~DetectAnomalyGuard();
  DetectAnomalyGuard(const DetectAnomalyGuard&) = delete;
  DetectAnomalyGuard& operator=(const DetectAnomalyGuard&) = delete;

 private:
  bool checked_nan_before_;
};

// Remembers that this thread's current call, of [op], made [node], if the mode is on.
void rememberCall(Node& node, std::string_view op);
// Returns "aten::mul at train.ops:3"; the operator alone if no script made the call, "" if the mode was off.
std::string callOf(const Node& node);
// Returns the same for the call that wrote [storage] last, while the mode was on; "" if there is none.
std::string writerOf(const StorageImpl& storage);
// Throws Error that names [node] if one of its results [gradients] has an element that is not a number.
void checkNan(const Node& node, const Gradients& gradients);

}  // namespace boxcar::autograd
