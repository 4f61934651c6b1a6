#pragma once

#include <boxcar/backends/native/file_memory.h>
#include <boxcar/ivalue/intrusive_ptr.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace boxcar::io {

// A file's bytes in memory, read when first accessed. Writing to them changes this process's copy, never the file.
class MappedFile final : public Object {
 public:
  // Maps the file [path]. Throws the errors of openForReading() (file_access.h).
  explicit MappedFile(std::string_view path);
  ~MappedFile() override;

  std::span<std::byte> bytes() const noexcept { return bytes_; }

 private:
  std::span<std::byte> bytes_;
  std::optional<native::FileMemory> memory_;
};

}  // namespace boxcar::io
