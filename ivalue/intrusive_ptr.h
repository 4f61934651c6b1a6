#pragma once

#include <boxcar/ivalue/macros.h>
#include <sys/single_threaded.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

namespace boxcar {

// The base of all that lives on the heap and is shared: tensors, storages, strings, lists, dicts, tuples, generators,
// classes. It lies at offset 0 of each of them, so that an IValue counts and destroys any of them without knowing
// which.
//
// An atomic increment costs about 5 ns, more than the rest of a dispatch. While the process has one thread the count is
// changed by plain instructions, and who holds the only reference, which nobody else can count, goes without, too.
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

 protected:
  // Called when the last reference is gone: destroys the object and frees its memory.
  virtual void dispose() noexcept { delete this; }

  // For the one object that is never destroyed (the undefined tensor): as many references as nobody can drop.
  static constexpr uint32_t kImmortal = 1U << 31;
  constexpr explicit Object(uint32_t count) noexcept : count_(count) {}
  void makeImmortal() noexcept { std::atomic_ref(count_).store(kImmortal, std::memory_order_relaxed); }

 private:
  mutable uint32_t count_ = 1;
};

// An owning pointer to an Object. Copies never throw, which boost::variant2 needs in order to stay one value wide.
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
  // Adds a reference to what somebody else owns.
  static IntrusivePtr share(T* pointer) noexcept {
    if (pointer != nullptr) pointer->retain();
    return adopt(pointer);
  }

  // Gives the reference to the caller.
  [[nodiscard]] T* releasePointer() noexcept { return std::exchange(pointer_, nullptr); }

  T* get() const noexcept { return pointer_; }
  T& operator*() const noexcept { return *pointer_; }
  T* operator->() const noexcept { return pointer_; }
  explicit operator bool() const noexcept { return pointer_ != nullptr; }
  bool operator==(const IntrusivePtr& other) const noexcept = default;

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
