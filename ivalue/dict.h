#pragma once

#include <boxcar/ivalue/dict_object.h>
#include <boxcar/ivalue/ivalue_class.h>

#include <cstddef>
#include <optional>
#include <utility>

namespace boxcar {

// A dict with reference semantics: copies of a Dict are the same dict. `==` compares entries, whatever their order;
// `is` compares identity.
template <class K, class V>
class Dict final {
 public:
  using key_type = K;
  using mapped_type = V;

  Dict() : object_(makeIntrusive<DictObject>()) {}
  explicit Dict(IntrusivePtr<DictObject> object) noexcept : object_(std::move(object)) {}

  size_t size() const noexcept { return object_->size(); }
  bool empty() const noexcept { return size() == 0; }
  bool contains(const K& key) const { return object_->find(IValue(key)) != nullptr; }
  // The value of [key]; nothing when it is not there.
  std::optional<V> get(const K& key) const {
    const IValue* value = object_->find(IValue(key));
    if (value == nullptr) return std::nullopt;
    return value->template to<V>();
  }
  // The value of [key]; an Error when it is not there.
  V at(const K& key) const { return valueOf(IValue(key)).template to<V>(); }
  // Whether there was no entry of that key yet; one that is there stays as it is.
  bool insert(K key, V value) const {
    if (contains(key)) return false;
    insert_or_assign(std::move(key), std::move(value));
    return true;
  }
  // NOLINTNEXTLINE(performance-unnecessary-value-param): of most types it is moved
  void insert_or_assign(K key, V value) const {
    object_->insertOrAssign(IValue(std::move(key)), IValue(std::move(value)));
  }
  bool erase(const K& key) const { return object_->erase(IValue(key)); }
  void clear() const noexcept { object_->clear(); }
  // The entry at [position] of the insertion order.
  std::pair<K, V> entryAt(size_t position) const {
    return {object_->keyAt(position).template to<K>(), object_->valueAt(position).template to<V>()};
  }

  Dict copy() const { return Dict(object_->copy()); }
  bool is(const Dict& other) const noexcept { return object_ == other.object_; }
  const IntrusivePtr<DictObject>& object() const noexcept { return object_; }
  friend bool operator==(const Dict& a, const Dict& b) { return IValue(a) == IValue(b); }

 private:
  const IValue& valueOf(const IValue& key) const;

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
