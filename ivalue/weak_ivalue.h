#pragma once

#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/weak_ptr.h>

#include <array>
#include <cstddef>

namespace boxcar {

// A value that is not kept alive: lock() returns it as long as somebody else keeps it, and None afterwards. It holds
// numbers and other unshared values itself.
class BOXCAR_API WeakIValue final {
 public:
  WeakIValue() noexcept = default;
  explicit WeakIValue(const IValue& value);

  IValue lock() const noexcept;
  bool expired() const noexcept { return is_shared_ && object_.expired(); }
  // Whether both refer to one object, or are numbers of the same kind and value.
  bool isSameIdentity(const WeakIValue& other) const noexcept;

  // The strong references to the object; and the weak ones plus one for all strong ones together. 1 for a value without
  // an object.
  size_t use_count() const noexcept { return is_shared_ ? object_.use_count() : 1; }
  size_t weak_use_count() const noexcept { return is_shared_ ? object_.weak_use_count() : 1; }
  // Agrees with isSameIdentity, even after the object is gone.
  size_t hash() const;

 private:
  // An unshared value itself; for a shared one, the bytes of an IValue that points to the object but does not count.
  IValue own_;
  bool is_shared_ = false;
  std::array<std::byte, sizeof(IValue)> bytes_{};
  WeakIntrusivePtr<const Object> object_;
};

}  // namespace boxcar

template <>
struct std::hash<boxcar::WeakIValue> {
  size_t operator()(const boxcar::WeakIValue& value) const { return value.hash(); }
};
