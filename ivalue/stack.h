#pragma once

#include <boxcar/ivalue/ivalue.h>

#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <new>
#include <span>
#include <utility>
#include <vector>

namespace boxcar {

// The stack of a boxed call: the arguments are the last values, in order; the call replaces them by its results.
//
//   Stack stack;
//   push(stack, a, b);
//   op.callBoxed(stack);
//   Tensor sum = pop(stack).toTensor();
//
// It has the part of std::vector's interface that stacks need. It is not a vector, because a vector cannot inline a
// push without the code that grows, move its values as plain bytes when it grows, or let a kernel's adapter destroy
// arguments whose types it knows.
class BOXCAR_API Stack final {
 public:
  using value_type = IValue;
  using iterator = IValue*;
  using const_iterator = const IValue*;

  Stack() noexcept = default;
  Stack(std::initializer_list<IValue> values) : Stack(values.begin(), values.end()) {}
  explicit Stack(const std::vector<IValue>& values) : Stack(values.data(), values.data() + values.size()) {}
  template <std::forward_iterator Iterator>
  Stack(Iterator first, Iterator past) {
    insert(end(), first, past);
  }
  Stack(const Stack& other) : Stack(other.begin(), other.end()) {}
  Stack(Stack&& other) noexcept { swap(other); }
  Stack& operator=(Stack other) noexcept {
    swap(other);
    return *this;
  }
  ~Stack() {
    clear();
    ::operator delete(begin_);
  }
  void swap(Stack& other) noexcept {
    std::swap(begin_, other.begin_);
    std::swap(end_, other.end_);
    std::swap(limit_, other.limit_);
  }

  size_t size() const noexcept { return static_cast<size_t>(end_ - begin_); }
  bool empty() const noexcept { return begin_ == end_; }
  size_t capacity() const noexcept { return static_cast<size_t>(limit_ - begin_); }
  // Returns whether the stack holds [bytes] of values: size() >= n in one subtraction.
  bool holdsBytes(size_t bytes) const noexcept { return bytesHeld() >= bytes; }
  // Returns whether size() == [count], without the division.
  bool holdsExactly(size_t count) const noexcept { return bytesHeld() == count * sizeof(IValue); }

  IValue* data() noexcept { return begin_; }
  const IValue* data() const noexcept { return begin_; }
  iterator begin() noexcept { return begin_; }
  iterator end() noexcept { return end_; }
  const_iterator begin() const noexcept { return begin_; }
  const_iterator end() const noexcept { return end_; }
  IValue& operator[](size_t index) noexcept { return begin_[index]; }
  const IValue& operator[](size_t index) const noexcept { return begin_[index]; }
  // Like operator[], but throws Error when the stack is shorter.
  IValue& at(size_t index);
  const IValue& at(size_t index) const { return const_cast<Stack*>(this)->at(index); }
  IValue& front() noexcept { return *begin_; }
  const IValue& front() const noexcept { return *begin_; }
  IValue& back() noexcept { return end_[-1]; }
  const IValue& back() const noexcept { return end_[-1]; }

  template <class... Args>
  [[gnu::always_inline]] IValue& emplace_back(Args&&... args) {
    if (end_ == limit_) [[unlikely]]
      return growAndEmplace(std::forward<Args>(args)...);
    IValue* place = end_;
    new (place) IValue(std::forward<Args>(args)...);
    end_ = place + 1;
    return *place;
  }
  // Pushes each of [values], which may be values of this stack, with one capacity check.
  template <class... Values>
  [[gnu::always_inline]] void emplace(Values&&... values) {
    if (static_cast<size_t>(limit_ - end_) < sizeof...(Values)) [[unlikely]]
      return growAndEmplaceAll(std::forward<Values>(values)...);
    IValue* place = end_;
    ((new (place++) IValue(std::forward<Values>(values)), end_ = place), ...);
  }
  void push_back(const IValue& value) { emplace_back(value); }
  void push_back(IValue&& value) { emplace_back(std::move(value)); }
  void pop_back() noexcept {
    --end_;
    end_->~IValue();
  }

  // Drops the values from [size] on, or adds None up to it.
  void resize(size_t size);
  void reserve(size_t capacity) {
    if (capacity > this->capacity()) grow(capacity);
  }
  void clear() noexcept { erase(begin_, end_); }
  // erase() returns the place behind what it removed, insert() the first value that it inserted.
  iterator erase(const_iterator first, const_iterator past) noexcept;
  iterator erase(const_iterator position) noexcept { return erase(position, position + 1); }
  template <std::forward_iterator Iterator>
  iterator insert(const_iterator position, Iterator first, Iterator past) {
    IValue* gap = makeGap(position, static_cast<size_t>(std::distance(first, past)));
    for (IValue* place = gap; first != past; ++first, ++place) new (place) IValue(*first);
    return gap;
  }
  iterator insert(const_iterator position, IValue value) { return new (makeGap(position, 1)) IValue(std::move(value)); }

  // Forgets the values from [first] on, which the caller has destroyed.
  void dropDestroyed(IValue* first) noexcept { end_ = first; }
  // Puts [values] in place of the values from [first] on, which the caller has destroyed and which were at least as
  // many.
  template <class... Values>
  [[gnu::always_inline]] void replaceDestroyed(IValue* first, Values&&... values) noexcept {
    ((new (first++) IValue(std::move(values))), ...);
    end_ = first;
  }

  friend bool operator==(const Stack& a, const Stack& b);

 private:
  size_t bytesHeld() const noexcept {
    return static_cast<size_t>(reinterpret_cast<const char*>(end_) - reinterpret_cast<const char*>(begin_));
  }
  // Moves the values to a larger block of memory, as bytes: nothing points into an IValue.
  void grow(size_t capacity);
  // Makes room for [count] values at [position]; the room is not initialised.
  IValue* makeGap(const_iterator position, size_t count);

  template <class... Args>
  [[gnu::noinline]] IValue& growAndEmplace(Args&&... args) {
    IValue value(std::forward<Args>(args)...);
    grow(capacity() + 1);
    return *new (end_++) IValue(std::move(value));
  }
  template <class... Values>
  [[gnu::noinline, gnu::cold]] void growAndEmplaceAll(Values&&... values) {
    Stack made;
    made.reserve(sizeof...(Values));
    IValue* place = made.end_;
    ((new (place++) IValue(std::forward<Values>(values)), made.end_ = place), ...);
    takeAll(made);
  }
  // Moves the values of [other] on top.
  void takeAll(Stack& other);

  IValue* begin_ = nullptr;
  IValue* end_ = nullptr;
  IValue* limit_ = nullptr;
};

// The [i]-th of the last [n] values.
inline IValue& peek(Stack& stack, size_t i, size_t n) { return stack.end()[static_cast<std::ptrdiff_t>(i - n)]; }
inline const IValue& peek(const Stack& stack, size_t i, size_t n) {
  return stack.end()[static_cast<std::ptrdiff_t>(i - n)];
}

// The last [n] values, first pushed first.
inline std::span<IValue> last(Stack& stack, size_t n) { return {stack.end() - n, n}; }
inline std::span<const IValue> last(const Stack& stack, size_t n) { return {stack.end() - n, n}; }

inline void drop(Stack& stack, size_t n) {
  // One value is most often dropped, after a call.
  if (__builtin_constant_p(n) && n == 1) {
    stack.pop_back();
  } else {
    stack.erase(stack.end() - n, stack.end());
  }
}

inline IValue pop(Stack& stack) {
  IValue value = std::move(stack.back());
  stack.pop_back();
  return value;
}

// Pops the last [n] values and returns them.
inline std::vector<IValue> pop(Stack& stack, size_t n) {
  const std::span<IValue> values = last(stack, n);
  std::vector<IValue> result(std::make_move_iterator(values.begin()), std::make_move_iterator(values.end()));
  drop(stack, n);
  return result;
}

template <class... Values>
[[gnu::always_inline]] inline void push(Stack& stack, Values&&... values) {
  stack.emplace(std::forward<Values>(values)...);
}

// Overloads for kernels that get the stack by pointer.
inline IValue& peek(Stack* stack, size_t i, size_t n) { return peek(*stack, i, n); }
inline void drop(Stack* stack, size_t n) { drop(*stack, n); }
inline IValue pop(Stack* stack) { return pop(*stack); }
inline std::vector<IValue> pop(Stack* stack, size_t n) { return pop(*stack, n); }
template <class... Values>
inline void push(Stack* stack, Values&&... values) {
  stack->emplace(std::forward<Values>(values)...);
}

}  // namespace boxcar
