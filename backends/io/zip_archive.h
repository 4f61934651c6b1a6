#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace boxcar::io {

// A member of a zip archive.
struct ZipMember {
  std::string name;
  uint64_t index = 0;
  uint64_t size = 0;  // as stated by the archive; at most what its compressed bytes can expand to
};

// A zip archive in memory, read by libzip; 64-bit sizes are supported. libzip/ implements it; no_libzip/ reports that
// libzip is missing.
class ZipArchive final {
 public:
  // [file] must outlive the archive. [path] is for errors. Throws Error if the archive is broken or has members that
  // are encrypted, or neither stored nor deflated.
  ZipArchive(std::span<const std::byte> file, const std::string& path);
  ~ZipArchive();

  const std::vector<ZipMember>& members() const noexcept { return members_; }

  // Returns whether libzip is available. The first call opens it.
  static bool isAvailable() noexcept;

 private:
  friend class ZipReader;
  struct Handle;

  std::unique_ptr<Handle> handle_;
  std::vector<ZipMember> members_;
};

// Reads a member from start to end. [what] names the member in errors, in quotes.
class ZipReader final {
 public:
  ZipReader(ZipArchive& archive, const ZipMember& member, const std::string& what);
  ~ZipReader();

  // Fills [bytes] with the next bytes; throws Error if the member ends earlier.
  void read(std::span<std::byte> bytes);
  // Throws Error unless the member ends here and the checksum of all bytes is correct.
  void finish();

 private:
  struct Handle;

  std::unique_ptr<Handle> handle_;
  const std::string& what_;
};

}  // namespace boxcar::io
