#pragma once

#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/stack.h>

#include <map>
#include <utility>
#include <vector>

#include "tests/numerics/case_reader.h"

namespace boxcar::numerics {

// Copies the arguments of a call to another device and back. The copies share memory and have gaps between elements as
// on the CPU.
class DeviceCopies final {
 public:
  explicit DeviceCopies(Device device) : device_(device) {}

  Tensor toDevice(const Tensor& tensor);
  IValue toDevice(const IValue& value);
  Stack toDevice(const Stack& values);

  // Updates the arguments on the CPU from their copies: elements, and sizes if they changed.
  void updateHost();
  // Copies a result to the CPU. If it shares memory with an argument, the copy does, too.
  IValue toHost(const IValue& value);

 private:
  Storage storageOnDevice(const Storage& host);
  Storage storageOnHost(const Storage& device);
  Tensor toHost(const Tensor& tensor);

  Device device_;
  std::vector<std::pair<Storage, Storage>> storages_;  // host, device
  std::vector<std::pair<Tensor, Tensor>> tensors_;
};

}  // namespace boxcar::numerics
