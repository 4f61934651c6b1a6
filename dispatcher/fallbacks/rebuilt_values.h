#pragma once

#include <boxcar/dispatcher/fallbacks/recording.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace boxcar {

// Values of a call as they were at one moment.
struct RebuiltValues {
  std::vector<Tensor> tensors;  // of the moment, in its order
  std::vector<IValue> values;
};

// What Recording::rebuildArguments promises, for any values of a call and the [moment] that they name tensors of.
RebuiltValues rebuild(const Recording& recording, const RecordedMoment& moment, std::span<const RecordedValue> values,
                      std::optional<Device> device);

// What keeps [values] from being rebuilt: the text of one that could not be written down. Nothing where all can.
std::optional<std::string> findOpaque(std::span<const RecordedValue> values);

}  // namespace boxcar
