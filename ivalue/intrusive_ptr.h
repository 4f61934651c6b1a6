#pragma once

#include <boxcar/ivalue/macros.h>
#include <sys/single_threaded.h>

#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

namespace boxcar {

namespace detail {
class WeakRecord;
}

// The base of everything on the heap that is shared: tensors, storages, strings, lists, dicts, tuples, generators,
// classes. It lies at offset 0 of each of them, so that an IValue can count and destroy any of them without knowing its
// type.
//
// An atomic increment costs about 5 ns, more than the rest of a dispatch. While the process has one thread, plain
// instructions change the count. The holder of the only reference needs no atomic decrement either: nobody else can
// change the count.
//
// Weak references (<boxcar/ivalue/weak_ptr.h>) are kept outside the objects. An object only knows whether it ever had
// one, which it checks when its last reference goes: counting pays nothing for them.
class BOXCAR_API Object {
 public:
  constexpr Object() noexcept = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  virtual ~Object() = default;

  void retain() const noexcept {
    if (__libc_single_threaded) {
      ++count_;
    } else {
      std::atomic_ref(count_).fetch_add(1, std::memory_order_relaxed);
    }
  }

  void release() const noexcept {
    if (__libc_single_threaded) {
      if (--count_ == 0) [[unlikely]]
        const_cast<Object*>(this)->dispose();
    } else if (useCount() == 1 || std::atomic_ref(count_).fetch_sub(1, std::memory_order_acq_rel) == 1) {
      const_cast<Object*>(this)->dispose();
    }
  }

  uint32_t useCount() const noexcept { return std::atomic_ref(count_).load(std::memory_order_acquire); }

  // Returns the number of weak pointers to this object, plus one for all strong ones together.
  size_t weakUseCount() const noexcept;

 protected:
  // Called when the last reference is gone: destroys the object and frees its memory, if mayDie() allows it.
  virtual void dispose() noexcept {
    if (mayDie()) delete this;
  }
  // Returns whether dispose() is to continue. If so, no weak reference can reach the object any more.
  bool mayDie() noexcept { return life_ == Life::kOrdinary || endUncommonLife(); }

  // For the one object that is never destroyed (the undefined tensor): its count is too high to ever drop to 0.
  struct Immortal {};
  constexpr explicit Object(Immortal) noexcept : count_(kImmortalCount), life_(Life::kImmortal) {}

 private:
  friend class detail::WeakRecord;

  enum class Life : uint8_t { kOrdinary, kWatched, kImmortal };
  static constexpr uint32_t kImmortalCount = 1U << 31;

  bool endUncommonLife() noexcept;

  mutable uint32_t count_ = 1;
  // Written by a holder of a reference, under the lock of the weak references.
  mutable Life life_ = Life::kOrdinary;
};
static_assert(sizeof(Object) == 16);

// The base of the final class [Final]: saves it a virtual call when it is destroyed.
template <class Final>
class BOXCAR_API ObjectOf : public Object {
 protected:
  void dispose() noexcept final {
    if (mayDie()) delete static_cast<Final*>(this);
  }
};

// An owning pointer to an Object. Copies never throw, so boost::variant2 stays one value wide.
template <class T>
class IntrusivePtr final {
 public:
  using element_type = T;

  constexpr IntrusivePtr() noexcept = default;
  constexpr IntrusivePtr(std::nullptr_t) noexcept {}
  IntrusivePtr(const IntrusivePtr& other) noexcept : pointer_(other.pointer_) {
    if (pointer_ != nullptr) pointer_->retain();
  }
  IntrusivePtr(IntrusivePtr&& other) noexcept : pointer_(std::exchange(other.pointer_, nullptr)) {}
  template <class U>
  requires std::is_convertible_v<U*, T*> IntrusivePtr(IntrusivePtr<U> other)
  noexcept : pointer_(other.releasePointer()) {}
  ~IntrusivePtr() {
    if (pointer_ != nullptr) pointer_->release();
  }

  IntrusivePtr& operator=(IntrusivePtr other) noexcept {
    std::swap(pointer_, other.pointer_);
    return *this;
  }

  // Takes over a reference that the caller owns.
  static IntrusivePtr adopt(T* pointer) noexcept {
    IntrusivePtr result;
    result.pointer_ = pointer;
    return result;
  }
  // Adds a reference to an object that somebody else owns.
  static IntrusivePtr share(T* pointer) noexcept {
    if (pointer != nullptr) pointer->retain();
    return adopt(pointer);
  }

  // Gives the reference to the caller.
  [[nodiscard]] T* releasePointer() noexcept { return std::exchange(pointer_, nullptr); }
  // Drops the reference and becomes null.
  void reset() noexcept { *this = IntrusivePtr(); }
  void swap(IntrusivePtr& other) noexcept { std::swap(pointer_, other.pointer_); }
  friend void swap(IntrusivePtr& a, IntrusivePtr& b) noexcept { a.swap(b); }

  T* get() const noexcept { return pointer_; }
  T& operator*() const noexcept { return *pointer_; }
  T* operator->() const noexcept { return pointer_; }
  explicit operator bool() const noexcept { return pointer_ != nullptr; }
  bool defined() const noexcept { return pointer_ != nullptr; }
  // The number of references to the object, including this one; 0 for a null pointer.
  size_t use_count() const noexcept { return pointer_ == nullptr ? 0 : pointer_->useCount(); }
  size_t weak_use_count() const noexcept { return pointer_ == nullptr ? 0 : pointer_->weakUseCount(); }
  bool unique() const noexcept { return use_count() == 1; }

  // By address.
  bool operator==(const IntrusivePtr& other) const noexcept = default;
  std::strong_ordering operator<=>(const IntrusivePtr& other) const noexcept = default;

 private:
  T* pointer_ = nullptr;
};

template <class T, class... Args>
IntrusivePtr<T> makeIntrusive(Args&&... args) {
  return IntrusivePtr<T>::adopt(new T(std::forward<Args>(args)...));
}

}  // namespace boxcar

template <class T>
struct std::hash<boxcar::IntrusivePtr<T>> {
  size_t operator()(const boxcar::IntrusivePtr<T>& pointer) const noexcept { return std::hash<T*>()(pointer.get()); }
};
