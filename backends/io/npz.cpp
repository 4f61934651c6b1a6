#include <boxcar/backends/io/file_kind.h>
#include <boxcar/backends/io/npy_elements.h>
#include <boxcar/backends/io/npy_header.h>
#include <boxcar/backends/io/npz.h>
#include <boxcar/backends/io/zip_archive.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/python_text.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace boxcar::io {
namespace {

// Far more than any array description with the maximum number of dimensions needs.
constexpr uint64_t kLongestHeader = 1 << 20;

Tensor readArray(const ZipArchive& archive, const ZipMember& member) {
  const std::string what = archive.describe(member);
  ZipReader reader(archive, member);
  std::vector<std::byte> start(std::min<uint64_t>(member.size, kNpyStartBytes));
  reader.read(start);
  const uint64_t begin = findNpyHeader(start, member.size, what).end;
  BOXCAR_CHECK(begin <= kLongestHeader, "{} cannot be loaded: its header ends at byte {}, and at most {} are read",
               what, begin, kLongestHeader);
  start.resize(begin);  // shorter members cannot describe an array
  reader.read(std::span(start).subspan(std::min<uint64_t>(kNpyStartBytes, begin)));
  const NpyHeader header = parseNpyHeader(start, what);
  checkNpyLength(header, member.size - begin, what);

  const Storage storage = StorageImpl::allocate(member.size - begin, Device(DeviceType::CPU));
  const std::span<std::byte> elements(static_cast<std::byte*>(storage->data()), storage->nbytes());
  reader.read(elements);
  reader.finish();
  convertNpyElements(header, elements, what);
  return Tensor(makeIntrusive<TensorImpl>(storage, header.dtype, header.shape, npyStrides(header), int64_t{0}));
}

}  // namespace

Dict<std::string, Tensor> loadNpz(const ZipArchive& archive, const std::string& path) {
  std::vector<std::string_view> names;
  for (const ZipMember& member : archive.members()) names.push_back(member.name);
  if (const ForeignKind* kind = findForeignKind(names)) failForeign(*kind, path, "io::load");
  Dict<std::string, Tensor> tensors;
  for (const ZipMember& member : archive.members()) {
    std::string key = member.name;
    if (key.ends_with(".npy")) key.resize(key.size() - 4);
    BOXCAR_CHECK(!tensors.contains(key), "{} cannot be loaded: another array of the archive is called {}, too",
                 archive.describe(member), pythonStringRepr(key));
    tensors.insert_or_assign(std::move(key), readArray(archive, member));
  }
  return tensors;
}

}  // namespace boxcar::io
