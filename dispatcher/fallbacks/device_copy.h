#pragma once

#include <boxcar/dispatcher/fallbacks/host_bytes.h>
#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/ivalue.h>

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <utility>

namespace boxcar {

// Copies tensors to another device so that there, too, those share memory that did: of each storage what the noted
// tensors reach is copied once, by aten::copy_, and each copy has the strides of its original.
//
//   DeviceCopier copier(DeviceType::CPU);
//   for (const Tensor& tensor : tensors) copier.note(tensor);
//   Tensor copy = copier.copy(tensors[0]);
class DeviceCopier final {
 public:
  // [device] has an index unless it is the CPU.
  explicit DeviceCopier(Device device) noexcept : device_(device) {}

  // To be called for every tensor, before the first is copied.
  void note(const Tensor& tensor);
  // One object for each original; undefined tensors and those that lie on the device already are themselves.
  Tensor copy(const Tensor& tensor);
  // [value] with copies of its tensors; itself where it holds none.
  IValue copy(const IValue& value);

  uint64_t copied_bytes() const noexcept { return copied_bytes_; }

 private:
  struct Part {
    Storage original;  // kept, so that its address stays its own
    ByteRange range;
    ScalarType dtype;
    Tensor only;  // undefined where several were noted
    Storage copy;
  };

  void copyPart(Part& part);
  Tensor copyOf(const Part& part, const Tensor& tensor) const;

  Device device_;
  std::unordered_map<const StorageImpl*, Part> parts_;
  std::unordered_map<const TensorImpl*, std::pair<Tensor, Tensor>> tensors_;
  uint64_t copied_bytes_ = 0;
};

// [value] with what replace(tensor) gives for each of its defined tensors, in new lists, tuples and dicts; itself where
// there is none. An Error where it is nested deeper than any value of a schema's type.
IValue replaceTensors(const IValue& value, const std::function<Tensor(const Tensor&)>& replace, int depth = 64);

// Writes the elements of [from] to [to], which has the same sizes and strides: as one row where they lie without gaps.
// What lies in the gaps may be somebody else's. What is differentiated does not see it.
void copyElements(const Tensor& to, const Tensor& from);

}  // namespace boxcar
