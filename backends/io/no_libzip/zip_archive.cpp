#include <boxcar/backends/io/zip_archive.h>
#include <boxcar/ivalue/error.h>

namespace boxcar::io {

struct ZipArchive::Handle {};
struct ZipReader::Handle {};

ZipArchive::ZipArchive(std::span<const std::byte>, const std::string& path) {
  BOXCAR_FAIL(
      "'{}' cannot be loaded: this boxcar was built without libzip, which reads .npz files; install libzip-dev and "
      "build it again, or save each array with numpy.save and load it with io::load_npy",
      path);
}
ZipArchive::~ZipArchive() = default;

bool ZipArchive::isAvailable() noexcept { return false; }

// There is no archive to read from.
ZipReader::ZipReader(ZipArchive&, const ZipMember&, const std::string& what) : what_(what) {}
ZipReader::~ZipReader() = default;
void ZipReader::read(std::span<std::byte>) {}
void ZipReader::finish() {}

}  // namespace boxcar::io
