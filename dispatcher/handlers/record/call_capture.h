#pragma once

#include <boxcar/dispatcher/handlers/record/recorded_call.h>
#include <boxcar/dispatcher/handlers/record/recording_writer.h>
#include <boxcar/dispatcher/values/host_bytes.h>

#include <span>
#include <vector>

namespace boxcar {

// Records the arguments and results of a call; bytes go to the recording at once.
class CallCapture final {
 public:
  CallCapture(RecordingWriter& writer, RecordedContent content, RecordedCall& call) noexcept
      : writer_(writer), content_(content), call_(call) {}

  // Call it before the call. Both functions throw Error if elements cannot be copied from a device, or if the file
  // cannot be written.
  void takeArguments(std::span<const IValue> arguments, const FunctionSchema& schema);
  // Call it after the call, unless the call failed.
  void takeResults(std::span<const IValue> results);

 private:
  struct SeenStorage {
    Storage storage;
    ScalarType dtype;  // of its first tensor
    uint32_t version;
    bool is_written;  // according to the schema
  };

  RecordedValue take(const IValue& value, bool is_written, int depth = 0);
  uint32_t numberOf(const Tensor& tensor, bool is_written);
  uint32_t numberOf(const Storage& storage, ScalarType dtype, bool is_written);
  ByteRange reached(uint32_t storage) const noexcept;
  RecordedStorage describe(uint32_t storage);
  RecordedTensor describe(const Tensor& tensor) const;
  void takeStorageAfter(uint32_t storage);
  bool hasChanged(uint32_t storage) const noexcept;

  RecordingWriter& writer_;
  const RecordedContent content_;
  RecordedCall& call_;
  // Kept alive, so that no new tensor or storage of the call has the address of an old one.
  std::vector<Tensor> tensors_;
  std::vector<SeenStorage> storages_;
  std::vector<uint32_t> whole_storages_;  // those that are arguments or results themselves
};

}  // namespace boxcar
