#pragma once

#include <boxcar/dispatcher/fallbacks/recording.h>
#include <boxcar/dispatcher/fallbacks/value_difference.h>
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
  // Where the arguments' tensors are put, whatever device they lay on.
  std::optional<Device> device = std::nullopt;
  // Where to count the calls that were gone through, for those who watch; a signal handler of the thread may read it.
  volatile uint64_t* calls_made = nullptr;
};

// How the calls of a recording ended when they were made again.
struct ReplayReport {
  std::string path;
  bool is_on_meta = false;  // tensors there have no elements, so that dtypes and shapes alone are compared
  size_t calls = 0;
  size_t equal = 0;
  size_t differing = 0;
  size_t failing = 0;  // that did not fail when they were recorded
  size_t missing = 0;  // no such operator is registered, or one of another schema
  size_t outside = 0;  // not made: they would act outside of the program
  size_t opaque = 0;   // not made: an argument could not be written down
  // What was found, in the order of the calls: the first ones of each kind.
  std::vector<std::string> findings;

  bool agrees() const noexcept { return differing + failing + missing == 0; }
};

// Makes every call of [recording] again, with arguments of its own, and compares what it returns and writes, and how
// it fails. Random operators draw from where the generator stood. An Error for a recording without elements, which has
// nothing to compare with.
BOXCAR_API ReplayReport replay(const Recording& recording, const ReplayOptions& options = {});

// What people are to read, some lines.
BOXCAR_API std::string toString(const ReplayReport& report);

}  // namespace boxcar
