#include <boxcar/backends/io/zip_archive.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/python_text.h>
#include <dlfcn.h>
#include <zip.h>

#include <algorithm>
#include <string_view>

namespace boxcar::io {
namespace {

// The libzip functions that are used.
#define BOXCAR_ZIP_FUNCTIONS(X) \
  X(zip_discard)                \
  X(zip_error_code_zip)         \
  X(zip_error_fini)             \
  X(zip_error_init)             \
  X(zip_error_strerror)         \
  X(zip_fclose)                 \
  X(zip_file_get_error)         \
  X(zip_fopen_index)            \
  X(zip_fread)                  \
  X(zip_get_error)              \
  X(zip_get_num_entries)        \
  X(zip_open_from_source)       \
  X(zip_source_buffer_create)   \
  X(zip_source_free)            \
  X(zip_stat_index)

// libzip is opened with the first archive, so programs that read none do not wait for it.
struct ZipLibrary {
#define X(name) decltype(&::name) name = nullptr;
  BOXCAR_ZIP_FUNCTIONS(X)
#undef X
  std::string missing;  // why it cannot be used; "" if it can

  ZipLibrary() {
    void* library = nullptr;
    // The functions used are the same in both versions.
    for (const char* file : {"libzip.so.5", "libzip.so.4"}) {
      if (library == nullptr) library = ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
      if (library == nullptr) missing = ::dlerror();
    }
    if (library == nullptr) return;
    missing.clear();
#define X(name)                                                     \
  name = reinterpret_cast<decltype(name)>(::dlsym(library, #name)); \
  if (name == nullptr) missing = "it has no " #name;
    BOXCAR_ZIP_FUNCTIONS(X)
#undef X
  }
};

const ZipLibrary& libzip() {
  static const ZipLibrary library;
  return library;
}

// Returns libzip's description of an error.
std::string textOf(zip_error_t* error) {
  if (libzip().zip_error_code_zip(error) == ZIP_ER_CRC) return "its bytes do not have the checksum of the archive";
  return libzip().zip_error_strerror(error);
}

class ErrorOfOpening final {
 public:
  ErrorOfOpening() { libzip().zip_error_init(&error_); }
  ~ErrorOfOpening() { libzip().zip_error_fini(&error_); }
  zip_error_t* get() { return &error_; }

 private:
  zip_error_t error_;
};

// Returns a member's validated description; [bytes] is the size of the archive.
ZipMember describe(zip_t* archive, uint64_t index, uint64_t bytes, uint64_t& bytes_before, const std::string& path) {
  zip_stat_t status;
  constexpr zip_uint64_t kNeeded =
      ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
  BOXCAR_CHECK(libzip().zip_stat_index(archive, index, 0, &status) == 0 && (status.valid & kNeeded) == kNeeded,
               "'{}' is not a valid .npz file: its member {} is not described: {}", path, index,
               textOf(libzip().zip_get_error(archive)));
  const std::string what =
      fmt::format("{} in '{}'", pythonStringRepr(std::string_view(status.name).substr(0, 80)), path);
  BOXCAR_CHECK(status.encryption_method == ZIP_EM_NONE,
               "{} cannot be loaded: it is encrypted, and NumPy's archives are not", what);
  BOXCAR_CHECK(status.comp_method == ZIP_CM_STORE || status.comp_method == ZIP_CM_DEFLATE,
               "{} cannot be loaded: it is compressed by method {}, and NumPy's archives are stored (0) or deflated "
               "({}); write it with numpy.savez or numpy.savez_compressed",
               what, status.comp_method, ZIP_CM_DEFLATE);
  // Members that share bytes could expand a small file enormously.
  BOXCAR_CHECK(status.comp_size <= bytes - bytes_before,
               "{} is not in a valid .npz file: its {} bytes and those of the members before it are more than the {} "
               "of the file",
               what, status.comp_size, bytes);
  bytes_before += status.comp_size;
  // A length-distance pair takes at least two bits and stands for at most 258 bytes.
  constexpr uint64_t kMostFromOne = uint64_t{4} * 258;
  const bool fits = status.comp_method == ZIP_CM_STORE ? status.size == status.comp_size
                                                       : status.size / kMostFromOne <= status.comp_size;
  BOXCAR_CHECK(fits, "{} is not valid: it should have {} bytes, which the {} bytes in the archive cannot become", what,
               status.size, status.comp_size);
  return {.name = status.name, .index = index, .size = status.size};
}

}  // namespace

struct ZipArchive::Handle {
  zip_t* archive = nullptr;
  ~Handle() {
    if (archive != nullptr) libzip().zip_discard(archive);
  }
};

ZipArchive::ZipArchive(std::span<const std::byte> file, const std::string& path) : handle_(new Handle) {
  BOXCAR_CHECK(libzip().missing.empty(),
               "'{}' cannot be loaded: libzip, which reads .npz files, cannot be opened ({}); install it, or save each "
               "array with numpy.save and load it with io::load_npy",
               path, libzip().missing);
  ErrorOfOpening error;
  // libzip treats an empty file as a new archive to be filled.
  zip_source_t* const source =
      file.empty() ? nullptr : libzip().zip_source_buffer_create(file.data(), file.size(), 0, error.get());
  if (source != nullptr) handle_->archive = libzip().zip_open_from_source(source, ZIP_RDONLY, error.get());
  if (handle_->archive == nullptr) {
    libzip().zip_source_free(source);
    BOXCAR_FAIL(
        "'{}' is not a valid .npz file: it has {} bytes, and the directory at the end of a zip archive cannot be read: "
        "{}",
        path, file.size(), file.empty() ? "there is none" : textOf(error.get()));
  }
  uint64_t bytes_before = 0;
  const auto count = static_cast<uint64_t>(libzip().zip_get_num_entries(handle_->archive, 0));
  for (uint64_t i = 0; i < count; ++i)
    members_.push_back(describe(handle_->archive, i, file.size(), bytes_before, path));
}
ZipArchive::~ZipArchive() = default;

bool ZipArchive::isAvailable() noexcept { return libzip().missing.empty(); }

struct ZipReader::Handle {
  zip_file_t* file = nullptr;
  uint64_t read = 0;
  uint64_t size = 0;
  ~Handle() {
    if (file != nullptr) libzip().zip_fclose(file);
  }
};

ZipReader::ZipReader(ZipArchive& archive, const ZipMember& member, const std::string& what)
    : handle_(new Handle), what_(what) {
  zip_t* const from = archive.handle_->archive;
  handle_->file = libzip().zip_fopen_index(from, member.index, 0);
  handle_->size = member.size;
  BOXCAR_CHECK(handle_->file != nullptr, "{} cannot be read: {}", what, textOf(libzip().zip_get_error(from)));
}
ZipReader::~ZipReader() = default;

void ZipReader::read(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const zip_int64_t count = libzip().zip_fread(handle_->file, bytes.data(), std::min<size_t>(bytes.size(), 1 << 30));
    BOXCAR_CHECK(count >= 0, "{} cannot be read: behind byte {} of {}: {}", what_, handle_->read, handle_->size,
                 textOf(libzip().zip_file_get_error(handle_->file)));
    BOXCAR_CHECK(count > 0, "{} cannot be read: it ends at byte {} of {}", what_, handle_->read, handle_->size);
    handle_->read += static_cast<uint64_t>(count);
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
}

void ZipReader::finish() {
  std::byte next{};
  const zip_int64_t count = libzip().zip_fread(handle_->file, &next, 1);
  BOXCAR_CHECK(count >= 0, "{} cannot be read: at its end, behind byte {}: {}", what_, handle_->read,
               textOf(libzip().zip_file_get_error(handle_->file)));
  BOXCAR_CHECK(count == 0, "{} cannot be read: it has more than the {} bytes that the archive says", what_,
               handle_->size);
}

}  // namespace boxcar::io
