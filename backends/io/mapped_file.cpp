#include <boxcar/backends/io/mapped_file.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/file_access.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <utility>

namespace boxcar::io {

MappedFile::MappedFile(std::string_view path) {
  FileDescriptor file = openForReading(path);
  struct stat status {};
  BOXCAR_CHECK(::fstat(file.get(), &status) == 0, "cannot read '{}': {}", resolvePath(path), lastSystemError());
  const auto size = static_cast<size_t>(status.st_size);
  if (size == 0) return;
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file.get(), 0);
  BOXCAR_CHECK(memory != MAP_FAILED, "cannot map the {} bytes of '{}' into memory: {}", size, resolvePath(path),
               lastSystemError());
  bytes_ = {static_cast<std::byte*>(memory), size};
  memory_.emplace(bytes_, std::move(file));
}

MappedFile::~MappedFile() {
  memory_.reset();
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

}  // namespace boxcar::io
