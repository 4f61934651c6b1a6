#pragma once

#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/storage.h>
#include <boxcar/schema/function_schema.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace boxcar::detail {

// What surrounds the calls of a traced function: its head, and checks of the arguments that are no tensors.
class TraceFunction final {
 public:
  TraceFunction(const FunctionSchema& schema, std::span<const IValue> arguments);

  const FunctionSchema& schema() const noexcept { return schema_; }
  // The constant that holds the saved tensors.
  const std::string& dict() const noexcept { return dict_; }
  // The comment at the head of the file.
  const std::string& comment() const noexcept { return comment_; }
  // "fn f(Tensor x, int by=3) -> Tensor {". Parameters that are no tensors have the call's values as defaults.
  const std::string& head() const noexcept { return head_; }
  // Returns lines that check that argument [index] is as in the call, apart from its tensors.
  std::vector<std::string> checksOf(size_t index) const;

  // Notes that the body reads a saved tensor, by [size] characters from [at] on, and that a call writes to a storage.
  void addSaved(const Storage& storage, size_t at, size_t size);
  void noteWrite(const Storage& storage);
  // Returns [body] with copies of the noted tensors that are written, so that each call begins with the same values.
  std::string withCopies(const std::string& body) const;

 private:
  struct Saved {
    Storage storage;
    size_t at;
    size_t size;
    bool is_written = false;
  };

  const FunctionSchema schema_;
  const std::vector<IValue> arguments_;
  std::string dict_ = "tensors";
  std::string comment_;
  std::string head_;
  std::vector<Saved> saved_;
};

// Returns the value with lists, tuples and dicts of its own, which hold the same tensors and other objects.
IValue withOwnContainers(const IValue& value);

// Returns the number of tensors in a value; those in several places count as often.
size_t tensorsIn(const IValue& value);

}  // namespace boxcar::detail
