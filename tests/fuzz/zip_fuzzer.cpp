// A zip archive -> every member read, and, of a program of torch.export's, its tensors loaded.

#include <boxcar/backends/io/mapped_file.h>
#include <boxcar/backends/io/pt2.h>
#include <boxcar/backends/io/zip_archive.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/tensor_check.h"

namespace boxcar {
namespace {

using fuzz::require;

void readMember(const io::ZipArchive& archive, const io::ZipMember& member) {
  require(archive.find(member.name) == &member, "a member is not found by its name");
  const std::vector<std::byte> content = archive.read(member);
  require(content.size() == member.size, "a member has another size than its archive says");
  if (member.is_stored)
    require(std::ranges::equal(content, archive.stored(member)), "the copy of a member differs from what lies there");
}

}  // namespace
}  // namespace boxcar

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace boxcar;
  const fuzz::MemoryFile input(data, size);
  fuzz::runToError([&] {
    const auto file = makeIntrusive<io::MappedFile>(input.path());
    const io::ZipArchive archive(file->bytes(), input.path());
    for (const io::ZipMember& member : archive.members()) fuzz::runToError([&] { readMember(archive, member); });
    const std::optional<std::string> folder = io::findPt2Folder(archive);
    if (!folder.has_value()) return;
    const Dict<std::string, Tensor> tensors = io::loadPt2(file, archive, *folder, input.path());
    for (size_t i = 0; i < tensors.size(); ++i) {
      constexpr int64_t kMost = 1 << 16;  // an expanded tensor can have any number of elements
      if (tensors.entryAt(i).second.numel() <= kMost) fuzz::readElements(tensors.entryAt(i).second);
    }
  });
  return 0;
}
