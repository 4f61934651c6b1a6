#include <boxcar/backends/native/file_memory.h>
#include <boxcar/ivalue/storage.h>
#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace boxcar::native {
namespace {

// Of smaller tensors and files, pages that stay do not matter.
constexpr size_t kLeastBytes = size_t{256} << 10;
// A program may keep thousands of files' tensors, but may not have as many open files.
constexpr size_t kMostFiles = 64;

struct OpenMapping {
  size_t bytes;
  std::shared_ptr<const FileDescriptor> file;
};

// By the address of the first byte.
struct OpenMappings {
  std::mutex mutex;
  std::map<const std::byte*, OpenMapping> all;
};

OpenMappings& openMappings() {
  // Never destroyed: tensors may die when the process ends.
  static auto& mappings = *new OpenMappings;
  return mappings;
}

// Whether the process has none of the pages, or has them as they are in the file: a page that was written to is no
// longer one of the file's.
bool arePagesOfFile(uintptr_t begin, size_t bytes, size_t page) {
  // The entries of /proc/PID/pagemap.
  constexpr uint64_t kIsPresent = uint64_t{1} << 63;
  constexpr uint64_t kIsSwapped = uint64_t{1} << 62;
  constexpr uint64_t kIsOfFile = uint64_t{1} << 61;
  const FileDescriptor map(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
  if (!map.isOpen()) return false;
  std::vector<uint64_t> entries(bytes / page);
  const size_t size = entries.size() * sizeof(uint64_t);
  const auto offset = static_cast<off_t>(begin / page * sizeof(uint64_t));
  if (::pread(map.get(), entries.data(), size, offset) != static_cast<ssize_t>(size)) return false;
  return std::ranges::all_of(entries, [](uint64_t entry) {
    return (entry & kIsSwapped) == 0 && ((entry & kIsPresent) == 0 || (entry & kIsOfFile) != 0);
  });
}

// Returns how many bytes the elements take, from the first to the last.
size_t extentOf(const Tensor& tensor) {
  int64_t last = 0;
  for (size_t i = 0; i < tensor.sizes().size(); ++i) last += (tensor.sizes()[i] - 1) * tensor.strides()[i];
  return static_cast<size_t>(last + 1) * tensor.itemsize();
}

struct Pages {
  void* begin;
  size_t bytes;
};

struct PlaceInFile {
  std::shared_ptr<const FileDescriptor> file;  // null if the elements lie elsewhere
  size_t offset = 0;
  size_t extent = 0;
};

PlaceInFile placeOf(const Tensor& tensor) {
  if (!tensor.is_cpu() || tensor.numel() == 0) return {};
  const size_t extent = extentOf(tensor);
  if (extent < kLeastBytes) return {};
  const auto* const first = static_cast<const std::byte*>(tensor.data_ptr());
  OpenMappings& mappings = openMappings();
  const std::lock_guard guard(mappings.mutex);
  auto found = mappings.all.upper_bound(first);
  if (found == mappings.all.begin()) return {};
  --found;
  const auto offset = static_cast<size_t>(first - found->first);
  if (offset > found->second.bytes || extent > found->second.bytes - offset) return {};
  return {found->second.file, offset, extent};
}

}  // namespace

FileMemory::FileMemory(std::span<const std::byte> bytes, FileDescriptor file) {
  if (bytes.size() < kLeastBytes) return;
  OpenMappings& mappings = openMappings();
  const std::lock_guard guard(mappings.mutex);
  if (mappings.all.size() >= kMostFiles) return;
  mappings.all.emplace(bytes.data(),
                       OpenMapping{bytes.size(), std::make_shared<const FileDescriptor>(std::move(file))});
  begin_ = bytes.data();
}

FileMemory::~FileMemory() {
  if (begin_ == nullptr) return;
  OpenMappings& mappings = openMappings();
  const std::lock_guard guard(mappings.mutex);
  mappings.all.erase(begin_);
}

bool liesInFile(const Tensor& tensor) { return placeOf(tensor).file != nullptr; }

Tensor readOnce(const Tensor& tensor) {
  const auto [file, offset, extent] = placeOf(tensor);
  if (file == nullptr) return tensor;
  const auto* const first = static_cast<const std::byte*>(tensor.data_ptr());
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t before = offset % page;
  const size_t bytes = (before + extent + page - 1) / page * page;
  if (!arePagesOfFile(reinterpret_cast<uintptr_t>(first) - before, bytes, page)) return tensor;
  void* const memory =
      ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file->get(), static_cast<off_t>(offset - before));
  if (memory == MAP_FAILED) return tensor;
  auto pages = std::make_unique<Pages>(Pages{memory, bytes});
  const Storage storage = StorageImpl::wrap(
      static_cast<std::byte*>(memory) + before, extent, Device(DeviceType::CPU),
      [](void*, void* context) {
        const std::unique_ptr<Pages> own(static_cast<Pages*>(context));
        ::munmap(own->begin, own->bytes);
      },
      pages.release());
  return Tensor(makeIntrusive<TensorImpl>(storage, tensor.scalar_type(), tensor.sizes(), tensor.strides(), 0));
}

}  // namespace boxcar::native
