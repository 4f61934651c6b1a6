#pragma once

#include <boxcar/dispatcher/handlers/handler.h>
#include <boxcar/dispatcher/handlers/handler_kinds.h>
#include <boxcar/ivalue/macros.h>

#include <cstdint>
#include <memory>
#include <string>

namespace boxcar {

// Counts the bytes of the storages that are allocated under it, by the operator whose kernel allocates them and the
// script line that calls it. Frees are counted on any thread until finish(), which lists the storages still alive by
// operator and line. A storage that is resized counts as freed and allocated again. Copies that checkers make do not
// count.
class BOXCAR_API MemoryTracker final : public Handler {
 public:
  MemoryTracker();
  ~MemoryTracker() override;

  void call(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) override;
  ModeOptions modeOptions() const override { return {.sees_calls_below = true}; }
  std::shared_ptr<void> enter() override;
  std::string finish(bool failed) override;

  // The bytes that are live now, and the peak.
  uint64_t liveBytes() const;
  uint64_t peakBytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

extern const HandlerKind kMemoryKind;

}  // namespace boxcar
