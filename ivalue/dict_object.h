#pragma once

#include <boxcar/ivalue/intrusive_ptr.h>

#include <cstddef>
#include <memory>
#include <utility>

namespace boxcar {

class IValue;

// A dict as an IValue holds it, in the order in which keys were first inserted. Keys are int, float, bool, str,
// complex, Device, tensors (by identity) or tuples of these. Equal keys are one key; 1, 1.0 and True are equal, as in
// Python.
class BOXCAR_API DictObject final : public ObjectOf<DictObject> {
 public:
  DictObject();
  ~DictObject() override;

  size_t size() const noexcept;
  // Returns the value of [key], or null.
  const IValue* find(const IValue& key) const;
  // Returns the position of [key] in insertion order, or size() where it is absent.
  size_t positionOf(const IValue& key) const;
  // Appends an entry unless the key is there. Returns the entry's position and whether it is new. Throws Error when a
  // value of this kind cannot be a key.
  std::pair<size_t, bool> insert(IValue key, IValue value);
  // Like insert(), but also sets the value of an existing entry.
  std::pair<size_t, bool> insertOrAssign(IValue key, IValue value);
  void setValueAt(size_t position, IValue value);
  // Removes [key]; returns whether it was there.
  bool erase(const IValue& key);
  void eraseAt(size_t position);
  void clear() noexcept;
  void reserve(size_t size);
  // The entry at [position] in insertion order, position < size().
  const IValue& keyAt(size_t position) const;
  const IValue& valueAt(size_t position) const;
  IntrusivePtr<DictObject> copy() const;

 private:
  struct Entries;
  std::unique_ptr<Entries> entries_;
};

}  // namespace boxcar
