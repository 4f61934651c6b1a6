#pragma once

#include <boxcar/dispatcher/handlers/record/recorder.h>
#include <boxcar/dispatcher/handlers/record/recording.h>

#include <string>

#include "tests/temporary_folder.h"

namespace boxcar {

// Records the calls of [body] into a file and opens it.
inline Recording recordingOf(const std::string& path, auto&& body, RecordedContent content = RecordedContent::Full) {
  Recorder recorder(path, content);
  {
    const HandlerGuard on(recorder);
    body();
  }
  recorder.finish(false);
  return Recording::open(path);
}

inline std::string nameOf(const Recording& recording, size_t call) {
  return toString(recording.operatorOf(recording.calls().at(call)).schema.operator_name());
}

}  // namespace boxcar
