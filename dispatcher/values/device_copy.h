#pragma once

#include <boxcar/dispatcher/values/host_bytes.h>
#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/ivalue.h>

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <utility>

namespace boxcar {

// Copies tensors to another device so that copies share memory if their originals did. For each storage, the bytes that
// the noted tensors reach are copied once, by aten::copy_, and each copy has the strides of its original.
//
//   DeviceCopier copier(DeviceType::CPU);
//   for (const Tensor& tensor : tensors) copier.note(tensor);
//   Tensor copy = copier.copy(tensors[0]);
class DeviceCopier final {
 public:
  // [device] must have an index unless it is the CPU.
  explicit DeviceCopier(Device device) noexcept : device_(device) {}

  // Call it for every tensor, before the first copy.
  void note(const Tensor& tensor);
  // Returns one copy per original. Undefined tensors and those already on the device are returned as they are.
  Tensor copy(const Tensor& tensor);
  // Returns [value] with copies of its tensors; [value] itself if it holds none.
  IValue copy(const IValue& value);

  uint64_t copied_bytes() const noexcept { return copied_bytes_; }

 private:
  struct Part {
    Storage original;  // kept alive, so that its address is not reused
    ByteRange range;
    ScalarType dtype;
    Tensor only;  // undefined if several were noted
    Storage copy;
  };

  void copyPart(Part& part);
  Tensor copyOf(const Part& part, const Tensor& tensor) const;

  Device device_;
  std::unordered_map<const StorageImpl*, Part> parts_;
  std::unordered_map<const TensorImpl*, std::pair<Tensor, Tensor>> tensors_;
  uint64_t copied_bytes_ = 0;
};

// Returns [value] with each defined tensor replaced by replace(tensor), in new lists, tuples and dicts; [value] itself
// if it has none. Throws Error if it is nested deeper than any value of a schema's type.
IValue replaceTensors(const IValue& value, const std::function<Tensor(const Tensor&)>& replace, int depth = 64);

// Writes the elements of [from] to [to], which has the same sizes and strides; as one row if there are no gaps. Gaps
// are not written, because they may belong to other tensors. Autograd does not see the copy.
void copyElements(const Tensor& to, const Tensor& from);

}  // namespace boxcar
