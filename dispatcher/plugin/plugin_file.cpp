#include <boxcar/dispatcher/plugin/plugin_file.h>
#include <boxcar/ivalue/error.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <system_error>

namespace boxcar {
namespace {

constexpr std::string_view kSection = ".boxcar_plugin";

// An ELF file (the format of shared libraries), read piece by piece. Its offsets and lengths are not trusted: every
// read checks that the bytes exist.
class SharedLibraryFile final {
 public:
  explicit SharedLibraryFile(const std::string& path)
      : path_(path), number_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    BOXCAR_CHECK(number_ >= 0,
                 "plugin {} cannot be opened: {}; give the path of the file, relative to the current directory", path_,
                 systemError());
  }
  SharedLibraryFile(const SharedLibraryFile&) = delete;
  SharedLibraryFile& operator=(const SharedLibraryFile&) = delete;
  ~SharedLibraryFile() { close(number_); }

  struct stat status() const {
    struct stat status;
    BOXCAR_CHECK(fstat(number_, &status) == 0, "plugin {} cannot be read: {}", path_, systemError());
    BOXCAR_CHECK(!S_ISDIR(status.st_mode), "plugin {} is a directory; give the path of the shared library in it",
                 path_);
    return status;
  }

  // Reads up to [bytes] from the start of the section called kSection; returns the number of bytes read.
  size_t readSection(void* target, size_t bytes) const {
    ElfW(Ehdr) header;
    BOXCAR_CHECK(
        read(0, &header, sizeof(header)) && isSharedLibrary(header),
        "plugin {} is not a shared library for this machine; build one with boxcar_add_plugin(), a function of "
        "boxcar's CMake package",
        path_);
    ElfW(Shdr) names;
    if (!readSectionHeader(header, header.e_shstrndx, names)) return 0;
    for (size_t i = 0; i < header.e_shnum; ++i) {
      ElfW(Shdr) section;
      if (!readSectionHeader(header, i, section)) return 0;
      char name[kSection.size() + 1];
      if (!read(names.sh_offset + section.sh_name, name, sizeof(name))) continue;
      if (std::string_view(name, sizeof(name)) != std::string_view(kSection.data(), sizeof(name))) continue;
      const size_t length = section.sh_size < bytes ? section.sh_size : bytes;
      return section.sh_type == SHT_PROGBITS && read(section.sh_offset, target, length) ? length : 0;
    }
    return 0;
  }

 private:
  static std::string systemError() { return std::generic_category().message(errno); }

  static bool isSharedLibrary(const ElfW(Ehdr) & header) {
    constexpr int kClass = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
    return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == kClass &&
           header.e_type == ET_DYN;
  }

  bool readSectionHeader(const ElfW(Ehdr) & header, size_t index, ElfW(Shdr) & section) const {
    return index < header.e_shnum && header.e_shentsize == sizeof(section) &&
           read(header.e_shoff + index * sizeof(section), &section, sizeof(section));
  }

  // Returns whether all bytes could be read.
  bool read(uint64_t offset, void* target, size_t bytes) const {
    return offset <= INT64_MAX &&
           pread(number_, target, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
  }

  const std::string& path_;
  const int number_;
};

std::string canonicalPath(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> resolved(realpath(path.c_str(), nullptr), &std::free);
  return resolved == nullptr ? path : resolved.get();
}

void checkStamp(const PluginStamp& stamp, size_t bytes, const std::string& path) {
  BOXCAR_CHECK(bytes >= PluginStamp::kFirstBytes && stamp.magic.view() == PluginStamp::kMagic,
               "plugin {} has no stamp with the version of boxcar that it was built for; write BOXCAR_PLUGIN(\"name\", "
               "\"version\"); in one of its source files",
               path);
  BOXCAR_CHECK(stamp.boxcar_version.view() == BOXCAR_VERSION,
               "plugin {} was built for boxcar {}, but this is boxcar {}; build it with this one's headers", path,
               stamp.boxcar_version.view(), BOXCAR_VERSION);
  BOXCAR_CHECK(
      stamp.format == PluginStamp::kFormat && stamp.bytes == sizeof(PluginStamp) && bytes == sizeof(PluginStamp),
      "plugin {} has a stamp of format {} and {} bytes, but that of boxcar {} has format {} and {} bytes; build "
      "the plugin again",
      path, stamp.format, stamp.bytes, BOXCAR_VERSION, PluginStamp::kFormat, sizeof(PluginStamp));
  static constexpr detail::AbiText kAbi = detail::makeAbiText();
  BOXCAR_CHECK(stamp.abi.view() == kAbi.view(),
               "plugin {} was compiled for {}, but this boxcar for {}; build the plugin with the compiler flags and "
               "libraries that boxcar was built with",
               path, stamp.abi.view(), kAbi.view());
}

}  // namespace

PluginFile readPluginFile(const std::string& path) {
  BOXCAR_CHECK(!path.empty(), "the path of a plugin is empty; give that of a shared library");
  const SharedLibraryFile library(path);
  const struct stat status = library.status();
  PluginFile file{};
  checkStamp(file.stamp, library.readSection(&file.stamp, sizeof(file.stamp)), path);
  file.path = canonicalPath(path);
  file.device = status.st_dev;
  file.inode = status.st_ino;
  file.modified = int64_t{status.st_mtim.tv_sec} * 1000000000 + status.st_mtim.tv_nsec;
  return file;
}

}  // namespace boxcar
