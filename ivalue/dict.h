#pragma once

#include <boxcar/ivalue/dict_object.h>
#include <boxcar/ivalue/ivalue_class.h>

#include <compare>
#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>

namespace boxcar {

// An entry of a Dict<K, V>, as its iterators return it.
template <class K, class V>
class DictEntry final {
 public:
  DictEntry() = default;
  DictEntry(DictObject* dict, size_t position) noexcept : dict_(dict), position_(position) {}

  K key() const { return dict_->keyAt(position_).template to<K>(); }
  V value() const { return dict_->valueAt(position_).template to<V>(); }
  // NOLINTNEXTLINE(performance-unnecessary-value-param): of most types it is moved
  void setValue(V value) const { dict_->setValueAt(position_, IValue(std::move(value))); }

 private:
  template <class, class>
  friend class DictIterator;

  DictObject* dict_ = nullptr;
  size_t position_ = 0;
};

// Iterates over the entries of a Dict in insertion order. Inserting leaves iterators valid; erasing an entry makes the
// iterators behind it point to the next one.
template <class K, class V>
class DictIterator final {
 public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = DictEntry<K, V>;
  using difference_type = std::ptrdiff_t;
  using pointer = const value_type*;
  using reference = const value_type&;

  DictIterator() = default;
  DictIterator(DictObject* dict, size_t position) noexcept : entry_(dict, position) {}

  // Valid until the iterator advances.
  reference operator*() const noexcept { return entry_; }
  pointer operator->() const noexcept { return &entry_; }
  DictIterator& operator++() noexcept {
    ++entry_.position_;
    return *this;
  }
  DictIterator operator++(int) noexcept {
    const DictIterator before = *this;
    ++*this;
    return before;
  }
  friend difference_type operator-(const DictIterator& a, const DictIterator& b) noexcept {
    return static_cast<difference_type>(a.position() - b.position());
  }
  // Both iterators belong to one dict.
  friend bool operator==(const DictIterator& a, const DictIterator& b) noexcept { return a.position() == b.position(); }
  friend std::strong_ordering operator<=>(const DictIterator& a, const DictIterator& b) noexcept {
    return a.position() <=> b.position();
  }

  // The entry's position in insertion order.
  size_t position() const noexcept { return entry_.position_; }

 private:
  value_type entry_;
};

// A dict with reference semantics: copies of a Dict refer to one dict, and a moved-from Dict still does. It is never
// null. `==` compares entries in any order; `is` compares identity.
//
//   Dict<std::string, int64_t> counts;
//   counts.insert("a", 1);
//   for (const auto& entry : counts) std::cout << entry.key() << entry.value();
template <class K, class V>
class Dict final {
 public:
  using key_type = K;
  using mapped_type = V;
  using size_type = size_t;
  using iterator = DictIterator<K, V>;

  Dict() : object_(makeIntrusive<DictObject>()) {}
  explicit Dict(IntrusivePtr<DictObject> object) noexcept : object_(std::move(object)) {}
  // Moving copies, because a moved-from Dict would otherwise hold no dict.
  Dict(const Dict&) noexcept = default;
  Dict& operator=(const Dict&) noexcept = default;
  ~Dict() = default;

  size_t size() const noexcept { return object_->size(); }
  bool empty() const noexcept { return size() == 0; }
  bool contains(const K& key) const { return object_->find(IValue(key)) != nullptr; }
  // Returns the value of [key], or nothing when the key is absent.
  std::optional<V> get(const K& key) const {
    const IValue* value = object_->find(IValue(key));
    if (value == nullptr) return std::nullopt;
    return value->template to<V>();
  }
  // Returns the value of [key]; throws IndexError when the key is absent.
  V at(const K& key) const { return valueOf(IValue(key)).template to<V>(); }
  // Returns the entry of [key], or end() when the key is absent.
  iterator find(const K& key) const { return iteratorAt(object_->positionOf(IValue(key))); }

  // Returns the key's entry and whether it is new; an existing entry keeps its value.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): of most types it is moved
  std::pair<iterator, bool> insert(K key, V value) const {
    const auto [position, inserted] = object_->insert(IValue(std::move(key)), IValue(std::move(value)));
    return {iteratorAt(position), inserted};
  }
  // Returns the key's entry and whether it is new; an existing entry gets the new value.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): of most types it is moved
  std::pair<iterator, bool> insert_or_assign(K key, V value) const {
    const auto [position, inserted] = object_->insertOrAssign(IValue(std::move(key)), IValue(std::move(value)));
    return {iteratorAt(position), inserted};
  }
  // Returns the number of entries erased: 0 or 1.
  size_t erase(const K& key) const { return object_->erase(IValue(key)) ? 1 : 0; }
  void erase(iterator entry) const { object_->eraseAt(entry.position()); }
  void clear() const noexcept { object_->clear(); }
  void reserve(size_t size) const { object_->reserve(size); }

  iterator begin() const noexcept { return iteratorAt(0); }
  iterator end() const noexcept { return iteratorAt(size()); }
  // Returns the entry at [position] in insertion order.
  std::pair<K, V> entryAt(size_t position) const {
    return {object_->keyAt(position).template to<K>(), object_->valueAt(position).template to<V>()};
  }

  Dict copy() const { return Dict(object_->copy()); }
  bool is(const Dict& other) const noexcept { return object_ == other.object_; }
  const IntrusivePtr<DictObject>& object() const noexcept { return object_; }
  // The number of references to the dict.
  size_t use_count() const noexcept { return object_.use_count(); }
  friend bool operator==(const Dict& a, const Dict& b) { return IValue(a) == IValue(b); }

 private:
  const IValue& valueOf(const IValue& key) const;
  iterator iteratorAt(size_t position) const noexcept { return iterator(object_.get(), position); }

  IntrusivePtr<DictObject> object_;
};

using GenericDict = Dict<IValue, IValue>;

namespace detail {
[[noreturn]] BOXCAR_API void dictKeyNotFound(const IValue& key);
}

template <class K, class V>
const IValue& Dict<K, V>::valueOf(const IValue& key) const {
  const IValue* value = object_->find(key);
  if (value == nullptr) detail::dictKeyNotFound(key);
  return *value;
}

}  // namespace boxcar
