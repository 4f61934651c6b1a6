#include <boxcar/backends/io/tensor_file.h>
#include <boxcar/backends/io/zip_storage.h>

#include <cstdint>
#include <span>

namespace boxcar::io {

Storage storageOfMember(const IntrusivePtr<MappedFile>& file, const ZipArchive& archive, const ZipMember& member,
                        size_t alignment) {
  if (member.is_stored && member.size != 0) {
    const std::span<const std::byte> bytes = archive.stored(member);
    if (reinterpret_cast<uintptr_t>(bytes.data()) % alignment == 0) return storageInFile(file, bytes);
  }
  Storage storage = StorageImpl::allocate(member.size, Device(DeviceType::CPU));
  archive.read(member, {static_cast<std::byte*>(storage->data()), storage->nbytes()});
  return storage;
}

}  // namespace boxcar::io
