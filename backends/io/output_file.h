#pragma once

#include <boxcar/ivalue/file_descriptor.h>

#include <cstddef>
#include <span>
#include <string>

namespace boxcar::io {

// A file that appears under its name only when it is whole: it is written beside its place and renamed by commit().
// Without commit() nothing is left of it, and a file that had the name before stays as it was. Every failure is an
// Error with the path and the system's reason.
class OutputFile final {
 public:
  explicit OutputFile(std::string path);
  ~OutputFile();

  void write(std::span<const std::byte> bytes);
  void commit();

 private:
  [[noreturn]] void fail() const;

  const std::string path_;
  const std::string temporary_path_;
  FileDescriptor file_;
  bool committed_ = false;
};

}  // namespace boxcar::io
