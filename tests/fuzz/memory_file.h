#pragma once

// A file in memory that has a path, like other files.

#include <boxcar/ivalue/file_descriptor.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/fuzz/fuzz.h"

namespace boxcar::fuzz {

class MemoryFile final {
 public:
  MemoryFile(const uint8_t* data, size_t size) : descriptor_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    require(descriptor_.get() >= 0, "the system has no file in memory");
    require(::write(descriptor_.get(), data, size) == static_cast<ssize_t>(size), "the file cannot be written");
  }

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_.get()); }

 private:
  const FileDescriptor descriptor_;
};

}  // namespace boxcar::fuzz
