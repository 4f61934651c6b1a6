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

// What must hold of a call whatever its arguments are:
// - one that is refused has changed nothing: no element, no size;
// - one that is done has changed nothing but the elements that its schema lets it write, gives results of its types
// that
//   share no memory but what the schema says;
// - where what it writes shares memory with what it reads, or with itself, it is refused, or right: what is written is
//   what a call on copies writes.
class CallChecks final {
 public:
  // Remembers what is there before the call.
  CallChecks(const Subject& subject, const Stack& arguments);

  // Each tells what is wrong; nothing where all is right.
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
  Stack reference_;  // copies that share nothing; empty where no call on them is made
};

}  // namespace boxcar::hostile
