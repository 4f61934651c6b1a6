#include <boxcar/backends/io/output_file.h>
#include <boxcar/ivalue/error.h>
#include <fcntl.h>
#include <fmt/format.h>

#include <atomic>
#include <cstdio>
#include <utility>

namespace boxcar::io {
namespace {

std::string temporaryPathFor(const std::string& path) {
  static std::atomic<unsigned> count = 0;
  return fmt::format("{}.{}-{}.tmp", path, ::getpid(), count.fetch_add(1));
}

}  // namespace

OutputFile::OutputFile(std::string path)
    : path_(std::move(path)),
      temporary_path_(temporaryPathFor(path_)),
      file_(::open(temporary_path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)) {
  if (!file_.isOpen()) fail();
}

OutputFile::~OutputFile() {
  if (!committed_) ::unlink(temporary_path_.c_str());
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

void OutputFile::commit() {
  // On the disk before it has the name: a crash leaves the old file or the new one.
  if (::fsync(file_.get()) != 0 || !file_.close()) fail();
  if (std::rename(temporary_path_.c_str(), path_.c_str()) != 0) fail();
  committed_ = true;
}

void OutputFile::fail() const { BOXCAR_FAIL("cannot write '{}': {}", path_, lastSystemError()); }

}  // namespace boxcar::io
