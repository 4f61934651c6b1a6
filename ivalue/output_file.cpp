#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/file_access.h>
#include <boxcar/ivalue/file_error.h>
#include <boxcar/ivalue/open_beneath.h>
#include <boxcar/ivalue/output_file.h>
#include <boxcar/ivalue/sandbox.h>  // IWYU pragma: keep, for it is used behind a shared_ptr
#include <fmt/format.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <mutex>
#include <set>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>

namespace boxcar {
namespace {

// What must not be replaced: files by device and number, and names in folders while something is written for them.
struct Kept {
  std::mutex mutex;
  std::set<std::pair<dev_t, ino_t>> files;
  std::set<std::tuple<dev_t, ino_t, std::string>> places;
};
Kept& keptFiles() {
  static Kept& files = *new Kept;
  return files;
}

void checkNotProtected(const struct stat& status, const std::string& path) {
  Kept& kept = keptFiles();
  const std::lock_guard lock(kept.mutex);
  BOXCAR_CHECK(!kept.files.contains({status.st_dev, status.st_ino}),
               "cannot write '{}': this program already reads or writes it; name another file", path);
}

// A write to the name of a link goes to the link's target, as with any program.
OutputPlace openAnywhereForWriting(std::filesystem::path path) {
  std::error_code error;
  for (int links = 0;; ++links) {
    const std::filesystem::path target = std::filesystem::read_symlink(path, error);
    if (error) break;
    if (links == kMostLinks) {
      errno = ELOOP;
      return {};
    }
    path = path.parent_path() / target;
  }
  const std::string folder = path.has_parent_path() ? path.parent_path().string() : ".";
  return {FileDescriptor(::open(folder.c_str(), kFlagsForFolders)), path.filename().string()};
}

// Opens the folder of the file that a program calls [path].
OutputPlace openPlace(std::string_view path) {
  const std::string shown = resolvePath(path);
  const FileAccess& access = fileAccess();
  struct stat status {};
  // Links such as /dev/stdout lead to no name if standard output is a pipe.
  if (!access.restricted() && ::stat(shown.c_str(), &status) == 0 && !S_ISDIR(status.st_mode))
    BOXCAR_CHECK(S_ISREG(status.st_mode), "cannot write '{}': it is not a regular file", shown);
  OutputPlace place =
      access.restricted() ? access.sandbox->openForWriting(access.folder, path) : openAnywhereForWriting(shown);
  if (!place.folder.isOpen()) throwFileError(errno, fmt::format("cannot write '{}'", shown));
  // "x/" names the inside of a folder x, and a folder is not a file.
  BOXCAR_CHECK(!place.name.empty() && place.name != "." && place.name != "..", "cannot write '{}': Is a directory",
               shown);
  if (::fstatat(place.folder.get(), place.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return place;
  BOXCAR_CHECK(!S_ISDIR(status.st_mode), "cannot write '{}': Is a directory", shown);
  // A link may have appeared meanwhile; it will be replaced.
  BOXCAR_CHECK(S_ISREG(status.st_mode) || S_ISLNK(status.st_mode), "cannot write '{}': it is not a regular file",
               shown);
  checkNotProtected(status, shown);
  // A write-protected file stays, although its folder would allow replacing it.
  BOXCAR_CHECK(S_ISLNK(status.st_mode) || ::faccessat(place.folder.get(), place.name.c_str(), W_OK, AT_EACCESS) == 0,
               "cannot write '{}': {}", shown, lastSystemError());
  return place;
}

std::string temporaryNameFor(const std::string& name) {
  static std::atomic<unsigned> count = 0;
  return fmt::format("{}.{}-{}.tmp", name, ::getpid(), count.fetch_add(1));
}

std::string pathOfDescriptor(int descriptor) { return fmt::format("/proc/self/fd/{}", descriptor); }

// Opens an unnamed file in [folder], of which nothing remains if the program is killed. The result is not open if the
// file system does not support this or the file could not be named afterwards.
FileDescriptor openUnnamed(int folder) {
  FileDescriptor file(::openat(folder, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666));
  if (file.isOpen() && ::access(pathOfDescriptor(file.get()).c_str(), F_OK) != 0) return {};
  return file;
}

}  // namespace

OutputFile::Claim::Claim(const OutputPlace& place, const std::string& path) {
  struct stat status {};
  BOXCAR_CHECK(::fstat(place.folder.get(), &status) == 0, "cannot write '{}': {}", path, lastSystemError());
  claimed_.emplace(status.st_dev, status.st_ino, place.name);
  Kept& kept = keptFiles();
  const std::lock_guard lock(kept.mutex);
  BOXCAR_CHECK(kept.places.insert(*claimed_).second,
               "cannot write '{}': this program is already writing it; name another file", path);
}

OutputFile::Claim::~Claim() { release(); }

void OutputFile::Claim::release() {
  if (!claimed_) return;
  Kept& kept = keptFiles();
  const std::lock_guard lock(kept.mutex);
  kept.places.erase(*claimed_);
  claimed_.reset();
}

OutputFile::OutputFile(std::string_view path)
    : path_(resolvePath(path)),
      place_(openPlace(path)),
      claim_(place_, path_),
      temporary_name_(temporaryNameFor(place_.name)),
      file_(openUnnamed(place_.folder.get())),
      has_name_(!file_.isOpen()) {
  if (has_name_) {
    constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
    file_ = FileDescriptor(::openat(place_.folder.get(), temporary_name_.c_str(), kFlags, 0666));
    has_name_ = file_.isOpen();
    if (!has_name_) fail();
  }
  try {
    keepPermissions();
  } catch (...) {
    if (has_name_) ::unlinkat(place_.folder.get(), temporary_name_.c_str(), 0);
    throw;
  }
}

OutputFile::~OutputFile() {
  if (has_name_) ::unlinkat(place_.folder.get(), temporary_name_.c_str(), 0);
}

void OutputFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_.get(), bytes.data(), bytes.size());
    if (written >= 0) {
      bytes = bytes.subspan(static_cast<size_t>(written));
    } else if (errno != EINTR) {
      fail();
    }
  }
}

void OutputFile::keepPermissions() {
  struct stat status {};
  if (::fstatat(place_.folder.get(), place_.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return;
  if (!S_ISREG(status.st_mode)) return;
  // Only root may change a file's owner; others keep the file as their own. A container may not know the owner.
  if (status.st_uid != ::geteuid() && ::fchown(file_.get(), status.st_uid, status.st_gid) != 0 && errno != EPERM &&
      errno != EINVAL) {
    fail();
  }
  // File systems without permissions refuse to set them.
  constexpr mode_t kPermissions = 07777;
  if (::fchmod(file_.get(), status.st_mode & kPermissions) != 0 && errno != EPERM) fail();
}

void OutputFile::commit() {
  // It may have become protected since.
  struct stat status {};
  if (::fstatat(place_.folder.get(), place_.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0)
    checkNotProtected(status, path_);
  // Reaches the disk before it gets the name: a crash leaves the old file or the new one.
  if (::fsync(file_.get()) != 0) fail();
  const int folder = place_.folder.get();
  // Only a named file can replace another.
  if (!has_name_ && ::linkat(AT_FDCWD, pathOfDescriptor(file_.get()).c_str(), folder, temporary_name_.c_str(),
                             AT_SYMLINK_FOLLOW) != 0) {
    fail();
  }
  has_name_ = true;
  if (!file_.close()) fail();
  if (::renameat(folder, temporary_name_.c_str(), folder, place_.name.c_str()) != 0) fail();
  has_name_ = false;
  claim_.release();
}

void OutputFile::fail() const { throwFileError(errno, fmt::format("cannot write '{}'", path_)); }

void protectFile(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return;
  Kept& kept = keptFiles();
  const std::lock_guard lock(kept.mutex);
  kept.files.insert({status.st_dev, status.st_ino});
}

}  // namespace boxcar
