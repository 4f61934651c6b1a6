// A .npy file, or an .npz archive of them -> loaded -> each array saved -> loaded again: the same.

#include <boxcar/backends/io/file_kind.h>
#include <boxcar/backends/io/mapped_file.h>
#include <boxcar/backends/io/npy.h>
#include <boxcar/backends/io/npz.h>
#include <boxcar/backends/io/zip_archive.h>

#include <string>
#include <vector>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/tensor_check.h"

namespace boxcar {
namespace {

using fuzz::require;

std::vector<Tensor> load(const std::string& path) {
  const auto mapped = makeIntrusive<io::MappedFile>(path);
  if (!io::isZip(mapped->bytes())) return {io::loadNpy(path)};
  std::vector<Tensor> tensors;
  const Dict<std::string, Tensor> loaded = io::loadNpz(io::ZipArchive(mapped->bytes(), path), path);
  for (size_t i = 0; i < loaded.size(); ++i) tensors.push_back(loaded.entryAt(i).second);
  return tensors;
}

}  // namespace
}  // namespace boxcar

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace boxcar;
  const fuzz::MemoryFile file(data, size);
  static const fuzz::OutputName copy;
  std::vector<Tensor> tensors;
  fuzz::runToError([&] { tensors = load(file.path()); });
  // Loaded tensors can be saved and loaded again.
  for (const Tensor& tensor : tensors) {
    fuzz::readElements(tensor);
    try {
      io::saveNpy(tensor, copy.path());
      require(fuzz::areEqual(tensor, io::loadNpy(copy.path())), "an array came back as another");
    } catch (const Error& error) {
      require(false, error.message());
    }
  }
  return 0;
}
