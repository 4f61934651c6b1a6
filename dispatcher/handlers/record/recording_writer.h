#pragma once

#include <boxcar/dispatcher/handlers/record/recording.h>
#include <boxcar/dispatcher/values/content_hash.h>
#include <boxcar/ivalue/output_file.h>

#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace boxcar {

// Writes a recording while the program runs, from any number of threads; calls are in the order of call(). To write
// each item only once, it keeps a hash for each block, the lines, and the operators in memory.
class RecordingWriter final {
 public:
  // The file at [path] appears after finish(). All functions throw Error if it cannot be written.
  RecordingWriter(std::string_view path, RecordedContent content);

  // Returns the number of a block with these bytes, which is written if there is none yet.
  uint32_t block(std::span<const std::byte> bytes);
  // Returns the number of the operator with [schema], which must live as long as the process; [describe] is called
  // once.
  template <class Describe>
  uint32_t operatorOf(const FunctionSchema& schema, Describe describe) {
    {
      const std::scoped_lock lock(mutex_);
      if (const auto found = operators_.find(&schema); found != operators_.end()) return found->second;
    }
    // Without the lock, because [describe] calls the dispatcher.
    return addOperator(schema, describe());
  }
  void call(const RecordedCall& call);
  // Returns the number of calls so far.
  size_t calls();
  // Ends the file, and returns its number of calls.
  size_t finish(bool failed);

 private:
  struct HashOfHash {
    size_t operator()(const ContentHash& hash) const noexcept { return hash.low; }
  };

  uint32_t addOperator(const FunctionSchema& schema, const RecordedOperator& op);
  uint32_t siteNumber(const CallSite& site);
  void part(RecordingPart kind, std::span<const std::byte> contents);
  void part(RecordingPart kind, std::span<const std::byte> contents, uint64_t checksum);
  void flush();

  std::mutex mutex_;
  OutputFile file_;
  std::vector<std::byte> buffer_;
  bool broken_ = false;  // a part of the file could not be written
  size_t calls_ = 0;
  std::unordered_map<ContentHash, uint32_t, HashOfHash> blocks_;
  std::unordered_map<const FunctionSchema*, uint32_t> operators_;
  std::map<std::pair<std::string, uint32_t>, uint32_t> sites_;
};

}  // namespace boxcar
