#pragma once

#include <boxcar/ivalue/tensor.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

namespace boxcar::detail {

// The names of a run's tensors in its trace. Tensors are identified by their TensorImpl, which is held so that its
// address is not reused; those that nothing else holds are released now and then.
class TraceNames final {
 public:
  // What a tensor on a known storage is rebuilt from.
  struct Base {
    Storage storage;
    std::string name;  // the name of a tensor on it
    ScalarType dtype;  // of that tensor
    // The storage's version when the trace last saw it: a different one means that something outside of the trace wrote
    // it.
    uint32_t version;
  };

  // Returns null if the tensor has no name.
  const std::string* find(const Tensor& tensor) const;
  // Returns a tensor with a name that has the same elements in the same storage; undefined if there is none. It
  // compares with all of them.
  Tensor findAlias(const Tensor& tensor) const;
  // Returns a tensor with a name on [storage]; undefined if there is none. It looks at all of them.
  Tensor findOn(const Storage& storage) const;
  // Returns null if no tensor on it has a name.
  const Base* findBase(const Storage& storage) const;

  // Returns a new name, such as "t7" for the letter t; no other name has that number.
  std::string make(char letter);
  // make() gives no such name from now on.
  void reserve(std::string name) { reserved_.insert(std::move(name)); }
  size_t count() const noexcept { return count_; }
  void set(const Tensor& tensor, std::string name);
  // Marks everything that was written to the storage so far as part of the trace.
  void update(const Storage& storage);

 private:
  void sweep();

  struct Named {
    Tensor tensor;
    std::string name;
  };

  size_t count_ = 0;
  std::set<std::string> reserved_;
  std::unordered_map<const TensorImpl*, Named> tensors_;
  std::unordered_map<const StorageImpl*, Base> storages_;
  // What the last sweep left, and what was added since.
  size_t kept_tensors_ = 0;
  size_t kept_bytes_ = 0;
  size_t new_bytes_ = 0;
};

}  // namespace boxcar::detail
