// Changes a recording part by part, and repairs the lengths and checksums of the parts.

#include <boxcar/dispatcher/handlers/record/recording.h>
#include <boxcar/dispatcher/values/content_hash.h>

#include <random>
#include <span>

#include "tests/fuzz/mutator.h"

namespace boxcar::fuzz {
namespace {

constexpr size_t kFileHeader = kRecordingMagic.size() + sizeof(kRecordingFormat);

struct Part {
  uint8_t kind;
  Bytes contents;
};

// Returns the parts of [file] from its beginning, as far as they are readable.
std::vector<Part> split(std::span<const uint8_t> file) {
  std::vector<Part> parts;
  for (size_t at = kFileHeader; at + kRecordingPartHeader <= file.size();) {
    const auto bytes = readNumber<uint64_t>(&file[at + 1]);
    const size_t begin = at + kRecordingPartHeader;
    if (bytes > file.size() - begin) break;
    const auto contents = file.subspan(begin, bytes);
    parts.push_back({file[at], {contents.begin(), contents.end()}});
    at = begin + bytes;
  }
  return parts;
}

Bytes join(const std::vector<Part>& parts) {
  Bytes file(kRecordingMagic.begin(), kRecordingMagic.end());
  file.resize(kFileHeader);
  writeNumber(&file[kRecordingMagic.size()], kRecordingFormat);
  for (const Part& part : parts) {
    uint8_t head[kRecordingPartHeader] = {part.kind};
    writeNumber<uint64_t>(head + 1, part.contents.size());
    writeNumber(head + 9, hashOfBytes(std::as_bytes(std::span(part.contents)), part.kind).low);
    file.insert(file.end(), std::begin(head), std::end(head));
    file.insert(file.end(), part.contents.begin(), part.contents.end());
  }
  return file;
}

void change(std::vector<Part>& parts, size_t most, std::minstd_rand& random) {
  const size_t at = random() % parts.size();
  switch (random() % 10) {
    case 0: parts.erase(parts.begin() + static_cast<long>(at)); break;
    case 1: parts.insert(parts.begin() + static_cast<long>(random() % (parts.size() + 1)), parts[at]); break;
    case 2: std::swap(parts[at], parts[random() % parts.size()]); break;
    case 3: parts[at].kind = static_cast<uint8_t>("SBLOCE"[random() % 6]); break;
    default: parts[at].contents = mutated(parts[at].contents, most); break;
  }
}

// Stores the right number of calls.
void count(std::vector<Part>& parts) {
  const auto calls = std::ranges::count(parts, static_cast<uint8_t>(RecordingPart::Call), &Part::kind);
  if (!parts.empty() && parts.back().kind == static_cast<uint8_t>(RecordingPart::End) && calls < 128 &&
      !parts.back().contents.empty())
    parts.back().contents[0] = static_cast<uint8_t>(calls);
}

}  // namespace
}  // namespace boxcar::fuzz

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  using namespace boxcar::fuzz;
  std::vector<Part> parts = split({data, size});
  if (!isMended(seed) || parts.empty()) return LLVMFuzzerMutate(data, size, most);
  std::minstd_rand random(seed);
  const size_t room = most - std::min(most, size);
  change(parts, std::min<size_t>(room + 64, 512), random);
  count(parts);
  return store(join(parts), data, most);
}
