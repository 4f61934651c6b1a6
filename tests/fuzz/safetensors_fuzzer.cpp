// A safetensors file -> loaded -> saved -> loaded again: the same tensors.

#include <boxcar/backends/io/safetensors.h>

#include <string>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/tensor_check.h"

namespace boxcar {
namespace {

using fuzz::require;

void loadTwice(const std::string& path, const std::string& copy) {
  const Dict<std::string, Tensor> tensors = io::loadSafetensors(path);
  for (size_t i = 0; i < tensors.size(); ++i) fuzz::readElements(tensors.entryAt(i).second);
  Dict<std::string, Tensor> again;
  try {
    io::saveSafetensors(tensors, copy);
    again = io::loadSafetensors(copy);
  } catch (const Error& error) {
    require(false, error.message());  // loaded tensors can be saved and loaded again
  }
  require(again.size() == tensors.size(), "another number of tensors came back");
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto [name, tensor] = tensors.entryAt(i);
    require(again.entryAt(i).first == name, "tensors came back under other names, or in another order");
    require(fuzz::areEqual(tensor, again.entryAt(i).second), "a tensor came back as another");
  }
}

}  // namespace
}  // namespace boxcar

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace boxcar;
  const fuzz::MemoryFile file(data, size);
  static const fuzz::OutputName copy;
  fuzz::runToError([&] { loadTwice(file.path(), copy.path()); });
  fuzz::runToError([&] { io::loadSafetensorsMetadata(file.path()); });
  return 0;
}
