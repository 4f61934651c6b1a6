#pragma once

#include <boxcar/dispatcher/fallbacks/recording.h>
#include <boxcar/dispatcher/fallbacks/value_difference.h>
#include <boxcar/ivalue/macros.h>

#include <cstddef>
#include <optional>
#include <string>

namespace boxcar {

// Where two runs part.
struct RecordingDifference {
  size_t call;       // the first one that is not alike, counted from 0
  std::string what;  // "result: 3 of 6 elements differ, …"
};

// Compares the runs call by call: operators, inputs, outputs, failures; elements by the tolerance where both recordings
// keep them, by their hashes where one has these, and not where one has shapes alone. Devices and script lines do not
// count. Nor do elements before the call of what it writes, of what it only makes a view of, and those of memory that
// nobody has set; and with a tolerance, what is printed. Nothing where the runs are alike.
BOXCAR_API std::optional<RecordingDifference> findDifference(const Recording& a, const Recording& b,
                                                             const Tolerance& tolerance = {});

// What people are to read, some lines: the call with both script lines, and the calls before it.
BOXCAR_API std::string describeDifference(const Recording& a, const Recording& b,
                                          const std::optional<RecordingDifference>& difference);

}  // namespace boxcar
