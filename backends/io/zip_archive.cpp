#include <boxcar/backends/io/zip_archive.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/python_text.h>
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

namespace boxcar::io {
namespace {

static_assert(std::endian::native == std::endian::little, "zip archives are little-endian, and read as they are");

// Records of a zip archive (APPNOTE.TXT of PKWARE's), and their sizes without texts.
constexpr uint32_t kHeader = 0x04034b50, kEntry = 0x02014b50, kEnd = 0x06054b50, kEnd64 = 0x06064b50,
                   kLocator64 = 0x07064b50;
constexpr size_t kHeaderBytes = 30, kEntryBytes = 46, kEndBytes = 22, kEnd64Bytes = 56, kLocator64Bytes = 20;
// Where a number has this value, its real one has 64 bits and stands elsewhere.
constexpr uint32_t kElsewhere = 0xffffffff;
constexpr uint16_t kShortElsewhere = 0xffff;

constexpr uint16_t kEncrypted = 1 << 0 | 1 << 6 | 1 << 13, kDescriptor = 1 << 3;
constexpr uint16_t kStored = 0, kDeflated = 8;

using Bytes = std::span<const std::byte>;

template <class T>
T numberAt(Bytes bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.subspan(at, sizeof(T)).data(), sizeof(T));
  return value;
}

std::string_view textAt(Bytes bytes, size_t at, size_t length) {
  return {reinterpret_cast<const char*>(bytes.subspan(at, length).data()), length};
}

std::string nameIn(std::string_view name, const std::string& path) {
  constexpr size_t kMost = 80;
  return fmt::format("{}{} in '{}'", pythonStringRepr(name.substr(0, kMost)), name.size() > kMost ? "…" : "", path);
}

[[noreturn]] void failArchive(const std::string& path, const std::string& fault) {
  BOXCAR_FAIL("'{}' is not a valid zip archive: {}; it may be cut off or damaged, so fetch or write it again", path,
              fault);
}
[[noreturn]] void failMember(const std::string& what, const std::string& fault) {
  BOXCAR_FAIL("{} cannot be read: {}; the archive may be damaged, so fetch or write it again", what, fault);
}

// Where the directory is.
struct DirectoryPlace {
  uint64_t begin = 0;
  uint64_t size = 0;
  uint64_t count = 0;  // of members
};

// Returns where the last record begins; a comment may follow it, and nothing else.
std::optional<size_t> findEnd(Bytes file) {
  constexpr size_t kLongestComment = 0xffff;
  if (file.size() < kEndBytes) return std::nullopt;
  for (size_t comment = 0; comment <= std::min(kLongestComment, file.size() - kEndBytes); ++comment) {
    const size_t at = file.size() - kEndBytes - comment;
    if (numberAt<uint32_t>(file, at) == kEnd && numberAt<uint16_t>(file, at + 20) == comment) return at;
  }
  return std::nullopt;
}

DirectoryPlace findDirectory(Bytes file, const std::string& path) {
  const std::optional<size_t> found = findEnd(file);
  if (!found.has_value())
    failArchive(path,
                fmt::format("it has {} bytes, and does not end with the record that ends an archive", file.size()));
  const size_t end = *found;
  DirectoryPlace place{.begin = numberAt<uint32_t>(file, end + 16),
                       .size = numberAt<uint32_t>(file, end + 12),
                       .count = numberAt<uint16_t>(file, end + 10)};
  // These are 0, or stand elsewhere.
  bool is_whole = numberAt<uint16_t>(file, end + 4) % kShortElsewhere == 0 &&
                  numberAt<uint16_t>(file, end + 6) % kShortElsewhere == 0 &&
                  numberAt<uint16_t>(file, end + 8) == place.count;
  uint64_t behind = end;
  if (end >= kLocator64Bytes && numberAt<uint32_t>(file, end - kLocator64Bytes) == kLocator64) {
    const size_t locator = end - kLocator64Bytes;
    behind = numberAt<uint64_t>(file, locator + 8);
    if (behind > locator || locator - behind < kEnd64Bytes || numberAt<uint32_t>(file, behind) != kEnd64 ||
        numberAt<uint64_t>(file, behind + 4) != locator - behind - 12)
      failArchive(path, fmt::format("its record of 64-bit sizes is not at byte {}, where it should be", behind));
    const DirectoryPlace large{.begin = numberAt<uint64_t>(file, behind + 48),
                               .size = numberAt<uint64_t>(file, behind + 40),
                               .count = numberAt<uint64_t>(file, behind + 32)};
    const bool agree = (place.begin == large.begin || place.begin == kElsewhere) &&
                       (place.size == large.size || place.size == kElsewhere) &&
                       (place.count == large.count || place.count == kShortElsewhere);
    if (!agree) failArchive(path, "the two records at its end disagree about where its directory is");
    is_whole = is_whole && numberAt<uint32_t>(file, behind + 16) == 0 && numberAt<uint32_t>(file, behind + 20) == 0 &&
               numberAt<uint64_t>(file, behind + 24) == large.count;
    place = large;
  }
  BOXCAR_CHECK(is_whole, "'{}' cannot be loaded: it is one part of a zip archive in several files; join them first",
               path);
  if (place.begin > behind || place.size != behind - place.begin)
    failArchive(path, fmt::format("its directory should have {} bytes from byte {} on and end at byte {}, which do not "
                                  "agree; nothing may stand in front of an archive",
                                  place.size, place.begin, behind));
  if (place.count > place.size / kEntryBytes)
    failArchive(path, fmt::format("its directory of {} bytes is too short for {} members", place.size, place.count));
  // Indices of members have 32 bits.
  BOXCAR_CHECK(place.count <= std::numeric_limits<uint32_t>::max(),
               "'{}' cannot be loaded: it has {} members, and at most {} are read; split it", path, place.count,
               std::numeric_limits<uint32_t>::max());
  return place;
}

// Returns the numbers of 64 bits in the extra fields of a header or an entry; empty if there are none.
Bytes findLargeNumbers(Bytes extra) {
  constexpr uint16_t kLargeNumbers = 1;
  while (extra.size() >= 4) {
    const auto length = numberAt<uint16_t>(extra, 2);
    if (length > extra.size() - 4) break;
    if (numberAt<uint16_t>(extra, 0) == kLargeNumbers) return extra.subspan(4, length);
    extra = extra.subspan(4 + size_t{length});
  }
  return {};
}

// Replaces each of [numbers] that stands elsewhere by the next one of [large]. Returns false if there are too few.
bool takeLargeNumbers(Bytes large, std::initializer_list<uint64_t*> numbers) {
  for (uint64_t* number : numbers) {
    if (*number != kElsewhere) continue;
    if (large.size() < sizeof(uint64_t)) return false;
    *number = numberAt<uint64_t>(large, 0);
    large = large.subspan(sizeof(uint64_t));
  }
  return true;
}

// Returns the member of the directory's entry at [at], and moves [at] behind it.
ZipMember readEntry(Bytes directory, size_t& at, const std::string& path) {
  const Bytes entry = directory.subspan(at);
  if (entry.size() < kEntryBytes || numberAt<uint32_t>(entry, 0) != kEntry)
    failArchive(path, fmt::format("at byte {} of its directory, no member is described", at));
  const size_t name = numberAt<uint16_t>(entry, 28);
  const size_t extra = numberAt<uint16_t>(entry, 30);
  const size_t bytes = kEntryBytes + name + extra + numberAt<uint16_t>(entry, 32);
  if (bytes > entry.size())
    failArchive(path, fmt::format("at byte {} of its directory, the description of a member leaves it", at));
  at += bytes;

  const auto flags = numberAt<uint16_t>(entry, 8);
  const auto method = numberAt<uint16_t>(entry, 10);
  ZipMember member{.name = std::string(textAt(entry, kEntryBytes, name)),
                   .size = numberAt<uint32_t>(entry, 24),
                   .is_stored = method == kStored,
                   .header_at = numberAt<uint32_t>(entry, 42),
                   .packed_size = numberAt<uint32_t>(entry, 20),
                   .checksum = numberAt<uint32_t>(entry, 16),
                   .has_descriptor = (flags & kDescriptor) != 0};
  const std::string what = nameIn(member.name, path);
  BOXCAR_CHECK((flags & kEncrypted) == 0, "{} cannot be loaded: it is encrypted; write the archive without a password",
               what);
  BOXCAR_CHECK(method == kStored || method == kDeflated,
               "{} cannot be loaded: it is compressed by method {}, and members must be stored ({}) or deflated ({}); "
               "write the archive in one of these ways",
               what, method, kStored, kDeflated);
  if (!takeLargeNumbers(findLargeNumbers(entry.subspan(kEntryBytes + name, extra)),
                        {&member.size, &member.packed_size, &member.header_at}))
    failMember(what, "the archive's directory lacks its 64-bit sizes");
  // A length-distance pair takes at least two bits and stands for at most 258 bytes.
  constexpr uint64_t kMostFromOne = uint64_t{4} * 258;
  const bool fits =
      member.is_stored ? member.size == member.packed_size : member.size / kMostFromOne <= member.packed_size;
  if (!fits)
    failMember(what, fmt::format("it should have {} bytes, which the {} bytes in the archive cannot become",
                                 member.size, member.packed_size));
  return member;
}

// Sets the members' limits. Members that shared bytes could expand a small file enormously.
void separateMembers(std::vector<ZipMember>& members, uint64_t directory, const std::string& path) {
  std::vector<uint32_t> order(members.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](uint32_t i) { return members[i].header_at; });
  for (size_t i = 0; i < order.size(); ++i) {
    ZipMember& member = members[order[i]];
    const bool is_last = i + 1 == order.size();
    member.limit = is_last ? directory : std::min(directory, members[order[i + 1]].header_at);
    const uint64_t head = kHeaderBytes + member.name.size();
    const uint64_t room = member.limit >= member.header_at ? member.limit - member.header_at : 0;
    if (room < head || room - head < member.packed_size)
      failMember(nameIn(member.name, path),
                 fmt::format("its {} bytes behind its header at byte {} overlap what begins at byte {}, {}",
                             member.packed_size, member.header_at, member.limit,
                             is_last || member.limit == directory
                                 ? "the archive's directory"
                                 : pythonStringRepr(std::string_view(members[order[i + 1]].name).substr(0, 80))));
  }
}

// zlib counts in 32 bits.
uInt atMost(size_t bytes) { return static_cast<uInt>(std::min<size_t>(bytes, 1U << 30)); }

}  // namespace

ZipArchive::ZipArchive(std::span<const std::byte> file, std::string path) : file_(file), path_(std::move(path)) {
  const DirectoryPlace place = findDirectory(file_, path_);
  const Bytes directory = file_.subspan(place.begin, place.size);
  members_.reserve(place.count);
  size_t at = 0;
  while (members_.size() < place.count) members_.push_back(readEntry(directory, at, path_));
  if (at != directory.size())
    failArchive(path_, fmt::format("its {} members are described in {} bytes, and its directory has {}", place.count,
                                   at, directory.size()));
  separateMembers(members_, place.begin, path_);

  by_name_.resize(members_.size());
  std::iota(by_name_.begin(), by_name_.end(), 0U);
  const auto name = [this](uint32_t i) -> const std::string& { return members_[i].name; };
  std::ranges::sort(by_name_, {}, name);
  const auto twice = std::ranges::adjacent_find(by_name_, {}, name);
  BOXCAR_CHECK(twice == by_name_.end(),
               "{} cannot be loaded: the archive has two members of this name; write it again with each of them once",
               describe(members_[*twice]));
}

const ZipMember* ZipArchive::find(std::string_view name) const noexcept {
  const auto found =
      std::ranges::lower_bound(by_name_, name, {}, [this](uint32_t i) { return std::string_view(members_[i].name); });
  return found != by_name_.end() && members_[*found].name == name ? &members_[*found] : nullptr;
}

std::string ZipArchive::describe(const ZipMember& member) const { return nameIn(member.name, path_); }

std::span<const std::byte> ZipArchive::packed(const ZipMember& member) const {
  const Bytes header = file_.subspan(member.header_at, member.limit - member.header_at);
  if (numberAt<uint32_t>(header, 0) != kHeader)
    failMember(describe(member), fmt::format("its header is not at byte {}, where it should be", member.header_at));
  const size_t name = numberAt<uint16_t>(header, 26);
  const size_t extra = numberAt<uint16_t>(header, 28);
  const size_t begin = kHeaderBytes + name + extra;
  if (begin > header.size() || header.size() - begin < member.packed_size)
    failMember(describe(member), fmt::format("its {} bytes behind its header overlap what begins at byte {}",
                                             member.packed_size, member.limit));
  const auto flags = numberAt<uint16_t>(header, 6);
  uint64_t size = numberAt<uint32_t>(header, 22);
  uint64_t packed_size = numberAt<uint32_t>(header, 18);
  const auto checksum = numberAt<uint32_t>(header, 14);
  // Writers that cannot go back leave zeros, and some of them the mark of 64-bit sizes.
  const bool are_here =
      takeLargeNumbers(findLargeNumbers(header.subspan(kHeaderBytes + name, extra)), {&size, &packed_size});
  const bool is_open = member.has_descriptor && (flags & kDescriptor) != 0;
  const auto agrees = [is_open](uint64_t here, uint64_t there) { return here == there || (is_open && here == 0); };
  const bool sizes_agree = are_here ? agrees(size, member.size) && agrees(packed_size, member.packed_size) : is_open;
  const char* difference = nullptr;
  if (textAt(header, kHeaderBytes, name) != member.name)
    difference = "name";
  else if (numberAt<uint16_t>(header, 8) != (member.is_stored ? kStored : kDeflated))
    difference = "compression";
  else if ((flags & kEncrypted) != 0)
    difference = "encryption";
  else if (!sizes_agree)
    difference = "size";
  else if (!agrees(checksum, member.checksum))
    difference = "checksum";
  if (difference != nullptr)
    failMember(describe(member), fmt::format("its header at byte {} and the archive's directory disagree about its {}",
                                             member.header_at, difference));
  return header.subspan(begin, member.packed_size);
}

std::span<const std::byte> ZipArchive::stored(const ZipMember& member) const {
  BOXCAR_CHECK(member.is_stored,
               "{} cannot be used where it lies in the file: it is deflated; write the archive with members that are "
               "stored",
               describe(member));
  return packed(member);
}

std::vector<std::byte> ZipArchive::read(const ZipMember& member) const {
  ZipReader reader(*this, member);  // finds faults of the header before memory is allocated
  std::vector<std::byte> bytes(member.size);
  reader.read(bytes);
  reader.finish();
  return bytes;
}

void ZipArchive::read(const ZipMember& member, std::span<std::byte> bytes) const {
  ZipReader reader(*this, member);
  reader.read(bytes);
  reader.finish();
}

struct ZipReader::Inflation {
  z_stream stream{};
  bool has_ended = false;

  Inflation() = default;
  Inflation(const Inflation&) = delete;
  Inflation& operator=(const Inflation&) = delete;
  ~Inflation() { ::inflateEnd(&stream); }
};

ZipReader::ZipReader(const ZipArchive& archive, const ZipMember& member)
    : member_(member), what_(archive.describe(member)), packed_(archive.packed(member)) {
  if (member.is_stored) return;
  inflation_ = std::make_unique<Inflation>();
  constexpr int kWithoutHeader = -MAX_WBITS;
  BOXCAR_CHECK(::inflateInit2(&inflation_->stream, kWithoutHeader) == Z_OK,
               "{} cannot be read: there is no memory to inflate it; free some first", what_);
}
ZipReader::~ZipReader() = default;

// Fills [bytes], or stops where the deflated bytes end.
void ZipReader::inflate(std::span<std::byte> bytes) {
  z_stream& stream = inflation_->stream;
  while (!bytes.empty() && !inflation_->has_ended) {
    const uInt in = atMost(packed_.size());
    const uInt out = atMost(bytes.size());
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed_.data()));
    stream.avail_in = in;
    stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
    stream.avail_out = out;
    const int status = ::inflate(&stream, Z_NO_FLUSH);
    const size_t made = out - stream.avail_out;
    const size_t used = in - stream.avail_in;
    checksum_ = static_cast<uint32_t>(::crc32_z(checksum_, reinterpret_cast<const Bytef*>(bytes.data()), made));
    position_ += made;
    bytes = bytes.subspan(made);
    packed_ = packed_.subspan(used);
    inflation_->has_ended = status == Z_STREAM_END;
    if (status == Z_STREAM_END || (status == Z_OK && made + used > 0)) continue;
    failMember(what_, fmt::format("behind byte {} of {}: {}", position_, member_.size,
                                  status == Z_OK || status == Z_BUF_ERROR
                                      ? "its deflated bytes end too early"
                                      : fmt::format("its bytes cannot be inflated ({})",
                                                    stream.msg != nullptr ? stream.msg : ::zError(status))));
  }
}

void ZipReader::read(std::span<std::byte> bytes) {
  const uint64_t end = position_ + bytes.size();
  if (end > member_.size) failMember(what_, fmt::format("it ends at byte {}, and {} are needed", member_.size, end));
  if (inflation_ != nullptr) {
    inflate(bytes);
    if (position_ != end) failMember(what_, fmt::format("it ends at byte {} of {}", position_, member_.size));
    return;
  }
  if (bytes.empty()) return;
  std::memcpy(bytes.data(), packed_.data(), bytes.size());
  checksum_ = static_cast<uint32_t>(::crc32_z(checksum_, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
  packed_ = packed_.subspan(bytes.size());
  position_ = end;
}

void ZipReader::finish() {
  if (inflation_ != nullptr) {
    std::byte next{};
    inflate({&next, 1});  // the mark of the end may not have been read yet
  }
  if (position_ != member_.size || !packed_.empty())
    failMember(what_, fmt::format("it does not end at byte {}, as the archive says", member_.size));
  if (checksum_ != member_.checksum)
    failMember(what_,
               fmt::format("at its end, behind byte {}: its bytes do not have the checksum of the archive", position_));
}

}  // namespace boxcar::io
