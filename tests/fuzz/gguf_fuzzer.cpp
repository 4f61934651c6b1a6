// A GGUF file -> its tensors, which lie in the file.

#include <boxcar/backends/io/gguf.h>
#include <boxcar/backends/io/mapped_file.h>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/tensor_check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace boxcar;
  const fuzz::MemoryFile file(data, size);
  fuzz::runToError([&] {
    const Dict<std::string, Tensor> tensors = io::loadGguf(makeIntrusive<io::MappedFile>(file.path()), "x.gguf");
    for (const auto& entry : tensors) fuzz::readElements(entry.value());
  });
  return 0;
}
