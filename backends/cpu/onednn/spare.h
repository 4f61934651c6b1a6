#pragma once

#include <atomic>
#include <memory>

namespace boxcar::cpu::onednn {

// A place for one object that a thread takes, uses alone and gives back. A second thread finds none meanwhile and makes
// its own.
template <class T>
class Spare final {
 public:
  Spare() = default;
  ~Spare() { take(); }
  Spare(const Spare&) = delete;
  Spare& operator=(const Spare&) = delete;

  // Returns null if there is none.
  std::unique_ptr<T> take() const noexcept { return std::unique_ptr<T>(object_.exchange(nullptr)); }
  void giveBack(std::unique_ptr<T> object) const noexcept {
    const std::unique_ptr<T> before(object_.exchange(object.release()));
  }

 private:
  mutable std::atomic<T*> object_{nullptr};
};

}  // namespace boxcar::cpu::onednn
