#pragma once

#include <boxcar/ivalue/file_descriptor.h>
#include <boxcar/ivalue/macros.h>

#include <string>
#include <string_view>

namespace boxcar {

// Where the files of the program that runs on this thread are: the interpreter sets it, and operators that read or
// write files ask it. Without one, relative paths start from the current directory.
//
//   const FileAccessGuard guard(FileAccess{.folder = "/home/me/project"});
//   resolvePath("data/digits.safetensors");  // "/home/me/project/data/digits.safetensors"
struct FileAccess {
  // What relative paths start from; "" is the current directory.
  std::string folder;
};

// Sets this thread's FileAccess for a scope; the one before it holds again afterwards.
class BOXCAR_API FileAccessGuard final {
 public:
  explicit FileAccessGuard(FileAccess access);
  FileAccessGuard(const FileAccessGuard&) = delete;
  FileAccessGuard& operator=(const FileAccessGuard&) = delete;
  ~FileAccessGuard();

 private:
  const FileAccess access_;
  const FileAccess* const previous_;
};

// What holds on this thread now.
BOXCAR_API const FileAccess& fileAccess() noexcept;

// The path under which the system finds the file that a program calls [path]: for messages. Files are opened with
// openForReading() and OutputFile (output_file.h). An Error for a path that can name no file.
BOXCAR_API std::string resolvePath(std::string_view path);

// Opens the file that a program calls [path]. An Error when the system fails, and for what is no regular file: pipes
// and devices would wait, or act.
BOXCAR_API FileDescriptor openForReading(std::string_view path);

}  // namespace boxcar
