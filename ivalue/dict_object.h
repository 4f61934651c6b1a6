#pragma once

#include <boxcar/ivalue/intrusive_ptr.h>

#include <cstddef>
#include <memory>

namespace boxcar {

class IValue;

// A dict as an IValue holds it: keys of int, float, bool, str, complex, Device, tensors (by identity) or tuples of
// such, in the order of their first insertion. Keys that are equal are one key, 1 and 1.0 and True included, as in
// Python.
class BOXCAR_API DictObject final : public Object {
 public:
  DictObject();
  ~DictObject() override;

  size_t size() const noexcept;
  // The value of [key], or null.
  const IValue* find(const IValue& key) const;
  // Sets the value of [key]; a new key comes last. An Error when a value of this kind cannot be a key.
  void insertOrAssign(IValue key, IValue value);
  // Removes [key]; whether it was there.
  bool erase(const IValue& key);
  void clear() noexcept;
  // The entry at [position] of the insertion order, position < size().
  const IValue& keyAt(size_t position) const;
  const IValue& valueAt(size_t position) const;
  IntrusivePtr<DictObject> copy() const;

 private:
  struct Entries;
  std::unique_ptr<Entries> entries_;
};

}  // namespace boxcar
