#pragma once

#include <boxcar/dispatcher/handlers/record/recording.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace boxcar {

// Values of a call as they were at one moment.
struct RebuiltValues {
  std::vector<Tensor> tensors;  // those of the moment, in its order
  std::vector<IValue> values;
};

// As Recording::rebuildArguments, for any values of a call; their tensor numbers refer to [moment].
RebuiltValues rebuild(const Recording& recording, const RecordedMoment& moment, std::span<const RecordedValue> values,
                      std::optional<Device> device);

// Returns the text of a value that could not be recorded and keeps [values] from being rebuilt; no value if all can be
// rebuilt.
std::optional<std::string> findOpaque(std::span<const RecordedValue> values);

}  // namespace boxcar
