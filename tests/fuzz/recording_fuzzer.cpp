// A recording -> read -> its values rebuilt -> its calls replayed -> compared with itself: no difference.
//
// The target defines the operators of the calls itself, so that they are fast. There is one row for each kind of value
// that recordings hold.

#include <boxcar/dispatcher/handlers/record/recorded_call_codec.h>
#include <boxcar/dispatcher/handlers/record/recording.h>
#include <boxcar/dispatcher/handlers/record/recording_diff.h>
#include <boxcar/dispatcher/handlers/record/replay.h>
#include <boxcar/dispatcher/registry/library.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/recorded_operators.h"

namespace boxcar {
namespace {

using fuzz::require;

constexpr size_t kMostCalls = 64;
constexpr int64_t kMostElements = 1 << 14;

// A small recording can describe a huge tensor, whose operations would take too long.
bool isSmall(const RecordedMoment& moment) {
  return std::ranges::all_of(moment.tensors, [](const RecordedTensor& tensor) {
    int64_t elements = 1;
    for (const int64_t size : tensor.sizes) {
      if (__builtin_mul_overflow(elements, size, &elements) || elements > kMostElements) return false;
    }
    return true;
  });
}

bool isSmall(const Recording& recording) {
  return recording.calls().size() <= kMostCalls && std::ranges::all_of(recording.calls(), [](const RecordedCall& call) {
           return isSmall(call.before) && isSmall(call.after);
         });
}

// A call that was read must be written as bytes that read back equal.
void writeAndRead(const RecordedCall& call, const RecordedCounts& counts) {
  PackedWriter first;
  encode(first, call, std::nullopt);
  std::optional<uint32_t> site;
  PackedWriter again;
  encode(again, decodeCall(first.bytes(), counts, site), std::nullopt);
  require(std::ranges::equal(first.bytes(), again.bytes()), "a call that was written reads as another");
}

void useRecording(const std::string& path) {
  const Recording recording = Recording::open(path);
  fuzz::runToError([&] { recording.checkBlocks(); });
  if (!isSmall(recording)) return;
  const RecordedCounts counts = {SIZE_MAX, 0, SIZE_MAX};
  for (const RecordedCall& call : recording.calls()) {
    writeAndRead(call, counts);
    fuzz::runToError([&] { recording.rebuildArguments(call); });
  }
  fuzz::runToError([&] {
    const auto difference = findDifference(recording, recording);
    require(!difference, difference ? difference->what : "");
    describeDifference(recording, recording, RecordingDifference{0, "nothing"});
  });
  fuzz::runToError([&] { toString(replay(recording)); });
}

}  // namespace
}  // namespace boxcar

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace boxcar;
  static const Library operators = fuzz::registerRecordedOperators();
  const fuzz::MemoryFile file(data, size);
  fuzz::runToError([&] { useRecording(file.path()); });
  return 0;
}
