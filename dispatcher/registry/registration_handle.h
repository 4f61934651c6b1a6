#pragma once

#include <functional>
#include <utility>

namespace boxcar {

// Undoes a registration when it is destroyed. Handles may be destroyed in any order.
class [[nodiscard]] RegistrationHandleRAII final {
 public:
  RegistrationHandleRAII() noexcept = default;
  explicit RegistrationHandleRAII(std::function<void()> undo) : undo_(std::move(undo)) {}
  RegistrationHandleRAII(RegistrationHandleRAII&& other) noexcept : undo_(std::exchange(other.undo_, nullptr)) {}
  RegistrationHandleRAII& operator=(RegistrationHandleRAII&& other) noexcept {
    std::swap(undo_, other.undo_);
    return *this;
  }
  ~RegistrationHandleRAII() {
    if (undo_) undo_();
  }

 private:
  std::function<void()> undo_;
};

}  // namespace boxcar
