#pragma once

#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/output_file.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar::io {

// Writes a zip archive of stored members, in 64-bit form where sizes or positions need it. The file gets its name only
// in finish().
class BOXCAR_API ZipWriter final {
 public:
  // Throws the errors of OutputFile.
  explicit ZipWriter(std::string_view path) : file_(path) {}

  // Adds a member that is made of [parts], at a position that is a multiple of [alignment]. Throws Error if the name is
  // longer than the format allows.
  void add(const std::string& name, std::initializer_list<std::span<const std::byte>> parts, size_t alignment = 1);
  void finish();

 private:
  struct Entry {
    std::string name;
    uint64_t size;
    uint64_t position;
    uint32_t checksum;
  };

  void write(const std::string& bytes);

  OutputFile file_;
  uint64_t at_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace boxcar::io
