#pragma once

#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/stack.h>

#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace boxcar {

// Returns the identity of a list of tensors or of any values, a dict or a tuple; null for other values.
const void* containerAddress(const IValue& value);

// Copies arguments for a call whose writes must not affect them. Tensors have the same strides over new storages.
// Originals that share memory, or are one object, have copies that do so too, across everything one copier copies.
// Lists, tuples and dicts are copied with their contents; generators, storages and objects are not copied.
class BOXCAR_API ValueCopier final {
 public:
  enum class Target { kSameDevice, kMeta };

  // On the meta device tensors have no bytes, and devices become meta.
  explicit ValueCopier(Target target = Target::kSameDevice) noexcept : target_(target) {}

  IValue copy(const IValue& value);
  Tensor copy(const Tensor& tensor);

  // Makes [copy] the copy of [original] from now on.
  void replace(const Tensor& original, const Tensor& copy);

 private:
  Storage copyStorage(const Storage& storage);
  // Copies lists and dicts as empty, to be filled later, because containers may nest deeper than calls can.
  IValue copyUnfilled(const IValue& value);
  // Copies a tuple that is not copied yet, after those inside it.
  IValue copyTuple(const IValue& tuple);
  void fill(const IValue& original, const IValue& copy);

  Target target_;
  // Keyed by the original, which is kept alive so that its address is not reused.
  std::unordered_map<const StorageImpl*, std::pair<Storage, Storage>> storages_;
  std::unordered_map<const TensorImpl*, std::pair<Tensor, Tensor>> tensors_;
  std::unordered_map<const void*, std::pair<IValue, IValue>> containers_;
  std::vector<std::pair<IValue, IValue>> unfilled_;  // originals and copies
};

// Returns [values] as copied by one copier.
BOXCAR_API Stack copyValues(std::span<const IValue> values);

// Whether both are bitwise equal: numbers and strings of the same kind, containers with the same length and contents,
// tensors as by sameBits of two tensors. Other objects must be identical.
BOXCAR_API bool sameBits(const IValue& a, const IValue& b);

}  // namespace boxcar
