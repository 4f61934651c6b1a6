#pragma once

#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/dispatch_key_set.h>
#include <boxcar/ivalue/intrusive_ptr.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace boxcar {

// The position of a generator in its sequence: its seed, and how much was drawn since.
struct GeneratorState {
  uint64_t seed = 0;
  uint64_t drawn = 0;  // in numbers of 32 bits
  // The second of a pair of normal numbers, if only the first was used.
  std::optional<double> next_normal = std::nullopt;
  bool operator==(const GeneratorState&) const noexcept = default;
};

// The base of random number generators; backends and users derive their own. The dispatch keys that it is made with
// take part in dispatch wherever the generator is an argument, so that kernels can be registered for it.
class BOXCAR_API GeneratorImpl : public Object {
 public:
  Device device() const noexcept { return device_; }
  DispatchKeySet key_set() const noexcept { return key_set_; }

  // Restarts the sequence of [seed].
  virtual void set_current_seed(uint64_t seed) = 0;
  virtual uint64_t current_seed() const = 0;

  // Get and set the position in the sequence. Throw Error if a generator does not support it; a user's need not.
  virtual GeneratorState state() const;
  virtual void set_state(const GeneratorState& state);

  // A kernel holds this while it draws numbers, so that two threads never draw the same ones.
  std::mutex& mutex() noexcept { return mutex_; }

 protected:
  GeneratorImpl(Device device, DispatchKeySet keys) noexcept : device_(device), key_set_(keys) {}

 private:
  Device device_;
  DispatchKeySet key_set_;
  std::mutex mutex_;
};

// A reference to a generator. A default-constructed one is undefined and has no keys.
class BOXCAR_API Generator final {
 public:
  Generator() noexcept = default;
  explicit Generator(IntrusivePtr<GeneratorImpl> impl) noexcept : impl_(std::move(impl)) {}

  bool defined() const noexcept { return static_cast<bool>(impl_); }
  Device device() const { return impl_->device(); }
  DispatchKeySet key_set() const noexcept { return impl_ ? impl_->key_set() : DispatchKeySet(); }
  void set_current_seed(uint64_t seed) const { impl_->set_current_seed(seed); }
  uint64_t current_seed() const { return impl_->current_seed(); }
  std::mutex& mutex() const noexcept { return impl_->mutex(); }
  GeneratorImpl* unsafeGetGeneratorImpl() const noexcept { return impl_.get(); }
  // Returns the implementation as a [T]; the caller knows its type.
  template <class T>
  T* get() const noexcept {
    return static_cast<T*>(impl_.get());
  }
  const IntrusivePtr<GeneratorImpl>& object() const noexcept { return impl_; }
  bool operator==(const Generator&) const noexcept = default;

 private:
  IntrusivePtr<GeneratorImpl> impl_;
};

BOXCAR_API std::string toString(const Generator& generator);

}  // namespace boxcar
