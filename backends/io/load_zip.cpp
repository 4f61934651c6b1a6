#include <boxcar/backends/io/mapped_file.h>
#include <boxcar/backends/io/zip_archive.h>
#include <boxcar/backends/io/zip_storage.h>
#include <boxcar/backends/native/recorded_work.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/file_access.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace boxcar::io {
namespace {

// Loads the members of a zip archive as bytes, by name. Folders have no content and are left out.
Dict<std::string, Tensor> loadMembers(std::string_view path) {
  native::refuseWhereRecorded("reads a file");
  const std::string resolved = resolvePath(path);
  const auto file = makeIntrusive<MappedFile>(path);
  const ZipArchive archive(file->bytes(), resolved);
  Dict<std::string, Tensor> members;
  for (const ZipMember& member : archive.members()) {
    if (member.isFolder()) continue;
    const Storage storage = storageOfMember(file, archive, member, alignof(uint8_t));
    const int64_t size[] = {static_cast<int64_t>(member.size)};
    const int64_t stride[] = {1};
    members.insert_or_assign(member.name,
                             Tensor(makeIntrusive<TensorImpl>(storage, ScalarType::Byte, size, stride, int64_t{0})));
  }
  return members;
}

}  // namespace

BOXCAR_LIBRARY_IMPL(io, CompositeExplicitAutograd, m) { m.impl("load_zip", BOXCAR_FN(loadMembers)); }

}  // namespace boxcar::io
