#pragma once

#include <boxcar/ivalue/intrusive_ptr.h>
#include <boxcar/ivalue/macros.h>

#include <compare>
#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>

namespace boxcar {

// Data that lives as long as an object that knows nothing of it, such as a copy of a tensor's elements in another
// layout. Any thread may ask for it and attach it. It must not hold a reference to the object, which would then never
// die. The caller holds a reference to [object].

// Returns what is attached to [object]; null if nothing is.
BOXCAR_API IntrusivePtr<Object> attachedTo(const Object& object);
// Attaches [data] unless something is attached already; returns what is attached now. It is released when the object
// dies, with no lock held.
BOXCAR_API IntrusivePtr<Object> attach(const Object& object, IntrusivePtr<Object> data);

namespace detail {

// The state that all weak references to one object share, as long as there is one. It lies outside the object, which is
// freed when its last strong reference goes.
class BOXCAR_API WeakRecord final {
 public:
  // Returns the record of [object], to which the caller holds a strong reference; counts one more weak reference.
  static WeakRecord* watch(const Object* object);
  void retain() noexcept;
  void release() noexcept;
  // Adds a strong reference to the object, unless it is gone.
  bool tryRetainObject() noexcept;
  size_t useCount() noexcept;
  size_t weakUseCount() noexcept;

 private:
  friend class boxcar::Object;
  friend IntrusivePtr<Object> boxcar::attachedTo(const Object& object);
  friend IntrusivePtr<Object> boxcar::attach(const Object& object, IntrusivePtr<Object> data);

  explicit WeakRecord(const Object* object) noexcept : address_(object), object_(object) {}
  size_t weakUseCountLocked() const noexcept { return weak_count_ + (object_ != nullptr ? 1 : 0); }

  const Object* const address_;  // determines which lock guards the rest
  const Object* object_;         // null when the object is gone
  size_t weak_count_ = 1;        // one of them is the attachment's, if there is one
  IntrusivePtr<Object> attached_;
};

}  // namespace detail

// A non-owning pointer to an Object. lock() returns an owning one, or null if the object is gone; it may be called on
// any thread, whatever other threads do to the object. Only objects that get weak references pay for them.
//
//   WeakIntrusivePtr<Node> parent(owner);
//   if (const IntrusivePtr<Node> held = parent.lock()) use(*held);
template <class T>
class WeakIntrusivePtr final {
 public:
  using element_type = T;

  constexpr WeakIntrusivePtr() noexcept = default;
  explicit WeakIntrusivePtr(const IntrusivePtr<T>& strong)
      : pointer_(strong.get()), record_(strong ? detail::WeakRecord::watch(strong.get()) : nullptr) {}
  WeakIntrusivePtr(const WeakIntrusivePtr& other) noexcept : pointer_(other.pointer_), record_(other.record_) {
    if (record_ != nullptr) record_->retain();
  }
  WeakIntrusivePtr(WeakIntrusivePtr&& other) noexcept
      : pointer_(std::exchange(other.pointer_, nullptr)), record_(std::exchange(other.record_, nullptr)) {}
  template <class U>
  requires(!std::is_same_v<U, T> && std::is_convertible_v<U*, T*>) WeakIntrusivePtr(WeakIntrusivePtr<U> other)
  noexcept : pointer_(std::exchange(other.pointer_, nullptr)), record_(std::exchange(other.record_, nullptr)) {}
  ~WeakIntrusivePtr() {
    if (record_ != nullptr) record_->release();
  }

  WeakIntrusivePtr& operator=(WeakIntrusivePtr other) noexcept {
    swap(other);
    return *this;
  }
  WeakIntrusivePtr& operator=(const IntrusivePtr<T>& strong) { return *this = WeakIntrusivePtr(strong); }
  void reset() noexcept { *this = WeakIntrusivePtr(); }
  void swap(WeakIntrusivePtr& other) noexcept {
    std::swap(pointer_, other.pointer_);
    std::swap(record_, other.record_);
  }
  friend void swap(WeakIntrusivePtr& a, WeakIntrusivePtr& b) noexcept { a.swap(b); }

  // Returns null if the object is gone.
  IntrusivePtr<T> lock() const noexcept {
    return record_ != nullptr && record_->tryRetainObject() ? IntrusivePtr<T>::adopt(pointer_) : IntrusivePtr<T>();
  }
  bool expired() const noexcept { return use_count() == 0; }
  // The number of strong references to the object.
  size_t use_count() const noexcept { return record_ == nullptr ? 0 : record_->useCount(); }
  // The number of weak references to it, plus one for all strong ones together.
  size_t weak_use_count() const noexcept { return record_ == nullptr ? 0 : record_->weakUseCount(); }

  // Whether both refer to one object, even after it is gone.
  bool operator==(const WeakIntrusivePtr& other) const noexcept { return record_ == other.record_; }
  std::strong_ordering operator<=>(const WeakIntrusivePtr& other) const noexcept { return record_ <=> other.record_; }
  size_t hash() const noexcept { return std::hash<const void*>()(record_); }

 private:
  template <class U>
  friend class WeakIntrusivePtr;

  T* pointer_ = nullptr;
  detail::WeakRecord* record_ = nullptr;
};

}  // namespace boxcar

template <class T>
struct std::hash<boxcar::WeakIntrusivePtr<T>> {
  size_t operator()(const boxcar::WeakIntrusivePtr<T>& pointer) const noexcept { return pointer.hash(); }
};
