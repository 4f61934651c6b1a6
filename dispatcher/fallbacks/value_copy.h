#pragma once

#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/stack.h>

#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace boxcar {

// What tells a list of tensors or of any values, a dict or a tuple from others; null for other values.
const void* containerAddress(const IValue& value);

// Copies arguments for a call whose writes must not touch them. Tensors have the same strides over storages of their
// own; what shares memory, or is one object, among all that one copier copied does so among the copies. Lists, tuples
// and dicts are copied with what they hold; generators, storages and objects are the same ones.
class BOXCAR_API ValueCopier final {
 public:
  enum class Target { kSameDevice, kMeta };

  // On the meta device tensors have no bytes, and devices become meta.
  explicit ValueCopier(Target target = Target::kSameDevice) noexcept : target_(target) {}

  IValue copy(const IValue& value);
  Tensor copy(const Tensor& tensor);

  // From now on the copy of [original] is [copy].
  void replace(const Tensor& original, const Tensor& copy);

 private:
  Storage copyStorage(const Storage& storage);
  // Lists and dicts as yet empty, to be filled; containers may be nested deeper than calls can be.
  IValue copyUnfilled(const IValue& value);
  // One that is not copied yet, after those within.
  IValue copyTuple(const IValue& tuple);
  void fill(const IValue& original, const IValue& copy);

  Target target_;
  // By the original, which is kept so that its address stays its own.
  std::unordered_map<const StorageImpl*, std::pair<Storage, Storage>> storages_;
  std::unordered_map<const TensorImpl*, std::pair<Tensor, Tensor>> tensors_;
  std::unordered_map<const void*, std::pair<IValue, IValue>> containers_;
  std::vector<std::pair<IValue, IValue>> unfilled_;  // originals and copies
};

// [values] as one copier copies them.
BOXCAR_API Stack copyValues(std::span<const IValue> values);

// Both are alike to the bit: numbers and texts of one kind, containers of the same length with the same in them,
// tensors as sameBits of two tensors has it. Other objects must be the same ones.
BOXCAR_API bool sameBits(const IValue& a, const IValue& b);

}  // namespace boxcar
