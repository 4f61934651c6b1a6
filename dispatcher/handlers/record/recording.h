#pragma once

#include <boxcar/dispatcher/handlers/record/recorded_call.h>
#include <boxcar/ivalue/file_descriptor.h>
#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/macros.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// The format of a recording: one file, written sequentially while the program runs:
//
//   8 bytes   89 'B' 'O' 'X' 'R' 'E' 'C' 0A
//   4 bytes   the format's number, kRecordingFormat
//   parts, each of which is
//     1 byte    its kind
//     8 bytes   the length of its contents in bytes
//     8 bytes   the low half of hashOfBytes(contents, kind)
//     contents
//
// Numbers outside of contents are little endian; numbers in contents are packed (packed_bytes.h). The kinds:
//
//   S  start      a RecordedContent; always the first part
//   B  block      bytes of a storage, as in memory: numbers are little endian, as on all machines of boxcar
//   L  line       a CallSite: file, line, text
//   O  operator   schema, plugin, and three flags: io, random, uninitialised
//   C  call       a RecordedCall (recorded_call_codec.cpp), which refers to blocks, lines and operators by number
//   E  end        the number of calls, and whether the program failed; nothing follows it
//
// Blocks, lines and operators are each numbered from 0 in file order, and come before the first call that refers to
// them. Calls are in the order in which they ended, across all threads.

namespace boxcar {

// The kind of a part of a recording.
enum class RecordingPart : uint8_t { Start = 'S', Block = 'B', Site = 'L', Operator = 'O', Call = 'C', End = 'E' };

inline constexpr std::string_view kRecordingMagic(
    "\x89"
    "BOXREC\n",
    8);
inline constexpr uint32_t kRecordingFormat = 2;
inline constexpr size_t kRecordingPartHeader = 17;

// A recording that a Recorder (recorder.h) has written, open for reading: its calls are in memory; the bytes of its
// tensors stay in the file until they are needed.
//
//   const Recording recording = Recording::open("run.rec");
//   for (const RecordedCall& call : recording.calls()) {
//     const RecordedOperator& op = recording.operatorOf(call);
//     std::vector<IValue> arguments = recording.rebuildArguments(call);
//   }
class BOXCAR_API Recording final {
 public:
  // Throws Error if the file cannot be read, is not a recording, has another format, or is damaged; the Error says what
  // is wrong at which byte. The contents of blocks are checked when they are read.
  static Recording open(std::string_view path);

  const std::string& path() const noexcept { return path_; }
  RecordedContent content() const noexcept { return content_; }
  // Whether the program ended with an error.
  bool failed() const noexcept { return failed_; }
  const std::vector<RecordedCall>& calls() const noexcept { return calls_; }
  const RecordedOperator& operatorOf(const RecordedCall& call) const noexcept { return operators_[call.op]; }

  size_t blockCount() const noexcept { return blocks_.size(); }
  // Throws Error if the block is damaged.
  std::vector<std::byte> readBlock(size_t block) const;
  // Reads all blocks; throws Error if one is damaged.
  void checkBlocks() const;

  // Returns the checksum of the block's contents in the file: equal contents have equal checksums (content_hash.h).
  uint64_t checksumOf(size_t block) const noexcept { return blocks_[block].checksum; }

  // Returns new values equal to what the call got. Tensors that shared a storage share one again, of the original size,
  // in which the bytes that the tensors reach are set. If the recording does not keep bytes, elements are 1. Tensors
  // are on their original devices, or on [device], to which Device arguments change too. Throws Error if an argument
  // cannot be rebuilt.
  std::vector<IValue> rebuildArguments(const RecordedCall& call, std::optional<Device> device = std::nullopt) const;

 private:
  struct Block {
    uint64_t position;
    uint64_t bytes;
    uint64_t checksum;
  };

  Recording() = default;
  void read();
  // Reads the part at [position], before [end], and returns where the next one begins.
  uint64_t readPart(uint64_t position, uint64_t end);
  void takePart(RecordingPart kind, std::span<const std::byte> contents);
  void readBytes(uint64_t position, std::span<std::byte> bytes) const;
  [[noreturn]] void failDamaged(uint64_t position, std::string_view what) const;

  std::string path_;
  FileDescriptor file_;
  RecordedContent content_ = RecordedContent::Full;
  bool failed_ = false;
  bool ended_ = false;
  std::vector<CallSite> sites_;
  std::vector<RecordedOperator> operators_;
  std::vector<RecordedCall> calls_;
  std::vector<Block> blocks_;
};

}  // namespace boxcar
