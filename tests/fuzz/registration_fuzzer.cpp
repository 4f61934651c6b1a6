// Bytes, each a choice -> registrations, removals and calls -> the same results and tables as those of the model.

#include <optional>
#include <string>

#include "tests/dispatcher/registry/registration_program.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace boxcar;
  constexpr size_t kMostSteps = 200;
  constexpr size_t kStepsBetween = 10;  // between two checks of all table entries, which are slow
  size_t at = 0;
  RegistrationProgram program([&](size_t bound) { return at < size ? data[at++] % bound : 0; });
  for (size_t step = 0; at < size && step < kMostSteps; ++step) {
    if (const auto difference = program.step()) fuzz::require(false, *difference);
    if (step % kStepsBetween != 0) continue;
    if (const auto difference = program.compareTables()) fuzz::require(false, *difference);
  }
  if (const auto difference = program.compareTables()) fuzz::require(false, *difference);
  return 0;
}
