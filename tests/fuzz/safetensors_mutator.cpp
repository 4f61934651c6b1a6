// Repairs the header length: the header ends with the last brace.

#include "tests/fuzz/mutator.h"

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  using namespace boxcar::fuzz;
  constexpr size_t kLengthBytes = 8;
  size = LLVMFuzzerMutate(data, size, most);
  if (!isMended(seed)) return size;
  for (size_t end = size; end > kLengthBytes; --end) {
    if (data[end - 1] != '}') continue;
    writeNumber<uint64_t>(data, end - kLengthBytes);
    break;
  }
  return size;
}
