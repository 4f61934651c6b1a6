#pragma once

#include <boxcar/backends/transforms/fake_tensor.h>
#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/ivalue.h>

#include <cstdint>
#include <vector>

namespace boxcar::transforms {

// Meta tensors that stand for the fake tensors of one call. They share storages where the fakes do.
class MetaTwins final {
 public:
  // Real tensors get a twin, too.
  IValue twinOf(const IValue& value);

  // Gives the originals the shapes and the writes that the call gave their twins.
  void update();
  // Returns the result of the call as it is outside: an original, a view of one, or a new fake tensor on [device].
  IValue outside(const IValue& result, Device device);

 private:
  struct Pair {
    Tensor original;
    Tensor twin;
  };
  struct StoragePair {
    Storage original;
    Storage twin;
    uint32_t version;
  };

  Tensor twinOf(const Tensor& tensor);
  Tensor outside(const Tensor& result, Device device);
  const Storage& originalOf(const Storage& twin, Device device);

  std::vector<Pair> tensors_;
  std::vector<StoragePair> storages_;
};

}  // namespace boxcar::transforms
