#pragma once

#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/tensor.h>
#include <boxcar/ivalue/tensor_metadata.h>

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>

// Fake tensors: sizes, strides, dtype and a device, without memory and without the device.

namespace boxcar::transforms {

// Whether [tensor] is fake.
inline bool isFake(const Tensor& tensor) noexcept { return tensor.key_set().has(DispatchKey::Fake); }

// What a fake tensor may know besides its shape.
class FakeMetadata final : public TensorMetadata {
 public:
  FakeMetadata() noexcept : TensorMetadata(Kind::kTransform) {}
  IntrusivePtr<TensorMetadata> copy() const override;

  // Its elements, on the CPU, while the version of its memory is [version]; undefined if they are not known.
  Tensor constant;
  uint32_t version = 0;
  // How deferred_init() recorded that it was made (deferred_tape.h).
  IntrusivePtr<Object> tape;
};

// Returns what [tensor] knows; null if it knows nothing.
FakeMetadata* fakeMetadata(const Tensor& tensor) noexcept;
FakeMetadata& ensureFakeMetadata(const Tensor& tensor);

// Returns the elements that are remembered of a fake tensor, on the CPU; undefined if there are none, or if it was
// written since.
Tensor constantOf(const Tensor& tensor);
// Remembers [constant], which nobody may write.
void setConstant(const Tensor& tensor, Tensor constant);

// Constants of more elements are not remembered.
inline constexpr int64_t kMostConstantElements = 64;

// Gives a device that has several a number: "cuda" becomes "cuda:0".
Device withIndex(Device device) noexcept;

// Returns a fake tensor of the shape of [like] over [storage], which has no memory. It is a view of nothing.
Tensor makeFake(Storage storage, const Tensor& like);

// Makes fake tensors of real ones, with the same shapes, dtypes and devices: one of each, and those of one storage
// share one.
class BOXCAR_API FakeConverter final {
 public:
  // [device] replaces that of the tensors.
  explicit FakeConverter(std::optional<Device> device = std::nullopt) noexcept : device_(device) {}

  // Returns a fake tensor as it is.
  Tensor convert(const Tensor& tensor);
  // Converts the tensors in lists, tuples and dicts.
  IValue convert(const IValue& value);

 private:
  std::optional<Device> device_;
  // Of the real tensors, which are kept so that their addresses are not used again.
  std::unordered_map<const StorageImpl*, std::pair<Storage, Storage>> storages_;
  std::unordered_map<const TensorImpl*, std::pair<Tensor, Tensor>> tensors_;
};

}  // namespace boxcar::transforms
