#pragma once

#include <boxcar/dispatcher/handlers/record/recording.h>
#include <boxcar/dispatcher/values/value_difference.h>
#include <boxcar/ivalue/macros.h>

#include <cstddef>
#include <optional>
#include <string>

namespace boxcar {

// Where two runs diverge.
struct RecordingDifference {
  size_t call;       // the first call that differs, counted from 0
  std::string what;  // "result: 3 of 6 elements differ, …"
};

// Compares the runs call by call: operators, inputs, outputs and failures. Elements are compared within the tolerance
// if both recordings keep them, by hash if one keeps hashes, and not at all if one keeps only shapes. Ignored are:
// devices; script lines; the elements, before the call, of tensors that it writes or only makes views of; elements of
// uninitialised memory; and, with a tolerance, printed text. Returns no value if the runs are alike.
BOXCAR_API std::optional<RecordingDifference> findDifference(const Recording& a, const Recording& b,
                                                             const Tolerance& tolerance = {});

// Returns a few lines for the user: the call with both script lines, and the calls before it.
BOXCAR_API std::string describeDifference(const Recording& a, const Recording& b,
                                          const std::optional<RecordingDifference>& difference);

}  // namespace boxcar
