#pragma once

#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/stack.h>

#include <map>
#include <utility>
#include <vector>

#include "tests/numerics/case_reader.h"

namespace boxcar::numerics {

// The arguments of a call on another device, with the sharing of memory and the gaps between elements that they have on
// the CPU, and the way back.
class DeviceCopies final {
 public:
  explicit DeviceCopies(Device device) : device_(device) {}

  IValue toDevice(const IValue& value);
  Stack toDevice(const Stack& values);

  // Brings the arguments on the CPU to the state of their copies: elements, and sizes where they were given others.
  void updateHost();
  // A result in the same way: what shares memory with an argument shares it on the CPU.
  IValue toHost(const IValue& value);

 private:
  Storage storageOnDevice(const Storage& host);
  Storage storageOnHost(const Storage& device);
  Tensor toDevice(const Tensor& tensor);
  Tensor toHost(const Tensor& tensor);

  Device device_;
  std::vector<std::pair<Storage, Storage>> storages_;  // host, device
  std::vector<std::pair<Tensor, Tensor>> tensors_;
};

}  // namespace boxcar::numerics
