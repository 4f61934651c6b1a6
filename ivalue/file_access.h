#pragma once

#include <boxcar/ivalue/file_descriptor.h>
#include <boxcar/ivalue/macros.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace boxcar {

class Sandbox;

// The folders that a sandbox opens up, with all that is in them.
struct SandboxFolders {
  std::vector<std::string> readable = {};
  // Files in these can be made and replaced, but not read: who wants both names the folder twice.
  std::vector<std::string> writable = {};
};

// Where the files of the program that runs on this thread are, and which of them it may touch: the interpreter sets it,
// and operators that read or write files ask it. Without one, relative paths start from the current directory and
// nothing is forbidden that the system does not forbid.
//
//   const FileAccessGuard guard(FileAccess{.folder = "/home/me/project"});
//   resolvePath("data/digits.safetensors");  // "/home/me/project/data/digits.safetensors"
//
// A sandbox lets a program read what is in its folder, and touch nothing else but what it is given:
//
//   const FileAccessGuard guard(FileAccess::sandboxed("/home/me/project", {.writable = {"/tmp/results"}}));
//   openForReading("data/digits.safetensors");
//   OutputFile("/tmp/results/logits.safetensors");  // output_file.h
//   openForReading("../diary.txt");                 // an Error: it lies outside of the folders …
//   program.run();                                  // the same holds in it
//
// What counts is where a path leads: "..", absolute paths and symbolic links are fine as long as that is a folder that
// is allowed. The folders are opened when the sandbox is made, and stay those, whatever has their names later. Hard
// links and mounts in a folder are part of it.
struct BOXCAR_API FileAccess {
  // What relative paths start from; "" is the current directory.
  std::string folder;
  // What may be touched; everything where it is null.
  std::shared_ptr<const Sandbox> sandbox = nullptr;

  // A sandbox around [folder], which may be read. An Error for a folder that cannot be opened.
  static FileAccess sandboxed(std::string folder, const SandboxFolders& folders = {});

  // The same permissions for a program whose relative paths start elsewhere.
  FileAccess withFolder(std::string other) const { return {.folder = std::move(other), .sandbox = sandbox}; }

  bool restricted() const noexcept { return sandbox != nullptr; }
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

// What a program calls [path] when its relative paths start from [folder].
BOXCAR_API std::string joinPath(std::string_view folder, std::string_view path);

// The path under which the system finds the file that a program calls [path]: for messages. Files are opened with
// openForReading() and OutputFile, which see to what is allowed. An Error for a path that can name no file.
BOXCAR_API std::string resolvePath(std::string_view path);

// Opens the file that a program calls [path]. An Error when the system fails, where the sandbox does not allow it, and
// for what is no regular file: pipes and devices would wait, or act.
BOXCAR_API FileDescriptor openForReading(std::string_view path);

// All that the file holds, with the same errors.
BOXCAR_API std::string readWholeFile(std::string_view path);

}  // namespace boxcar
