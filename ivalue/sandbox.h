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
// The folders are opened once. A path is first followed to where it leads, link by link, which only names a place; that
// name is judged, and what has it is opened beneath the open folder without following any link. So whoever swaps files
// and links meanwhile makes that fail (it is then tried afresh), and never opens what lies elsewhere.
class Sandbox final {
 public:
  // [folder] may be read. An Error for a folder that cannot be opened.
  Sandbox(const std::string& folder, const SandboxFolders& folders);

  // Opens the file that a program calls [path] for reading; relative paths start from [folder]. When the system fails
  // the result is not open and errno says why; what is not allowed is an Error.
  FileDescriptor openForReading(const std::string& folder, std::string_view path) const;
  // Opens the folder for the file that a program wants to write as [path]; otherwise the same.
  OutputPlace openForWriting(const std::string& folder, std::string_view path) const;

 private:
  enum class Use { Any, Read, Write };
  struct Folder {
    std::string name;  // absolute, without links
    FileDescriptor descriptor;
    bool readable = false;
    bool writable = false;
  };
  // Where a path leads.
  struct Destination {
    std::string name;  // absolute, without links
    std::string link;  // the last link in one of the folders, where it led out of them
    int error = 0;     // why the path leads nowhere
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
  // What relative paths start from at first, as it was called, and what that means.
  std::string folder_;
  std::string folder_name_;
};

}  // namespace boxcar
