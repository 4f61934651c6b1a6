#pragma once

#include <boxcar/dispatcher/fallbacks/handler.h>
#include <boxcar/dispatcher/fallbacks/handler_kinds.h>
#include <boxcar/ivalue/macros.h>

#include <cstdint>
#include <memory>
#include <string>

namespace boxcar {

// Counts the bytes of the storages that are allocated under it, by the operator whose kernel allocates them and the
// line of the script that calls it. What is freed later, on any thread, is counted until finish(); a storage that is
// resized counts as freed and allocated anew. The copies that checkers make do not count. What still lives then is
// listed by operator and line.
class BOXCAR_API MemoryTracker final : public Handler {
 public:
  MemoryTracker();
  ~MemoryTracker() override;

  void call(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) override;
  ModeOptions modeOptions() const override { return {.sees_calls_below = true}; }
  std::shared_ptr<void> enter() override;
  std::string finish(bool failed) override;

  // The bytes that live now, and at most lived at once.
  uint64_t liveBytes() const;
  uint64_t peakBytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

extern const HandlerKind kMemoryKind;

}  // namespace boxcar
