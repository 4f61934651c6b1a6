// Text -> compiled -> run.

#include <boxcar/interpreter/program.h>

#include <new>
#include <string>

#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  boxcar::fuzz::runHarmlessly([&] {
    try {
      boxcar::Program program =
          boxcar::Program::compile(std::string(reinterpret_cast<const char*>(data), size), "fuzz.ops");
      program.setLimits(boxcar::fuzz::kLimits);
      program.run({"argument"});
    } catch (const std::bad_alloc&) {
      // While it was compiled: an embedding program meets this too.
    }
  });
  return 0;
}
