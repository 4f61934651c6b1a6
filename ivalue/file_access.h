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

// The folders that a sandbox opens up, with everything in them.
struct SandboxFolders {
  std::vector<std::string> readable = {};
  // Files in these can be created and replaced, but not read: for both, name the folder in both lists.
  std::vector<std::string> writable = {};
};

// Where the files of the program that runs on this thread are, and which of them it may touch. The interpreter sets it;
// operators that read or write files ask it. Without one, relative paths start from the current directory and only the
// system forbids anything.
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
// Only the place that a path leads to counts: "..", absolute paths and symbolic links are fine if they lead into an
// allowed folder. The folders are opened when the sandbox is made. It keeps those folders, even if others later take
// their names. Hard links and mounts in a folder are part of it.
struct BOXCAR_API FileAccess {
  // The folder that relative paths start from; "" is the current directory.
  std::string folder;
  // What may be touched; null allows everything.
  std::shared_ptr<const Sandbox> sandbox = nullptr;

  // Returns a sandbox around [folder], which may be read. Throws Error for a folder that cannot be opened.
  static FileAccess sandboxed(std::string folder, const SandboxFolders& folders = {});

  // Returns the same permissions for a program whose relative paths start from [other].
  FileAccess withFolder(std::string other) const { return {.folder = std::move(other), .sandbox = sandbox}; }

  bool restricted() const noexcept { return sandbox != nullptr; }
};

// Sets this thread's FileAccess for a scope, then restores the one before.
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

// Returns this thread's current FileAccess.
BOXCAR_API const FileAccess& fileAccess() noexcept;

// Returns what a program calls [path] when its relative paths start from [folder].
BOXCAR_API std::string joinPath(std::string_view folder, std::string_view path);

// Returns the system's path of the file that a program calls [path]: for messages. To open files use openForReading()
// and OutputFile, which check permissions. Throws Error for a path that cannot name a file.
BOXCAR_API std::string resolvePath(std::string_view path);

// Opens the file that a program calls [path]. Throws Error when the system fails, when the sandbox does not allow it,
// and when it is not a regular file: opening a pipe or a device could block or have effects.
BOXCAR_API FileDescriptor openForReading(std::string_view path);

// Whether there is something at [path]. Throws Error when the sandbox does not allow to look, or the system fails.
BOXCAR_API bool fileExists(std::string_view path);

// Returns the whole content of the file; throws the same errors.
BOXCAR_API std::string readWholeFile(std::string_view path);

}  // namespace boxcar
