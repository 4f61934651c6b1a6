#include <boxcar/backends/io/mapped_file.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/file_descriptor.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace boxcar::io {

MappedFile::MappedFile(const std::string& path) {
  // Opening a pipe must not wait for a writer.
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  BOXCAR_CHECK(file.isOpen(), "cannot open '{}': {}", path, lastSystemError());
  struct stat status {};
  BOXCAR_CHECK(::fstat(file.get(), &status) == 0, "cannot read '{}': {}", path, lastSystemError());
  BOXCAR_CHECK(!S_ISDIR(status.st_mode), "cannot read '{}': it is a folder, not a file", path);
  BOXCAR_CHECK(S_ISREG(status.st_mode), "cannot read '{}': it is no regular file", path);
  const auto size = static_cast<size_t>(status.st_size);
  if (size == 0) return;
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file.get(), 0);
  BOXCAR_CHECK(memory != MAP_FAILED, "cannot map the {} bytes of '{}' into memory: {}", size, path, lastSystemError());
  bytes_ = {static_cast<std::byte*>(memory), size};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

}  // namespace boxcar::io
