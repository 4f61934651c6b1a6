#pragma once

#include <boxcar/ivalue/tensor.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

namespace boxcar::detail {

// What the tensors of a run are called in its trace. Tensors are told apart by their TensorImpl, which is held so that
// its address is not used again; those that nobody else holds are let go now and then.
class TraceNames final {
 public:
  // What a tensor on a storage that is known is rebuilt from.
  struct Base {
    Storage storage;
    std::string name;  // of a tensor on it
    ScalarType dtype;  // of that tensor
    // The storage's when the trace last saw it: another one means that it was written by what is not in the trace.
    uint32_t version;
  };

  // Null where the tensor has none.
  const std::string* find(const Tensor& tensor) const;
  // Null where no tensor on it has a name.
  const Base* findBase(const Storage& storage) const;

  // "t7" for the letter t: no other name has that number.
  std::string make(char letter);
  size_t count() const noexcept { return count_; }
  void set(const Tensor& tensor, std::string name);
  // Says that the trace tells all that was written to the storage so far.
  void update(const Storage& storage);

 private:
  void sweep();

  struct Named {
    Tensor tensor;
    std::string name;
  };

  size_t count_ = 0;
  std::unordered_map<const TensorImpl*, Named> tensors_;
  std::unordered_map<const StorageImpl*, Base> storages_;
  // What the last sweep left, and what came since.
  size_t kept_tensors_ = 0;
  size_t kept_bytes_ = 0;
  size_t new_bytes_ = 0;
};

}  // namespace boxcar::detail
