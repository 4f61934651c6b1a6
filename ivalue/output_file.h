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

// The destination of a file: its open folder, and its name there.
struct OutputPlace {
  FileDescriptor folder;
  std::string name;
};

// A file that a program writes. It appears under its name only when it is complete: it is written in the destination's
// folder, which is opened once, and commit() renames it. Without commit() nothing of it remains (even if the program is
// killed, on file systems that support unnamed files), and an existing file of that name stays as it was. If the name
// is a link, the link's target is written. The new file takes the permissions of the one that it replaces, whose hard
// links keep the old content. Until then the destination is reserved: a second OutputFile for it throws Error, because
// one of the two would be lost.
class BOXCAR_API OutputFile final {
 public:
  // [path] is what the program calls the file; file_access.h says where that is and whether it is allowed. Every
  // failure, here and below, throws an Error with the path and the reason.
  explicit OutputFile(std::string_view path);
  ~OutputFile();

  void write(std::span<const std::byte> bytes);
  void commit();

 private:
  // Reserves the destination within this process.
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
  bool has_name_;  // whether the temporary file has a name
};

// From now on no OutputFile replaces the file [path], because the process runs it, reads it or sends its output there:
// the attempt throws Error. Does nothing if there is no such file.
BOXCAR_API void protectFile(const std::string& path);

}  // namespace boxcar
