#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/file_access.h>
#include <boxcar/ivalue/python_text.h>

#include <filesystem>
#include <utility>

namespace boxcar {
namespace {

const FileAccess kCurrentDirectory;

[[gnu::tls_model("initial-exec")]] constinit thread_local const FileAccess* current = nullptr;

}  // namespace

FileAccessGuard::FileAccessGuard(FileAccess access)
    : access_(std::move(access)), previous_(std::exchange(current, &access_)) {}

FileAccessGuard::~FileAccessGuard() { current = previous_; }

const FileAccess& fileAccess() noexcept { return current == nullptr ? kCurrentDirectory : *current; }

std::string resolvePath(std::string_view path) {
  BOXCAR_CHECK(!path.empty(), "an empty path names no file");
  BOXCAR_CHECK(path.find('\0') == std::string_view::npos, "the path {} has a zero byte in it, which no file name has",
               pythonStringRepr(path));
  return (std::filesystem::path(fileAccess().folder) / path).string();
}

}  // namespace boxcar
