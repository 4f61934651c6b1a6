#pragma once

#include <boxcar/dispatcher/handlers/handler.h>
#include <boxcar/dispatcher/handlers/handler_kinds.h>
#include <boxcar/ivalue/macros.h>

#include <atomic>
#include <string>
#include <utility>

namespace boxcar {

// Throws Error for calls of operators whose names match a pattern (name_pattern.h), including calls that kernels make.
class BOXCAR_API Denier final : public Handler {
 public:
  explicit Denier(std::string pattern) : pattern_(std::move(pattern)) {}

  void call(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) override;
  ModeOptions modeOptions() const override { return {.sees_calls_below = true}; }
  // Reports if no operator has such a name, because a misspelt pattern denies nothing.
  std::string finish(bool) override;

 private:
  const std::string pattern_;
  // Recorded at the call, because an operator of a script may be gone when the handler ends.
  std::atomic<bool> has_denied_ = false;
};

extern const HandlerKind kDenyKind;

}  // namespace boxcar
