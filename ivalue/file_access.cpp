#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/file_access.h>
#include <boxcar/ivalue/file_error.h>
#include <boxcar/ivalue/open_beneath.h>
#include <boxcar/ivalue/python_text.h>
#include <boxcar/ivalue/sandbox.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <utility>

namespace boxcar {
namespace {

const FileAccess kCurrentDirectory;

[[gnu::tls_model("initial-exec")]] constinit thread_local const FileAccess* current = nullptr;

// Returns a closed descriptor, and errno, when the system fails; [shown] is the system's path.
FileDescriptor tryOpen(std::string_view path, const std::string& shown) {
  const FileAccess& access = fileAccess();
  return access.restricted() ? access.sandbox->openForReading(access.folder, path)
                             : FileDescriptor(::open(shown.c_str(), kFlagsForReading));
}

}  // namespace

FileAccess FileAccess::sandboxed(std::string folder, const SandboxFolders& folders) {
  auto sandbox = std::make_shared<const Sandbox>(folder, folders);
  return {.folder = std::move(folder), .sandbox = std::move(sandbox)};
}

FileAccessGuard::FileAccessGuard(FileAccess access)
    : access_(std::move(access)), previous_(std::exchange(current, &access_)) {}

FileAccessGuard::~FileAccessGuard() { current = previous_; }

const FileAccess& fileAccess() noexcept { return current == nullptr ? kCurrentDirectory : *current; }

std::string joinPath(std::string_view folder, std::string_view path) {
  return (std::filesystem::path(folder) / path).string();
}

std::string resolvePath(std::string_view path) {
  BOXCAR_CHECK(!path.empty(), "an empty path names no file");
  BOXCAR_CHECK(path.find('\0') == std::string_view::npos,
               "the path {} contains a zero byte, which file names cannot have", pythonStringRepr(path));
  return joinPath(fileAccess().folder, path);
}

FileDescriptor openForReading(std::string_view path) {
  const std::string shown = resolvePath(path);
  FileDescriptor file = tryOpen(path, shown);
  if (!file.isOpen()) throwFileError(errno, fmt::format("cannot open '{}'", shown));
  struct stat status {};
  BOXCAR_CHECK(::fstat(file.get(), &status) == 0, "cannot read '{}': {}", shown, lastSystemError());
  BOXCAR_CHECK(!S_ISDIR(status.st_mode), "cannot read '{}': it is a folder, not a file", shown);
  BOXCAR_CHECK(S_ISREG(status.st_mode), "cannot read '{}': it is not a regular file", shown);
  return file;
}

bool fileExists(std::string_view path) {
  const std::string shown = resolvePath(path);
  const FileDescriptor file = tryOpen(path, shown);
  if (file.isOpen()) return true;
  BOXCAR_CHECK(errno == ENOENT || errno == ENOTDIR, "cannot open '{}': {}", shown, lastSystemError());
  return false;
}

std::string readWholeFile(std::string_view path) {
  const FileDescriptor file = openForReading(path);
  std::string text;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t size = ::read(file.get(), buffer, sizeof(buffer));
    if (size == 0) return text;
    if (size < 0 && errno == EINTR) continue;
    BOXCAR_CHECK(size > 0, "cannot read '{}': {}", resolvePath(path), lastSystemError());
    text.append(buffer, static_cast<size_t>(size));
  }
}

}  // namespace boxcar
