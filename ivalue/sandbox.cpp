#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/file_access.h>
#include <boxcar/ivalue/open_beneath.h>
#include <boxcar/ivalue/sandbox.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace boxcar {
namespace {

// How often a path is retried because links changed under it.
constexpr int kMostAttempts = 1000;

bool isRoot(std::string_view name) { return name == "/"; }

bool isBeneath(std::string_view name, std::string_view folder) {
  if (isRoot(folder) || name == folder) return true;
  return name.size() > folder.size() && name.starts_with(folder) && name[folder.size()] == '/';
}

// Returns the path of [name] relative to [folder], which it is beneath; "" for the folder itself.
std::string nameIn(std::string_view folder, std::string_view name) {
  if (name == folder) return "";
  return std::string(name.substr(isRoot(folder) ? 1 : folder.size() + 1));
}

std::string parentOf(const std::string& name) {
  const size_t slash = name.rfind('/');
  return slash == 0 ? "/" : name.substr(0, slash);
}

// Returns the path without links; "", with errno, if it leads nowhere.
std::string realPath(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> name(::realpath(path.c_str(), nullptr), &std::free);
  return name == nullptr ? "" : name.get();
}

// A file or place that is not open.
template <class T>
T failed(int error) {
  errno = error;
  return T();
}

}  // namespace

Sandbox::Sandbox(const std::string& folder, const SandboxFolders& folders)
    : current_directory_(realPath(".")), folder_(folder) {
  BOXCAR_CHECK(!current_directory_.empty(), "a sandbox needs to know the current directory: {}", lastSystemError());
  folder_name_ = add(folder.empty() ? "." : folder, Use::Read);
  for (const std::string& name : folders.readable) add(name, Use::Read);
  for (const std::string& name : folders.writable) add(name, Use::Write);
}

// Opens a folder of the sandbox and returns its name.
std::string Sandbox::add(const std::string& folder, Use use) {
  const std::string name = realPath(folder);
  FileDescriptor descriptor(name.empty() ? -1 : ::open(name.c_str(), kFlagsForFolders));
  BOXCAR_CHECK(descriptor.isOpen(), "the sandbox cannot allow the folder '{}' to be {}: {}", folder,
               use == Use::Read ? "read" : "written", lastSystemError());
  auto found = std::ranges::find(folders_, name, &Folder::name);
  if (found == folders_.end()) {
    folders_.push_back({.name = name, .descriptor = std::move(descriptor)});
    found = std::prev(folders_.end());
  }
  (use == Use::Read ? found->readable : found->writable) = true;
  return name;
}

// Returns the innermost folder with this use that [name] is beneath, or null.
const Sandbox::Folder* Sandbox::folderOf(std::string_view name, Use use) const {
  const Folder* innermost = nullptr;
  for (const Folder& folder : folders_) {
    if ((use == Use::Read && !folder.readable) || (use == Use::Write && !folder.writable)) continue;
    if (!isBeneath(name, folder.name)) continue;
    if (innermost == nullptr || folder.name.size() > innermost->name.size()) innermost = &folder;
  }
  return innermost;
}

bool Sandbox::leadsToAFolder(std::string_view name) const {
  return std::ranges::any_of(folders_, [&](const Folder& folder) { return isBeneath(folder.name, name); });
}

// Returns whether [name] is a link, and where it leads. On failure it counts as none: opening it will report the error.
bool Sandbox::readLink(const std::string& name, std::string& target) const {
  // The sandbox's folders stay the opened ones, whatever has replaced them since.
  if (leadsToAFolder(name)) return false;
  char text[4096];
  const Folder* folder = folderOf(name);
  const ssize_t size = folder == nullptr ? ::readlink(name.c_str(), text, sizeof(text))
                                         : ::readlinkat(folder->descriptor.get(), nameIn(folder->name, name).c_str(),
                                                        text, sizeof(text));
  if (size <= 0 || size == sizeof(text)) return false;
  target.assign(text, static_cast<size_t>(size));
  return true;
}

// Returns why the path cannot pass through [name] in one of the folders ("x/.." does, and names alone would not show
// it). Does not look at other places: nobody learns whether something exists there.
int Sandbox::whyNoFolder(const std::string& name) const {
  const Folder* folder = folderOf(name);
  if (folder == nullptr || name == folder->name) return 0;
  struct stat status {};
  const std::string inside = nameIn(folder->name, name);
  if (::fstatat(folder->descriptor.get(), inside.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return errno;
  return S_ISDIR(status.st_mode) ? 0 : ENOTDIR;
}

Sandbox::Destination Sandbox::follow(const std::string& folder, std::string_view path) const {
  // The first folder is already resolved; any other is followed like the path itself.
  const bool is_first = folder == folder_;
  std::string name = is_first ? folder_name_ : current_directory_;
  std::string rest = is_first ? std::string(path) : joinPath(folder, path);
  if (rest.starts_with('/')) name = "/";
  std::string link;
  int links = 0;
  for (size_t begin = 0; begin <= rest.size();) {
    const size_t end = std::min(rest.find('/', begin), rest.size());
    const std::string component = rest.substr(begin, end - begin);
    begin = end + 1;
    if (component.empty() || component == "." || component == "..") {
      if (const int error = whyNoFolder(name); error != 0) return {.name = name, .link = "", .error = error};
      if (component == "..") name = parentOf(name);
      continue;
    }
    const std::string next = (isRoot(name) ? "" : name) + "/" + component;
    std::string target;
    if (readLink(next, target)) {
      if (++links > kMostLinks) return {.name = name, .link = "", .error = ELOOP};
      if (folderOf(next) != nullptr) link = next;
      if (target.starts_with('/')) name = "/";
      rest = target + rest.substr(end);
      begin = 0;
    } else {
      name = next;
      if (folderOf(name) != nullptr) link.clear();
    }
  }
  return {.name = std::move(name), .link = std::move(link)};
}

// Returns the folder that the destination is beneath; throws Error if none allows this use.
const Sandbox::Folder& Sandbox::judge(const Destination& destination, Use use, const std::string& shown) const {
  if (const Folder* folder = folderOf(destination.name, use)) return *folder;
  std::string what = shown == destination.name ? "it" : "'" + destination.name + "'";
  if (!destination.link.empty()) what = "the symbolic link '" + destination.link + "' leads to " + what + ", which";
  const bool reads = use == Use::Read;
  BOXCAR_FAIL(
      "cannot {} '{}': {} is outside of the folders that the sandbox allows to be {}; allow it with --allow-{} '{}' "
      "(in C++: SandboxFolders::{})",
      reads ? "open" : "write", shown, what, reads ? "read" : "written", reads ? "read" : "write",
      parentOf(destination.name), reads ? "readable" : "writable");
}

FileDescriptor Sandbox::openForReading(const std::string& folder, std::string_view path) const {
  for (int attempt = 1;; ++attempt) {
    const Destination destination = follow(folder, path);
    if (destination.error != 0) return failed<FileDescriptor>(destination.error);
    const Folder& in = judge(destination, Use::Read, joinPath(folder, path));
    FileDescriptor file = openBeneath(in.descriptor.get(), nameIn(in.name, destination.name), kFlagsForReading);
    if (file.isOpen() || errno != ELOOP || attempt == kMostAttempts) return file;
  }
}

OutputPlace Sandbox::openForWriting(const std::string& folder, std::string_view path) const {
  for (int attempt = 1;; ++attempt) {
    const Destination destination = follow(folder, path);
    if (destination.error != 0) return failed<OutputPlace>(destination.error);
    const Folder& in = judge(destination, Use::Write, joinPath(folder, path));
    if (destination.name == in.name) return failed<OutputPlace>(EISDIR);
    const std::string parent = parentOf(destination.name);
    OutputPlace place;
    place.name = nameIn(parent, destination.name);
    place.folder = openBeneath(in.descriptor.get(), nameIn(in.name, parent), kFlagsForFolders);
    if (place.folder.isOpen() || errno != ELOOP || attempt == kMostAttempts) return place;
  }
}

}  // namespace boxcar
