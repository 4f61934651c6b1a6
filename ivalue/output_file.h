#pragma once

#include <boxcar/ivalue/file_descriptor.h>
#include <boxcar/ivalue/macros.h>

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

namespace boxcar {

// Where a file is written: the open folder, and the file's name in it.
struct OutputPlace {
  FileDescriptor folder;
  std::string name;
};

// A file that a program writes. It appears under its name only when it is whole: it is written beside its place and
// renamed by commit(), both in a folder that is opened once. Without commit() nothing is left of it (nor where the
// program is killed, on file systems with files that have no name yet), and a file that had the name before stays as it
// was. Where the name is a link, what it leads to is written. Who may read, write and run the file is what it was for
// the one that it replaces; other names of that one (hard links) stay with it. Until then the place is its own: another
// OutputFile for it is an Error, for one of the two would be lost.
class BOXCAR_API OutputFile final {
 public:
  // [path] is what the program calls it; file_access.h says where that is and whether it is allowed. Every failure,
  // here and below, is an Error with the path and the reason.
  explicit OutputFile(std::string_view path);
  ~OutputFile();

  void write(std::span<const std::byte> bytes);
  void commit();

 private:
  // That the place is nobody else's in this process.
  class Claim final {
   public:
    Claim(const OutputPlace& place, const std::string& path);
    Claim(const Claim&) = delete;
    Claim& operator=(const Claim&) = delete;
    ~Claim();

    void release();

   private:
    std::optional<std::tuple<dev_t, ino_t, std::string>> claimed_;
  };

  void keepPermissions();
  [[noreturn]] void fail() const;

  const std::string path_;
  const OutputPlace place_;
  Claim claim_;
  const std::string temporary_name_;
  FileDescriptor file_;
  bool has_name_;  // the temporary one
};

// From now on no OutputFile replaces the file [path], for the process runs or reads it, or its output goes there; an
// Error says so. Nothing happens where there is no such file.
BOXCAR_API void protectFile(const std::string& path);

}  // namespace boxcar
