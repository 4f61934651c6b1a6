#pragma once

#include <string_view>

namespace boxcar::native {

// Throws if this thread's work is recorded for replay without the program. Set by the CUDA backend.
using RefuseRecording = void(std::string_view what);
inline constinit RefuseRecording* refuse_recording = nullptr;

// Throws Error if work is recorded. Called by CPU kernels whose effects or results would have to be repeated in every
// replay. [what] describes it, such as "reads a file".
inline void refuseWhereRecorded(std::string_view what) {
  if (refuse_recording != nullptr) refuse_recording(what);
}

}  // namespace boxcar::native
