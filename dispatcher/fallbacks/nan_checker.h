#pragma once

#include <boxcar/dispatcher/fallbacks/handler.h>
#include <boxcar/dispatcher/fallbacks/handler_kinds.h>
#include <boxcar/ivalue/macros.h>

#include <string>

namespace boxcar {

// Stops at the first operator that makes a NaN or an infinity of arguments that have none, with an Error that says
// where and shows the arguments' ranges. The innermost operator is named, for it sees the calls that kernels make. What
// an operator writes without reading (`*, Tensor(a!) out`) is no input; operators that give uninitialised memory
// (Tag::nondeterministic_bitwise) are passed over.
class BOXCAR_API NanChecker final : public Handler {
 public:
  void call(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) override;
  ModeOptions modeOptions() const override { return {.sees_calls_below = true}; }
  std::string finish(bool) override { return {}; }
};

extern const HandlerKind kCheckNanKind;

}  // namespace boxcar
