#pragma once

#include <boxcar/dispatcher/handlers/handler.h>
#include <boxcar/dispatcher/handlers/handler_kinds.h>
#include <boxcar/dispatcher/handlers/record/recorded_call.h>
#include <boxcar/ivalue/macros.h>

#include <memory>
#include <string>
#include <string_view>

namespace boxcar {

class RecordingWriter;

// Writes every call that a program makes to a recording (recording.h), which can be replayed, compared with another
// recording, and measured. For operators whose kernel is a script, and operators with any number of arguments, the
// calls inside them are recorded instead. Other C++ operators are one call, whatever they call themselves.
//
//   Recorder recorder("run.rec");
//   {
//     const HandlerGuard on(recorder);
//     model(x);
//   }
//   recorder.finish(false);
class BOXCAR_API Recorder final : public Handler {
 public:
  // The file at [path] appears when the recorder is finished. Throws Error if it cannot be written.
  explicit Recorder(std::string_view path, RecordedContent content = RecordedContent::Full);
  ~Recorder() override;

  // Besides what the call throws, throws Error if a device's elements cannot be copied, or if the file cannot be
  // written.
  void call(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) override;
  // If a program failed before its first call, no file appears.
  std::string finish(bool failed) override;

 private:
  const std::string path_;
  const RecordedContent content_;
  const std::unique_ptr<RecordingWriter> writer_;
};

// Returns what recordings hold for the two flags of commands and handlers; at most one flag may be set.
BOXCAR_API RecordedContent recordedContent(bool shapes, bool hashes);

extern const HandlerKind kRecordKind;

}  // namespace boxcar
