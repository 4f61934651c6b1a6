#pragma once

#include <boxcar/ivalue/macros.h>

namespace boxcar {

// Whether this thread records calls for differentiation: the kernels at the autograd keys run. It is on at first. While
// it is off, calls on tensors that require grad cost no more than others.
class BOXCAR_API GradMode final {
 public:
  static bool is_enabled() noexcept;
  static void set_enabled(bool enabled) noexcept;
};

// Switches the thread's GradMode while it lives.
class AutoGradMode final {
 public:
  explicit AutoGradMode(bool enabled) noexcept : before_(GradMode::is_enabled()) { GradMode::set_enabled(enabled); }
  ~AutoGradMode() { GradMode::set_enabled(before_); }
  AutoGradMode(const AutoGradMode&) = delete;
  AutoGradMode& operator=(const AutoGradMode&) = delete;

 private:
  bool before_;
};

class NoGradGuard final {
 public:
  NoGradGuard() noexcept : mode_(false) {}

 private:
  AutoGradMode mode_;
};

}  // namespace boxcar
