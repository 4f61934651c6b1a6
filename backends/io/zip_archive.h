#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar::io {

// A member of a zip archive. Its name is only a key: nothing makes a path of it, so names such as "../x" and "/x" do no
// harm.
struct ZipMember {
  std::string name;
  uint64_t size = 0;  // of the content, as stated by the archive; at most what the bytes in the archive can become
  bool is_stored = true;
  // What ZipArchive needs to find and check it.
  uint64_t header_at = 0;  // where its own header begins in the file
  uint64_t limit = 0;      // where the next member, or the directory, begins
  uint64_t packed_size = 0;
  uint32_t checksum = 0;
  bool has_descriptor = false;  // its own header may lack the sizes and the checksum

  bool isFolder() const noexcept { return name.ends_with('/'); }
};

// A zip archive in memory: members are stored or deflated, and sizes may have 64 bits.
class ZipArchive final {
 public:
  // Reads the directory. [file] must outlive the archive. [path] is for errors. Throws Error if the directory is
  // broken, two members have one name or share bytes, or a member is encrypted, or neither stored nor deflated.
  ZipArchive(std::span<const std::byte> file, std::string path);

  // In the order of the directory.
  const std::vector<ZipMember>& members() const noexcept { return members_; }
  // Returns null if there is none.
  const ZipMember* find(std::string_view name) const noexcept;

  // Returns the bytes of a stored member in the file. Their checksum is not verified, which would read all of them.
  std::span<const std::byte> stored(const ZipMember& member) const;
  // Returns a copy of the content, whose size and checksum are verified.
  std::vector<std::byte> read(const ZipMember& member) const;
  // Does the same into [bytes], as many as member.size.
  void read(const ZipMember& member, std::span<std::byte> bytes) const;

  // Returns "'a.npy' in 'x.npz'", for errors.
  std::string describe(const ZipMember& member) const;

 private:
  friend class ZipReader;

  // Returns the bytes of the member as they are in the archive, after a look at its own header.
  std::span<const std::byte> packed(const ZipMember& member) const;

  const std::span<const std::byte> file_;
  const std::string path_;
  std::vector<ZipMember> members_;
  std::vector<uint32_t> by_name_;  // indices of members_
};

// Reads a member from start to end, in pieces. The archive must outlive it.
class ZipReader final {
 public:
  ZipReader(const ZipArchive& archive, const ZipMember& member);
  ~ZipReader();

  // Fills [bytes] with the next bytes; throws Error if the member ends earlier.
  void read(std::span<std::byte> bytes);
  // Throws Error unless the member ends here and the checksum of all bytes is correct.
  void finish();

 private:
  struct Inflation;

  void inflate(std::span<std::byte> bytes);

  const ZipMember& member_;
  const std::string what_;
  std::span<const std::byte> packed_;     // what is left of it
  std::unique_ptr<Inflation> inflation_;  // of a deflated member
  uint64_t position_ = 0;
  uint32_t checksum_ = 0;
};

}  // namespace boxcar::io
