#pragma once

#include <boxcar/dispatcher/values/aliasing.h>
#include <boxcar/ivalue/stack.h>

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/hostile/subject.h"

namespace boxcar::hostile {

// Checks what must hold for every call, whatever its arguments are:
// - A refused call changes nothing: no element and no size.
// - A call that returns changes only the elements that its schema lets it write. Its results have the types of the
//   schema and share memory only as the schema says.
// - Where the written memory overlaps itself or memory that is read, the call is refused or correct: it writes what a
//   call on copies writes.
class CallChecks final {
 public:
  // Records the state before the call.
  CallChecks(const Subject& subject, const Stack& arguments);

  // Both return what is wrong; nullopt if all is right.
  std::optional<std::string> afterRefusal(std::string_view message) const;
  std::optional<std::string> afterResults(std::span<const IValue> results);

 private:
  struct Shape {
    std::vector<int64_t> sizes;
    std::vector<int64_t> strides;
    int64_t offset;
    int64_t numel;
    Storage storage;
  };

  static Shape shapeOf(const Tensor& tensor);
  std::string changedShape(size_t i) const;
  std::optional<std::string> changedElements() const;
  std::optional<std::string> changedElsewhere() const;
  bool writesWhatItReads() const;
  void copyForReference(const Stack& arguments);
  std::optional<std::string> differenceFromReference();

  const Subject& subject_;
  Stack arguments_;
  std::vector<PlacedTensor> tensors_;
  std::vector<Shape> shapes_;  // of tensors_, before the call
  std::map<Storage, std::vector<std::byte>, bool (*)(const Storage&, const Storage&)> bytes_;
  Stack reference_;  // copies that share no memory; empty if there is no reference call
};

}  // namespace boxcar::hostile
