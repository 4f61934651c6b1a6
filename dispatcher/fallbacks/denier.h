#pragma once

#include <boxcar/dispatcher/fallbacks/handler.h>
#include <boxcar/dispatcher/fallbacks/handler_kinds.h>
#include <boxcar/ivalue/macros.h>

#include <atomic>
#include <string>
#include <utility>

namespace boxcar {

// Refuses the calls of operators whose names match a pattern (name_pattern.h), also those that kernels make, with an
// Error that says so.
class BOXCAR_API Denier final : public Handler {
 public:
  explicit Denier(std::string pattern) : pattern_(std::move(pattern)) {}

  void call(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) override;
  ModeOptions modeOptions() const override { return {.sees_calls_below = true}; }
  // Tells where no operator has such a name: a misspelt pattern refuses nothing.
  std::string finish(bool) override;

 private:
  const std::string pattern_;
  // An operator of a script may be gone when the handler ends.
  std::atomic<bool> has_denied_ = false;
};

extern const HandlerKind kDenyKind;

}  // namespace boxcar
