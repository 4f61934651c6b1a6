#include <boxcar/dispatcher/handlers/record/recorded_call_codec.h>
#include <boxcar/dispatcher/handlers/record/recording_writer.h>
#include <boxcar/ivalue/error.h>

#include <optional>

namespace boxcar {
namespace {

constexpr size_t kBufferBytes = 1 << 18;

template <class T>
void putLittleEndian(std::vector<std::byte>& bytes, T value) {
  for (size_t i = 0; i < sizeof(T); ++i) bytes.push_back(static_cast<std::byte>(value >> (8 * i)));
}

// Returns the number of [key] among the known ones; a new key becomes known after [write] has written it.
template <class Numbers, class Key, class Write>
uint32_t numberOf(Numbers& numbers, const Key& key, Write write) {
  const auto [place, is_new] = numbers.emplace(key, static_cast<uint32_t>(numbers.size()));
  if (!is_new) return place->second;
  try {
    write();
  } catch (...) {
    numbers.erase(place);
    throw;
  }
  return place->second;
}

}  // namespace

RecordingWriter::RecordingWriter(std::string_view path, RecordedContent content) : file_(path) {
  // Room for the buffered bytes and one part that is not written directly, so that a part is buffered as a whole or not
  // at all.
  buffer_.reserve(2 * kBufferBytes + kRecordingPartHeader);
  const auto magic = std::as_bytes(std::span(kRecordingMagic));
  buffer_.assign(magic.begin(), magic.end());
  putLittleEndian(buffer_, kRecordingFormat);
  PackedWriter start;
  start.number(static_cast<uint64_t>(content));
  part(RecordingPart::Start, start.bytes());
}

void RecordingWriter::flush() {
  broken_ = true;
  file_.write(buffer_);
  broken_ = false;
  buffer_.clear();
}

void RecordingWriter::part(RecordingPart kind, std::span<const std::byte> contents) {
  part(kind, contents, hashOfBytes(contents, static_cast<uint64_t>(kind)).low);
}

void RecordingWriter::part(RecordingPart kind, std::span<const std::byte> contents, uint64_t checksum) {
  BOXCAR_CHECK(!broken_, "the recording cannot continue, because a part of it could not be written");
  buffer_.push_back(static_cast<std::byte>(kind));
  putLittleEndian(buffer_, uint64_t{contents.size()});
  putLittleEndian(buffer_, checksum);
  if (contents.size() < kBufferBytes) {
    buffer_.insert(buffer_.end(), contents.begin(), contents.end());
    if (buffer_.size() >= kBufferBytes) flush();
    return;
  }
  flush();
  broken_ = true;
  file_.write(contents);
  broken_ = false;
}

uint32_t RecordingWriter::block(std::span<const std::byte> bytes) {
  const ContentHash hash = hashOfBytes(bytes, static_cast<uint64_t>(RecordingPart::Block));
  const std::scoped_lock lock(mutex_);
  return numberOf(blocks_, hash, [&] { part(RecordingPart::Block, bytes, hash.low); });
}

uint32_t RecordingWriter::addOperator(const FunctionSchema& schema, const RecordedOperator& op) {
  PackedWriter contents;
  encode(contents, op);
  const std::scoped_lock lock(mutex_);
  // Another thread may have been first.
  return numberOf(operators_, &schema, [&] { part(RecordingPart::Operator, contents.bytes()); });
}

uint32_t RecordingWriter::siteNumber(const CallSite& site) {
  std::pair<std::string, uint32_t> key(site.file, site.line);
  if (const auto found = sites_.find(key); found != sites_.end()) return found->second;
  PackedWriter contents;
  contents.text(site.file);
  contents.number(site.line);
  contents.text(site.text);
  return numberOf(sites_, key, [&] { part(RecordingPart::Site, contents.bytes()); });
}

void RecordingWriter::call(const RecordedCall& call) {
  const std::scoped_lock lock(mutex_);
  std::optional<uint32_t> site;
  if (call.site) site = siteNumber(*call.site);
  PackedWriter contents;
  encode(contents, call, site);
  part(RecordingPart::Call, contents.bytes());
  ++calls_;
}

size_t RecordingWriter::calls() {
  const std::scoped_lock lock(mutex_);
  return calls_;
}

size_t RecordingWriter::finish(bool failed) {
  const std::scoped_lock lock(mutex_);
  PackedWriter end;
  end.number(calls_);
  end.number(failed);
  part(RecordingPart::End, end.bytes());
  flush();
  file_.commit();
  return calls_;
}

}  // namespace boxcar
