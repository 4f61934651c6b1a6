#pragma once

#include <boxcar/ivalue/file_descriptor.h>
#include <boxcar/ivalue/output_file.h>

#include <string>
#include <string_view>
#include <vector>

namespace boxcar {

struct SandboxFolders;

// The folders that a program may touch, as FileAccess::sandboxed() (file_access.h) makes it.
//
// The folders are opened once. A path is first followed, link by link, to the name of its destination. The sandbox
// checks that name and then opens it beneath the open folder without following any link. If somebody swaps files and
// links meanwhile, the open fails (and is retried from the start), and never opens a file elsewhere.
class Sandbox final {
 public:
  // [folder] may be read. Throws Error for a folder that cannot be opened.
  Sandbox(const std::string& folder, const SandboxFolders& folders);

  // Opens the file that a program calls [path] for reading; relative paths start from [folder]. If the system fails,
  // the result is not open and errno says why. Throws Error for what is not allowed.
  FileDescriptor openForReading(const std::string& folder, std::string_view path) const;
  // Opens the folder of the file that a program wants to write as [path]; otherwise like openForReading().
  OutputPlace openForWriting(const std::string& folder, std::string_view path) const;

 private:
  enum class Use { Any, Read, Write };
  struct Folder {
    std::string name;  // absolute, without links
    FileDescriptor descriptor;
    bool readable = false;
    bool writable = false;
  };
  // The destination of a path.
  struct Destination {
    std::string name;  // absolute, without links
    std::string link;  // the last link inside the folders, if it led out of them
    int error = 0;     // why the path has no destination
  };

  std::string add(const std::string& folder, Use use);
  const Folder* folderOf(std::string_view name, Use use = Use::Any) const;
  bool leadsToAFolder(std::string_view name) const;
  bool readLink(const std::string& name, std::string& target) const;
  int whyNoFolder(const std::string& name) const;
  Destination follow(const std::string& folder, std::string_view path) const;
  const Folder& judge(const Destination& destination, Use use, const std::string& shown) const;

  std::vector<Folder> folders_;
  std::string current_directory_;
  // The initial folder for relative paths, as the caller named it, and its resolved name.
  std::string folder_;
  std::string folder_name_;
};

}  // namespace boxcar
