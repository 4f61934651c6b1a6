// A pickle, or a checkpoint of PyTorch's in either format -> its values: tensors lie in their storages, nothing
// contains itself.

#include <boxcar/backends/io/checkpoint.h>
#include <boxcar/backends/io/file_kind.h>
#include <boxcar/backends/io/mapped_file.h>
#include <boxcar/backends/io/torch_names.h>

#include <cstring>
#include <span>
#include <string>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/tensor_check.h"

namespace boxcar {
namespace {

IValue load(const IntrusivePtr<io::MappedFile>& file) {
  if (io::isLegacyCheckpoint(file->bytes())) return io::loadLegacyCheckpoint(file, "x.pt");
  if (io::isZip(file->bytes())) {
    const io::ZipArchive archive(file->bytes(), "x.pt");
    return io::isZipCheckpoint(archive) ? io::loadZipCheckpoint(file, archive, "x.pt") : IValue();
  }
  io::TorchNames names([](const io::StorageId& id, const io::PicklePlace& place) {
    if (id.bytes > 1 << 16) place.fail("it is too large for a test");
    const Storage storage = StorageImpl::allocate(id.bytes, Device(DeviceType::CPU));
    std::memset(storage->data(), 1, id.bytes);
    return storage;
  });
  const std::string what = "'x.pt'";
  return io::unpickle(file->bytes(), 0, what, names).value;
}

// Reads what a value holds, once each, up to a depth and a number that real values do not reach.
void visit(const IValue& value, int depth, int& steps) {
  fuzz::require(depth <= 1000, "values are nested too deeply");
  if (++steps > 10'000) return;
  if (value.isTensor() && value.toTensor().numel() < 100'000) fuzz::readElements(value.toTensor());
  if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) visit(entry.value(), depth + 1, steps);
  } else if (value.isGenericList() || value.isTuple()) {
    for (size_t i = 0; i < value.length(); ++i) visit(value.elementAt(i), depth + 1, steps);
  }
}

}  // namespace
}  // namespace boxcar

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace boxcar;
  const fuzz::MemoryFile file(data, size);
  fuzz::runToError([&] {
    const IValue value = load(makeIntrusive<io::MappedFile>(file.path()));
    int steps = 0;
    visit(value, 0, steps);
  });
  return 0;
}
