#include <boxcar/ivalue/weak_ivalue.h>

#include <cstring>

namespace boxcar {

WeakIValue::WeakIValue(const IValue& value) {
  // A complex number is only on the heap because it does not fit into an IValue.
  if (!value.isPtrType() || value.isComplexDouble()) {
    own_ = value;
    return;
  }
  object_ = IntrusivePtr<const Object>::share(value.object());
  std::memcpy(bytes_.data(), static_cast<const void*>(&value), bytes_.size());
  is_shared_ = true;
}

IValue WeakIValue::lock() const noexcept {
  if (!is_shared_) return own_;
  IValue value;
  IntrusivePtr<const Object> object = object_.lock();
  // The value takes over the reference.
  if (object.releasePointer() != nullptr) std::memcpy(static_cast<void*>(&value), bytes_.data(), bytes_.size());
  return value;
}

bool WeakIValue::isSameIdentity(const WeakIValue& other) const noexcept {
  if (is_shared_ != other.is_shared_) return false;
  return is_shared_ ? object_ == other.object_ : own_.is(other.own_);
}

size_t WeakIValue::hash() const {
  if (is_shared_) return object_.hash();
  // The undefined tensor is None.
  return own_.isTensor() ? IValue().hash() : own_.hash();
}

}  // namespace boxcar
