#pragma once

#include <string_view>

namespace boxcar::dense {

// Throws where this thread's work is recorded, to be done again later without the program. Set by the backend of CUDA.
using RefuseRecording = void(std::string_view what);
inline constinit RefuseRecording* refuse_recording = nullptr;

// Called by kernels on the CPU that do or learn something that would have to happen anew each time: an Error where the
// work is recorded. [what] says it: "reads a file".
inline void refuseWhereRecorded(std::string_view what) {
  if (refuse_recording != nullptr) refuse_recording(what);
}

}  // namespace boxcar::dense
