#pragma once

#include <boxcar/ivalue/intrusive_ptr.h>

#include <cstddef>
#include <memory>
#include <utility>

namespace boxcar {

class IValue;

// A dict as an IValue holds it: keys of int, float, bool, str, complex, Device, tensors (by identity) or tuples of
// such, in the order of their first insertion. Keys that are equal are one key, 1 and 1.0 and True included, as in
// Python.
class BOXCAR_API DictObject final : public ObjectOf<DictObject> {
 public:
  DictObject();
  ~DictObject() override;

  size_t size() const noexcept;
  // The value of [key], or null.
  const IValue* find(const IValue& key) const;
  // The position of [key] in the order of insertion; size() where it is not there.
  size_t positionOf(const IValue& key) const;
  // Adds an entry at the end, where there is none of that key. The entry's position, and whether it is new. An Error
  // when a value of this kind cannot be a key.
  std::pair<size_t, bool> insert(IValue key, IValue value);
  // The same, and sets the value of an entry that is there.
  std::pair<size_t, bool> insertOrAssign(IValue key, IValue value);
  void setValueAt(size_t position, IValue value);
  // Removes [key]; whether it was there.
  bool erase(const IValue& key);
  void eraseAt(size_t position);
  void clear() noexcept;
  void reserve(size_t size);
  // The entry at [position] of the insertion order, position < size().
  const IValue& keyAt(size_t position) const;
  const IValue& valueAt(size_t position) const;
  IntrusivePtr<DictObject> copy() const;

 private:
  struct Entries;
  std::unique_ptr<Entries> entries_;
};

}  // namespace boxcar
