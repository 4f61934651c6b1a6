// Repairs the checksums of the stored (uncompressed) members of an archive.

#include "tests/fuzz/zip_mender.h"

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  using namespace boxcar::fuzz;
  size = LLVMFuzzerMutate(data, size, most);
  if (isMended(seed)) mendArchive(data, size, [](uint8_t*, size_t) {});
  return size;
}
