#pragma once

#include <boxcar/ivalue/intrusive_ptr.h>

#include <cstddef>
#include <span>
#include <string>

namespace boxcar::io {

// A file's bytes in memory, read when first touched. Writing to them changes this process's copy, never the file.
class MappedFile final : public Object {
 public:
  // An Error with the system's reason when the file cannot be opened or is no regular file.
  explicit MappedFile(const std::string& path);
  ~MappedFile() override;

  std::span<std::byte> bytes() const noexcept { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

}  // namespace boxcar::io
