#pragma once

#include <boxcar/dispatcher/handlers/record/recording.h>
#include <boxcar/dispatcher/values/value_difference.h>
#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/macros.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace boxcar {

struct ReplayOptions {
  Tolerance tolerance = {};
  // The device for the arguments' tensors, whatever device they were on.
  std::optional<Device> device = std::nullopt;
  // The counter of processed calls, for monitoring; a signal handler of the thread may read it.
  volatile uint64_t* calls_made = nullptr;
};

// The outcome of the calls of a recording when they were made again.
struct ReplayReport {
  std::string path;
  bool is_on_meta = false;  // meta tensors have no elements, so only dtypes and shapes are compared
  size_t calls = 0;
  size_t equal = 0;
  size_t differing = 0;
  size_t failing = 0;  // calls that did not fail when they were recorded
  size_t missing = 0;  // no such operator is registered, or its schema differs
  size_t outside = 0;  // not made: they would act outside of the program
  size_t opaque = 0;   // not made: an argument could not be recorded
  size_t fake = 0;     // not made: a tensor was fake
  // The findings, in call order: the first ones of each kind.
  std::vector<std::string> findings;

  bool agrees() const noexcept { return differing + failing + missing == 0; }
};

// Makes every call of [recording] again, each with its own arguments, and compares what it returns and writes, and how
// it fails. Random operators draw from the recorded generator state. Throws Error for a recording without elements,
// because there is nothing to compare with.
BOXCAR_API ReplayReport replay(const Recording& recording, const ReplayOptions& options = {});

// Returns a few lines for the user.
BOXCAR_API std::string toString(const ReplayReport& report);

}  // namespace boxcar
