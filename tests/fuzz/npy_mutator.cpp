// Repairs the header length of a .npy file and, in an archive, the checksums of its stored (uncompressed) members.

#include "tests/fuzz/zip_mender.h"

namespace boxcar::fuzz {
namespace {

// The header ends with the first line.
void mendArray(uint8_t* data, size_t size) {
  if (size < 12 || !begins(data, size, 0, "\x93NUMPY", 6)) return;
  const size_t begin = data[6] == 1 ? 10 : 12;
  const auto* const end = std::find(data + begin, data + size, '\n');
  if (end == data + size) return;
  const auto length = static_cast<size_t>(end + 1 - (data + begin));
  if (data[6] == 1) {
    writeNumber(data + 8, static_cast<uint16_t>(length));
  } else {
    writeNumber(data + 8, static_cast<uint32_t>(length));
  }
}

}  // namespace
}  // namespace boxcar::fuzz

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  using namespace boxcar::fuzz;
  size = LLVMFuzzerMutate(data, size, most);
  if (isMended(seed)) {
    mendArray(data, size);
    mendArchive(data, size, mendArray);
  }
  return size;
}
