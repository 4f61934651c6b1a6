#pragma once

#include <boxcar/backends/io/pickle.h>
#include <boxcar/ivalue/scalar_type.h>
#include <boxcar/ivalue/storage.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace boxcar::io {

// A storage that lies beside a pickle of PyTorch's.
struct StorageId {
  std::string key;
  ScalarType dtype;  // Undefined if the storage is untyped
  int64_t numel;     // of an untyped storage: its bytes
  uint64_t bytes;
};

// Returns the storage of an id, which has at least the bytes of the id; null to leave out the tensors on it.
using StorageFinder = std::function<Storage(const StorageId& id, const PicklePlace& place)>;

// The names in pickles of PyTorch's that boxcar knows: tensors and parameters, dtypes, devices, sizes; OrderedDict,
// Counter and defaultdict, which become dicts; set, complex, bytes; the scalars of NumPy. The list is in
// torch_names.cpp.
class TorchNames : public PickleNames {
 public:
  explicit TorchNames(StorageFinder storages) : storages_(std::move(storages)) {}
  virtual ~TorchNames() = default;
  IValue find(std::string_view name, const PicklePlace& place) override;
  IValue findPersistent(const IValue& id, const PicklePlace& place) override;

 private:
  const StorageFinder storages_;
};

}  // namespace boxcar::io
