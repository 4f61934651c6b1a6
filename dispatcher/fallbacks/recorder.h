#pragma once

#include <boxcar/dispatcher/fallbacks/handler.h>
#include <boxcar/dispatcher/fallbacks/handler_kinds.h>
#include <boxcar/dispatcher/fallbacks/recorded_call.h>
#include <boxcar/ivalue/macros.h>

#include <memory>
#include <string>
#include <string_view>

namespace boxcar {

class RecordingWriter;

// Writes every call that a program makes to a recording (recording.h), which can be replayed, compared with another
// one, and measured. Operators that a script computes, and those that take any number of arguments, are gone through to
// the calls in them; others in C++ are one call, whatever they call in their turn.
//
//   Recorder recorder("run.rec");
//   {
//     const HandlerGuard on(recorder);
//     model(x);
//   }
//   recorder.finish(false);
class BOXCAR_API Recorder final : public Handler {
 public:
  // The file at [path] appears when the recorder is finished. An Error where it cannot be written.
  explicit Recorder(std::string_view path, RecordedContent content = RecordedContent::Full);
  ~Recorder() override;

  // Besides what the call throws: an Error where a device's elements cannot be copied, or the file not be written.
  void call(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) override;
  // Without a call, of a program that failed, no file appears.
  std::string finish(bool failed) override;

 private:
  const std::string path_;
  const RecordedContent content_;
  const std::unique_ptr<RecordingWriter> writer_;
};

// What recordings hold for the two flags of commands and handlers, of which one may be set.
BOXCAR_API RecordedContent recordedContent(bool shapes, bool hashes);

extern const HandlerKind kRecordKind;

}  // namespace boxcar
