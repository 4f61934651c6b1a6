#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace boxcar::io {

// What a zip archive has under one name.
struct ZipMember {
  std::string name;
  uint64_t index = 0;
  uint64_t size = 0;  // as the archive says; no more than what can be deflated into the bytes that it has
};

// A zip archive in memory, also with 64-bit sizes, read by libzip: libzip/ has it, no_libzip/ says that it is missing.
class ZipArchive final {
 public:
  // [file] must live as long. [path] is for errors; there is one where the archive is broken, or has members that are
  // encrypted, or are neither stored nor deflated.
  ZipArchive(std::span<const std::byte> file, const std::string& path);
  ~ZipArchive();

  const std::vector<ZipMember>& members() const noexcept { return members_; }

  // Whether libzip is there. The first call opens it.
  static bool isAvailable() noexcept;

 private:
  friend class ZipReader;
  struct Handle;

  std::unique_ptr<Handle> handle_;
  std::vector<ZipMember> members_;
};

// Reads a member from its start to its end. [what] is for errors: the member, with quotes around it.
class ZipReader final {
 public:
  ZipReader(ZipArchive& archive, const ZipMember& member, const std::string& what);
  ~ZipReader();

  // The next bytes, all of them; an Error where the member ends before.
  void read(std::span<std::byte> bytes);
  // An Error unless this is the end and the checksum of all bytes is right.
  void finish();

 private:
  struct Handle;

  std::unique_ptr<Handle> handle_;
  const std::string& what_;
};

}  // namespace boxcar::io
