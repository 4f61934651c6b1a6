#include <boxcar/dispatcher/handlers/record/recorded_call_codec.h>
#include <boxcar/dispatcher/handlers/record/recording.h>
#include <boxcar/dispatcher/values/content_hash.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/file_access.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cstring>
#include <utility>

namespace boxcar {
namespace {

constexpr size_t kFileHeader = kRecordingMagic.size() + sizeof(kRecordingFormat);

template <class T>
T littleEndian(const std::byte* bytes) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) value |= static_cast<T>(std::to_integer<T>(bytes[i]) << (8 * i));
  return value;
}

std::string nameOfPart(RecordingPart kind) {
  switch (kind) {
    case RecordingPart::Start: return "the start";
    case RecordingPart::Block: return "a block";
    case RecordingPart::Site: return "a line";
    case RecordingPart::Operator: return "an operator";
    case RecordingPart::Call: return "a call";
    case RecordingPart::End: return "the end";
  }
  return fmt::format("a part of kind {}", static_cast<int>(kind));
}

bool isKnown(RecordingPart kind) {
  return std::string_view("SBLOCE").find(static_cast<char>(kind)) != std::string_view::npos;
}

}  // namespace

void Recording::failDamaged(uint64_t position, std::string_view what) const {
  BOXCAR_FAIL("the recording '{}' is damaged at byte {}: {}; record the run again", path_, position, what);
}

void Recording::readBytes(uint64_t position, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t got = ::pread(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(position));
    if (got < 0 && errno == EINTR) continue;
    BOXCAR_CHECK(got >= 0, "cannot read the recording '{}': {}", path_, lastSystemError());
    if (got == 0) failDamaged(position, "the file ends there");
    position += static_cast<uint64_t>(got);
    bytes = bytes.subspan(static_cast<size_t>(got));
  }
}

Recording Recording::open(std::string_view path) {
  Recording recording;
  recording.path_ = path;
  recording.file_ = openForReading(path);
  recording.read();
  return recording;
}

void Recording::read() {
  struct stat status {};
  BOXCAR_CHECK(::fstat(file_.get(), &status) == 0, "cannot read the recording '{}': {}", path_, lastSystemError());
  const auto end = static_cast<uint64_t>(status.st_size);
  std::byte header[kFileHeader];
  const bool has_header = end >= kFileHeader;
  if (has_header) readBytes(0, header);
  BOXCAR_CHECK(has_header && std::memcmp(header, kRecordingMagic.data(), kRecordingMagic.size()) == 0,
               "'{}' is not a recording: it does not begin like one; `boxcar record` makes recordings", path_);
  const auto format = littleEndian<uint32_t>(header + kRecordingMagic.size());
  BOXCAR_CHECK(format == kRecordingFormat,
               "the recording '{}' has the format {}, and this boxcar reads {}; record the run again", path_, format,
               kRecordingFormat);
  for (uint64_t position = kFileHeader; position < end || !ended_;) {
    if (position == end) failDamaged(end, "the file ends before the recording does");
    if (ended_) failDamaged(position, "something follows the end");
    position = readPart(position, end);
  }
}

uint64_t Recording::readPart(uint64_t position, uint64_t end) {
  if (end - position < kRecordingPartHeader) failDamaged(position, "the file ends in the head of a part");
  std::byte head[kRecordingPartHeader];
  readBytes(position, head);
  const auto kind = static_cast<RecordingPart>(head[0]);
  const auto bytes = littleEndian<uint64_t>(head + 1);
  const auto checksum = littleEndian<uint64_t>(head + 9);
  if (!isKnown(kind)) failDamaged(position, nameOfPart(kind) + " begins, but there is no such part");
  const bool is_first = position == kFileHeader;
  if (is_first != (kind == RecordingPart::Start)) failDamaged(position, nameOfPart(kind) + " is in the wrong place");
  const uint64_t contents_at = position + kRecordingPartHeader;
  if (bytes > end - contents_at)
    failDamaged(position,
                fmt::format("{} of {} bytes begins, and {} are left", nameOfPart(kind), bytes, end - contents_at));
  if (kind == RecordingPart::Block) {
    blocks_.push_back({contents_at, bytes, checksum});
    return contents_at + bytes;
  }
  std::vector<std::byte> contents(bytes);
  readBytes(contents_at, contents);
  if (hashOfBytes(contents, static_cast<uint64_t>(kind)).low != checksum)
    failDamaged(position, nameOfPart(kind) + " does not match its checksum");
  try {
    takePart(kind, contents);
  } catch (const Error& error) {
    failDamaged(position, fmt::format("{} cannot be read: {}", nameOfPart(kind), error.message()));
  }
  return contents_at + bytes;
}

void Recording::takePart(RecordingPart kind, std::span<const std::byte> contents) {
  PackedReader reader(contents);
  switch (kind) {
    case RecordingPart::Start:
      content_ = static_cast<RecordedContent>(reader.number(static_cast<uint64_t>(RecordedContent::Hashes)));
      return reader.finish();
    case RecordingPart::Site: {
      CallSite site{reader.text(), reader.number32(), reader.text()};
      sites_.push_back(std::move(site));
      return reader.finish();
    }
    case RecordingPart::Operator: operators_.push_back(decodeOperator(contents)); return;
    case RecordingPart::Call: {
      std::optional<uint32_t> site;
      calls_.push_back(decodeCall(contents, {operators_.size(), sites_.size(), blocks_.size()}, site));
      if (site) calls_.back().site = sites_[*site];
      return;
    }
    case RecordingPart::End: {
      const uint64_t calls = reader.number();
      BOXCAR_CHECK(calls == calls_.size(), "it counts {} calls, and there are {}", calls, calls_.size());
      failed_ = reader.flag();
      ended_ = true;
      return reader.finish();
    }
    case RecordingPart::Block: BOXCAR_INTERNAL_ASSERT(false);
  }
}

void Recording::checkBlocks() const {
  for (size_t block = 0; block < blocks_.size(); ++block) readBlock(block);
}

std::vector<std::byte> Recording::readBlock(size_t block) const {
  BOXCAR_CHECK(block < blocks_.size(), "the recording '{}' has {} blocks, and none of number {}", path_, blocks_.size(),
               block);
  const auto& [position, bytes, checksum] = blocks_[block];
  std::vector<std::byte> contents(bytes);
  readBytes(position, contents);
  if (hashOfBytes(contents, static_cast<uint64_t>(RecordingPart::Block)).low != checksum)
    failDamaged(position, "a block does not match its checksum");
  return contents;
}

}  // namespace boxcar
